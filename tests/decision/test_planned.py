"""Planning ahead for all that a recipient is going to be asked, and pooling of small queries."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.cache import Cache
from agent.decision.choice import AT_HAND, LEAST, OWN_ROWS, PRIOR, REST, uses_of
from agent.decision.choice import planned as planned_for
from agent.decision.context import Context, Limits, Terms, prepare, relevant
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Outcome, Request
from agent.model.model import Model
from agent.model.reading import Candidate, Interpretation
from agent.tradeoff.plan import Pairwise
from agent.tradeoff.tables import pairs, singleton
from agent.words.decisions import lines
from tests.cli.examples import PEOPLE, cli_model
from tests.decision.made import CARDS, NAMES, World, decide, made_model, worlds

MODEL = cli_model()  # region decides about the weather, hobby about music
PLANNED = Terms(mode="planned", trade_off=2.0)
NOTHING = Knowledge()
COAST = Knowledge((("region", 1),))
ROUNDING = 1e-9
OFTEN = 40  # times, which the model's own shares hardly change


def planned(query: str = "weather", knowledge: Knowledge = NOTHING, **demands: object) -> Decision:
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


@given(worlds(), st.integers(1, 9), st.floats(0.1, 1.0))
def test_the_request_at_hand_counts_more_than_one_before_it(
    world: World, times: int, sure: float
) -> None:
    """By what it is probably read as; the shares of all queries are those that are expected."""
    query = len(world.model.queries) - 1
    reading = Interpretation(query, (Candidate(query, sure),))
    terms = replace(world.terms, memory="remembers", limits=Limits())
    known = replace(world.known, queries=((0, times),))
    context = Context(world.request, terms, known, world.model)
    found = planned_for(prepare(replace(context, reading=reading)), 0).shares
    usual = world.model.tables.query_weights / world.model.tables.query_weights.sum()
    past = 2.0 ** (times.bit_length() - 1)  # history counts as the power of two below
    counts = PRIOR * usual
    counts[0] += past
    counts[query] += AT_HAND * sure
    assert set(found) == {0, query}
    for each, share in found.items():
        assert share == pytest.approx(counts[each] / counts.sum())


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
            assert (each.gain_bits or 0.0) <= LEAST + ROUNDING
        if each.reason == "not in the plan":
            assert not each.disclosed
            assert each.serves == ()


def test_what_was_asked_so_far_decides_what_is_worth_it() -> None:
    """At a price between the two, the fact is told that helps with what is asked often."""
    for often, other, fact in (("music", "weather", "hobby"), ("weather", "music", "region")):
        known = asked(**{often: OFTEN})
        assert planned(often, known, trade_off=5.12).disclosed == (fact,)
        assert planned(other, known, trade_off=5.12).disclosed == (fact,)


def test_what_is_held_is_used_again_at_no_cost() -> None:
    """Also where nothing new would be worth its cost."""
    decision = planned("weather", COAST, trade_off=1e6)
    assert decision.disclosed == ("region",)
    assert decision.figures.identifiability_cost == 0
    assert of(decision, "region").reason == "known to the recipient"


def test_a_limit_holds_for_the_whole_plan() -> None:
    """It is named where it keeps something out that would be worth it."""
    decision = planned("music", BOTH, limits=Limits(k=PEOPLE // 3))
    hobby = of(decision, "hobby")
    assert decision.disclosed == ("region",)  # the other one alone would help this request more
    assert (hobby.reason, hobby.limit) == ("would break a limit", "k")
    capped = planned("music", BOTH, limits=Limits(new_facts_per_week=1))
    assert capped.disclosed == ("region",)
    assert of(capped, "hobby").limit == "new_facts_per_week"
    known = Knowledge((("hobby", 1), ("region", 1)))
    full = planned("music", known, limits=Limits(attributes_per_request=1))
    assert full.disclosed == ("hobby",)  # of what is held, what helps this request most


def test_what_waits_is_in_no_plan_before_a_yes() -> None:
    """It is named where it would be planned and helps now."""
    decision = planned("weather", BOTH, ask=frozenset({"region", "hobby"}))
    assert decision.disclosed == ()
    assert decision.pending is not None
    assert decision.waiting == ("region", "hobby")
    assert of(decision, "hobby").reason == "waits for you"
    dear = planned("weather", BOTH, ask=frozenset({"hobby"}), trade_off=5.12)
    assert (dear.disclosed, dear.pending) == (("region",), None)


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
    for knowledge in (Knowledge(), asked(music=int(PRIOR))):
        one, other = (
            decide(Request("music"), PLANNED, knowledge, model) for model in (MODEL, scaled)
        )
        assert one == other


CACHE = Cache()

COUNT = len(CARDS)
MANY = made_model(3, queries=5)
POOLING = Terms(mode="planned")
SINGLES, PAIRED = MANY.tables.singles, MANY.tables.singles.pair_utilities
FIRST, REGION = MANY.queries[0].text, NAMES.index("region")


def believing(region: list[float]) -> Model:
    """Return the model with a utility of the region for each query, and of nothing else."""
    utilities = np.zeros((len(region), COUNT))
    utilities[:, REGION] = region
    with_it = np.array([pair >> REGION & 1 for pair in pairs(COUNT)])
    both = np.outer(region, with_it)
    singles = replace(SINGLES, utilities=utilities, pair_utilities=both)
    return replace(MANY, tables=replace(MANY.tables, singles=singles))


def test_each_query_goes_part_of_the_way_to_the_mean() -> None:
    """The fewer rows it has the farther: of singles and pairs to the true mean."""
    weights = MANY.tables.query_weights / MANY.tables.query_weights.sum()
    estimate = Pairwise(*(weights @ each for each in (SINGLES.utilities, PAIRED)))
    for query, each in enumerate(MANY.queries):
        share = (5 - 3) / (5 - 1) * OWN_ROWS / (each.rows + OWN_ROWS)
        for mask in range(1 << COUNT):
            own = [CACHE.utility(MANY, place).value(mask) for place in range(5)]
            few = mask.bit_count() < 3
            usual = float(weights @ own) if few else estimate.value(mask)
            found = uses_of(query, MANY, CACHE).value(mask)
            assert found == pytest.approx((1 - share) * own[query] + share * usual)


def test_without_pairs_nothing_is_pooled() -> None:
    """The singles alone would add up, as if none of them told what another does."""
    bare = replace(SINGLES, pair_utilities=None, pair_costs=None)
    model = replace(MANY, tables=replace(MANY.tables, singles=bare))
    for mask in range(1 << COUNT):
        assert uses_of(0, model, CACHE).value(mask) == CACHE.utility(model, 0).value(mask)
    context = Context(Request(FIRST), POOLING, Knowledge(), model)
    plan = planned_for(prepare(context), 0)
    assert len(plan.portfolio.uses) == len(plan.shares)


def test_a_few_queries_are_believed_as_they_are() -> None:
    """Their mean says nothing about another one: James and Stein need more than three."""
    for model, query in ((made_model(3, queries=n), at) for n in (1, 2, 3) for at in range(n)):
        uses, utility = uses_of(query, model, CACHE), CACHE.utility(model, query)
        for mask in range(1 << COUNT):
            assert uses.value(mask) == pytest.approx(utility.value(mask), abs=1e-12)


def test_what_was_not_asked_counts_a_little() -> None:
    """By what the mean query gains of the whole plan: enough for a fact that all but one want."""
    model = believing([-1.0, 0.5, 0.5, 0.5, 0.5])
    mean = model.tables.singles.mean_of(model.tables.query_weights).utilities[0, REGION]
    terms = replace(POOLING, trade_off=0.0)
    plan = planned_for(prepare(Context(Request(FIRST), terms, Knowledge(), model)), 0)
    assert plan.portfolio.mask == plan.portfolio.uses[-1] == singleton(REGION)
    assert plan.portfolio.uses[:-1] == (0,)
    assert plan.portfolio.value == pytest.approx(REST * (1 - plan.shares[0]) * mean)
    nobody = believing([-4.0, 0.5, 0.5, 0.5, 0.5])
    plan = planned_for(prepare(Context(Request(FIRST), terms, Knowledge(), nobody)), 0)
    assert plan.portfolio.order == ()


def test_a_fact_for_what_may_be_asked_is_said_to_be_for_that() -> None:
    """It is in the plan, no query that was asked uses it, and it does not leave."""
    model, terms = believing([-1.0, 0.5, 0.5, 0.5, 0.5]), replace(POOLING, trade_off=0.0)
    decision = decide(Request(FIRST), terms, Knowledge(), model)
    region = decision.outcomes[REGION]
    assert (region.name, region.disclosed, region.serves) == ("region", False, ())
    assert region.reason == "planned for other requests"
    plan = next(each.text for each in lines(decision) if each.label == "plan")
    assert plan.endswith(" for future requests")


@pytest.mark.parametrize("seed", range(8))
def test_what_leaves_under_a_plan_serves_its_own_query(seed: int) -> None:
    """Whatever the rest is served by: what an answer carries is chosen afresh."""
    rng = np.random.default_rng(seed)
    shape = SINGLES.utilities.shape[0], len(pairs(COUNT))
    singles = replace(
        SINGLES,
        utilities=rng.normal(0.1, 0.3, SINGLES.utilities.shape),
        pair_utilities=rng.normal(0.3, 0.3, shape),
    )
    model = replace(MANY, tables=replace(MANY.tables, singles=singles))
    for query in model.queries:
        decision = decide(Request(query.text), replace(POOLING, trade_off=0.1), Knowledge(), model)
        for each in decision.outcomes:
            planned_ = each.reason == "in the plan"
            assert (query.text in each.serves) == each.disclosed
            assert planned_ <= each.disclosed
