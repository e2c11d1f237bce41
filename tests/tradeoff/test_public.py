"""The public face: another utility on another cost, in twenty lines, and nothing deeper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ReticentError
from agent.tradeoff import Objective, Population, Utility, maximise, members
from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.objective import Settings

QUARTERS = st.integers(0, 12).map(lambda number: number / 4)


class Coverage(Utility):
    """The weight of all that the attributes of a set cover."""

    def __init__(self, covers: list[set[int]], weights: list[float]) -> None:
        """Take what each attribute covers, and how much each of these is worth."""
        self.covers, self.weights = covers, weights

    def value(self, mask: int) -> float:
        """Return U."""
        covered = set[int]().union(*(self.covers[each] for each in members(mask)))
        return sum(self.weights[each] for each in covered)


@st.composite
def coverages(draw: st.DrawFn) -> tuple[Coverage, int]:
    """Draw a coverage by up to six attributes."""
    weights = draw(st.lists(QUARTERS, min_size=1, max_size=6))
    covered = st.sets(st.integers(0, len(weights) - 1))
    covers = draw(st.lists(covered, min_size=1, max_size=6))
    return Coverage(covers, weights), len(covers)


@given(coverages(), st.lists(QUARTERS, min_size=6, max_size=6), st.sampled_from([0.0, 0.5, 2.0]))
def test_another_utility_on_another_cost(
    given_: tuple[Coverage, int], prices: list[float], trade_off: float
) -> None:
    """Every search returns a set of the value it says, and none beats all subsets."""
    utility, attributes = given_
    objective = Objective(
        utility,
        lambda mask: 1 + sum(prices[each] for each in members(mask)),
        attributes,
        trade_off,
        submodular=True,
    )
    best = maximise(objective, "exhaustive")
    worth = [
        utility.value(mask) - trade_off * sum(prices[each] for each in members(mask))
        for mask in range(1 << attributes)
    ]
    assert best.value == pytest.approx(max(worth))
    assert maximise(objective, "exact").value == pytest.approx(best.value)
    for algorithm in ("lls", "ls", "greedy"):
        found = maximise(objective, algorithm)
        assert found.value == pytest.approx(worth[found.mask])
        assert found.bound is not None
        assert found.value <= best.value + 1e-9 <= found.bound + 2e-9
    assert maximise(objective).value >= best.value / 3 - 1e-9


def test_a_plain_function_and_a_budget_will_do() -> None:
    """A function is a utility, and no set has more attributes than may be."""
    worth = [3.0, 1.0, 2.0, 2.0]
    objective = Objective(
        lambda mask: sum(worth[each] for each in members(mask)), int.bit_count, 4, 0.5, most=2
    )
    for algorithm in ("lls", "ls", "greedy", "exact", "exhaustive"):
        assert maximise(objective, algorithm).mask == 0b0101
        assert maximise(objective.at(2.5), algorithm).mask == 0b0001


def test_people_are_a_cost() -> None:
    """What a set tells apart among them, above what they are before: the expected peak."""
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [1, 1]], np.uint8)
    objective = Objective(Coverage([{0}, {1}], [1.0, 1.0]), Population(codes), 2, trade_off=3.0)
    assert [objective.identifiability_cost(mask) for mask in range(4)] == pytest.approx(
        [0.0, 1 / 6, 1 / 6, 3 / 6]
    )
    assert objective.parts(3).objective == pytest.approx(2 - 3 * 3 / 6)
    assert maximise(objective, "exact").mask in (0b01, 0b10, 0b11)


def test_a_set_function_needs_candidates_and_a_value() -> None:
    """Everything else has a default that claims nothing."""

    class Cut(SetFunction):
        candidates = 0b1011

        def value(self, mask: int) -> float:
            return float(mask.bit_count() * (3 - mask.bit_count()))

    for algorithm in ("lls", "ls", "greedy", "exhaustive"):
        found = maximise(Cut(), algorithm)
        assert (found.value, found.mask & ~0b1011) == (2.0, 0)
        assert found.exact == (algorithm == "exhaustive")
        assert found.bound == (2.0 if found.exact else None)
    proven = maximise(Cut(), "exact")
    assert (proven.value, proven.exact) == (2.0, True)


def test_what_cannot_be_meant_is_refused() -> None:
    """A typo in an algorithm or metric, a negative price, too many sets to enumerate."""
    objective = Objective(int.bit_count, int.bit_count, 17)
    for algorithm, message in (("llss", "unknown algorithm 'llss'"), ("exhaustive", "are 17")):
        with pytest.raises(ReticentError, match=message):
            maximise(objective, algorithm)  # type: ignore[arg-type]  # a typo is the point
    with pytest.raises(ReticentError, match="unknown metric"):
        Settings(1, (0.0,), metric="maxprop")  # type: ignore[arg-type]  # likewise
    for price in (-0.5, float("nan")):
        with pytest.raises(ReticentError, match="a price cannot be"):
            objective.at(price)
        with pytest.raises(ReticentError, match="a price cannot be"):
            Settings(1, (price,))
