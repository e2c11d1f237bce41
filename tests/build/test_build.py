"""A model of tables: whole, writable, saying with what it was built and not who they were."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build.build import model_of
from agent.build.fitting import SHRINKAGES
from agent.build.options import AttributeNote
from agent.decision.cache import Cache
from agent.errors import UsageError
from agent.model.file import decode, encode
from agent.model.model import Model
from agent.model.tables import COST_METRICS
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.tables import members, pairs
from agent.tradeoff.utility import Estimator, query_utility
from tests.build.worlds import QUIET, World, few, options, source, worlds

pytestmark = QUIET


def built(world: World, **changes: object) -> Model:
    """Return the model of small tables."""
    return model_of(source(world), options(**changes), lambda _what, _share: None)


@few(4)
@given(
    world=worlds(),
    estimator=st.sampled_from(["louo", "plugin"]),
    shrinkage=st.none() | st.sampled_from([1e-6, 7.0]),
)
def test_every_model_fits_the_format(
    world: World, estimator: Estimator, shrinkage: float | None
) -> None:
    """What is built can be written, and is read back as it was."""
    model = built(world, estimator=estimator, shrinkage=shrinkage)
    read = decode(encode(model))
    assert read.tables == model.tables
    assert (read.attributes, read.queries) == (model.attributes, model.queries)
    assert read.validation == model.validation
    for query in model.queries:
        assert query.shrinkage in (SHRINKAGES if shrinkage is None else (shrinkage,))
        assert (query.predicted_bits is None) == (query.heldout_bits is None)


@few(4)
@given(world=worlds())
def test_what_is_stored_of_single_attributes_is_what_is_computed(world: World) -> None:
    """Bit for bit, so that a search may take it for its own."""
    model = built(world)
    crowd, priced = AnonymitySet(model.population, model.cards), model.tables.singles.prices
    assert priced is not None
    singles = [1 << each for each in range(len(model.cards))]
    for query, stored in enumerate(model.queries):
        rows = model.rows(query)
        utility = query_utility(rows, model.cards, "louo", stored.shrinkage)
        assert stored.prior_entropy_bits == utility.limit
        kept = model.tables.singles.utilities_of(query)
        for mask in (*singles, *pairs(len(singles))):
            bits = kept.get(mask)
            assert Cache().utility(model, query).value(mask) == bits
            prices = priced[query, [*members(mask)]]
            assert utility.value(mask) - prices.sum() == pytest.approx(bits, abs=1e-9)
    for metric, costs in zip(COST_METRICS, model.tables.singles.costs, strict=True):
        for attribute, cost in enumerate(costs):
            assert crowd.identifiability(1 << attribute, metric, 1) == cost
        for pair in pairs(len(singles)):
            cost = model.tables.costs()[metric].get(pair)
            assert crowd.identifiability(pair, metric, 1) == cost


def test_a_model_says_with_what_it_was_built() -> None:
    """And how much of the tables it does not hold."""
    world = World(
        users=(("user", "region"), ("1", "coast"), ("2", "hills"), ("3", "")),
        events=(
            ("user", "query", "intent"),
            *((user, "tea", "green") for user in "1123"),
            ("1", "rare", "x"),
            ("4", "tea", "black"),
        ),
    )
    model = built(
        world,
        id="m",
        source="s",
        licence="l",
        attributes={"region": AttributeNote(title="part")},
        min_users=2,
    )
    assert (model.id, model.source, model.licence, model.estimator) == ("m", "s", "l", "louo")
    assert model.attributes[0].title == "part"
    assert dict(model.options) == {
        "half": None,
        "min_users": 2,
        "shrinkage": "auto",
        "dropped_unknown_user": 1,
        "dropped_no_query": 0,
        "dropped_no_intent": 0,
        "dropped_thin_queries": 1,
        "dropped_thin_rows": 1,
    }
    (query,) = model.queries
    assert (query.text, query.rows, query.users, query.intents) == ("tea", 4, 3, ("green",))
    assert model.tables.query_weights.tolist() == [4.0]


def test_validation_finds_what_is_there_to_be_found() -> None:
    """Where one attribute decides, half of the people foretell the other half."""
    users = [(str(i), "ab"[i % 2], "cd"[i // 2 % 2]) for i in range(400)]
    events = [(user, "q", {"a": "x", "b": "y"}[value]) for user, value, _ in users]
    model = built(World((("user", "p0", "p1"), *users), (("user", "query", "intent"), *events)))
    assert model.validation["queries"] == 1
    for figure in (model.queries[0].predicted_bits, model.queries[0].heldout_bits):
        assert figure is not None
        assert figure == pytest.approx(1.0, abs=0.1)
    assert model.validation["attributes"] == 1.0


def test_a_model_need_not_be_validated() -> None:
    """Then it says nothing of what held-out users get, and all else is the same."""
    users = [(str(i), "ab"[i % 2]) for i in range(40)]
    events = [(user, "q", value) for user, value in users]
    world = World((("user", "p0"), *users), (("user", "query", "intent"), *events))
    whole, bare = built(world), built(world, validation=False)
    assert whole.validation
    assert not bare.validation
    assert bare.queries == tuple(
        replace(each, predicted_bits=None, heldout_bits=None) for each in whole.queries
    )
    assert bare == replace(whole, queries=bare.queries, validation={})


def test_progress_is_told_in_order() -> None:
    """Every stage from its first to its last step."""
    told: list[tuple[str, float]] = []
    users = [(str(i), "ab"[i % 2]) for i in range(20)]
    events = [(user, query, value) for user, value in users for query in "qr"]
    world = World((("user", "p0"), *users), (("user", "query", "intent"), *events))
    model_of(source(world), options(), lambda what, share: told.append((what, share)))
    counting = [share for what, share in told if what == "counting"]
    assert counting == sorted(counting)
    assert {*counting} > {0.0, 1.0}
    assert told[len(counting) :] == [
        ("choosing the shrinkage", 0.5),
        ("choosing the shrinkage", 1.0),
        ("validating", 0.5),
        ("validating", 1.0),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"min_users": 0},
        {"shrinkage": 0.0},
        {"shrinkage": -1.0},
        {"shrinkage": math.nan},
        {"shrinkage": math.inf},
        {"shrinkage": -1.0, "estimator": "plugin"},
        {"phrasings": Path("x.csv")},  # else everything would be read as one of the queries
    ],
)
def test_options_that_cannot_be(changes: dict[str, object]) -> None:
    """Are refused before any table is read."""
    with pytest.raises(UsageError):
        options(**changes)


FEW = few(3)


@FEW
@given(world=worlds(), data=st.data())
def test_a_model_does_not_tell_how_users_were_called_or_ordered(
    world: World, data: st.DataObject
) -> None:
    """The same tables give the same bytes; other names and another order change no number."""
    header, *users = world.users
    names = data.draw(st.permutations([row[0] for row in users]), "names")
    renamed = dict(zip((row[0] for row in users), names, strict=True))
    shuffled = World(
        users=(header, *_renamed(data.draw(st.permutations(users), "users"), renamed)),
        events=(
            world.events[0],
            *_renamed(data.draw(st.permutations(world.events[1:]), "events"), renamed),
        ),
    )
    one, other = (built(each, shrinkage=20.0) for each in (world, shuffled))
    assert encode(one) == encode(built(world, shrinkage=20.0))
    assert one.tables == other.tables
    assert one.attributes == other.attributes
    assert one.options == other.options
    for mine, theirs in zip(one.queries, other.queries, strict=True):
        # who is in which half depends on the names, and so do the figures of validation
        assert (mine.text, mine.intents, mine.rows) == (theirs.text, theirs.intents, theirs.rows)
    # People are in order of their codes, and so are the users of each query.
    assert _ascending(one.population.codes.tolist())
    for query in range(len(one.queries)):
        rows = one.rows(query)
        assert _ascending(rows.person.tolist())
        assert np.all(np.diff(rows.user) >= 0)
        assert _ascending(np.column_stack([rows.user, rows.intent, rows.request]).tolist())


def _renamed(rows: Sequence[tuple[str, ...]], names: dict[str, str]) -> list[tuple[str, ...]]:
    return [(names.get(row[0], row[0]), *row[1:]) for row in rows]


def _ascending(rows: list[list[int]]) -> bool:
    return rows == sorted(rows)
