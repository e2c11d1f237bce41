"""A recipient as lines of the list."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.tui.screens.recipients_view import LEAST_NAME, PEOPLE, REQUESTS, heads, lines
from tests.tui.recipients.values import COUNTS, NAMES, SHOP, recipient


@given(COUNTS, NAMES, st.booleans(), st.integers(LEAST_NAME + PEOPLE + REQUESTS, 150))
def test_a_recipient_is_as_wide_as_the_list(
    counts: list[int], held: list[str], refused: bool, width: int
) -> None:
    """Two lines, with the numbers in their columns, whatever it is called."""
    one = recipient(counts, held=held, blocked=refused, pool="例え" * 30)
    found = lines(one, width)
    assert len(found) == 2
    for line in found:
        text = "".join(part.text for part in line)
        assert text.isprintable()
    first, second = ("".join(part.text for part in line) for line in found)
    assert first.rstrip().endswith(f"{len(counts):,}")
    assert f"{counts[-1]:,} " in first
    assert ("×" in first and "blocked" in second) is refused


def test_the_first_and_the_last_number_stand_beside_the_bars() -> None:
    """Nothing where nothing has changed."""
    first = "".join(part.text for part in lines(SHOP, 80)[0])
    assert "9,000 ▇▅▅ 310" in first
    assert "▇" not in "".join(part.text for part in lines(recipient([9_000]), 80)[0])


def test_the_head_names_all_people_only_where_they_are_the_same() -> None:
    """Two models may have different ones."""
    assert "people like you, of 20,000" in heads([SHOP], 80)
    assert "20,000" not in heads([SHOP, replace(SHOP, people=7)], 80)
    assert len(heads([SHOP], 80)) == 80
