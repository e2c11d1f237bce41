"""What a recipient holds, a fold over what it was told; and what that tells of guarded facts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from math import isclose, log2

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.decision import knowledge
from agent.decision.context import Limits, Terms, prepare
from agent.decision.knowledge import (
    LATEST,
    Holdings,
    Knowledge,
    inferred,
    knowledge_in,
    share_of,
    unmatched,
)
from agent.decision.values import Request
from agent.errors import UsageError
from agent.model.attributes import UNSPECIFIED, Attribute
from agent.model.model import Concepts, Meaning, Model, meaning_of
from agent.tradeoff.tables import Population
from policy.hosts import site_of
from tests.decision.made import CARDS, NAMES, PERSONS, QUERIES, World, made_model, model_of, worlds
from tests.decision.transcripts import Forgotten, Told, knowledge_of

NOW = datetime(2027, 3, 8, 12, tzinfo=UTC)
SITES = ("a.test", "b.test", "shop.example")
HOSTS = st.sampled_from(["a.test", "www.b.test", "shop.example"])
ASKED = st.none() | st.integers(0, 2)
CODES = st.dictionaries(st.sampled_from(["age", "region", "job"]), st.integers(0, 2), max_size=3)


@st.composite
def histories(draw: st.DrawFn) -> list[Told | Forgotten]:
    """Draw what happened around the last seven days, mostly in order: a clock may be set back."""
    hours = draw(st.lists(st.integers(-200, 5), max_size=10))
    return [
        Forgotten(NOW + timedelta(hours=each), draw(st.frozensets(st.sampled_from(SITES))))
        if draw(st.integers(0, 5)) == 0
        else Told(NOW + timedelta(hours=each), draw(HOSTS), tuple(draw(CODES).items()), draw(ASKED))
        for each in (sorted(hours) if draw(st.booleans()) else hours)
    ]


def folded(events: Sequence[Told | Forgotten], now: datetime = NOW) -> Knowledge:
    """Return what is held, kept up event by event."""
    holdings = Holdings[int]()
    for event in events:
        if isinstance(event, Forgotten):
            holdings.forget(event.sites)
        else:
            holdings.add_facts(event.at, site_of(event.host), event.codes)
            meant = [] if event.query is None else [(event.query, 1.0)]
            holdings.add_query(site_of(event.host), meant)
    codes = tuple(sorted((name, fact.value) for name, fact in holdings.held.items()))
    return Knowledge(codes, holdings.recent(now), tuple(sorted(holdings.times.items())))


BOTH_WERE_TOLD = [
    *(Told(NOW, host, (("age", 1),)) for host in ("a.test", "www.b.test")),
    Forgotten(NOW, frozenset({"a.test"})),
]


@given(histories(), st.integers(-200, 400))
@example(BOTH_WERE_TOLD, 0)
def test_it_is_the_plain_fold_over_all_that_happened(
    events: list[Told | Forgotten], hours: int
) -> None:
    """The latest values that were not forgotten, what was new this week, what was asked."""
    now = NOW + timedelta(hours=hours)
    assert folded(events, now) == knowledge_of(events, "all", lambda _: "all", now)


@given(CODES, CODES)
def test_one_more_answer(held: dict[str, int], more: dict[str, int]) -> None:
    """It adds what it says to what was held."""
    events = [Told(NOW, "a.test", tuple(codes.items())) for codes in (held, more)]
    assert folded(events).codes == folded(events[:1]).with_facts(more).codes


def test_only_the_latest_requests_of_a_site_count() -> None:
    """Of each site for itself."""
    many = [Told(NOW, "a.test", (), place // LATEST) for place in range(2 * LATEST - 1)]
    events = [Told(NOW, "www.b.test", (), 2), *many]
    assert folded(events).queries == ((0, 1), (1, LATEST - 1), (2, 1))
    assert folded([*events, Forgotten(NOW, frozenset(SITES))]) == Knowledge()


def test_the_seven_days() -> None:
    """Not the moment a week ago, and what a clock set back left in the future; all stays known."""
    for hours, recent in ((-168, 0), (-167.99, 1), (-1, 1), (0, 1), (30, 1), (-1000, 0)):
        events = [Told(NOW + timedelta(hours=hours), "shop.example", (("age", 1),))]
        assert folded(events) == Knowledge((("age", 1),), recent)


MODEL = made_model(1, people=300)
ROWS = MODEL.population.codes.tolist()
Held = dict[str, int]


def held() -> st.SearchStrategy[Held]:
    """Draw what a recipient may hold, unspecified included."""
    return st.fixed_dictionaries(
        {},
        optional={
            name: st.integers(0, card - 1)
            for name, card in zip(NAMES[:PERSONS], CARDS[:PERSONS], strict=True)
        },
    )


def said(name: str, agree: Held) -> list[int]:
    """Return what the people who agree say of an attribute, those who say nothing left out."""
    rows = [row for row in ROWS if all(row[NAMES.index(n)] == code for n, code in agree.items())]
    return [row[NAMES.index(name)] for row in rows if row[NAMES.index(name)]]


def bits(codes: list[int]) -> float:
    shares = [count / len(codes) for count in Counter(codes).values()]
    return -sum(share * log2(share) for share in shares)


def best(codes: list[int]) -> float:
    """Return the share of the most frequent."""
    return max(Counter(codes).values()) / len(codes)


@given(held(), st.sampled_from(NAMES[:PERSONS]))
def test_it_is_a_sum_over_the_people_who_agree(agree: Held, name: str) -> None:
    """And nothing is said where fewer than thirty of them specify it."""
    [found] = inferred([name], Knowledge().with_facts(agree), MODEL)
    before, after = said(name, {}), said(name, agree)
    assert found.name == name
    assert found.bits_in_all == pytest.approx(bits(before))
    assert found.by_chance == pytest.approx(best(before))
    few = len(after) < 30
    assert found.bits == pytest.approx(0.0 if few else bits(before) - bits(after), abs=1e-9)
    assert found.best_guess == pytest.approx(0.0 if few else best(after))


@given(held())
def test_who_holds_nothing_is_told_nothing(agree: Held) -> None:
    """Nor one whose values nobody has; each guarded name is answered, in the order given."""
    names = [*agree]
    with pytest.raises(UsageError):
        inferred(["shoe_size"], Knowledge(), MODEL)
    for nothing in (Knowledge(), None):
        found = inferred(names, nothing, MODEL)
        assert [each.name for each in found] == names
        for each in found:
            assert each.bits == pytest.approx(0.0)
            assert each.best_guess == (0.0 if nothing is None else each.by_chance)


FACTS = ("sex", "age", "work", "town", "hobby")
VALUES = (UNSPECIFIED, "a", "b")
BLANK = made_model(1, people=2, queries=1)


def table(
    name: str,
    concepts: Sequence[str],
    rows: Sequence[Sequence[int]],
    weights: Sequence[float] | None = None,
    stands_for: str = "people",
) -> Model:
    """Return a model of people: rows of codes, in the order of the concepts."""
    attributes = tuple(
        Attribute(name=f"x{place}", title=each, scope="person", values=VALUES, concept=each)
        for place, each in enumerate(concepts)
    )
    codes = np.array(rows, dtype=np.uint8).reshape(len(rows), len(concepts))
    people = Population(codes, None if weights is None else np.array(weights, dtype=np.float64))
    tables = replace(BLANK.tables, population=people)
    return replace(BLANK, id=name, attributes=attributes, tables=tables, stands_for=stands_for)


@st.composite
def tables(draw: st.DrawFn, name: str) -> Model:
    """Draw a small model; not all stand for the same people."""
    concepts = draw(st.lists(st.sampled_from(FACTS), min_size=1, max_size=3, unique=True))
    row = st.lists(st.integers(0, 2), min_size=len(concepts), max_size=len(concepts))
    rows = draw(st.lists(row, min_size=1, max_size=6))
    sizes = st.lists(st.floats(1, 9), min_size=len(rows), max_size=len(rows))
    people = draw(st.sampled_from(("people", *"pq")))
    return table(name, concepts, rows, draw(st.none() | sizes), people)


WORLDS = st.integers(1, 4).flatmap(
    lambda count: st.tuples(*(tables(f"m{n}") for n in range(count)))
)
HELD = st.dictionaries(st.sampled_from(FACTS), st.sampled_from(VALUES[1:])).map(
    lambda held: [Meaning(*pair) for pair in held.items()]
)


def agreeing(model: Model, facts: Sequence[Meaning]) -> float:
    """Return the weight of a model's people with these facts, one person after another."""
    places = {each.concept: place for place, each in enumerate(model.attributes)}
    population = model.population
    found = 0.0
    for number, row in enumerate(population.codes.tolist()):
        if all(VALUES[row[places[fact.concept]]] == fact.value for fact in facts):
            found += 1 if population.weights is None else float(population.weights[number])
    return found


def in_order(models: Sequence[Model], facts: Sequence[Meaning]) -> float:
    """Return the product for one order: the first model decides."""
    has = [{each.concept for each in model.attributes} for model in models]
    counted = {fact for fact in facts if fact.concept in has[0]}
    product = 1.0
    for model, own in zip(models[1:], has[1:], strict=True):
        mine = {fact for fact in facts if fact.concept in own}
        if mine <= counted:
            continue
        among, agree = agreeing(model, [*mine & counted]), agreeing(model, [*mine])
        product *= agree / among if agree else 0.0
        if model.stands_for != models[0].stands_for or model.stands_for == "people":
            product *= min(1.0, agreeing(model, []) / agreeing(models[0], []))
        counted |= mine
    return product if counted == {*facts} else 0.0


@given(WORLDS, HELD)
def test_it_is_the_least_product_over_all_orders(
    models: Sequence[Model], facts: list[Meaning]
) -> None:
    """Whatever the order in which they were installed, and in which the facts were told."""
    first, *others = models
    expected = min(in_order((first, *order), facts) for order in permutations(others))
    for installed in permutations(models):
        assert isclose(share_of(facts, first, Concepts(installed)), expected, abs_tol=1e-12)
    assert share_of(facts[::-1], first, Concepts(models)) == share_of(
        facts, first, Concepts(models)
    )
    assert 0 <= expected <= 1


@given(WORLDS, HELD)
def test_of_many_models_it_is_a_bound_from_below(
    models: Sequence[Model], facts: list[Meaning]
) -> None:
    """So a limit is never laxer for it."""
    exact = share_of(facts, models[0], Concepts(models))
    most, knowledge.MOST = knowledge.MOST, 0
    try:
        bound = share_of(facts, models[0], Concepts(models))
    finally:
        knowledge.MOST = most
    assert bound <= exact * (1 + 1e-12)
    assert (bound == 0.0) == (exact == 0.0)


@given(WORLDS, HELD)
def test_what_no_model_has_leaves_nobody(models: Sequence[Model], facts: list[Meaning]) -> None:
    """But language and country, which are told anyway; and nothing held takes nothing away."""
    concepts = Concepts(models)
    outside = Meaning("shoe", "42")
    assert share_of([*facts, outside], models[0], concepts) == 0.0
    assert outside in unmatched([*facts, outside], concepts)
    told = [Meaning("language", "de"), Meaning("country", "ch")]
    assert share_of([*facts, *told], models[0], concepts) == share_of(facts, models[0], concepts)
    assert unmatched(told, concepts) == []
    assert share_of([], models[0], concepts) == 1.0


def test_by_hand() -> None:
    """Of the six women whom the other model counts three work; it is about half as many people."""
    mine = table("m", ["sex"], [[1], [2]], [8, 8])
    other = table("o", ["sex", "work"], [[1, 1], [1, 2], [2, 1]], [3, 3, 2], "developers")
    facts = [Meaning("sex", "a"), Meaning("work", "a")]
    assert share_of(facts, mine, Concepts((mine, other))) == 0.5 * 8 / 16
    unsaid = replace(other, stands_for="people")  # by default: it need not be the same people
    assert share_of(facts, mine, Concepts((mine, unsaid))) == 0.5 * 8 / 16
    mine, alike = (replace(each, stands_for="developers") for each in (mine, other))
    assert share_of(facts, mine, Concepts((mine, alike))) == 0.5
    nobody = [Meaning("sex", "b"), Meaning("work", "b")]
    assert share_of(nobody, mine, Concepts((mine, alike))) == 0.0
    silent = [Meaning("sex", "a"), Meaning("work", "o:unspecified")]  # all others say it
    assert share_of(silent, mine, Concepts((mine, alike))) == 0.0
    sex, work = alike.attributes
    hangs = replace(alike, attributes=(replace(sex, implies={"b": {work.name: "a"}}), work))
    assert share_of(silent, mine, Concepts((mine, hangs))) == 1.0  # and so do all women


SETS = range(1 << len(NAMES))


@st.composite
def others(draw: st.DrawFn, name: str, decides: Model) -> Model:
    """Draw a model with a fact or two that the deciding one lacks, and one that it shares."""
    shared = decides.attributes[draw(st.integers(0, PERSONS - 1))]
    lacking = draw(st.lists(st.sampled_from(["town", "pet"]), min_size=1, unique=True))
    own = tuple(Attribute(each, each.title(), "person", VALUES) for each in lacking)
    rows = draw(st.integers(4, 30))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    columns = [rng.integers(0, len(each.values), rows) for each in (shared, *own)]
    weights = draw(st.sampled_from([None, rng.uniform(1, 9, rows)]))
    people = Population(np.stack(columns, axis=1).astype(np.uint8), weights)
    tables = replace(decides.tables, population=people)
    return replace(decides, id=name, attributes=(shared, *own), tables=tables)


@st.composite
def told(draw: st.DrawFn) -> tuple[World, Sequence[Model], Sequence[Meaning]]:
    """Draw a world, the models beside its own, and facts of theirs that the recipient holds."""
    world = draw(worlds())
    beside = [draw(others(name, world.model)) for name in ("one", "two")[: draw(st.integers(1, 2))]]
    known = {each.concept for model in beside for each in model.attributes[1:]}
    facts = [Meaning(each, draw(st.sampled_from(VALUES[1:]))) for each in sorted(known)]
    return world, beside, facts


def held_with(world: World, installed: Sequence[Model], facts: Sequence[Meaning]) -> Knowledge:
    """Return what the recipient of a world holds when it was told facts beside, from the ledger."""
    values = {each.name: each.values for each in world.model.attributes}
    own = [meaning_of(name, values[name][code], world.model) for name, code in world.known.codes]
    found = Holdings[str]()
    found.add_facts(NOW, "shop.example", [*own, *facts])
    concepts = Concepts(installed)
    codes = knowledge_in(found, world.model, NOW, concepts=concepts)
    assert codes.share == share_of([*own, *facts], world.model, concepts)
    return replace(world.known, codes=codes.codes, share=codes.share)


def feasible(world: World) -> set[int]:
    objective = world.objective()
    return {mask for mask in SETS if objective.feasible(mask)}


@given(worlds(), st.floats(0, 1), st.floats(0, 1))
def test_the_fewer_share_the_rest_the_fewer_sets_are_allowed(
    world: World, share: float, other: float
) -> None:
    """From 1, where the model has all that is held, to 0, where nobody fits."""
    worlds_ = [
        world._replace(known=replace(world.known, share=each))
        for each in (min(share, other), max(share, other), 1.0)
    ]
    fewest, fewer, all_ = map(feasible, worlds_)
    assert fewest <= fewer <= all_


@given(worlds(), st.floats(0, 1))
def test_the_rest_makes_no_guard_cheaper(world: World, share: float) -> None:
    """It is independent of a guarded fact, given what the model has: the guard costs the same."""
    few = world._replace(known=replace(world.known, share=share))
    one, other = world.prepared().anonymity_set, few.prepared().anonymity_set
    for guarded in range(PERSONS):
        for mask in SETS:
            assert one.guard_bits(guarded, mask) == other.guard_bits(guarded, mask)


def test_a_fact_that_few_share_forbids_what_was_allowed() -> None:
    """Of 40 people a hundredth: whoever is left would be recognised by anything more."""
    terms = Terms(trade_off=0.0, limits=Limits(k=5))
    world = World(model_of(0), Request(QUERIES[0]), terms, Knowledge(), {})
    few = world._replace(known=Knowledge(share=0.01))
    assert feasible(few) < feasible(world)
    assert world.decided().disclosed
    assert not few.decided().disclosed


@given(told())
def test_a_fact_that_the_model_lacks_makes_no_limit_laxer(
    drawn: tuple[World, Sequence[Model], Sequence[Meaning]],
) -> None:
    """What is decided beside it would be allowed without it; and in any order of the models."""
    world, beside, facts = drawn
    without = feasible(world)
    first: World | None = None
    for installed in permutations((world.model, *beside)):
        found = world._replace(known=held_with(world, installed, facts))
        assert found.known.codes == world.known.codes
        first = found if first is None else first
        assert found.known.share == first.known.share <= 1
    assert first is not None
    decision = first.decided()
    assert feasible(first) <= without
    if world.terms.memory == "remembers":
        assert world.mask(decision.disclosed) in without
    plain = prepare(world.context()).anonymity_set
    assert prepare(first.context()).anonymity_set.people <= plain.people * (1 + 1e-9)
