"""Text in 80 columns."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.cli.printing import strong
from agent.words.layout import WIDTH, Column, facts, paragraph, table

WORDS = st.from_regex(r"[a-z]{1,12}", fullmatch=True)
SENTENCES = st.lists(WORDS, min_size=1, max_size=40).map(" ".join)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(SENTENCES, WORDS, SENTENCES), min_size=1, max_size=4),
    st.sampled_from([0, 2]),
)
def test_a_table_keeps_every_word_within_its_columns(
    rows: list[tuple[str, str, str]], wrapping: int
) -> None:
    """One column gives way, and the others stay whole."""
    short = [tuple(each if i in (1, wrapping) else "x" for i, each in enumerate(r)) for r in rows]
    columns = [Column(f"c{place}", wraps=place == wrapping) for place in range(3)]
    text = table(columns, short)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert sorted(text.split()) == sorted(" ".join(["c0 c1 c2", *map(" ".join, short)]).split())


def test_numbers_stand_to_the_right() -> None:
    """So that their digits are below each other."""
    text = table([Column("name"), Column("bits", right=True)], [("a", "1.5"), ("bcd", "22.5")])
    assert text == "  name  bits\n  a      1.5\n  bcd   22.5"
    assert table([Column("name")], []) == facts([]) == ""


@settings(max_examples=30)
@given(st.lists(st.tuples(WORDS, SENTENCES), min_size=1, max_size=4))
def test_facts_keep_every_word(pairs: list[tuple[str, str]]) -> None:
    """In two columns."""
    text = facts(pairs)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.split() == " ".join(map(" ".join, pairs)).split()


@settings(max_examples=30)
@given(st.lists(st.tuples(SENTENCES, st.lists(WORDS, min_size=1, max_size=4)), max_size=6))
def test_no_line_ends_in_a_command(parts: list[tuple[str, list[str]]]) -> None:
    """What is to be typed stands in one line, and no word is lost; wherever it stands."""
    commands = [f"`{' '.join(words)}`" for _, words in parts]
    text = " ".join(f"{before} {each}" for (before, _), each in zip(parts, commands, strict=True))
    for shown in (paragraph(text), paragraph(text, "  "), facts([("name", text)])):
        assert max(map(len, shown.splitlines()), default=0) <= WIDTH
        assert shown.removeprefix("  name").split() == text.split()
        assert all(each in shown for each in commands)


@settings(max_examples=30)
@given(SENTENCES.filter(lambda text: len(text) > WIDTH))
def test_a_command_longer_than_a_line_is_broken_at_a_space(sentence: str) -> None:
    """No word of it is cut."""
    assert paragraph(f"`{sentence}`").split() == f"`{sentence}`".split()


@settings(max_examples=30)
@given(SENTENCES)
def test_what_stands_out_is_the_same_text(sentence: str) -> None:
    """Line by line, so that a pager shows each."""
    text = paragraph(sentence)
    assert [line[4:-4] for line in strong(text).splitlines()] == text.splitlines()
