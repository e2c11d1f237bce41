"""The theorem of DESIGN.md 2.6: what is left out says nothing, as an equality of sets."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.decision.context import Limits, Terms, terms_under
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from agent.model.model import Model
from policy.hosts import site_of
from policy.match import Rulebook, Ruling, known
from policy.read import preset, read
from tests.decision.made import NAMES, PERSONS, decide, made_model
from tests.decision.transcripts import (
    HOSTS,
    POLICIES,
    QUERIES,
    START,
    Forgotten,
    Person,
    Step,
    Told,
    Values,
    holds,
    knowledge_of,
    soaked,
    the_model,
)

STREAM = [
    Request("python today"),
    Request("restaurants today", asked=("age", "hours", "region")),
    Request("something else"),
    Request("python today"),
    Request("restaurants today"),
]
PERSON = NAMES[:PERSONS]
Set = Sequence[frozenset[str] | None]
ALL: Set = (None,) * len(STREAM)
AVAILABLE = st.frozensets(st.sampled_from(NAMES))
SOME = settings(max_examples=settings().max_examples // 4)
TERMS = {
    "default": Terms(),
    "generous": Terms(trade_off=0.05),
    "free": Terms(trade_off=0.0),
    "k": Terms(trade_off=0.1, limits=Limits(k=3)),
    "k with a tolerated share": Terms(trade_off=0.1, limits=Limits(k=5, violations=0.2)),
    "risk": Terms(trade_off=0.1, limits=Limits(risk=0.2)),
    "guarded": Terms(trade_off=0.1, guards=(("job", 1.0),)),
    "standing": Terms(trade_off=0.05, mode="standing", limits=Limits(k=2)),
    "planned": Terms(trade_off=0.05, mode="planned", limits=Limits(k=2)),
    "planned and guarded": Terms(
        trade_off=0.05,
        mode="planned",
        guards=(("job", 0.1),),
        limits=Limits(attributes_per_request=2),
    ),
    "log-maxprob": Terms(trade_off=0.01, metric="log-maxprob"),
}


Decisions = dict[tuple[Request, Terms, Knowledge], Decision]


@cache
def few_people(seed: int) -> Model:
    """Return a model of thirty people."""
    return made_model(seed, people=30)


def transcript(
    person: Person, terms: Terms, model: Model, decisions: Decisions, names: Set = ALL
) -> list[Step]:
    """Return what a person's agent answers to the stream, one recipient that remembers.

    ``names``: which attributes are set at each step; ``decisions``: those of everybody so far.
    """
    values = dict(zip(NAMES, (*person, 1), strict=True))  # asked within hours: the same for all
    known, queries = Knowledge(), Counter[int]()
    steps: list[Step] = []
    for request, available in zip(STREAM, names, strict=True):
        basis = request, replace(terms, available=available), known
        if basis not in decisions:
            decisions[basis] = decide(*basis, model)
        decision = decisions[basis]
        codes = {name: values[name] for name in decision.disclosed}
        steps.append(Step(decision.code, decision.disclosed, tuple(codes.values())))
        known = known.with_facts({name: code for name, code in codes.items() if name != "hours"})
        query = model.texts.find(request.query)
        queries.update([] if query is None or not codes else [query])
        known = replace(known, queries=tuple(sorted(queries.items())))
    return steps


@pytest.mark.parametrize(
    "terms", soaked(TERMS, ("generous", "k", "guarded", "standing", "planned"))
)
@SOME
@given(st.lists(AVAILABLE, min_size=len(STREAM), max_size=len(STREAM)), st.integers(1, 2))
@example(ALL, 1)
@example(ALL, 2)
def test_which_attributes_are_set_is_all_that_absence_can_say(
    terms: Terms, names: Set, seed: int
) -> None:
    """At every step the people with this transcript are the people with the disclosed values.

    With all attributes set, or some set and unset at any time: only those leave.
    """
    model, decisions = few_people(seed), Decisions()
    people = sorted({tuple(row) for row in model.population.codes.tolist()})
    said = {person: transcript(person, terms, model, decisions, names) for person in people}
    assert holds(said)
    for steps in said.values():
        for (_, carried, _), available in zip(steps, names, strict=True):
            assert available is None or available.issuperset(carried)
    if (terms, names, seed) == (TERMS["generous"], ALL, 1):  # it is not about silence
        assert len({*map(tuple, said.values())}) > 1


@given(
    st.sampled_from([*TERMS.values()]),
    AVAILABLE,
    st.integers(1, 2),
    st.sampled_from(STREAM),
    st.sets(st.sampled_from(PERSON)),
)
def test_what_is_not_set_is_as_if_ruled_never(
    terms: Terms, available: frozenset[str], seed: int, asked: Request, held: set[str]
) -> None:
    """The same set, in the same order, at the same figures."""
    model = few_people(seed)
    known = Knowledge(tuple((name, 1) for name in sorted(held)))
    one = decide(asked, replace(terms, available=available), known, model)
    never = terms.excluded | frozenset(NAMES) - available
    other = decide(asked, replace(terms, excluded=never), known, model)
    assert (one.disclosed, one.figures) == (other.disclosed, other.figures)
    assert (one.pending, one.proof) == (other.pending, other.proof)
    reasons = {each.name for each in one.outcomes if each.reason == "not set"}
    guarded = {name for name, _ in terms.guards}
    assert not one.outcomes or reasons == {*NAMES} - available - guarded


@dataclass(frozen=True)
class Stream:
    """What is the same for everybody: requests, each with its host and time, and the user's word.

    ``forgotten``: the requests after which the host is made to forget; ``verdicts``: for a pool
    and a name, whether the user lets it leave once asked.
    """

    requests: tuple[tuple[datetime, str, Request], ...]
    forgotten: frozenset[int]
    verdicts: frozenset[tuple[str, str]]


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    """Draw up to eight requests within a few weeks."""
    requests, at = [], START
    for _ in range(draw(st.integers(2, 8))):
        at += timedelta(hours=draw(st.sampled_from([1, 1, 30, 100])))
        asked = draw(st.none() | st.none() | st.frozensets(st.sampled_from(NAMES), min_size=2))
        names = None if asked is None else tuple(sorted(asked))
        request = Request(draw(st.sampled_from(QUERIES)), asked=names)
        requests.append((at, draw(st.sampled_from(HOSTS)), request))
    pools = st.sampled_from(["shop.example", "books.example", "ads.test", "@adverts"])
    pairs = st.tuples(pools, st.sampled_from(NAMES))
    forgotten = draw(st.frozensets(st.integers(0, 7), max_size=1))
    return Stream(tuple(requests), forgotten, draw(st.frozensets(pairs, max_size=12)))


Basis = tuple[Request, Terms, Knowledge, tuple[tuple[str, int], ...] | None]


class Agent:
    """One person's agent: it answers, keeps a ledger and does what the user says.

    ``decisions``: those of everybody so far, by all that they depend on but the model.
    """

    def __init__(
        self, values: Values, rulebook: Rulebook, model: Model, decisions: dict[Basis, Decision]
    ) -> None:
        self.values, self.rulebook, self.model = values, rulebook, model
        self.decisions = decisions
        self.events: list[Told | Forgotten] = []
        self.allowed: set[tuple[str, str]] = set()
        self.answers: defaultdict[str, list[Step]] = defaultdict(list)

    def follow(self, stream: Stream) -> Mapping[str, list[Step]]:
        """Return what each pool of recipients sees of a stream."""
        for place, (at, host, request) in enumerate(stream.requests):
            ruling = self.rulebook.match(host, request.query, at.date())
            asked = self.answer(ruling, at, request)
            self.allowed |= {(ruling.pool, name) for name in asked} & stream.verdicts
            if place in stream.forgotten:
                pooled = (each for each in HOSTS if self.pool(each) == ruling.pool)
                self.events.append(Forgotten(at, frozenset(map(site_of, pooled))))
        return self.answers

    def answer(self, ruling: Ruling, at: datetime, request: Request) -> tuple[str, ...]:
        """Answer a request, and return what the user is asked about."""
        terms = terms_under(ruling, self.model)
        allowed = {name for name in terms.ask if (ruling.pool, name) in self.allowed}
        terms = replace(terms, ask=terms.ask - allowed)
        known = knowledge_of(self.events, ruling.pool, self.pool, at)
        own = self.values if terms.limits.protect == "me" else None
        basis = request, terms, known, tuple(own.items()) if own else None
        if basis not in self.decisions:
            self.decisions[basis] = decide(request, terms, known, self.model, own)
        decision = self.decisions[basis]
        codes = tuple(self.values[name] for name in decision.disclosed)
        self.answers[ruling.pool].append(Step(decision.code, decision.disclosed, codes))
        told = [each for each in zip(decision.disclosed, codes, strict=True) if each[0] in PERSON]
        query = self.model.texts.find(request.query) if codes else None
        self.events.append(Told(at, ruling.host, tuple(told), query))
        return decision.waiting

    def pool(self, host: str) -> str:
        """Return who pools with a host."""
        return self.rulebook.match(host, "", START.date()).pool


def followed(text: str, stream: Stream, seed: int) -> dict[Person, Mapping[str, list[Step]]]:
    """Return what each pool sees of each person of the model."""
    model = the_model(seed)
    rulebook = Rulebook(read(text, "test", preset), known(*NAMES))
    people = sorted({tuple(row) for row in model.population.codes.tolist()})
    values = {person: dict(zip(NAMES, (*person, 1), strict=True)) for person in people}
    decisions: dict[Basis, Decision] = {}
    return {
        person: Agent(own, rulebook, model, decisions).follow(stream)
        for person, own in values.items()
    }


@pytest.mark.parametrize("text", soaked(POLICIES))
@SOME
@given(streams(), st.integers(1, 2))
def test_absence_says_nothing(text: str, stream: Stream, seed: int) -> None:
    """Not to a recipient, and not to a group of them together."""
    said = followed(text, stream, seed)
    for pool in next(iter(said.values())):
        assert holds({person: answers[pool] for person, answers in said.items()})


EVERY_DAY = Stream(
    tuple(
        (START + timedelta(days=8 * day), host, Request(query))
        for day, query in enumerate(QUERIES[1:3])
        for host in ("shop.example", "a.ads.test", "shop.example")
    ),
    frozenset(),
    frozenset((pool, name) for pool in ("shop.example", "ads.test") for name in NAMES),
)


@pytest.mark.parametrize("text", soaked(POLICIES))
def test_something_is_said_under_each(text: str) -> None:
    """The theorem is not about silence: people differ, and some of it waited for a word."""
    said = followed(text, EVERY_DAY, 1)
    first = {tuple(answers["shop.example"]) for answers in said.values()}
    assert len(first) > 1
    silent = followed(text, replace(EVERY_DAY, verdicts=frozenset()), 1)
    assert (said != silent) == ("ask" in text or "strict" in text or "balanced" in text)


def test_protecting_the_user_breaks_it() -> None:
    """The one exception: what is withheld of the rare says that they are rare."""
    text = 'lambda = 0.0\nk = 50\nviolations = 0.9\nprotect = "{}"\n'
    for protect, expected in (("everyone", True), ("me", False)):
        said = followed(text.format(protect), EVERY_DAY, 1)
        pools = {person: answers["shop.example"] for person, answers in said.items()}
        assert holds(pools) == expected
