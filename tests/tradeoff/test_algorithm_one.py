"""Where the paper's text must not be followed to the letter (DESIGN.md 2.5)."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.local_search import FLOOR, LocalSearch, Memo, eager_pass, lazy_pass
from agent.tradeoff.search import maximise
from agent.tradeoff.sets import members, singleton
from tests.tradeoff.doubles import Tabulated, arbitrary, submodular, tabulate

Pass = Callable[[LocalSearch, int], bool]
PASSES = pytest.mark.parametrize("one_pass", [lazy_pass, eager_pass])


def as_printed(function: Tabulated, epsilon: float) -> int:
    """Return what Algorithm 1 finds on its way up when its test is taken literally."""
    mask, options = 0, set(members(function.everything))
    while options:
        gains = {v: function.value(mask | singleton(v)) - function.value(mask) for v in options}
        best = max(gains, key=lambda v: (gains[v], -v))
        factor = 1 + epsilon / function.everything.bit_count() ** 2
        if gains[best] <= factor * function.value(mask):
            break
        mask |= singleton(best)
        options.remove(best)
    return mask


def test_the_printed_test_stops_after_one_attribute() -> None:
    """It wants the increment, not the new value, to exceed F: the second has to double it."""
    function = tabulate(3, lambda mask: [0, 4, 3, 7, 2, 6, 5, 9][mask])
    assert as_printed(function, 0.01) == 0b001
    assert maximise(function, "lls", 0.01).mask == 0b111


@given(submodular())
def test_the_printed_test_never_adds_a_second_attribute(function: Tabulated) -> None:
    """On no submodular F: a second one adds at most what the first was worth."""
    printed = as_printed(function, 0.01)
    assert function.value(printed) <= maximise(function, "lls", 0.01).value
    assert printed.bit_count() <= 1


@PASSES
@pytest.mark.parametrize(
    ("start", "gain", "moves"),
    [
        (100.0, 0.9, False),  # below (1/1^2) % of 100
        (100.0, 1.1, True),
        (-100.0, 0.9, False),  # the sign of F does not turn the test round
        (-100.0, 1.1, True),
        (-100.0, -0.5, False),  # (1 + 0.01) F(A) is -101: the printed form would go down
        (0.0, FLOOR / 2, False),  # noise
        (0.0, 1e-9, True),
    ],
)
def test_the_threshold(one_pass: Pass, start: float, gain: float, moves: bool) -> None:
    """A move counts where it improves F by more than (epsilon/n^2)|F|, whatever F's sign."""
    values = [0.0, start, 0.0, start + gain]
    walk = LocalSearch(Memo(tabulate(2, lambda mask: values[mask])), epsilon=0.04)
    walk.start_at(0b01)
    assert one_pass(walk, 0b10) is moves
    assert walk.mask == (0b11 if moves else 0b01)


@PASSES
@given(function=arbitrary(), start=st.integers(0, 31), epsilon=st.sampled_from([0.01, 1.0]))
def test_a_pass_never_makes_it_worse(
    one_pass: Pass, function: Tabulated, start: int, epsilon: float
) -> None:
    """From any set, also from one with a negative F: it does not lose the value it starts from."""
    start &= function.everything
    walk = LocalSearch(Memo(function), epsilon)
    walk.start_at(start)
    up = one_pass(walk, function.everything & ~start)
    assert walk.mask & start == start
    assert function.value(walk.mask) >= function.value(start)
    assert up == (walk.mask != start)
    top = walk.mask
    down = one_pass(walk, top)
    assert walk.mask & ~top == 0
    assert function.value(walk.mask) >= function.value(top)
    assert down == (walk.mask != top)


@PASSES
def test_the_order_is_the_order_of_the_moves(one_pass: Pass) -> None:
    """Best first; what is taken out leaves the order of the others alone."""
    worth: Sequence[float] = (1.0, 3.0, 2.0)
    walk = LocalSearch(Memo(tabulate(3, lambda mask: sum(worth[v] for v in members(mask)))), 0.01)
    assert one_pass(walk, 0b111)
    assert list(walk.order) == [1, 2, 0]
    walk.move(2)
    assert list(walk.order) == [1, 0]
    walk.move(2)
    assert list(walk.order) == [1, 0, 2]


def test_ties_break_by_index() -> None:
    """Never by the order in which the gains were computed."""
    for one_pass in (lazy_pass, eager_pass):
        walk = LocalSearch(Memo(tabulate(4, lambda mask: mask.bit_count() ** 0.5)), 0.01)
        one_pass(walk, 0b1111)
        assert walk.order == (0, 1, 2, 3)
