"""Models under differential privacy: what a person moves, what it costs, what gets into a file."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build import private
from agent.build.build import private_model
from agent.build.options import AttributeNote, QueryNote
from agent.build.precomputed import precomputed
from agent.build.private import EVERYBODY, INTENT, ExactCounts, Key, Noisy, Purse, measured, rho_of
from agent.errors import BuildError, UsageError
from agent.model.file import encode
from agent.model.model import Model
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.grouping import CodeColumn, tally
from agent.tradeoff.tables import Floats, Population
from tests.build.worlds import INTENTS, QUIET, World, few, options, source, worlds

pytestmark = QUIET
NOTES = {"p0": AttributeNote(values=("a", "b")), "p1": AttributeNote(values=("a",))}
QUERIES = dict.fromkeys(("tabs or spaces", "editor"), QueryNote(intents=INTENTS[1:]))


def built(world: World, **changes: object) -> Model:
    given = {"private": 1.0, "attributes": NOTES, "queries": QUERIES} | changes
    return private_model(source(world), options(**given), lambda _what, _share: None)


def weighed(world: World) -> World:
    """The same with a column of weights, 1 to 9 people a row, and 900 for whoever is busy."""
    numbers = enumerate(world.users[1:])
    weights = ["900" if row[0] == "busy" else str(at % 9 + 1) for at, row in numbers]
    columns = zip(world.users, ["w", *weights], strict=True)
    return World(tuple((*row, each) for row, each in columns), world.events)


class Blind(Purse):
    """It tells nothing of the tables, and notes what one person may move together, and how far."""

    made: ClassVar[list["Blind"]] = []

    def __init__(self, rho: float) -> None:
        super().__init__(rho)
        self.seen: list[tuple[Any, float]] = []
        Blind.made.append(self)

    def counts(
        self, exact: ExactCounts, keys: Sequence[Key], sensitivity: float, share: float
    ) -> Noisy:
        bought = super().counts(exact, keys, sensitivity, share)
        counted = np.concatenate([exact.tables[each].ravel() for each in keys])
        self.seen.append((counted[:, None], sensitivity))
        same = {key: np.arange(1.0, 1 + each.size) for key, (each, _) in bought.items()}
        return {k: (e.reshape(bought[k][0].shape), bought[k][1]) for k, e in same.items()}

    def best(
        self, scores: Sequence[Floats], picks: int, sensitivity: float, share: float
    ) -> list[list[int]]:
        super().best(scores, picks, sensitivity, share)
        self.seen.append((scores, sensitivity))
        return [[*range(picks)] for _ in scores]


@few(6)
@given(world=worlds(persons=2, requests=0), most=st.integers(1, 3), weighs=st.booleans())
def test_a_person_moves_no_count_by_more_than_is_stated(
    world: World, most: int, *, weighs: bool
) -> None:
    """Of two tables of which one has a person more, who asked for everything.

    All that was counted costs what there is; nothing else of the tables gets into the file.
    """
    wants = [("busy", query, intent) for query in QUERIES for intent in INTENTS[1:]]
    more = World((*world.users, ("busy", "a", "a")), (*world.events, *wants))
    more, world = weighed(more), weighed(world)
    changes = {"weights": "w", "most_weight": 7.5} if weighs else {"without": ("w",)}
    Blind.made.clear()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"ASKING": 200, "SURE": 0, "Purse": Blind}.items():
            patch.setattr(private, name, value)
        files = [built(e, per_person=most, min_users=1, **changes) for e in (more, world)]
    with_, without = Blind.made
    assert with_.rho * (1 - 1e-8) <= with_.spent <= with_.rho
    for (these, bound), (those, same) in zip(with_.seen, without.seen, strict=True):
        far = [np.abs(one - other).max() for one, other in zip(these, those, strict=True)]
        assert np.linalg.norm(far) <= min(bound, same) + 1e-9
    assert encode(files[0]) == encode(files[1])
    assert np.ptp(files[0].population.summable) == 0
    assert files[0].population.residents == pytest.approx(files[0].population.summable.sum())


@few(5)
@given(epsilon=st.floats(0.05, 20), delta=st.floats(1e-12, 1e-4))
def test_a_budget_is_within_the_simplest_bound(epsilon: float, delta: float) -> None:
    """That of Bun and Steinke, which OpenDP's is never worse than."""
    rho, plain = rho_of(options(private=epsilon, delta=delta)), np.log(1 / delta)
    assert (np.sqrt(plain + epsilon) - np.sqrt(plain)) ** 2 <= rho * (1 + 1e-6) <= epsilon


def test_with_a_large_budget_people_are_as_they_are() -> None:
    """Rounded group by group, whoever has something rare would be lost, and all look safe."""
    draw, cards = np.random.default_rng(1), (30, 30, 30)
    codes = draw.choice(30, (4_000, 3), p=np.array([50, *[1] * 29]) / 79).astype(np.uint8)
    codes[:, 1] = np.where(draw.random(4_000) < 0.7, codes[:, 0], codes[:, 1])
    columns = [CodeColumn(each, 30) for each in codes.T]
    pairs = [tally(each.astype(np.intp), 30, columns) for each in codes.T]
    counts = {(EVERYBODY, i, j): pairs[i][j] for i in range(3) for j in range(3)}
    counts |= {(0, INTENT, at): pairs[0][at] for at in range(3)}
    counts[0, INTENT, INTENT] = pairs[0][0].sum(axis=0, keepdims=True)
    drawn = private.drawn_people(measured(ExactCounts(counts, 3, 1, 1), Purse(1e6)), 4_000)
    mine, true = (AnonymitySet(Population(each), cards) for each in (drawn, codes))
    for mask in (1, 0b11, 0b110, 0b111):
        ratio = mine.identifiability(mask, "maxprob", 1) / true.identifiability(mask, "maxprob", 1)
        assert 0.7 < ratio < 1.5  # drawn anew, some who are alone are not drawn
        assert 0.7 < mine.people_left(mask) / true.people_left(mask) < 1.5


def test_what_hardly_anybody_asks_is_left_out() -> None:
    """Its noise would be told as what people want; of the rest the smallest model is stored."""
    some = [*map(str, range(60))]
    events = (("user", "query", "intent"), *((each, "editor", "x") for each in some))
    world = World((("user", "p0"), *((each, "a") for each in some)), events)
    model = built(world, attributes={"p0": NOTES["p0"]}, private=100.0)
    assert [each.text for each in model.queries] == ["editor"]
    assert precomputed(model) is not None
    heavy, public = source(weighed(world)), {"attributes": {"p0": NOTES["p0"]}, "queries": QUERIES}
    given = options(weights="w", most_weight=2e3, **public)  # a light person is half a unit
    exact = private.exact_counts(heavy, private.public_schema(heavy, given), given)
    people = exact.unit * exact.tables[EVERYBODY, 0, 0].sum()
    assert people == pytest.approx(sum(at % 9 + 1 for at in range(60)), rel=0.2)
    assert exact.tables[EVERYBODY, 0, 0].shape == (len(NOTES["p0"].values) + 1, 1)  # with nothing
    with pytest.raises(BuildError, match="too few people for so much noise"):
        built(weighed(world), weights="w", most_weight=1e5, **public)


CHANGES = [{"attributes": {}}, {"queries": {}}, {"weights": "p1"}, {"most_weight": 2.0}]
CHANGES += [
    {"attributes": {**NOTES, "p0": AttributeNote(values=(*each,))}} for each in ("aa", "a\n")
]
CHANGES += [{"queries": QUERIES | {each: QUERIES["editor"]}} for each in ("", "Editor")]


@pytest.mark.parametrize("changes", CHANGES)
def test_what_is_not_public_is_not_taken_from_the_tables(changes: dict[str, object]) -> None:
    world = World((("user", "p0", "p1"), ("1", "a", "a")), (("user", "query", "intent"),))
    with pytest.raises(UsageError):
        built(world, **changes)
