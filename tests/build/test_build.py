"""A model of tables: whole, writable, saying with what it was built and not who they were."""

import math
import os
from collections import defaultdict
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build import fitting, precomputed
from agent.build.build import model_of
from agent.build.fitting import SHRINKAGES
from agent.build.observe import observe
from agent.build.options import AttributeNote, BuildOptions, TableFiles, read_description
from agent.build.tables import open_tables
from agent.decision.cache import Cache
from agent.decision.choice import uses_of
from agent.decision.context import Terms
from agent.decision.knowledge import Knowledge
from agent.decision.values import Request
from agent.errors import UsageError
from agent.model.attributes import PRICES
from agent.model.file import SHIPPED, decode, encode, read, shipped_model
from agent.model.model import Model
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.tables import Rows, members, pairs
from agent.tradeoff.utility import COST_METRICS, NEAR_MEASURES, Estimator, query_utility
from tests.build.worlds import QUIET, World, few, options, source, worlds
from tests.decision.made import decide, judged, made_model
from tests.house.tree import ROOT
from tests.model.examples import same

pytestmark = QUIET


def built(world: World, **changes: object) -> Model:
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
    assert same(read, model)
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
        utility = query_utility(model.rows(query), model.cards, "louo", stored.shrinkage)
        assert stored.prior_entropy_bits == utility.limit
        kept = model.tables.singles.utilities_of(query)
        for mask in (*singles, *pairs(len(singles))):
            bits = figure(kept, mask)
            assert Cache().utility(model, query).value(mask) == bits
            prices = priced[query, [*members(mask)]]
            assert utility.value(mask) - prices.sum() == pytest.approx(bits, abs=1e-9)
    for metric, costs in zip(COST_METRICS, model.tables.singles.costs, strict=True):
        for attribute, cost in enumerate(costs):
            assert crowd.identifiability(1 << attribute, metric, 1) == cost
        for pair in pairs(len(singles)):
            cost = figure(model.tables.costs()[metric], pair)
            assert crowd.identifiability(pair, metric, 1) == cost


def figure(rows: Rows, mask: int) -> float:
    """Look up the figure of a set in the row of the set without its last attribute."""
    *_, last = members(mask)
    return float(rows[mask & ~(1 << last)][last])


def test_a_model_says_with_what_it_was_built() -> None:
    """And how much of the tables it does not hold: each event is dropped for its first reason."""
    world = World(
        users=(("user", "region"), ("1", "coast"), ("2", "hills"), ("3", "")),
        events=(
            ("user", "query", "intent"),
            *((user, "tea", "green") for user in "1123"),
            ("1", "rare", "x"),
            *(("4", "tea", "black"), ("4", "", ""), ("", "tea", "black")),
            *(("1", " ", ""), ("1", "tea", "")),
        ),
    )
    titled = {"region": AttributeNote(title="part")}
    model = built(world, id="m", source="s", licence="l", attributes=titled, min_users=2)
    assert (model.id, model.source, model.licence, model.estimator) == ("m", "s", "l", "louo")
    assert model.attributes[0].title == "part"
    assert dict(model.options) == {
        "half": None,
        "min_users": 2,
        "shrinkage": "auto",
        "dropped_unknown_user": 3,
        "dropped_no_query": 1,
        "dropped_no_intent": 1,
        "dropped_thin_queries": 1,
        "dropped_thin_rows": 1,
    }
    (query,) = model.queries
    assert (query.text, query.rows, query.users, query.intents) == ("tea", 4, 3, ("green",))
    assert model.tables.query_weights.tolist() == [4.0]


def test_validation_finds_what_is_there_to_be_found() -> None:
    """Where one attribute decides, half of the people foretell the other half; it can be left out.

    Then the model says nothing of what held-out users get, and all else is the same.
    """
    users = [(str(i), "ab"[i % 2], "cd"[i // 2 % 2]) for i in range(400)]
    events = [(user, "q", {"a": "x", "b": "y"}[value]) for user, value, _ in users]
    world = World((("user", "p0", "p1"), *users), (("user", "query", "intent"), *events))
    model, bare = built(world), built(world, validation=False)
    assert model.validation["queries"] == 1
    for figure in (model.queries[0].predicted_bits, model.queries[0].heldout_bits):
        assert figure is not None
        assert figure == pytest.approx(1.0, abs=0.1)
    assert model.validation["attributes"] == 1.0
    queries = tuple(replace(each, predicted_bits=None, heldout_bits=None) for each in model.queries)
    assert same(bare, replace(model, queries=queries, validation={}))


def test_progress_is_told_in_order() -> None:
    """Every stage from its first to its last step; what the first query takes is no measure."""
    told: list[tuple[str, float]] = []
    users = [(str(i), "ab"[i % 2]) for i in range(20)]
    events = [(user, query, value) for user, value in users for query in "qrs"]
    world = World((("user", "p0"), *users), (("user", "query", "intent"), *events))
    model_of(source(world), options(), lambda what, share: told.append((what, share)))
    counting = [share for what, share in told if what == "counting"]
    assert counting == sorted(counting)
    assert {*counting} > {0.0, 1.0}
    stages, shares = ("validating", "choosing the shrinkage"), (0.0, 0.0, 0.5, 1.0)
    assert told[len(counting) :] == [(stage, share) for stage in stages for share in shares]


def test_options_that_cannot_be_are_refused_before_any_table_is_read() -> None:
    """Phrasings without a background too: else everything would be read as one of the queries."""
    wrong: list[dict[str, object]] = [{"min_users": 0}, {"phrasings": Path("x.csv")}]
    wrong += [{"shrinkage": each} for each in (0.0, -1.0, math.nan, math.inf)]
    for changes in (*wrong, {"shrinkage": -1.0, "estimator": "plugin"}):
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
    tables = [
        [(renamed.get(row[0], row[0]), *row[1:]) for row in data.draw(st.permutations(rows))]
        for rows in (users, world.events[1:])
    ]
    shuffled = World((header, *tables[0]), (world.events[0], *tables[1]))
    one, other = (built(each, shrinkage=20.0) for each in (world, shuffled))
    assert encode(one) == encode(built(world, shrinkage=20.0))
    tensors = one.tables.tensors(), other.tables.tensors()
    assert tensors[0].keys() == tensors[1].keys()
    assert all(np.array_equal(tensors[0][each], tensors[1][each]) for each in tensors[0])
    assert one.attributes == other.attributes
    assert one.options == other.options
    for mine, theirs in zip(one.queries, other.queries, strict=True):
        # who is in which half depends on the names, and so do the figures of validation
        assert (mine.text, mine.intents, mine.rows) == (theirs.text, theirs.intents, theirs.rows)
    # People are in order of their codes, and so are the users of each query.
    ordered = [one.population.codes]
    for query in range(len(one.queries)):
        rows = one.rows(query)
        assert np.all(np.diff(rows.user) >= 0)
        ordered += [rows.person, np.column_stack([rows.user, rows.intent, rows.request])]
    assert all(each.tolist() == sorted(each.tolist()) for each in ordered)


DATA = ROOT / "examples" / "data"
PEOPLE = 18_991


def test_a_shipped_model_holds_its_tables() -> None:
    """All questions and people; only titles and the like come from elsewhere."""
    model, folder = read(shipped_model("so2017")), DATA / "so2017"
    tables = TableFiles(*(folder / f"{each}.csv.gz" for each in ("users", "events")))
    described = read_description(folder / "model.toml")
    given = BuildOptions(**tables._asdict(), description=described)
    seen = observe(open_tables(*tables), given)
    assert [query.text for query in model.queries] == [query.text for query in seen.queries]
    assert np.array_equal(model.population.codes, seen.population.codes)
    assert (len(model.queries), model.population.rows) == (25, PEOPLE)
    assert seen.population.weights is model.population.weights is None
    for number, query in enumerate(seen.queries):
        rows = model.rows(number)
        assert model.queries[number].intents == query.intents
        for each in ("user", "intent", "person", "request"):
            assert np.array_equal(getattr(rows, each), getattr(query.rows, each))
    assert model.attributes == seen.attributes


def test_the_models_know_the_same_facts_by_the_same_concepts() -> None:
    """What they share, value by value, and nothing else; `occupation` means two things."""
    everyday, so2017 = (read(shipped_model(name)).attributes for name in SHIPPED)
    theirs = {each.concept: each for each in so2017}
    shared = {}
    for each in everyday:
        if each.concept in theirs:
            other = theirs[each.concept]
            both = {*each.value_concepts} & {*other.value_concepts} - {None, "unspecified"}
            shared[each.name, other.name] = both
    schools = {"high_school", "some_college", "bachelor", "master"}
    assert shared == {("sex", "gender"): {"female", "male"}, ("education", "education"): schools}


def test_the_models_are_what_their_pages_promise() -> None:
    """One counts people, and prices sensitive facts; the other meets the bars of issue 2."""
    model = read(shipped_model())
    assert model.people == pytest.approx(241e6, rel=0.01)
    assert model.stands_for == "people of the US aged 15 and up"
    priced = {each.name: each.sensitivity for each in model.attributes}
    assert {*priced.values()} == {*PRICES}
    assert max(priced["diet"], priced["pets"]) < priced["place"] < priced["income"]
    assert not {"weight", "year"} & priced.keys()
    model = read(shipped_model("so2017"))
    heldout = [query.heldout_bits for query in model.queries]
    predicted = [query.predicted_bits for query in model.queries]
    assert None not in heldout
    mean = np.mean(np.array(heldout, dtype=float))
    assert mean >= 0.125
    assert np.mean(np.array(predicted, dtype=float)) == pytest.approx(mean, rel=0.05)
    assert model.validation["heldout_bits"] == pytest.approx(mean)


def test_what_decisions_look_at_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the model alone and in one world; with each attribute added, as it would be computed.

    Also of a fact that both have, with values that the world lacks.
    """
    everyday = judged(made_model(3, people=200, queries=5), 3)
    monkeypatch.setattr(precomputed, "FEWEST", 10)
    monkeypatch.setattr(precomputed, "read", lambda _: everyday)
    rng = np.random.default_rng(5)
    people = [(f"u{at}", *rng.choice(["a", "b", "c"], 4)) for at in range(80)]
    events = [
        (name, query, values[at % 4] if rng.random() < 0.8 else "x")
        for at, query in enumerate(("editor", "lint", "debug", "deploy"))
        for name, *values in people
    ]
    users = (("user", "p0", "p1", "p2", "p3"), *people)
    model = built(World(users, (("user", "query", "intent"), *events)), shrinkage=5.0)
    pairs = zip(model.attributes, everyday.attributes, strict=False)
    model = replace(model, attributes=tuple(replace(e, concept=o.concept) for e, o in pairs))
    stages, cache = defaultdict[str, list[float]](list), Cache()
    near = precomputed.precomputed(model, lambda what, share: stages[what].append(share))
    assert near is not None
    assert [*stages] == [precomputed.STAGE.format(each + 1, 4) for each in range(4)]
    assert all(each == sorted(each) and (each[0], each[-1]) == (0, 1) for each in stages.values())
    for query in range(len(model.queries)):
        utility = uses_of(query, model, cache).utility()
        stored = near.utilities_of(query)
        assert stored
        for mask, row in stored.items():
            computed = [utility.value(mask | 1 << each) for each in range(4)]
            assert row == pytest.approx(computed, abs=1e-12)
    monkeypatch.setattr(fitting, "MUCH", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    by_several = precomputed.precomputed(model)
    assert by_several is not None
    assert all(
        np.array_equal(*each) for each in zip(astuple(near), astuple(by_several), strict=True)
    )


SOME = 16  # of the sets


def test_what_is_stored_near_decisions_is_what_is_computed() -> None:
    """Of the set with each attribute added, and of the set itself for those in it; by each measure.

    So no decision is worse for it, by default and for a recipient that knows something.
    """
    model, cache = read(shipped_model("so2017")), Cache()
    near, count = model.tables.near, len(model.attributes)
    assert near is not None
    assert same(decode(encode(model)), model)
    for query in np.unique(near.queries)[::24].tolist():
        utility = uses_of(query, model, cache).utility()
        for mask, row in [*near.utilities_of(query).items()][::SOME]:
            computed = [utility.value(mask | 1 << each) for each in range(count)]
            assert row == pytest.approx(computed, abs=1e-12)
    people = AnonymitySet(model.population, model.cards)
    some = [*near.by_measure()[NEAR_MEASURES[0]]][:: len(near.priced) // SOME]
    for measure, rows in near.by_measure().items():
        for mask in some:
            sets = [mask | 1 << each for each in range(count)]
            computed = [people.identifiability(each, measure, 1) for each in sets]
            assert rows[mask] == pytest.approx(computed, abs=1e-12)
    plain = replace(model, tables=replace(model.tables, near=None))
    held = Knowledge(((model.attributes[1].name, 1),))
    for each in model.queries[::24]:
        for terms, knowledge in ((Terms(), Knowledge()), (Terms(trade_off=2.5), held)):
            stored, bare = (
                decide(Request(each.text), terms, knowledge, one) for one in (model, plain)
            )
            assert stored.figures.objective >= bare.figures.objective - 1e-9
            assert stored.code == bare.code
