"""What options take, and text in 80 columns."""

from inspect import signature

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build.options import BuildOptions
from agent.cli import lab, model
from agent.cli.options import names, once, pair
from agent.cli.printing import strong
from agent.errors import UsageError
from agent.lab import StudyOptions
from agent.lab.paper.subject import Options as PaperOptions
from agent.words.layout import WIDTH, Column, facts, paragraph, table

WORDS = st.from_regex(r"[a-z][a-z0-9_]{0,11}", fullmatch=True)
SENTENCES = st.lists(WORDS, min_size=1, max_size=40).map(" ".join)
few = settings(max_examples=20)


@few
@given(WORDS, st.text(min_size=1), st.lists(st.tuples(WORDS, st.integers(0, 2))))
def test_names_and_pairs_are_what_was_joined(
    name: str, value: str, pairs: list[tuple[str, int]]
) -> None:
    """A value may have more signs; the same pair twice is no contradiction, two values are."""
    words = [each for each, _ in pairs]
    assert names(",".join(words)) == names(" , ".join(words)) == tuple(words)
    if value.strip():
        assert pair(f"{name}={value}") == (name, value.strip())
    if len({*words}) == len({*pairs}):
        assert once("--know", pairs) == dict(pairs)
    else:
        with pytest.raises(UsageError):
            once("--know", pairs)
    for text in ("", "=", "a", "a=", "=a", " = ", "a= "):
        with pytest.raises(UsageError):
            pair(text)


# The options that a command takes by name itself; it hands all others on.
HANDED_ON = [
    (lab.attack, StudyOptions, {"as_json", "data", "out", "limits", "samples"}),
    (lab.paper, PaperOptions, {"as_json", "model", "log", "out"}),
    (model.build, BuildOptions, {"as_json", "out", "sensitivities", "describe"}),
]


@pytest.mark.parametrize(("command", "takes", "own"), HANDED_ON)
def test_what_is_handed_on_is_a_field(
    command: click.Command, takes: type[object], own: set[str]
) -> None:
    """Of the value that takes it, by its name."""
    given = {each.name for each in command.params}
    assert own <= given
    assert given - own <= set(signature(takes).parameters)
    assert given - own


@few
@given(
    st.lists(st.tuples(SENTENCES, WORDS, SENTENCES), min_size=1, max_size=4),
    st.sampled_from([0, 2]),
)
def test_a_table_keeps_every_word_within_its_columns(
    rows: list[tuple[str, str, str]], wrapping: int
) -> None:
    """One column gives way, and the others stay whole; numbers stand to the right."""
    short = [tuple(each if i in (1, wrapping) else "x" for i, each in enumerate(r)) for r in rows]
    columns = [Column(f"c{place}", wraps=place == wrapping) for place in range(3)]
    text = table(columns, short)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert sorted(text.split()) == sorted(" ".join(["c0 c1 c2", *map(" ".join, short)]).split())
    text = table([Column("name"), Column("bits", right=True)], [("a", "1.5"), ("bcd", "22.5")])
    assert text == "  name  bits\n  a      1.5\n  bcd   22.5"
    assert table([Column("name")], []) == facts([]) == ""


@few
@given(st.lists(st.tuples(SENTENCES, st.lists(WORDS, min_size=1, max_size=4)), max_size=6))
def test_no_line_ends_in_a_command(parts: list[tuple[str, list[str]]]) -> None:
    """What is to be typed stands in one line, and no word is lost; wherever it stands."""
    commands = [f"`{' '.join(words)}`" for _, words in parts]
    text = " ".join(f"{before} {each}" for (before, _), each in zip(parts, commands, strict=True))
    for shown in (paragraph(text), paragraph(text, "  "), facts([("name", text)])):
        assert max(map(len, shown.splitlines()), default=0) <= WIDTH
        assert shown.removeprefix("  name").split() == text.split()
        assert all(each in shown for each in commands)
    assert [line[4:-4] for line in strong(paragraph(text)).splitlines()] == paragraph(
        text
    ).splitlines()
    long = f"`{text.replace('`', '')} {'word ' * WIDTH}`"  # broken, at a space
    assert paragraph(long).split() == long.split()
