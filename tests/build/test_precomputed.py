"""What a model stores near the sets of its decisions: it is what would be computed."""

from dataclasses import replace

import numpy as np
import pytest

from agent.decision.cache import Cache
from agent.decision.choice import uses_of
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.terms import Terms
from agent.decision.values import Request
from agent.errors import DamagedModelError
from agent.model.file import decode, encode, read, shipped_model
from agent.model.model import Model
from agent.model.tables import NEAR_MEASURES, Near
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.tables import singleton

CACHE = Cache()

MODELS = pytest.mark.parametrize("name", ["so2017", "atus"])
SOME = 12  # of the sets


def shipped(name: str) -> tuple[Model, Near]:
    """Return a model that is shipped, and what it has near the sets of its decisions."""
    model = read(shipped_model(name))
    assert model.tables.near is not None
    return model, model.tables.near


@MODELS
def test_utilities_are_those_that_decisions_use(name: str) -> None:
    """Of the set with each attribute added, and of the set itself for those in it."""
    model, near = shipped(name)
    for query in np.unique(near.queries)[::5].tolist():
        utility = uses_of(query, model, CACHE).utility()
        for mask, row in [*near.utilities_of(query).items()][::SOME]:
            computed = [utility.value(mask | singleton(each)) for each in range(len(row))]
            assert row == pytest.approx(computed, abs=1e-12)
        utility.forget()


@MODELS
def test_costs_are_those_that_are_computed(name: str) -> None:
    """By each measure, for a recipient that knows nothing."""
    model, near = shipped(name)
    people, count = AnonymitySet(model.population, model.cards), len(model.attributes)
    some = [*near.by_measure()[NEAR_MEASURES[0]]][:: len(near.priced) // SOME]
    for measure, rows in near.by_measure().items():
        for mask in some:
            sets = [mask | singleton(each) for each in range(count)]
            computed = [people.identifiability(each, measure, 1) for each in sets]
            assert rows[mask] == pytest.approx(computed, abs=1e-12)


@MODELS
def test_no_decision_is_worse_for_it(name: str) -> None:
    """By default, and for a recipient that knows something."""
    model, _ = shipped(name)
    plain = replace(model, tables=replace(model.tables, near=None))
    held = Knowledge(((model.attributes[1].name, 1),))
    for query in model.queries[::6]:
        for terms, knowledge in ((Terms(), Knowledge()), (Terms(trade_off=2.5), held)):
            with_it, without = (
                decide(Request(query.text), terms, knowledge, each) for each in (model, plain)
            )
            assert with_it.figures.objective >= without.figures.objective - 1e-9
            assert without.code == with_it.code


def test_it_is_written_and_read_whole() -> None:
    """And a query that the model lacks is refused."""
    model, near = shipped("so2017")
    again = decode(encode(model)).tables.near
    assert again is not None
    assert np.array_equal(again.utilities, near.utilities)
    wrong = replace(near, queries=np.full_like(near.queries, len(model.queries)))
    damaged = encode(replace(model, tables=replace(model.tables, near=wrong)))
    with pytest.raises(DamagedModelError, match="has a query beyond the 25 of the model"):
        decode(damaged)
