"""Text from outside: one line, of so many columns, that steers nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.tui.plain import CUT, JOINERS, fitted, plain, plain_lines

TEXT = st.text(st.one_of(st.characters(), st.sampled_from("\x1b\n\r\t\u202e語é ")))


@given(TEXT)
def test_nothing_in_it_steers_the_terminal(text: str) -> None:
    """Neither escapes nor line ends nor marks that turn the order of the letters round."""
    assert plain(text).isprintable()
    assert len(plain(text)) == sum(each not in JOINERS for each in text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\U0001f468\u200d\U0001f469", "\U0001f468\U0001f469"),
        ("\u2764\ufe0f", "\u2764"),
        ("a\u202e", "a\ufffd"),
    ],
)
def test_what_joins_letters_is_no_strange_letter(text: str, said: str) -> None:
    """It is left out, since terminals differ in how wide it makes them."""
    assert plain(text) == said


@given(st.lists(TEXT))
def test_lines_stay_lines(lines: list[str]) -> None:
    """Each of them plain."""
    text = "\n".join(lines)
    assert all(each.isprintable() for each in plain_lines(text).split("\n"))
    assert plain_lines(text).split("\n") == [plain(each) for each in text.splitlines()] or not text


@given(st.text(st.characters(codec="ascii")))
def test_what_is_printable_stays(text: str) -> None:
    """To the letter."""
    if text.isprintable():
        assert plain(text) == text


@given(TEXT, st.integers(0, 40), st.booleans())
def test_it_has_exactly_so_many_columns(text: str, width: int, right: bool) -> None:
    """Also where letters are two columns wide."""
    assert cell_len(fitted(text, width, right=right)) == width


@given(st.text("abc", min_size=1, max_size=9), st.integers(1, 12))
def test_a_text_that_is_cut_says_so(text: str, width: int) -> None:
    """And one that is not is whole."""
    shown = fitted(text, width)
    assert (CUT in shown) == (len(text) > width)
    assert shown.rstrip() == text or CUT in shown
