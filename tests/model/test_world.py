"""A world knows what its models know, and counts its people in one of them."""

from dataclasses import replace
from functools import cache
from itertools import product
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.cache import Cache
from agent.decision.choice import uses_of, utility_of
from agent.decision.context import Context, Terms
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.values import Request
from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.model.reading import Candidate, Interpretation
from agent.model.world import MOST_SHARE, UNITS, world_of
from agent.tradeoff.tables import union
from policy.settings import Mode
from tests.decision.made import NAMES, PERSONS, judged, made_model
from tests.model.examples import judged_model

PYTHON_JAVA = "int_python", "int_java"


def guest(seed: int) -> Model:
    """Return a model that shares the concepts of two facts, and of no others."""
    model = made_model(seed, people=60, queries=5)
    shared = {"age", "gender"}
    attributes = (
        replace(each, concept=each.concept if each.name in shared else f"guest.{each.name}")
        for each in model.attributes
    )
    return replace(model, id="Guest 1", attributes=tuple(attributes))


@cache
def made_world(seed: int) -> Model:
    """Return a world of a model of topics and a guest."""
    return world_of([guest(seed + 1), judged(made_model(seed, people=200, queries=5), seed)])


def test_one_model_is_its_own_world() -> None:
    """It counts its own people."""
    model = guest(1)
    assert world_of([model]) is model
    assert model.every == (model,)


def test_people_are_those_of_the_first_model_with_kinds() -> None:
    """However many another counts; those of the model of most where none has kinds."""
    few, many = judged_model(), judged_model()
    people = replace(many.tables.population, residents=1e9)
    many = replace(many, id="added", tables=replace(many.tables, population=people))
    assert world_of([guest(1), few, many]).every[0] is few
    few, many = (replace(guest(1), id=f"{n}", tables=made_model(1, n).tables) for n in (40, 50))
    assert world_of([few, many]).every[0] is many


@given(st.integers(0, 9))
def test_a_world_knows_what_its_models_know(seed: int) -> None:
    """Each fact once, under a name of its own; its people are those of the model of most."""
    world = made_world(seed)
    base, other = world.every
    assert world.people == base.people == max(each.people for each in world.every)
    assert [each.concept for each in world.attributes[:PERSONS]] == list(NAMES[:PERSONS])
    names = [each.name for each in world.attributes]
    assert names[PERSONS:] == ["region_guest_1", "job_guest_1", "hours", "hours_guest_1"]
    for member in world.members:
        assert len({*member.places}) == len(member.places)
        for own, place in zip(member.model.attributes, member.places, strict=True):
            assert world.attributes[place].concept == own.concept
        own_queries = world.queries[member.first : member.first + len(member.model.queries)]
        assert own_queries == member.model.queries
    for kind, at in zip(world.kinds, (1, 3), strict=True):
        rows = other.population.columns[at]
        counts = np.bincount(rows, minlength=len(kind.values) + 1)[1:]
        assert kind.shares == pytest.approx(np.minimum(counts / counts.sum(), MOST_SHARE))


@given(st.integers(0, 9), st.integers(0, 4), st.integers(0, 2**8 - 1))
def test_a_query_gains_what_it_gains_in_its_own_model(seed: int, query: int, mask: int) -> None:
    """Times the unit; what its model does not know adds nothing."""
    world, other = made_world(seed), made_world(seed).every[1]
    member = world.members[1]
    inside = union(own for own, place in enumerate(member.places) if mask >> place & 1)
    own = uses_of(query, other, Cache())
    found = uses_of(member.first + query, world, Cache())
    assert found.value(mask) == pytest.approx(member.unit * own.value(inside), abs=1e-12)
    plain = Cache().utility(world, member.first + query).value(mask)
    assert plain == pytest.approx(member.unit * Cache().utility(other, query).value(inside))
    rest = [each for each in range(8) if not mask >> each & 1]
    for each, bits in zip(rest, found.extensions(mask, rest), strict=True):
        assert bits == pytest.approx(found.value(mask | 1 << each), abs=1e-12)
    assert found.limit >= found.value(mask) - 1e-12


@given(st.integers(0, 9), st.integers(0, 4))
def test_what_is_stored_of_a_query_is_what_its_rows_say(seed: int, query: int) -> None:
    """Of the empty set and of each attribute, with each attribute of the world beside it."""
    world, other = made_world(seed), made_world(seed).every[1]
    member, utility = world.members[1], uses_of(query, other, Cache()).utility()
    planner = uses_of(member.first + query, world, Cache())
    assert {*planner.stored} == {0, *(1 << place for place in member.places)}
    for mask, row in planner.stored.items():
        for each, bits in enumerate(row.tolist()):
            whole = mask | 1 << each
            inside = union(own for own, place in enumerate(member.places) if whole >> place & 1)
            assert bits == pytest.approx(member.unit * utility.value(inside), abs=1e-12)


@given(st.integers(0, 9), st.sampled_from(["dynamic", "planned"]), st.permutations([0.5, 0.3]))
def test_a_text_may_mean_a_topic_or_a_query(seed: int, mode: Mode, shares: list[float]) -> None:
    """As one that the user taught: what helps it is the sum of both, by their probabilities."""
    world, cache = made_world(seed), Cache()
    meant = [2, world.members[1].first + 1]
    candidates = sorted(map(Candidate, meant, shares), key=lambda each: -each.probability)
    reading = Interpretation(tuple(candidates), threshold=0.4)
    found = utility_of(reading, world, cache)
    for mask in range(1 << len(world.attributes)):
        parts = [uses_of(query, world, cache).value(mask) for query in meant]
        assert found.value(mask) == pytest.approx(np.dot(shares, parts), abs=1e-9)
    request, terms = Request("a text"), Terms(mode=mode, memory="remembers")
    context = Context(request, terms, Knowledge(), world, reading=reading, cache=cache)
    assert decide(context).code == "answered"


def test_the_unit_makes_all_that_helps_worth_the_same() -> None:
    """Judged bits of all that helps a topic over bits of all that helps a query; 1 by itself."""
    world = made_world(3)
    figures = world.tables.judged
    assert figures is not None
    bits = np.mean([e.bits for e, t in zip(world.queries, figures.totals, strict=False) if t])
    other = world.every[1]
    useful = other.tables.singles.utilities.max(axis=1)
    assert world.members[0].unit == 1.0
    assert world.members[1].unit == pytest.approx(np.clip(0.9 * bits / np.mean(useful), *UNITS))


def test_a_text_is_read_by_the_model_that_knows_it() -> None:
    """As its query, behind those of the models before."""
    world = made_world(2)
    base = world.every[0]
    renamed = tuple(replace(e, text=f"other {e.text}") for e in world.every[1].queries)
    world = world_of([base, replace(world.every[1], queries=renamed)])
    assert world.read("trains today").certain == 3
    assert world.read("other trains today").certain == 8
    assert world.owners[8] == (world.members[1], 3)


@cache
def shipped() -> Model:
    return world_of([read(shipped_model(name)) for name in ("everyday", "so2017")])


def test_software_is_decided_among_the_people_of_the_us() -> None:
    """Its facts are counted by shares, and none of its rows is a person."""
    world = shipped()
    assert world.people == world.every[0].people > 2e8
    assert all(each <= MOST_SHARE for kind in world.kinds[-30:] for each in kind.shares)
    assert 1 <= world.members[1].unit <= UNITS[1]


def test_that_somebody_programs_counts_once() -> None:
    """A developer's fact tells it, as a language does; the next such fact adds its share alone."""
    world, cache = shipped(), Cache()

    def people(*facts: str) -> float:
        return cache.anonymity_set(world, [(world.index(each), 2) for each in facts]).people

    everybody, kind = people(), next(each for each in world.kinds if each.name == "programming")
    python, java = (next(k for k in world.kinds if k.name == n).shares[1] for n in PYTHON_JAVA)
    programs, language = max(kind.shares), kind.shares[1]
    assert people("int_python") == pytest.approx(everybody * programs * python, rel=1e-3)
    assert people(*PYTHON_JAVA) == pytest.approx(people("int_python") * java, rel=1e-3)
    both = people("programming", "int_python")
    assert both == pytest.approx(everybody * language * python, rel=1e-3)


def test_other_counts_as_no_commoner_than_the_rarest_value() -> None:
    """Of a kind by shares: those who hold it seldom mean the same."""
    model = read(shipped_model())
    assert model.population.shares is not None
    [kind] = (at for at, each in enumerate(model.kinds) if each.name == "religion")
    values = model.population.shares.kinds[kind].under(0)
    other = model.kinds[kind].values.index("other")
    assert values.agreement[other] == values.agreement.min() < values.chances[other]


def test_software_is_decided_by_what_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """No mode opens any of its rows for somebody who has set every fact."""
    monkeypatch.setattr(Model, "rows", None)
    world, cache = shipped(), Cache()
    for query, mode in product(
        range(world.members[1].first, len(world.queries), 8), get_args(Mode)
    ):
        about, reading = Request(world.queries[query].text), Interpretation.exact(query)
        every = about, Terms(mode=mode), Knowledge(), world
        assert decide(Context(*every, reading=reading, cache=cache), brief=True).disclosed
