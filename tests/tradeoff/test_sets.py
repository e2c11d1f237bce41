"""Sets of attributes as integers."""

from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.tables import members, singleton, subsets, union

ATTRIBUTES = st.sets(st.integers(0, 70))


@given(ATTRIBUTES)
def test_a_set_is_its_members(attributes: set[int]) -> None:
    """In ascending order, however it was put together; more than 64 are no trouble."""
    mask = union(attributes)
    assert list(members(mask)) == sorted(attributes)
    assert mask == sum(map(singleton, attributes)) == union(sorted(attributes, reverse=True))


@given(st.sets(st.integers(0, 70), max_size=8))
def test_subsets_are_all_of_them(attributes: set[int]) -> None:
    """Each once, the empty one first, in ascending order."""
    mask = union(attributes)
    found = list(subsets(mask))
    assert found == sorted(set(found))
    assert len(found) == 2 ** len(attributes)
    assert found[0] == 0
    assert all(subset & ~mask == 0 for subset in found)
