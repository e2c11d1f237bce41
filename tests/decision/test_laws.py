"""What a decision owes whoever relies on it, by every algorithm and in every mode."""

from dataclasses import replace
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.choice import LEAST, choice_of
from agent.decision.context import Limits, Terms
from agent.decision.knowledge import Knowledge
from agent.decision.values import Request
from agent.model.model import Model
from agent.tradeoff.search import EPSILON
from agent.tradeoff.tables import members
from policy.settings import Mode
from tests.decision.made import NAMES, World, decide, made_model, worlds

ROUNDING = 1e-9


@settings(max_examples=60)
@given(worlds(), st.sampled_from(["dynamic", "planned"]))
def test_what_this_request_pays_for_is_in_the_answer(world: World, mode: Mode) -> None:
    """A fact ruled auto, within the limits, whose help here is above its price (DESIGN.md 2.10)."""
    world = world.under(mode=mode, memory="remembers", excluded=world.terms.excluded | {"hours"})
    case = world.prepared()
    selected, persons = choice_of(case), case.anonymity_set.persons
    objective, mask = selected.objective, selected.result.mask
    portfolio, prices = mask, objective
    if selected.plan is not None:
        portfolio, prices = selected.plan.portfolio.mask, selected.plan.prices
    pairs_ = max(1, case.free.bit_count()) ** 2
    least = max(EPSILON / pairs_ * abs(selected.result.value), ROUNDING)
    for each in members(case.free & persons & ~mask & ~case.anonymity_set.disclosed):
        own = 1 << each
        gain = objective.utility(mask | own) - objective.utility(mask)
        dearer = prices.cost(portfolio | own) - prices.cost(portfolio)
        if objective.feasible(mask | own) and prices.feasible(portfolio | own):
            small = selected.plan is not None and gain < LEAST + ROUNDING
            assert small or (gain <= dearer + least and not (mode == "planned" and portfolio & own))


@given(worlds(forced=False), st.sampled_from(["dynamic", "standing"]))
def test_no_fact_would_better_be_left_out(world: World, mode: Mode) -> None:
    """By every algorithm: of F, or of F on the mean query for a stranger (DESIGN.md 2.4)."""
    case = world.under(mode=mode, limits=Limits())._replace(known=Knowledge()).prepared()
    selected = choice_of(case)
    objective, mask = selected.objective, selected.result.mask
    pairs_ = max(1, case.free.bit_count()) ** 2
    least = max(EPSILON / pairs_ * abs(selected.result.value), ROUNDING)
    for each in members(mask):
        assert objective.value(mask & ~(1 << each)) <= objective.value(mask) + least


def test_of_shuffled_people_hardly_anything_leaves() -> None:
    """Where nobody's facts say what they want, no noise is worth the price of a new fact."""
    model, sent, shared = shuffled(), 0, Terms(sensitivity=tuple((each, 0.02) for each in NAMES))
    for mode, query in product(("dynamic", "planned"), model.queries):
        terms = replace(shared, mode=mode)  # type: ignore[arg-type]  # of the two
        sent += len(decide(Request(query.text), terms, Knowledge(), model).disclosed)
    assert sent <= 0.1 * 2 * len(model.queries)


def shuffled() -> Model:
    """Return a model of many people, in which each query's intents are dealt out anew."""
    return made_model(6, people=2_000, queries=5, shuffled=True)
