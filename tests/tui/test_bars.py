"""Bars: higher for more, never gone, and of the numbers that were given."""

from hypothesis import given
from hypothesis import strategies as st

from agent.tui.charts import bars, share

PEOPLE = st.integers(0, 10**6)
COUNTS = st.lists(PEOPLE, min_size=1, max_size=60)


@given(PEOPLE, PEOPLE, PEOPLE)
def test_more_people_stand_higher(one: int, other: int, most: int) -> None:
    """From nothing to all of the height."""
    low, high = sorted((one, other))
    assert 0 <= share(low, most) <= share(high, most) <= 1
    assert share(1, most) == 0
    assert share(max(most, 2), most) == 1


@given(COUNTS, st.integers(2, 20))
def test_a_line_has_its_first_and_last_whatever_is_left_out(counts: list[int], width: int) -> None:
    """And all of them where there is room."""
    most = max(counts)
    found = bars(counts, most, width)
    assert len(found) == min(len(counts), width)
    assert found[0] == bars(counts[:1], most, width)
    assert found[-1] == bars(counts[-1:], most, width)
