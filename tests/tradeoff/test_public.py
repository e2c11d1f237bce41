"""The public face: another utility on another cost, in twenty lines, and nothing deeper."""

import numpy as np
import pytest

from agent.errors import ReticentError
from agent.tradeoff import Objective, Population, maximise, members
from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.objective import Settings


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
    objective = Objective(int.bit_count, Population(codes), 2, trade_off=3.0)
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
    for price in (-0.5, float("nan"), "2"):
        with pytest.raises(ReticentError, match="a price cannot be"):
            objective.at(price)  # type: ignore[arg-type]  # likewise
        with pytest.raises(ReticentError, match="a price cannot be"):
            Settings(1, (price,))  # type: ignore[arg-type]  # likewise
    for cost, count in ((Population(np.zeros((2, 5), np.uint8)), 4), (int.bit_count, -1)):
        with pytest.raises(ReticentError, match="attributes cannot be"):
            Objective(int.bit_count, cost, count)
    assert [*members(-1)] == []
