"""What plans make of queries that say little: their utility is pooled with the mean of all."""

from dataclasses import replace

import numpy as np
import pytest

from agent.decision.cache import Cache
from agent.decision.choice import OWN_ROWS, REST, planned, uses_of
from agent.decision.context import Context, prepare
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.terms import Terms
from agent.decision.values import Request
from agent.model.model import Model
from agent.tradeoff.plan import Pairwise
from agent.tradeoff.tables import pairs, singleton
from agent.words.decisions import lines
from tests.decision.made import CARDS, NAMES, made_model

CACHE = Cache()

COUNT = len(CARDS)
MANY = made_model(3, queries=5)
PLANNED = Terms(mode="planned")
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
    context = Context(Request(FIRST), PLANNED, Knowledge(), model)
    assert planned(prepare(context), 0).portfolio.uses[-1] == 0


@pytest.mark.parametrize("queries", [1, 2, 3])
def test_a_few_queries_are_believed_as_they_are(queries: int) -> None:
    """Their mean says nothing about another one: James and Stein need more than three."""
    model = made_model(3, queries=queries)
    for query in range(queries):
        uses, utility = uses_of(query, model, CACHE), CACHE.utility(model, query)
        for mask in range(1 << COUNT):
            assert uses.value(mask) == pytest.approx(utility.value(mask), abs=1e-12)


def test_what_was_not_asked_counts_a_little() -> None:
    """By what the mean query gains of the whole plan: enough for a fact that all but one want."""
    model = believing([-1.0, 0.5, 0.5, 0.5, 0.5])
    mean = model.tables.singles.mean_of(model.tables.query_weights).utilities[0, REGION]
    terms = replace(PLANNED, trade_off=0.0)
    plan = planned(prepare(Context(Request(FIRST), terms, Knowledge(), model)), 0)
    assert plan.portfolio.mask == plan.portfolio.uses[-1] == singleton(REGION)
    assert plan.portfolio.uses[:-1] == (0,)
    assert plan.portfolio.value == pytest.approx(REST * (1 - plan.shares[0]) * mean)
    nobody = believing([-4.0, 0.5, 0.5, 0.5, 0.5])
    plan = planned(prepare(Context(Request(FIRST), terms, Knowledge(), nobody)), 0)
    assert plan.portfolio.order == ()


def test_a_fact_for_what_may_be_asked_is_said_to_be_for_that() -> None:
    """It is in the plan, no query that was asked uses it, and it does not leave."""
    model, terms = believing([-1.0, 0.5, 0.5, 0.5, 0.5]), replace(PLANNED, trade_off=0.0)
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
        decision = decide(Request(query.text), replace(PLANNED, trade_off=0.1), Knowledge(), model)
        for each in decision.outcomes:
            planned_ = each.reason == "in the plan"
            assert (query.text in each.serves) == each.disclosed
            assert planned_ <= each.disclosed
