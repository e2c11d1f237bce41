"""A model brought up to date is the model of both periods' tables, to the last byte."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build import canonical, observe
from agent.build.build import model_of
from agent.build.observe import Observations
from agent.build.options import AttributeNote
from agent.build.shrinkage import fit
from agent.build.update import QueryDrift, Update, drifts, extended
from agent.build.validate import Fact
from agent.errors import BuildError, UsageError
from agent.model.attributes import Attribute
from agent.model.file import decode, encode
from agent.model.model import Model
from agent.model.reading import Classifier
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import Kinds, Population, members
from tests.build import naive
from tests.build.worlds import (
    QUIET,
    Row,
    World,
    learnable,
    observed,
    options,
    source,
    worlds,
)
from tests.tradeoff.naive import louo

pytestmark = QUIET


def quiet(_what: str, _share: float) -> None:
    """Take what is being done."""


def built(world: World, **changes: object) -> Model:
    """Return the model of small tables, as its file has it."""
    given = options(validation=False, **changes)
    return decode(encode(model_of(source(world), given, quiet)))


def updated(
    old: Model, world: World, half_life: float | None = None, **changes: object
) -> tuple[Model, list[QueryDrift]]:
    """Return a model and what has become of its queries."""
    drift: list[QueryDrift] = []
    made = Update(old, half_life, drift)(source(world), options(**changes), quiet)
    return made, drift


def plain(model: Model) -> bytes:
    """Return the file of a model that was not validated, and does not say how it was built."""
    queries = (replace(each, predicted_bits=None, heldout_bits=None) for each in model.queries)
    return encode(replace(model, queries=tuple(queries), options={}, validation={}))


def described(old: Model) -> dict[str, AttributeNote]:
    """Return what tells a build to keep the codes of a model."""
    return {each.name: AttributeNote(values=each.values[1:]) for each in old.attributes}


def both(one: World, other: World) -> World:
    """Return the tables of two periods."""
    return World(one.users + other.users[1:], one.events + other.events[1:])


def later(world: World) -> World:
    """Return tables with other user ids, but for those of nobody."""
    known = {row[0] for row in world.users[1:]}

    def renamed(rows: Sequence[Row]) -> tuple[Row, ...]:
        return tuple((f"new {row[0]}", *row[1:]) if row[0] in known else row for row in rows)

    return World(renamed(world.users), renamed(world.events))


@st.composite
def periods(draw: st.DrawFn) -> tuple[World, World]:
    """Draw the tables of two periods, with the same columns and different users."""
    persons, requests = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    return draw(worlds(persons, requests)), later(draw(worlds(persons, requests)))


@settings(max_examples=8)
@given(periods(), st.sampled_from(["louo", "plugin"]))
def test_without_a_half_life_it_is_a_build_of_both(
    pair: tuple[World, World], estimator: str
) -> None:
    """Of all that is counted, and of what was dropped."""
    old = built(pair[0], estimator=estimator)
    made, _ = updated(old, pair[1])
    whole = built(both(*pair), estimator=estimator, attributes=described(old))
    assert plain(made) == plain(whole)
    kept = {name: each for name, each in made.options.items() if name in whole.options}
    assert kept == dict(whole.options)


@settings(max_examples=8)
@given(periods(), st.sampled_from([0.3, 1.0, 4.0]))
def test_with_a_half_life_it_is_a_build_without_some_of_the_old(
    pair: tuple[World, World], half_life: float
) -> None:
    """People are gone with all their rows, by chance that the file and their place decide."""
    one, other = pair
    # An attribute that nobody shares, so that each of the model's people is one of the table's.
    one = World(
        tuple((*row, row[0] if at else "own") for at, row in enumerate(one.users)), one.events
    )
    other = World(
        tuple((*row, "" if at else "own") for at, row in enumerate(other.users)), other.events
    )
    old, seen = built(one), observed(one)
    gone = set()
    for place, user in enumerate(seen.users):
        text = f"{old.digest[:16]} {place}".encode()
        drawn = blake2b(text, key=b"reticent update", digest_size=8).digest()
        if int.from_bytes(drawn, "little") >= 0.5 ** (1 / half_life) * 2**64:
            gone.add(user)
    left = World(*(tuple(r for r in rows if r[0] not in gone) for rows in (one.users, one.events)))
    whole = built(both(left, other), attributes=described(old))
    assert plain(updated(old, other, half_life)[0]) == plain(whole)


@settings(max_examples=40)
@given(seen=learnable(), data=st.data())
def test_drift_is_what_the_old_rows_promise_and_the_new_ones_have(
    seen: Observations, data: st.DataObject
) -> None:
    """The sets of attributes are valued row by row; with all but one of them, too."""
    was = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(seen.users), max_size=len(seen.users)))
    )
    (query,) = seen.queries
    (drift,) = drifts(seen, was, options())
    trained = was[query.people][query.rows.user]
    known = [*map(int, query.rows.intent[trained])]
    new = [x not in known for x in query.rows.intent[~trained]]
    assert drift.unseen == pytest.approx(np.mean(new) if new else 0.0)
    part = query.part(was)
    if part is None or all(new):
        assert drift.trial is None
        return
    counts = tuple(Kinds.of(each.by_row[was]) for each in seen.population.requests)
    crowd = AnonymitySet(Population(seen.population.codes[was], None, counts), seen.cards)
    fitted = fit(part.rows, crowd, "louo", None)
    mask = maximise(fitted.objective, "lls").mask

    def promised(mask: int) -> float:
        luck = (naive.price_of(part.rows, each, fitted.shrinkage) for each in members(mask))
        return louo(part.rows, mask, fitted.shrinkage) - sum(luck) if mask else 0.0

    def helped(mask: int) -> float:
        return naive.heldout(query.rows, [*trained], fitted.shrinkage, mask) or 0.0

    assert drift.trial is not None
    assert drift.trial[:2] == pytest.approx((promised(mask), helped(mask)), abs=1e-9)
    for at in members(mask):
        less = mask & ~(1 << at)
        adds = Fact(promised(mask) - promised(less), helped(mask) - (helped(less) if less else 0))
        assert drift.facts[seen.attributes[at].name] == pytest.approx(adds, abs=1e-9)
    assert len(drift.facts) == mask.bit_count()


def asking(people: int, queries: Sequence[str], name: str = "", **more: str) -> World:
    """Return tables of people who each ask all queries once."""
    users = [(f"{name}{at}", "ab"[at % 2], *more.values()) for at in range(people)]
    events = [(user[0], query, user[1]) for user in users for query in queries]
    return World((("user", "p0", *more), *users), (("user", "query", "intent"), *events))


def test_rows_of_both_stand_for_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the old model has a sample, the new rows become one; with the limit kept."""
    for module in (canonical, observe):
        monkeypatch.setattr(module, "MOST_ROWS", 400)
    old = built(asking(2_000, ["large", "once"], period="old"))
    made, _ = updated(old, asking(1_000, ["large"], "new ", period="new"))
    large, once = made.queries
    assert (large.events, once.events) == (3_000, 2_000)
    assert large.rows <= 400
    assert made.population.rows == 3_000
    assert large.rows > 300
    was_new = made.rows(0).person[:, 1] - 1
    assert 0.2 < was_new.mean() < 0.47  # one in three, give or take four standard errors
    assert sum(made.tables.query_weights) == 5_000


def test_what_too_few_ask_is_gone() -> None:
    """By both periods together, and by the number that the model was built with."""
    old = built(asking(4, ["tea", "milk"]), min_users=4)
    made, drift = updated(old, asking(3, ["milk", "beer"], "new "), half_life=None)
    assert [each.text for each in made.queries] == ["milk", "tea"]
    assert made.options["dropped_thin_queries"] == 1
    assert made.options["dropped_thin_rows"] == 3
    assert [each.events for each in drift] == [(4, 3), (4, 0)]
    with pytest.raises(BuildError, match="no query has events from at least 4 users"):
        updated(old, asking(2, ["beer"], "new "), half_life=1e-6)
    assert (made.options["periods"], made.options["half_life"]) == (2, None)
    assert made.options["updated_from"] == old.digest
    again, _ = updated(decode(encode(made)), asking(3, ["milk"], "newer "))
    assert again.options["periods"] == 3


def test_weights_stand_for_as_many_people_as_the_new_ones() -> None:
    """Since both tables are samples of the same people."""
    old = built(asking(3, ["tea"], w="10"), weights="w")
    made, _ = updated(old, asking(5, ["tea"], "new ", w="30"), weights="w")
    assert made.people == pytest.approx(150)
    assert made.population.weights is not None
    found = sorted(made.population.weights.tolist())
    assert found == pytest.approx([10 * 150 / 180] * 3 + [30 * 150 / 180] * 5)
    world = asking(5, ["tea"], w="30")
    with pytest.raises(UsageError, match="have weights"):
        updated(old, world)
    with pytest.raises(UsageError, match="have no weights"):
        updated(built(asking(3, ["tea"])), world, weights="w")


def test_tables_must_have_what_the_model_has() -> None:
    """And may have more, in any order."""
    old = built(asking(3, ["tea"], p1="x"))
    with pytest.raises(BuildError, match="the users table has no column 'p1'"):
        updated(old, asking(3, ["tea"], "new "))
    made, _ = updated(old, asking(3, ["tea"], "new ", day="2", p1="y"))
    assert [each.values for each in made.attributes] == [
        ("unspecified", "a", "b"),
        ("unspecified", "x", "y"),
    ]
    many = World(
        (("user", "p0"), *((f"{at}", f"v{at}") for at in range(254))),
        asking(3, ["tea"]).events,
    )
    with pytest.raises(BuildError, match="has 256 different values"):
        updated(built(asking(2, ["tea"])), many)


@pytest.mark.parametrize("half_life", [0.0, -1.0, float("nan"), float("inf")])
def test_a_half_life_that_cannot_be(half_life: float) -> None:
    """It is a number of updates."""
    with pytest.raises(UsageError, match="half-life"):
        updated(built(asking(2, ["tea"])), asking(2, ["tea"], "new "), half_life)


def test_all_that_is_said_of_attributes_stays() -> None:
    """And a new value means what it is called, where the concept has such a value."""
    told = AttributeNote(
        title="drinks", concept="x.drinks", same_as={"a": "tea"}, sensitivity=0.5, words={"a": "t"}
    )
    old = built(asking(2, ["q"]), attributes={"p0": told})
    world = asking(2, ["q"], "new ")
    world = World((*world.users, ("one", "tea"), ("two", "c")), world.events)
    (found,) = updated(old, world)[0].attributes
    assert found == replace(
        old.attributes[0],
        values=("unspecified", "a", "b", "c", "tea"),
        value_concepts=("unspecified", "tea", "b", "c", None),
    )
    region = Attribute("g", "g", "person", ("unspecified",), concept="sex")
    assert extended(region, ("unspecified", "female", "nobody")).value_concepts[2] is None


def test_texts_are_read_as_before() -> None:
    """A query that is new has a class that no text is of, and one that went has none."""
    old = built(asking(3, ["milk", "tea"]), min_users=3)
    weights = np.arange(3 * 512, dtype=np.float32).reshape(3, 512) / 1e4
    classifier = Classifier(weights, np.array([1, 2, 3], np.float32), 1.5, 0.4)
    old = replace(
        old,
        tables=replace(old.tables, classifier=classifier),
        queries=tuple(replace(each, phrasings=(f"a {each.text}",)) for each in old.queries),
        validation={"reading_top1": 0.5},
    )
    old = decode(encode(old))
    made = decode(encode(updated(old, asking(3, ["beer", "tea"], "new "), half_life=1e-6)[0]))
    assert [each.text for each in made.queries] == ["beer", "tea"]
    assert [each.phrasings for each in made.queries] == [(), ("a tea",)]
    found = made.tables.classifier
    assert found is not None
    assert np.array_equal(found.weights[1:], weights[1:])
    vectors = np.random.default_rng(1).normal(size=(5, 512)).astype(np.float32)
    shares = found.probabilities(vectors)
    assert not shares[:, 0].any()
    assert made.validation["reading_top1"] == 0.5
    scores = classifier.scores(vectors)[:, 1:] / 1.5
    assert shares[:, 1] == pytest.approx(1 / (1 + np.exp(scores[:, 1] - scores[:, 0])))


def test_a_sample_of_people_stands_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the old people, or of the new ones; no column of weights is asked for."""
    one, other = asking(40, ["a"]), asking(60, ["a"], "n")
    whole = built(one)
    monkeypatch.setattr(observe, "MOST_PEOPLE", 20)
    old = built(one)
    assert old.options["sampled_from"] == 40
    made, _ = updated(old, other)
    assert made.options["sampled_from"] == round(made.people) == 60
    made, _ = updated(whole, other)  # no row is less than one person
    assert made.options["sampled_from"] == round(made.people) == 40 + 20 * 3 * 60 / 100
    monkeypatch.setattr(observe, "MOST_PEOPLE", 1_000)
    made, _ = updated(old, other)
    assert made.options["sampled_from"] == round(made.people) == 20 * 2 * 60 / 100 + 60


def test_as_many_queries_are_kept_as_before() -> None:
    """The most frequent of both periods, and their share of all events is said."""
    one, other = asking(20, ["a", "b"]), asking(40, ["b", "c"], "n")
    made, drift = updated(built(one, most_queries=1), other)
    assert [each.text for each in made.queries] == [each.text for each in drift] == ["b"]
    assert made.options["most_queries"] == 1
    assert made.options["dropped_rare_queries"] == 3
    assert made.options["share_of_events"] == pytest.approx(40 / 120)
