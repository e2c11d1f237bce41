"""Facts in own words fill places, help by the formula, and say nothing by being left out."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import isclose, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agent.decision import context as contexts
from agent.decision.cache import Cache
from agent.decision.choice import utility_of
from agent.decision.context import Context, Limits, Terms, rulebook, terms_under
from agent.decision.decide import decide
from agent.decision.engine import Engine
from agent.decision.knowledge import Holdings, Knowledge, knowledge_in
from agent.decision.own_facts import OwnFacts, extended, level_of, meaning_of
from agent.decision.values import Decision, Fact, FactTerms, Request
from agent.model.reading import LEAST_CHANCE, NOTHING, Candidate, Interpretation
from agent.model.relevance import SIZE
from agent.model.world import RARITIES, world_of
from agent.tradeoff.shares import OWN_SHARES
from agent.tradeoff.tables import Floats, members
from policy.read import preset, read
from policy.settings import Mode
from tests.decision.made import NAMES, PERSONS, judged, made_model
from tests.model.test_world import guest
from tests.policy.strategies import NO_PRESET

START = datetime(2026, 1, 1, tzinfo=UTC)
TEXT, PERSON = Request("what might that be"), NAMES[:PERSONS]
BY_KIND = frozenset(f"{name}_own{end}" for name in PERSON for end in ("", "_2", "_3")) | {*PERSON}
CACHE = Cache()


def helps_of(own: OwnFacts, *_: object) -> Floats:
    """Read how surely each fact helps, and decisively, off its vector."""
    found = np.array([np.frombuffer(each.terms.vector, "<f2")[:2] for each in own.facts])  # type: ignore[union-attr]
    return found.reshape(-1, 2).astype(float)


@pytest.fixture(autouse=True, scope="module")
def _judge() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contexts, "chances_of", helps_of)
        yield


def fact(number: int, kind: str, *, value: str | None = None, **terms: Any) -> Fact:  # noqa: ANN401  (of FactTerms)
    """Return a fact of its day; ``helps``: how surely; ``like``: the same for a paraphrase."""
    vector = np.zeros(SIZE, "<f2")
    vector[:2], vector[2 + terms.pop("like", number)] = terms.pop("helps", (0.0, 0.0)), 50.0
    return Fact(
        id=f"f{number}",
        kind=kind,
        value=value,
        group=terms.pop("group", None),
        words=terms.pop("words", f"fact {number}"),
        set_at=START + timedelta(days=number),
        terms=FactTerms(vector=vector.tobytes(), **terms),
    )


SURE = st.sampled_from([(0.0, 0.0), (0.2, 0.1), (0.6, 0.2), (0.9, 0.9)])


@st.composite
def several(draw: st.DrawFn) -> list[Fact]:
    """Draw up to eight facts, most of one kind, one of each of which may have a listed value."""
    facts, valued = list[Fact](), set[str]()
    for number in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from((*PERSON, *["region"] * 4)))
        listed = kind not in valued and draw(st.integers(0, 3)) == 0
        valued |= {kind} if listed else set()
        facts.append(draw(drawn(number, kind, f"{kind}1" if listed else None)))
    return facts


@st.composite
def drawn(draw: st.DrawFn, number: int, kind: str, value: str | None) -> Fact:
    """Draw the closed terms of a fact."""
    topics = st.dictionaries(
        st.sampled_from(["python today", "restaurants today"]), st.floats(0, 1)
    )
    return fact(
        number,
        kind,
        value=value,
        helps=draw(SURE),
        like=draw(st.integers(0, 3)),
        group=draw(st.sampled_from([None, None, "x", "y"])),
        relevance=draw(topics),
        share=draw(st.sampled_from(OWN_SHARES[:6])),
        words=draw(st.sampled_from(["some", "other"])),
    )


PEOPLE = 1000
MODEL = judged(made_model(3, people=PEOPLE), 4)
READINGS: Sequence[Interpretation] = [
    Interpretation.exact(0),
    Interpretation((Candidate(0, 0.7), Candidate(1, 0.2)), 0.4),
    Interpretation((Candidate(1, 0.5),), 0.02, 0.6),
    Interpretation((), 0.02, 0.6),
    Interpretation((), 0.02, 0.2),
    Interpretation((Candidate(1, 0.4), Candidate(0, 0.3)), 0.02),
    Interpretation.exact(1),
]


class Recipient:
    """A recipient that remembers what it was sent, and all that decides what it is sent next."""

    def __init__(self, facts: Sequence[Fact], terms: Terms) -> None:
        self.facts, self.terms, self.asked = facts, terms, Counter[int]()
        self.own, self.holdings = OwnFacts.of(facts, MODEL), Holdings[str]()

    def context(self, reading: Interpretation, at: datetime) -> Context:
        model = extended(MODEL, self.own, self.holdings.held, CACHE)
        known = knowledge_in(self.holdings, model, at, cache=CACHE)
        known = replace(known, queries=tuple(sorted(self.asked.items())))
        terms = replace(
            self.terms, available=frozenset(each.kind for each in self.facts if each.value)
        )
        return Context(TEXT, terms, known, model, reading=reading, cache=CACHE, own=self.own)

    def ask(self, reading: Interpretation, at: datetime) -> Decision:
        context = self.context(reading, at)
        decision, by_id = decide(context), {each.id: each for each in self.facts}
        own = {n: by_id[f] for n, f in decision.facts.items() if n in decision.disclosed}
        told = [meaning_of(e) if e.value is None else (e.kind, e.value) for e in own.values()]
        told += [(name, f"{name}1") for name in decision.disclosed if name not in own]
        self.holdings.add_facts(at, "site.example", told)
        if decision.disclosed and reading.query is not None:
            self.asked[reading.query] += 1
        return decision


def transcript(facts: Sequence[Fact], terms: Terms) -> tuple[list[tuple[Any, ...]], Recipient]:
    """What is sent with each reading in turn, and to whom."""
    recipient, steps = Recipient(facts, terms), list[tuple[Any, ...]]()
    for day, reading in enumerate(READINGS):
        decision = recipient.ask(reading, START + timedelta(days=100 + day))
        steps.append((decision.code, decision.share, decision.waiting))
    return steps, recipient


TERMS = st.builds(
    Terms,
    trade_off=st.sampled_from([0.0, 0.01, 0.1]),
    mode=st.sampled_from(["dynamic", "planned"]),
    limits=st.sampled_from([Limits(), Limits(k=3), Limits(attributes_per_request=2)]),
    ask=st.sampled_from([frozenset(), frozenset({"region"})]),
    memory=st.sampled_from(["remembers", "forgets"]),
)


@given(several(), TERMS, st.sampled_from([set(), {"region"}, {"region"}, {*PERSON}]), st.data())
def test_no_closed_term_changes_what_is_sent_by_kind_nor_a_share_before_it_is_told(
    facts: list[Fact], terms: Terms, kinds: set[str], data: st.DataObject
) -> None:
    """Other words, vectors and relevance of facts of these kinds: the same sets in that order.

    And whatever is chosen by, other shares of what was not told.
    """
    by_kind = frozenset(each for each in BY_KIND if each.split("_")[0] in kinds)
    terms = replace(terms, by_kind=by_kind)
    steps, recipient = transcript(facts, terms)
    told = {each.rpartition("#")[2] for each in recipient.holdings.held}
    others = list[Fact]()
    for number, each in enumerate(facts):
        other = data.draw(drawn(number, each.kind, each.value))
        one, two = each.terms, other.terms
        assert one is not None
        assert two is not None
        share = (one if each.id in told else two).share
        closed, group = (two, other.group) if each.kind in kinds else (one, each.group)
        new = structs.replace(closed, share=share)
        others.append(structs.replace(other, group=group, terms=new))
    assert transcript(others, terms)[0] == steps


@given(several(), st.sampled_from(READINGS), st.integers(0, 2**14 - 1), st.booleans())
def test_it_helps_by_the_formula(
    facts: list[Fact], reading: Interpretation, mask: int, by_kind: bool
) -> None:
    """Topics and something else, groups of what says the same, and listed values with words."""
    if reading.chance < LEAST_CHANCE:
        return
    recipient = Recipient(facts, Terms(by_kind=BY_KIND if by_kind else frozenset()))
    context = recipient.context(reading, START)
    model, filled, figures = context.model, context.filled, MODEL.tables.judged
    assert figures is not None
    mask &= (1 << len(model.attributes)) - 1
    by_id = {each.id: each for each in facts}
    shares = {each.query: each.probability for each in reading.accepted}
    least = CACHE.judgements(model).least

    def survives(topic: int | None) -> float:
        groups: dict[Any, float] = {}
        whole = float(figures.totals.mean() if topic is None else figures.totals[topic])
        for at in members(mask):
            kind, one = model.own.get(at, at), by_id.get(filled.facts.get(at, ""))
            listed = topic is not None and at < PERSONS
            weight = float(figures.weights[topic, at]) if listed else 0.0
            group: Any = at
            if one is not None and by_kind and at in model.own:
                group = "kind", kind
                likely = sum(p * figures.likely[t, kind] for t, p in shares.items())
                helps = topic is not None and likely >= least[at]
                weight = float(figures.weights[topic, kind]) if helps else 0.0
            elif one is not None and not by_kind:
                [[likely, decisive]] = helps_of(OwnFacts.of([one], MODEL))
                if likely >= least[at]:
                    group = one.group or one.terms.vector[4:]  # type: ignore[union-attr]
                    weight = max(weight, decisive + (likely - decisive) / 2)
            groups[group] = max(groups.get(group, 0.0), weight)
        return float(prod(0.1 ** (weight / whole) for weight in groups.values()))

    bits = sum(p * MODEL.queries[t].bits * (1 - survives(t)) for t, p in shares.items())
    rest = max(0.0, 1 - sum(shares.values())) * reading.chance
    bits += rest * float(np.mean([each.bits for each in MODEL.queries])) * (1 - survives(None))
    assert isclose(utility_of(reading, model, CACHE, filled).value(mask), bits, abs_tol=1e-6)


def test_places_are_taken_by_what_is_held_then_by_what_helps() -> None:
    """At most three of a kind, however many facts there are, but all that are held."""
    facts = [fact(n, "region", helps=(p, 0.0)) for n, p in enumerate((0.2, 0.9, 0.5, 0.9, 0.3))]
    recipient = Recipient(facts, Terms())
    recipient.holdings.add_facts(START, "site.example", [meaning_of(facts[4])])
    context = recipient.context(READINGS[0], START)
    assert [*context.filled.facts.values()] == ["f4", "f1", "f3"]
    assert context.knowledge.own == (("region_own", "f4"),)
    kind = replace(context, terms=replace(context.terms, by_kind=BY_KIND))
    assert [*kind.filled.facts.values()] == ["f4", "f0", "f1"]
    recipient.holdings.add_facts(START, "site.example", [*map(meaning_of, facts)])
    everything = recipient.context(READINGS[0], START)
    assert [*everything.filled.facts.values()] == ["f0", "f1", "f2", "f3", "f4"]
    assert not everything.knowledge.inexpressible
    assert knowledge_in(recipient.holdings, MODEL, START).inexpressible


def test_a_fact_costs_its_kind_before_and_its_share_after() -> None:
    """As rare as it is, and no commoner; of a share between two the rarer."""
    model = extended(MODEL, OwnFacts.of([fact(1, "age")], MODEL), (), CACHE)
    place, everybody = model.index("age_own"), CACHE.anonymity_set(model)
    column = np.bincount(MODEL.population.columns[0])[1:] / PEOPLE
    rest = -np.expm1(PEOPLE * np.log1p(-column / column.sum())) / PEOPLE / (column / column.sum())
    wanted = float((column / column.sum()) @ rest)
    assert everybody.identifiability(1 << place, "maxprob", 1) == pytest.approx(wanted, rel=0.005)
    codes = [model.attributes[place].values.index(each) for each in RARITIES]
    left = [CACHE.anonymity_set(model, [(place, code)]).people for code in codes]
    assert left == sorted(left, reverse=True)
    assert left[0] == pytest.approx(PEOPLE / 2, rel=0.05)
    shares = {1.0: "1 in 2", 0.3: "1 in 5", 0.05: "1 in 20", 0.0015: "1 in 1,000", 1e-9: "only me"}
    assert {s: level_of(fact(1, "age", share=s)) for s in shares} == shares
    assert level_of(fact(1, "age")) == "only me"


def ask(facts: Sequence[Fact], reading: Interpretation, **terms: Any) -> Decision:  # noqa: ANN401  (of Terms)
    return decide(Recipient(facts, Terms(trade_off=0.01, **terms)).context(reading, START))


def test_a_text_that_no_topic_reads_is_decided_by_what_helps_it() -> None:
    """But not where nothing personal helps, or the model says nothing of the text."""
    facts = [fact(1, "region", helps=(0.9, 0.9)), fact(2, "age")]
    for mode in ("dynamic", "planned"):
        decision = ask(facts, READINGS[3], mode=mode)
        assert (decision.code, decision.share) == ("answered", ("f1",))
        assert decision.read_as is None
        for unread in (READINGS[4], NOTHING):
            other = ask(facts if unread is not NOTHING else facts[1:], unread, mode=mode)
            assert (other.code, other.share) == ("unknown query", ())
        assert ask(facts[1:], READINGS[3], mode=mode).code == "unknown query"
        by_kind = ask(facts, READINGS[3], mode=mode, by_kind=BY_KIND)
        assert by_kind.code == "unknown query"


def test_a_listed_value_with_words_is_one_attribute() -> None:
    """It helps by the larger of its two parts, and is sent where its words help, not its kind."""
    facts = [fact(1, "region", value="region1", helps=(0.9, 0.9))]
    decision = ask(facts, READINGS[3])
    assert (decision.disclosed, decision.share) == (("region",), ("f1",))
    [outcome] = [each for each in decision.outcomes if each.name == "region"]
    assert outcome.fact == "f1"
    plain = structs.replace(facts[0], words=None)
    assert ask([plain], READINGS[3]).code == "unknown query"
    assert ask([plain], READINGS[0]).disclosed == ("region",)
    assert ask([fact(1, "region", value="region1")], READINGS[0]).disclosed == ()


@pytest.mark.parametrize(
    ("rules", "sent", "waits"),
    [
        ("", {"f1", "f2", "f3"}, set[str]()),
        ('own = "never"', set[str](), set[str]()),
        ('own = "ask"', set(), {"f1", "f2", "f3"}),
        ('own = "ask"\n[attributes]\n"#f1" = {own = "auto"}', {"f1"}, {"f2", "f3"}),
        ('[attributes]\nregion = "never"', {"f3"}, set()),
        ('[attributes]\nregion = {own = "ask"}', {"f3"}, {"f1", "f2"}),
        ('[attributes]\n"#f1" = "never"', {"f2", "f3"}, set()),
        ('[attributes]\nregion = "ask"\n"#f1" = "auto"', {"f1", "f3"}, {"f2"}),
    ],
)
def test_rules_reach_a_fact_by_kind_and_id(rules: str, sent: set[str], waits: set[str]) -> None:
    """On kind, on own words, and on the one fact, the most specific first."""
    facts = [
        fact(n, kind, helps=(0.9, 0.9)) for n, kind in enumerate(("region", "region", "age"), 1)
    ]
    context = Recipient(facts, Terms()).context(READINGS[3], START)
    policy = read(f"{NO_PRESET}anonymity_price = 0.0\n{rules}", "test", preset)
    ruling = rulebook(policy, context.model, [MODEL], facts).match("a.example", "", START.date())
    terms = terms_under(ruling, context.model)
    decision = decide(replace(context, terms=replace(terms, available=frozenset())))
    assert {*decision.share} == sent
    assert {decision.facts[name] for name in decision.waiting} == waits


def test_requests_reach_places_by_kind() -> None:
    """A site that can use a kind gets what is in own words of it, and nothing else."""
    facts = [fact(1, "region", helps=(0.9, 0.9)), fact(2, "age", helps=(0.9, 0.9))]
    context = Recipient(facts, Terms(trade_off=0.01)).context(READINGS[3], START)
    for asked, shared in ((("age",), ("f2",)), (("age_own", "region"), ("f1", "f2")), ((), ())):
        decision = decide(replace(context, request=Request("?", asked=asked)))
        assert {*decision.share} == {*shared}


def test_history_counts_what_was_stored() -> None:
    """A plan for topics asked before has what helps there, by the relevance of the fact."""
    facts = [fact(1, "region", helps=(0.2, 0.0), relevance={"python today": 1.0})]
    context = Recipient(facts, Terms()).context(READINGS[0], START)
    place, figures = context.model.index("region_own"), MODEL.tables.judged
    assert figures is not None
    about = context.model, CACHE, context.filled
    later = utility_of(Interpretation.exact(0), *about, filtered=True, later=True)
    wanted = MODEL.queries[0].bits * (1 - 0.1 ** (0.5 / float(figures.totals[0])))
    assert isclose(later.value(1 << place), wanted, abs_tol=1e-6)
    other = utility_of(Interpretation.exact(1), *about, filtered=True, later=True)
    assert other.value(1 << place) == 0


def test_an_engine_shares_facts_by_their_ids() -> None:
    """Of the person's facts alone; what a recipient knows is held, and may be ruled out."""
    engine = Engine([MODEL])
    facts = (fact(1, "region", helps=(0.9, 0.9)), fact(2, "age", value="age1", helps=(0.9, 0.9)))
    decision = engine.decide("python today", "a.example", facts=facts, anonymity_price=0.0)
    assert {"f1", "f2"} >= {*decision.share} > set()
    nobody = structs.replace(decision, request=Request("python today"))
    assert engine.decide("python today", facts=facts, anonymity_price=0.0) == nobody
    held = engine.decide("python today", facts=facts, knows={"f1": ""}, anonymity_price=0.0)
    assert [each.held for each in held.outcomes if each.fact == "f1"] == [True]
    never = engine.decide("python today", facts=facts, never=["region"], anonymity_price=0.0)
    asks = engine.decide("python today", facts=facts, ask=["region"], anonymity_price=0.0)
    assert "f1" not in {*never.share, *asks.share}


@pytest.mark.parametrize("mode", ["dynamic", "planned"])
def test_a_query_of_a_built_model_carries_all_that_it_knows_of(mode: Mode) -> None:
    """In a world of two; a fact of it that has words as well, and own words that always leave.

    What is said of the rest of a person is of no use, and not priced.
    """
    world = world_of([judged(made_model(3, people=200, queries=5), 3), guest(4)])
    own = OwnFacts.of([fact(1, "age", value="age1"), fact(2, "region")], world)
    model, member = extended(world, own, (), Cache()), world.members[-1]
    known = {world.attributes[each].name for each in member.places}
    prices = tuple((each, 0.0) for each in NAMES)
    terms = Terms(trade_off=0.0, mode=mode, sensitivity=prices, facts=(("f2", "always"),))
    for held in (Knowledge(), Knowledge(codes=(("job", 1),))):
        reading = Interpretation.exact(member.first)
        context = Context(Request("?"), terms, held, model, reading=reading, cache=Cache(), own=own)
        decision = decide(context)
        assert {"age", "region_own"} <= {*decision.disclosed} <= known | {"region_own"}
        for each in decision.outcomes:
            assert (each.reason == "hardly helps") == (each.name not in known | {"region_own"})
