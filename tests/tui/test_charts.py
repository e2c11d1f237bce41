"""Charts in characters: bars of the right height, and every sign of a curve in its place."""

from hypothesis import given
from hypothesis import strategies as st

from agent.tui.charts import Area, Spot, bars, curve, share

PEOPLE = st.integers(0, 10**6)
COUNTS = st.lists(PEOPLE, min_size=1, max_size=60)
FIGURES = st.floats(-2, 50, allow_nan=False).map(lambda value: round(value, 3))
COSTS = st.floats(0, 50, allow_nan=False).map(lambda value: round(value, 3))
SPOTS = st.lists(
    st.builds(
        Spot, COSTS, FIGURES, st.sampled_from("○·"), st.sampled_from(("", "N", "NK")), st.booleans()
    ),
    min_size=1,
    max_size=12,
)
SIZES = st.tuples(st.integers(24, 120), st.integers(5, 40))


def across(value: float) -> str:
    """Return a number of the lower axis."""
    return f"{value:.1f}"


@given(SPOTS, SIZES)
def test_it_fills_the_size_and_no_more(spots: list[Spot], size: tuple[int, int]) -> None:
    """So that nothing overlaps what stands beside it."""
    width, height = size
    lines = curve(spots, width, height, across)
    assert len(lines) == height
    assert all(len(line) == width for line in lines)


@given(SPOTS, SIZES, st.tuples(COSTS, FIGURES), st.tuples(COSTS, FIGURES))
def test_more_cost_is_to_the_right_and_more_help_above(
    spots: list[Spot],
    size: tuple[int, int],
    one: tuple[float, float],
    other: tuple[float, float],
) -> None:
    """Whatever the scale."""
    xs, ys = [each.x for each in spots], [each.y for each in spots]
    area = Area(size[0], size[1], max(xs), max(ys), min(0.0, *ys))
    (cheap, dear), (low, high) = map(sorted, zip(one, other, strict=True))
    assert 0 <= area.column(cheap) <= area.column(dear) < area.width
    assert 0 <= area.line(high) <= area.line(low) < area.height


def test_letters_stand_beside_their_sign_and_hide_no_other() -> None:
    """To the right, or else to the left."""
    beside = [Spot(0, 1, "○", "", True), Spot(9, 1, "○", "NK", True)]
    assert "KN○" in curve(beside, 40, 8, across)[0]
    near = [Spot(0, 0, "○", "N", False), Spot(1, 1, "·", "", False)]
    picture = "\n".join(curve(near, 40, 8, across))
    assert "○N" in picture


def test_the_line_runs_through_what_is_joined() -> None:
    """And by none that is beaten."""
    joined = [Spot(0, 0, "○", "", True), Spot(10, 10, "○", "", True)]
    apart = [each._replace(joined=False) for each in joined]
    braille = range(0x2800, 0x2900)
    for spots, there in ((joined, True), (apart, False)):
        text = "".join(curve(spots, 40, 10, across))
        assert any(ord(each) in braille for each in text) is there


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
