"""What the search must do on submodular functions (paper 4)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.local_search import eager_pass, lazy_pass
from agent.tradeoff.search import ALGORITHMS, EPSILON, Algorithm, greedy_order, maximise
from agent.tradeoff.sets import members, singleton, union
from tests.tradeoff.doubles import Tabulated, renamed, submodular, tabulate


@given(submodular())
def test_lazy_and_eager_rank_alike(function: Tabulated) -> None:
    """All attributes, best addition first; ties go to the smaller attribute in both."""
    lazy, lazily = greedy_order(function, lazy_pass)
    eager, eagerly = greedy_order(function, eager_pass)
    assert lazy == eager
    assert lazily <= eagerly


@given(submodular())
def test_lazy_and_eager_search_alike(function: Tabulated) -> None:
    """The same set in the same order, and no more evaluations."""
    lazy, eager = maximise(function, "lls"), maximise(function, "ls")
    assert (lazy.mask, lazy.order) == (eager.mask, eager.order)
    assert lazy.evaluations <= eager.evaluations
    assert lazy.violations == eager.violations == 0


@given(submodular(), st.sampled_from([0.01, 0.5, 1.0]))
def test_local_search_finds_a_third(function: Tabulated, epsilon: float) -> None:
    """Where F of all that has a gain of its own is not negative (Thm 4.1, DESIGN.md 2.5)."""
    everything = function.everything
    promising = union(a for a in members(everything) if function.value(singleton(a)) > 0)
    if function.value(promising) >= 0:
        share = 1 / 3 - epsilon / max(1, everything.bit_count())
        assert maximise(function, "lls", epsilon).value >= share * function.optimum
        assert maximise(function, "ls", epsilon).value >= share * function.optimum


def trap(others: int, junk: int) -> Tabulated:
    """Return a function whose best first attribute spoils all others a little.

    Attribute 0 alone is worth a bit more than each other, and each adds up with its like but not
    with it. ``junk`` attributes cost 100 each and bring nothing.
    """
    plain = ((1 << others) - 1) << 1

    def value(mask: int) -> float:
        count = (mask & plain).bit_count()
        useful = others + 1 - count if mask & 1 else others * count
        return useful - 100 * (mask & ~plain & ~1).bit_count()

    return tabulate(1 + others + junk, value)


@pytest.mark.parametrize("junk", [0, 1])
@pytest.mark.parametrize("algorithm", ["lls", "ls"])
def test_the_complement_saves_the_guarantee(junk: int, algorithm: Algorithm) -> None:
    """The complement within V': an attribute nobody wants must not spoil it."""
    result = maximise(trap(6, junk), algorithm)
    assert result.mask == 0b1111110
    assert result.value == trap(6, junk).optimum


@given(submodular(), st.sampled_from(ALGORITHMS), st.integers(0, 6))
def test_the_bound_is_above_the_optimum(
    function: Tabulated, algorithm: Algorithm, nodes: int
) -> None:
    """Also where branch and bound is cut off; and the certificate is no promise too much."""
    result = maximise(function, algorithm, EPSILON, nodes)
    assert result.proof in ("enumerated", "if-submodular")
    assert result.bound is not None
    assert result.certified is not None
    assert result.bound >= function.optimum
    assert result.value >= result.certified * function.optimum - 1e-9


@given(submodular(), st.integers(0, 6))
def test_branch_and_bound_with_submodular_bounds(function: Tabulated, nodes: int) -> None:
    """Where the assumption holds, what was not cut off is the optimum."""
    result = maximise(function, "exact", EPSILON, nodes)
    if not result.node_limit_hit:
        assert result.value == function.optimum == result.bound


@given(submodular(ties=False), st.sampled_from(ALGORITHMS), st.data())
def test_names_do_not_matter(
    function: Tabulated, algorithm: Algorithm, data: st.DataObject
) -> None:
    """Relabelling the attributes relabels the answer, where no two sets are alike."""
    names = data.draw(st.permutations(list(members(function.everything))))
    one, other = maximise(function, algorithm), maximise(function.relabelled(names), algorithm)
    assert renamed(one.mask, names) == other.mask
    assert one.value == other.value
    if algorithm == "greedy":  # a set that was jumped to has no order of moves
        assert tuple(names[each] for each in one.order) == other.order


@given(submodular())
def test_greedy_is_no_worse_than_the_best_single_attribute(function: Tabulated) -> None:
    """It begins there, and only goes up."""
    best = max(function.value(singleton(each)) for each in members(function.everything))
    assert maximise(function, "greedy").value >= max(0.0, best)


@given(submodular())
def test_without_submodularity_nothing_is_proven(function: Tabulated) -> None:
    """The same search on a cost that claims nothing has no bound and no certificate."""
    result = maximise(replace(function, submodular=False), "lls")
    assert (result.proof, result.bound, result.certified) == ("none", None, None)
