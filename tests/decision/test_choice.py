"""How a set is chosen: plans for all that may be asked, pooled queries, uncertain readings."""

from collections import Counter
from dataclasses import replace
from itertools import chain, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from agent.decision import choice
from agent.decision.cache import Cache
from agent.decision.choice import OWN_ROWS, choice_of, uses_of, utility_of
from agent.decision.choice import planned as planned_for
from agent.decision.context import Context, Limits, Terms, prepare, relevant
from agent.decision.decide import decide as decide_context
from agent.decision.knowledge import Holdings, Knowledge
from agent.decision.values import Decision, Outcome, Request
from agent.model.model import Model
from agent.model.reading import LEAST, MOST, NOTHING, Candidate, Interpretation
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.plan import Pairwise
from agent.tradeoff.tables import pairs, rows_of
from agent.tradeoff.utility import Function
from agent.words.decisions import lines
from tests.cli.examples import PEOPLE, cli_model
from tests.decision.made import CARDS, NAMES, World, decide, made_model, worlds

MODEL = cli_model()  # region decides about the weather, hobby about music
PLANNED = Terms(mode="planned", trade_off=2.0)
ROUNDING = 1e-9
OFTEN = 40  # times, which the model's own shares hardly change


def planned(query: str, knowledge: Knowledge, **demands: object) -> Decision:
    """Return a decision on the village by a plan."""
    terms = replace(PLANNED, **demands)  # type: ignore[arg-type]  # of any field
    return decide(Request(query), terms, knowledge, cli_model())


def of(decision: Decision, name: str) -> Outcome:
    """Return what is said of an attribute."""
    return next(each for each in decision.outcomes if each.name == name)


def asked(**times: int) -> Knowledge:
    """Return the knowledge of who holds nothing and was asked these queries so often."""
    texts = [each.text for each in MODEL.queries]
    return Knowledge(queries=tuple(sorted((texts.index(q), n) for q, n in times.items())))


BOTH = asked(weather=8, music=8)


def test_each_request_carries_its_part_of_the_plan() -> None:
    """What helps it most first; and it is said what each fact is planned for."""
    weather, music = planned("weather", BOTH), planned("music", BOTH)
    assert (weather.mode, weather.disclosed) == ("planned", ("region", "hobby"))
    assert (music.mode, music.disclosed) == ("planned", ("hobby", "region"))
    hobby = of(weather, "hobby")
    assert (hobby.reason, hobby.serves) == ("in the plan", ("weather", "music"))
    assert of(weather, "shoe_size").reason == "not in the plan"


@given(worlds(), st.integers(1, 40), st.floats(0.1, 0.99), st.integers(0, 50))
def test_a_plan_counts_requests(world: World, times: int, sure: float, horizon: int) -> None:
    """This one, half of those asked before, and the horizon: by query where there is no mean."""
    model, last = world.model, len(world.model.queries) - 1
    terms = replace(world.terms, memory="remembers", limits=Limits(), horizon=horizon)
    known = replace(world.known, queries=((0, times),))
    context = Context(world.request, terms, known, model)
    again = min(2.0 ** (times.bit_length() - 1), 8.0) / 2  # the power of two below
    usual = (model.tables.query_weights / model.tables.query_weights.sum() * horizon).tolist()
    for reading, certain in (
        (Interpretation((Candidate(last, sure),), sure), None),
        (Interpretation.exact(0), 0),
    ):
        plan = planned_for(prepare(replace(context, reading=reading)), 0)
        if len(usual) > choice.FEWEST or model.tables.judged is not None:  # topics have a mean
            expected, rest = {0: again}, [horizon]
        else:
            expected, rest = dict(enumerate(usual)), []
            expected = {each: number for each, number in expected.items() if horizon}
            expected[0] = expected.get(0, 0.0) + again
        at_hand = 1.0 + (expected.pop(0) if certain == 0 else 0.0)
        assert plan.queries[0] == (last if certain is None else 0)
        others = dict(zip(plan.queries[1:], plan.numbers[1:], strict=False))
        assert others == pytest.approx(expected)
        assert plan.numbers[0] == pytest.approx(at_hand)
        assert [*plan.numbers[1 + len(expected) :]] == rest
        if rest and (mix := choice._mix(model, context.cache)):  # noqa: SLF001  (in any plan)
            bits = plan.portfolio.bits[-1] / (choice.STILL_ADDS if terms.results == "both" else 1)
            assert mix.value(plan.portfolio.uses[-1]) == pytest.approx(bits)


@given(worlds())
def test_each_reason_is_true_of_the_plan(world: World) -> None:
    """What leaves serves a query, and what is in it leaves where it helps this one."""
    terms = replace(world.terms, mode="planned", memory="remembers")
    no_hours = replace(terms, excluded=terms.excluded | {"hours"}, always=terms.always - {"hours"})
    decision = world._replace(terms=no_hours).decided()
    for each in decision.outcomes:
        assert (each.reason == "in the plan") <= (each.disclosed and bool(each.serves))
        if each.reason == "planned for other requests":
            assert not each.disclosed
            assert (each.gain_bits or 0.0) <= choice.LEAST + ROUNDING
        if each.reason in ("not in the plan", "crowded out"):
            assert not each.disclosed
            assert each.serves == ()
            helps = each.gain_bits is not None and each.gain_bits >= choice.LEAST
            assert helps == (each.reason == "crowded out")
            assert not helps or each.net_bits > 0


def test_what_was_asked_so_far_decides_what_is_worth_it() -> None:
    """At a price between the two, the fact is told that helps with what is asked often."""
    for often, other, fact in (("music", "weather", "hobby"), ("weather", "music", "region")):
        known = asked(**{often: OFTEN})
        assert planned(often, known, trade_off=40.0, horizon=0).disclosed == (fact,)
        assert planned(other, known, trade_off=40.0, horizon=0).disclosed == (fact,)


def test_a_limit_holds_for_the_whole_plan() -> None:
    """It is named where it keeps something out that would be worth it."""
    decision = planned("music", BOTH, limits=Limits(k=PEOPLE // 3))
    hobby = of(decision, "hobby")
    assert decision.disclosed == ("region",)
    assert (hobby.reason, hobby.limit) == ("would break a limit", "k")
    assert decision.fewest == PEOPLE // 3
    limits = Limits(k=PEOPLE // 3, people=PEOPLE // 3)  # as where real people are counted
    assert of(planned("music", BOTH, limits=limits), "hobby").limit == "people"
    capped = planned("music", BOTH, limits=Limits(new_facts_per_week=1))
    assert capped.disclosed == ("hobby",)  # which this request pays for, the other one comes later
    assert of(capped, "region").limit == "new_facts_per_week"
    known = Knowledge((("hobby", 1), ("region", 1)))
    full = planned("music", known, limits=Limits(attributes_per_request=1))
    assert full.disclosed == ("hobby",)  # of what is held, what helps this request most


def test_what_a_plan_weighs_is_no_part_of_another_decision() -> None:
    """So that a decision is remembered, whatever was asked since; caps alone need the week."""
    known = Knowledge((("region", 1),), recent=2, queries=((0, 4),))
    assert relevant(known, Terms()) == Knowledge((("region", 1),))
    assert relevant(known, PLANNED) == replace(known, recent=0)
    assert relevant(known, replace(PLANNED, limits=Limits(new_facts_per_week=3))) == known


@given(worlds(), st.integers(0, 6), st.data())
def test_one_time_more_seldom_makes_another_plan(
    world: World, power: int, data: st.DataObject
) -> None:
    """What was asked counts as the power of two below: what is decided once serves for long."""
    times = data.draw(st.integers(2**power, 2 ** (power + 1) - 1))
    about, exactly = (replace(world.known, queries=((0, each),)) for each in (2**power, times))
    assert relevant(exactly, world.terms) == relevant(about, world.terms)
    assert world._replace(known=exactly).decided() == world._replace(known=about).decided()


def test_the_models_shares_stand_for_what_is_still_to_come() -> None:
    """They count as much as some requests, whatever their sum is."""
    weights = MODEL.tables.query_weights
    scaled = replace(MODEL, tables=replace(MODEL.tables, query_weights=weights * 7))
    for knowledge in (Knowledge(), asked(music=OFTEN)):
        one, other = (
            decide(Request("music"), PLANNED, knowledge, model) for model in (MODEL, scaled)
        )
        assert one == other


CACHE = Cache()

COUNT = len(CARDS)
SETS = range(1 << COUNT)
MANY = made_model(3, queries=5)
POOLING = Terms(mode="planned")
SINGLES, PAIRED = MANY.tables.singles, MANY.tables.singles.pair_utilities
FIRST, REGION = MANY.queries[0].text, NAMES.index("region")


def believing(region: list[float]) -> Model:
    """Return the model with a utility of the region for each query, and of nothing else."""
    utilities = np.zeros((len(region), COUNT))
    utilities[:, REGION] = region
    both = np.outer(region, np.array([pair >> REGION & 1 for pair in pairs(COUNT)]))
    singles = replace(SINGLES, utilities=utilities, pair_utilities=both)
    return replace(MANY, tables=replace(MANY.tables, singles=singles))


def test_each_query_goes_part_of_the_way_to_the_mean() -> None:
    """The fewer rows it has the farther: of singles and pairs to the true mean."""
    weights = MANY.tables.query_weights / MANY.tables.query_weights.sum()
    parts = (weights @ each for each in (SINGLES.utilities, PAIRED))
    estimate = Pairwise(np.array([*rows_of(*parts).values()][1:]))
    for query, each in enumerate(MANY.queries):
        share = (5 - 3) / (5 - 1) * OWN_ROWS / (each.rows + OWN_ROWS)
        for mask in SETS:
            own = [CACHE.utility(MANY, place).value(mask) for place in range(5)]
            few = mask.bit_count() < 3
            usual = float(weights @ own) if few else estimate.value(mask)
            found = uses_of(query, MANY, CACHE).value(mask)
            assert found == pytest.approx((1 - share) * own[query] + share * usual)


def test_without_pairs_or_of_a_few_queries_nothing_is_pooled() -> None:
    """Singles would add up, and a mean of few says nothing of another (James and Stein)."""
    bare = replace(SINGLES, pair_utilities=None, pair_costs=None)
    unpaired = replace(MANY, tables=replace(MANY.tables, singles=bare))
    few = [(made_model(3, queries=n), at) for n in (1, 2, 3) for at in range(n)]
    for model, query in (*few, (unpaired, 0)):
        uses, utility = uses_of(query, model, CACHE), CACHE.utility(model, query)
        for mask in SETS:
            assert uses.value(mask) == pytest.approx(utility.value(mask), abs=1e-12)
    plan = planned_for(prepare(Context(Request(FIRST), POOLING, Knowledge(), unpaired)), 0)
    assert len(plan.portfolio.uses) == len(plan.queries) == len(unpaired.queries)


def test_what_is_still_to_come_counts() -> None:
    """By what the model's queries use of the plan: enough for a fact that all but one want."""
    model = believing([-1.0, 0.5, 0.5, 0.5, 0.5])
    helped = [uses_of(query, model, CACHE).value(1 << REGION) for query in range(5)]
    mean = sum(max(0.0, each) for each in helped) / 5
    terms = replace(POOLING, trade_off=0.0)
    plan = planned_for(prepare(Context(Request(FIRST), terms, Knowledge(), model)), 0)
    assert plan.portfolio.mask == plan.portfolio.uses[-1] == 1 << REGION
    assert plan.portfolio.uses[:-1] == (0,)
    assert plan.portfolio.value == pytest.approx(terms.horizon * mean)
    decision = decide(Request(FIRST), terms, Knowledge(), model)  # which says what it is for
    region = decision.outcomes[REGION]
    assert (region.disclosed, region.serves) == (False, ())
    assert region.reason == "planned for other requests"
    [said] = [each.text for each in lines(decision) if each.label == "plan"]
    assert said.endswith(" for future requests")
    nobody = believing([-4.0, 0.01, 0.01, 0.01, 0.01])
    plan = planned_for(prepare(Context(Request(FIRST), terms, Knowledge(), nobody)), 0)
    assert plan.portfolio.order == ()


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1))
def test_what_leaves_under_a_plan_serves_its_own_query(seed: int) -> None:
    """Whatever the rest is served by: what an answer carries is chosen afresh."""
    rng, (queries, count) = np.random.default_rng(seed), SINGLES.utilities.shape
    both = rng.normal(0.3, 0.3, (queries, len(pairs(count))))
    alone = rng.normal(0.1, 0.3, (queries, count))
    singles = replace(SINGLES, utilities=alone, pair_utilities=both)
    model = replace(MANY, tables=replace(MANY.tables, singles=singles))
    for query in model.queries:
        decision = decide(Request(query.text), replace(POOLING, trade_off=0.1), Knowledge(), model)
        for each in decision.outcomes:
            assert (query.text in each.serves) == each.disclosed
            assert (each.reason == "in the plan") <= each.disclosed


TEXT = "what might that be"
FEW = made_model(4, queries=2)
CHEAP = Terms(mode="planned", trade_off=0.05)


def reading(shares: dict[int, float], threshold: float = 0.0) -> Interpretation:
    """Return the reading with these probabilities by query, the surest first."""
    pairs = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
    return Interpretation(tuple(Candidate(*pair) for pair in pairs), threshold)


@st.composite
def readings(draw: st.DrawFn, queries: int = len(MANY.queries)) -> Interpretation:
    """Draw a sure reading among the first queries of a model."""
    some = draw(st.lists(st.integers(0, queries - 1), min_size=1, max_size=MOST, unique=True))
    parts = draw(st.lists(st.integers(1, 6), min_size=len(some), max_size=len(some)))
    whole = sum(parts) + draw(st.integers(0, 4))
    shares = {query: part / whole for query, part in zip(some, parts, strict=True)}
    return reading({query: share for query, share in shares.items() if share >= LEAST})


def decided(text: Interpretation, terms: Terms, model: Model = MANY, **more: object) -> Decision:
    given_ = {"knowledge": Knowledge(), **more}
    return decide_context(Context(Request(TEXT), terms, model=model, reading=text, **given_))  # type: ignore[arg-type]


@given(readings())
def test_a_text_is_worth_what_its_queries_are(text: Interpretation) -> None:
    """Against the sum over the candidates, for every set; what is none of them adds nothing."""
    found = utility_of(text, MANY, CACHE)
    parts = [(each.probability, uses_of(each.query, MANY, CACHE)) for each in text.candidates]
    for mask in SETS:
        assert found.value(mask) == pytest.approx(sum(p * u.value(mask) for p, u in parts))
        assert found.value(mask) <= found.limit + 1e-12
        others = [each for each in range(len(CARDS)) if not mask >> each & 1]
        bounds = found.potentials(mask, others)
        assert all(found.value(max(SETS)) <= bound + 1e-9 for bound in bounds)
        for each, bits in zip(others, found.extensions(mask, others), strict=True):
            assert bits == pytest.approx(found.value(mask | 1 << each), abs=1e-12)


@given(worlds())
def test_a_certain_reading_is_the_query_itself(world: World) -> None:
    """Bit for bit, and what is remembered for the one is taken for the other."""
    model, query = world.model, world.model.texts.find(world.request.query)
    if query is None:
        return
    exact = Interpretation.exact(query)
    assert utility_of(exact, model, CACHE) is uses_of(query, model, CACHE)
    assert decide_context(replace(world.context(), reading=exact)) == world.decided()


@given(readings(), st.sampled_from(["maxprob", "log-maxprob"]), st.integers(0, 3))
def test_the_best_set_is_that_of_the_mixture(text: Interpretation, metric: str, most: int) -> None:
    """Against every set, with an objective that was made from the sum itself."""
    limits = Limits(attributes_per_request=most)
    terms = Terms(trade_off=0.3, metric=metric, algorithm="exhaustive", limits=limits)  # type: ignore[arg-type]
    case = prepare(Context(Request(TEXT), terms, Knowledge(), MANY, reading=text))
    parts = [(each.probability, uses_of(each.query, MANY, CACHE)) for each in text.candidates]
    plain = DisclosureObjective(
        Function(lambda mask: sum(p * u.value(mask) for p, u in parts)),
        case.anonymity_set,
        case.settings,
    )
    best = max(plain.value(mask) for mask in SETS if plain.feasible(mask))
    assert decided(text, terms).figures.objective == pytest.approx(best, abs=1e-9)
    assert plain.value(choice_of(case).result.mask) == pytest.approx(best, abs=1e-9)


@settings(max_examples=25)
@given(mode=st.sampled_from(["dynamic", "planned"]), text=readings())
def test_the_order_of_the_candidates_does_not_matter(mode: str, text: Interpretation) -> None:
    """But for the first, which is the surest, they are a set."""
    terms, first = Terms(mode=mode, trade_off=0.05), text.candidates[0]  # type: ignore[arg-type]
    asked = Knowledge(queries=((0, 1.5), (3, 4.0)))
    found = decided(text, terms, knowledge=asked)
    for others in permutations(text.candidates[1:]):
        again = decided(replace(text, candidates=(first, *others)), terms, knowledge=asked)
        assert structs.replace(again, readings=found.readings) == found


@given(readings(2))
def test_an_unsure_reading_discloses_nothing(text: Interpretation) -> None:
    """Whatever its candidates are, it is as if there were none."""
    unsure = replace(text, threshold=1.1)
    found, none = decided(unsure, Terms(), FEW), decided(NOTHING, Terms(), FEW)
    assert (found.code, found.disclosed, found.read_as) == ("unknown query", (), None)
    assert structs.replace(found, readings=()) == none


@given(readings())
def test_a_plan_is_for_what_the_text_may_mean(text: Interpretation) -> None:
    """All of it is one request, called by what it means most likely."""
    case = prepare(Context(Request(TEXT), CHEAP, Knowledge(), MANY, reading=text))
    plan = planned_for(case, 0)
    assert [*plan.queries] == [text.candidates[0].query]
    assert [*plan.numbers] == [1.0, float(CHEAP.horizon)]
    helped = utility_of(text, MANY, CACHE).value(plan.portfolio.uses[0])
    assert plan.portfolio.bits[0] == pytest.approx(helped)


@given(st.lists(readings(), max_size=9), st.randoms())
def test_what_was_asked_counts_by_probability_in_any_order(
    asked: list[Interpretation], shuffler: object
) -> None:
    """All that each text may have meant; one of 0.4 and one of 0.6 are as one that was certain."""
    other = asked[:]
    shuffler.shuffle(other)  # type: ignore[attr-defined]
    found = []
    for each in (asked, other):
        holdings: Holdings[int] = Holdings()
        for text in (*each, Interpretation((Candidate(1, 0.4),))):  # which means none
            meant = [(part.query, part.probability) for part in text.accepted]
            holdings.add_query("example.org", meant)
        found.append(holdings.times)
    assert found[0] == found[1]
    wanted = Counter[int]()
    for candidate in chain.from_iterable(text.candidates for text in asked):
        wanted[candidate.query] += round(candidate.probability, 3)  # type: ignore[assignment]
    assert found[0] == pytest.approx(dict(wanted))


@given(readings(), st.data())
def test_what_a_text_does_not_mean_is_no_candidate(
    text: Interpretation, data: st.DataObject
) -> None:
    """The others stay as they are; the next is meant only where it is sure enough by itself."""
    threshold = data.draw(st.floats(LEAST, 1.0))
    gone = data.draw(st.sets(st.integers(0, len(MANY.queries) - 1)))
    text = reading({each.query: each.probability for each in text.candidates}, threshold)
    left = text.without(gone)
    assert left.candidates == tuple(each for each in text.candidates if each.query not in gone)
    assert left.without(gone) == left
    assert (left.query is None) == (
        not left.candidates or left.candidates[0].probability < threshold
    )
    assert Interpretation.exact(2).without({2}) == NOTHING
