"""Judged utility is its formula, and keeps its laws (DESIGN.md 2.11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agent.tradeoff.coverage import GRADES, Coverage, resolved
from agent.tradeoff.objective import Objective
from agent.tradeoff.search import ALGORITHMS, Algorithm, maximise
from agent.tradeoff.study import submodularity
from agent.tradeoff.tables import Codes, Floats, members, subsets
from tests.tradeoff.worlds import all_pairs

ROUNDING = 1e-9  # bits
BITS = st.sampled_from([0.0, 0.3, 1.0, 2.5]) | st.floats(0, 4)
PARTS = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]) | st.floats(0, 1)
RELIABLE = st.sampled_from([0.003, 0.1, 0.66, 0.98]) | st.floats(0.001, 1)


@dataclass(frozen=True)
class Topics:
    """Topics, shape (T,), what attributes resolve of them, (T, n), and groups, (n,)."""

    bits: Floats
    parts: Floats
    groups: tuple[int, ...]

    @property
    def everything(self) -> int:
        return (1 << len(self.groups)) - 1

    def coverage(self) -> Coverage:
        return Coverage(self.bits, self.parts, self.groups)

    def of(self, topics: list[int], attributes: list[int]) -> "Topics":
        """Take some topics, and some attributes, in this order."""
        groups = tuple(self.groups[each] for each in attributes)
        return Topics(self.bits[topics], self.parts[topics][:, attributes], groups)


@st.composite
def topics(draw: st.DrawFn, most: int = 6) -> Topics:
    """Draw a few topics; an attribute may resolve nothing, or all, and say the same as others."""
    size, count = draw(st.integers(0, 4)), draw(st.integers(1, most))
    few = st.lists(st.integers(-2, 2), min_size=count, max_size=count)
    numbers = st.just([*range(count)]) | few
    return Topics(
        draw(arrays(np.float64, size, elements=BITS)),
        draw(arrays(np.float64, (size, count), elements=PARTS)),
        tuple(draw(numbers)),
    )


@st.composite
def judgements(draw: st.DrawFn) -> tuple[Floats, Codes, Floats]:
    """Draw the bits of topics, the grades of attributes, and how reliable each grade is."""
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    bits = draw(arrays(np.float64, shape[0], elements=BITS))
    grades = draw(arrays(np.uint8, shape, elements=st.integers(0, len(GRADES) - 1)))
    return bits, grades, draw(arrays(np.float64, shape, elements=RELIABLE))


@given(topics())
def test_it_is_its_formula(world: Topics) -> None:
    """For every set; nothing is worth nothing, and no set more than all attributes."""
    coverage, bits, parts = world.coverage(), world.bits.tolist(), world.parts.tolist()
    for mask in subsets(world.everything):
        expected = coverage_of(bits, parts, world.groups, mask)
        assert coverage.value(mask) == pytest.approx(expected, abs=ROUNDING)
        assert coverage.value(mask) <= coverage.limit
    assert coverage.value(0) == 0
    assert coverage.limit == coverage.value(world.everything)


@given(topics(), st.data())
def test_a_set_has_one_value(world: Topics, data: st.DataObject) -> None:
    """To the last bit: added to, exchanged, alone or among others, its attributes renamed."""
    coverage = world.coverage()
    values = {mask: coverage.value(mask) for mask in subsets(world.everything)}
    rows = coverage.rows([*values])
    for mask in values:
        added = [values[mask | 1 << each] for each in members(world.everything)]
        assert rows[mask].tolist() == added
        assert coverage.rows([mask])[mask].tolist() == added
        new = [*members(world.everything & ~mask)]
        assert coverage.extensions(mask, new) == [added[each] for each in new]
    names = data.draw(st.permutations([*members(world.everything)]))
    order = data.draw(st.permutations(range(len(world.bits))))
    other = world.of(order, names).coverage()
    for mask, value in values.items():
        assert other.value(sum(1 << names.index(each) for each in members(mask))) == value


@given(topics())
def test_it_never_falls_and_gains_do(world: Topics) -> None:
    """Monotone and submodular, as it says."""
    coverage, pairs = world.coverage(), all_pairs(world.everything)
    assert coverage.submodular
    assert submodularity(coverage.value, pairs).violating == 0
    for mask in subsets(world.everything):
        assert min(coverage.rows([mask])[mask]) >= coverage.value(mask)


@given(topics(), st.sampled_from(ALGORITHMS), st.sampled_from([0.0, 0.05, 0.3]))
def test_a_search_proves_bounds_of_it(world: Topics, algorithm: Algorithm, price: float) -> None:
    """Beside a cost that adds up, and none of them is broken."""
    count, coverage = len(world.groups), world.coverage()
    objective = Objective(coverage, int.bit_count, count, price, submodular=True)
    best = max(map(objective.value, subsets(world.everything)))
    result = maximise(objective, algorithm)
    assert result.violations == 0
    assert result.proof != "none"
    assert result.bound is not None
    assert result.bound >= best - ROUNDING
    assert result.value >= (result.certified or 0.0) * best - ROUNDING


@given(judgements())
def test_all_that_was_judged_brings_nine_tenths(judged: tuple[Floats, Codes, Floats]) -> None:
    """1 - epsilon of each topic's bits; nothing of a topic for which nothing was judged to help."""
    bits, grades, reliability = judged
    for topic in range(len(bits)):
        at = slice(topic, topic + 1)
        coverage = Coverage.judged(bits[at], grades[at], reliability[at])
        share = 0.9 if grades[topic].any() else 0.0
        assert coverage.limit == pytest.approx(share * bits[topic], abs=ROUNDING)


@given(judgements())
def test_the_catalogued_case_is_its_formula(judged: tuple[Floats, Codes, Floats]) -> None:
    """Each attribute a group of its own, omega_tk = 1 - 0.1^(g rho / sum of g rho)."""
    bits, grades, reliability = judged
    coverage = Coverage.judged(bits, grades, reliability)
    for mask in subsets((1 << grades.shape[1]) - 1):
        expected = judged_of(bits.tolist(), grades.tolist(), reliability.tolist(), mask)
        assert coverage.value(mask) == pytest.approx(expected, abs=ROUNDING)


@given(judgements(), st.data())
def test_a_second_decisive_attribute_keeps_its_worth(
    judged: tuple[Floats, Codes, Floats], data: st.DataObject
) -> None:
    """At least 30 % of what it brings alone, beside another one that is as reliable."""
    (bits, grades, reliability), count = judged, judged[1].shape[1]
    one, other = data.draw(st.permutations(range(count + 2)))[:2]
    grades = np.pad(grades, ((0, 0), (0, 2)))
    reliability = np.pad(reliability, ((0, 0), (0, 2)), constant_values=0.98)
    grades[:, [one, other]], reliability[:, [one, other]] = len(GRADES) - 1, 0.98
    coverage = Coverage.judged(bits, grades, reliability)
    alone = coverage.value(1 << other)
    second = coverage.value(1 << one | 1 << other) - coverage.value(1 << one)
    assert second >= 0.3 * alone - ROUNDING


@given(topics(most=4), st.data())
def test_a_paraphrase_adds_nothing(world: Topics, data: st.DataObject) -> None:
    """To a set that has the same already; another fact that helps as much adds to it."""
    count = len(world.groups)
    same = data.draw(st.integers(0, count - 1))
    parts = np.concatenate([world.parts, world.parts[:, [same, same]]], axis=1)
    paraphrase, another = 1 << count, 1 << count + 1
    coverage = Coverage(world.bits, parts, (*world.groups, world.groups[same], 99))
    for mask in subsets(world.everything & ~(1 << same)):
        with_it = mask | 1 << same
        assert coverage.value(with_it | paraphrase) == coverage.value(with_it)
        assert coverage.value(mask | paraphrase) == coverage.value(with_it)
        unresolved = world.bits * [prod(1 - each) for each in parts[:, [*members(with_it)]]]
        more = coverage.value(with_it | another) - coverage.value(with_it)
        assert more >= unresolved @ world.parts[:, same] - ROUNDING


@given(st.floats(0, 3), st.floats(0, 10, allow_subnormal=False))
def test_own_words_count_by_what_was_judged(weight: float, total: float) -> None:
    """A fact's weight over the sum of those judged; nothing where nothing was."""
    part = resolved(np.array([[weight]]), np.array([total]))[0, 0]
    assert part == pytest.approx(1 - 0.1 ** (weight / total) if total else 0.0)
    assert 0 <= part <= 1


def test_damaged_tables_are_refused() -> None:
    """Shapes that differ, and numbers out of range or missing."""
    bits, parts = np.ones(2), np.full((2, 3), 0.5)
    for wrong in (np.ones(3), np.array([1.0, -0.1]), np.array([np.nan, 1]), np.array([1, np.inf])):
        with pytest.raises(ValueError, match="bits"):
            Coverage(wrong, parts)
    for value in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="part"):
            Coverage(bits, np.where(np.eye(2, 3) > 0, value, parts))
    with pytest.raises(ValueError, match="shapes"):
        Coverage(bits, parts, [0, 1])


def coverage_of(
    bits: Sequence[float], parts: Sequence[Sequence[float]], groups: Sequence[int], mask: int
) -> float:
    """Return the judged utility, group by group (DESIGN.md 2.11)."""
    total = 0.0
    for of_topic, own in zip(bits, parts, strict=True):
        unresolved = 1.0
        for number in set(groups):
            inside = [own[each] for each in members(mask) if groups[each] == number]
            unresolved *= 1 - max(inside, default=0.0)
        total += of_topic * (1 - unresolved)
    return total


def judged_of(
    bits: Sequence[float],
    grades: Sequence[Sequence[int]],
    reliability: Sequence[Sequence[float]],
    mask: int,
) -> float:
    """Return the judged utility of attributes of which each is a group (DESIGN.md 2.11)."""
    parts = []
    for of_topic, certain in zip(grades, reliability, strict=True):
        weights = [(0, 1 / 10, 1 / 2, 1)[g] * rho for g, rho in zip(of_topic, certain, strict=True)]
        parts.append([1 - 0.1 ** (w / sum(weights)) if sum(weights) else 0.0 for w in weights])
    return coverage_of(bits, parts, range(len(weights)), mask)
