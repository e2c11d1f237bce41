"""What a dialog says cannot be taken for something else."""

from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.pinentry import LONGEST_LINE, request, unescaped
from agent.words import dialogs
from tests.words.reviews import TITLES, review

HOSTS = st.text(min_size=1, max_size=300)
NAMES = st.lists(st.text("abc_", min_size=1, max_size=30), min_size=1, max_size=9, unique=True)


@given(HOSTS, NAMES, st.text(max_size=500))
def test_nothing_in_it_steers_what_shows_it(host: str, names: list[str], title: str) -> None:
    """No control characters, no markup, no change of direction; and no more lines than ours."""
    titles = dict.fromkeys(names, title)
    about = review(host, tuple(names))
    for text, lines in (
        (dialogs.asks(about, titles), 1),
        (dialogs.how_long(about, titles), 2),
        (dialogs.locked(host), 2),
    ):
        assert len(text.split("\n")) == lines
        assert all(line.isprintable() for line in text.split("\n"))
        assert not {*"<>&"} & {*text}


@given(NAMES)
def test_all_that_it_is_about_is_said_in_one_line(names: list[str]) -> None:
    """The first four; who is to get it is said too, by the end of its name."""
    about = review("login.bank.example." + "a" * 200 + ".evil.example", tuple(names))
    line = request("SETDESC", dialogs.asks(about, {}))
    assert len(line) < LONGEST_LINE
    said = unescaped(line).decode()
    assert all(name in said for name in names[: dialogs.MOST_NAMED])
    assert ".evil.example" in said
    assert "bank" not in said


def test_a_title_is_cut_and_has_no_markup() -> None:
    """Models are not ours."""
    text = dialogs.asks(review(), TITLES)
    assert "age (b)group(/b)" in text
    assert "x" * dialogs.LONGEST not in text
