"""What plans make of queries that say little: their utility is drawn towards the mean of all."""

from dataclasses import replace

import numpy as np
import pytest

from agent.decision.decide import decide
from agent.decision.explain import explain
from agent.decision.planned import OWN_ROWS, REST, planned, pooled_uses
from agent.decision.request import Knowledge, Request
from agent.decision.settings import case_of
from agent.decision.terms import Terms
from agent.model.model import Model
from agent.model.tables import COST_METRICS
from agent.tradeoff.sets import pairs, singleton
from tests.decision.made import CARDS, NAMES, made_model

COUNT = len(CARDS)
MANY = made_model(3, queries=5)
PLANNED = Terms(mode="planned")
FIRST, REGION = MANY.queries[0].text, NAMES.index("region")


def with_pairs(model: Model) -> Model:
    """Return the model with the utilities and costs of pairs, as a build leaves them."""
    sets, queries = pairs(COUNT), range(len(model.queries))
    both = np.array([[model.utility(query).value(pair) for pair in sets] for query in queries])
    crowd = model.crowd()
    costs = np.array(
        [[crowd.identifiability(pair, each, 1) for pair in sets] for each in COST_METRICS]
    )
    singles = replace(model.tables.singles, pair_utilities=both, pair_costs=costs)
    return replace(model, tables=replace(model.tables, singles=singles))


def believing(region: list[float]) -> Model:
    """Return the model with a utility of the region for each query, and of nothing else."""
    utilities = np.zeros((len(region), COUNT))
    utilities[:, REGION] = region
    singles = replace(MANY.tables.singles, utilities=utilities)
    return replace(MANY, tables=replace(MANY.tables, singles=singles))


@pytest.mark.parametrize("model", [MANY, with_pairs(MANY)], ids=["singles", "with pairs"])
def test_each_query_goes_part_of_the_way_to_the_mean(model: Model) -> None:
    """The fewer rows it has the farther; singles and pairs by their true mean."""
    weights = model.tables.query_weights / model.tables.query_weights.sum()
    known = [singleton(each) for each in range(COUNT)]
    known += [] if model.tables.singles.pair_utilities is None else pairs(COUNT)
    for query, each in enumerate(model.queries):
        share = (5 - 3) / (5 - 1) * OWN_ROWS / (each.rows + OWN_ROWS)
        for mask in known:
            own = [model.utility(place).value(mask) for place in range(5)]
            drawn = (1 - share) * own[query] + share * float(weights @ own)
            assert pooled_uses(query, model).value(mask) == pytest.approx(drawn)


@pytest.mark.parametrize("queries", [1, 2, 3])
def test_a_few_queries_are_believed_as_they_are(queries: int) -> None:
    """Their mean says nothing about another one: James and Stein need more than three."""
    model = made_model(3, queries=queries)
    for query in range(queries):
        uses, utility = pooled_uses(query, model), model.utility(query)
        for mask in range(1 << COUNT):
            assert uses.value(mask) == pytest.approx(utility.value(mask), abs=1e-12)


def test_what_was_not_asked_counts_a_little() -> None:
    """By what the mean query gains of the whole plan: enough for a fact that all but one want."""
    model = believing([-1.0, 0.5, 0.5, 0.5, 0.5])
    mean = model.tables.singles.mean_of(model.tables.query_weights).utilities[0, REGION]
    terms = replace(PLANNED, trade_off=0.0)
    plan = planned(case_of(Request(FIRST), terms, Knowledge(), model), 0, model, 0)
    assert plan.portfolio.mask == plan.portfolio.uses[-1] == singleton(REGION)
    assert plan.portfolio.uses[:-1] == (0,)
    assert plan.portfolio.value == pytest.approx(REST * (1 - plan.shares[0]) * mean)
    nobody = believing([-4.0, 0.5, 0.5, 0.5, 0.5])
    assert decide(Request(FIRST), terms, Knowledge(), nobody).disclosed == ()
    plan = planned(case_of(Request(FIRST), terms, Knowledge(), nobody), 0, nobody, 0)
    assert plan.portfolio.order == ()


def test_a_fact_for_what_may_be_asked_is_said_to_be_for_that() -> None:
    """It is in the plan, no query that was asked uses it, and it does not leave."""
    model, terms = believing([-1.0, 0.5, 0.5, 0.5, 0.5]), replace(PLANNED, trade_off=0.0)
    decision = decide(Request(FIRST), terms, Knowledge(), model)
    region = decision.candidates[REGION]
    assert (region.name, region.disclosed, region.serves) == ("region", False, ())
    assert region.reason == "planned for other requests"
    assert dict(explain(decision).lines)["plan"] == "region for what else may be asked"
