"""A file has at most 450 lines, a function at most 60 and seven parameters; nobody is excused."""

from collections.abc import Iterable, Iterator

import pytest

from tests.house.budget import (
    BUDGETS,
    COUNTS,
    OTHERS,
    PRODUCT,
    STANDING,
    STANDING_COUNTS,
    Size,
    script_lines,
)
from tests.house.functions import Function, in_javascript, in_python
from tests.house.tree import ROOT, sources

FILE_LINES, FUNCTION_LINES, PARAMETERS = 450, 60, 7


def oversized(functions: Iterable[Function]) -> Iterator[str]:
    """Yield what is too large."""
    for each in functions:
        if each.lines > FUNCTION_LINES:
            yield f"{each.name} has {each.lines} lines"
        if each.parameters > PARAMETERS:
            yield f"{each.name} has {each.parameters} parameters"


def test_no_file_is_too_long() -> None:
    """A file over the limit holds two ideas."""
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in sources(".py", ".js", ".mjs")
    }
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES} == {}
    assert {"agent/errors.py", "examples/clients/reticent_client.mjs"} <= {*lengths}


def test_no_function_is_too_large() -> None:
    """A function over a limit does two things."""
    for suffixes, functions in (((".py",), in_python), ((".js", ".mjs"), in_javascript)):
        found = {
            str(path.relative_to(ROOT)): [*oversized(functions(path.read_text()))]
            for path in sources(*suffixes)
        }
        assert found
        assert {name: what for name, what in found.items() if what} == {}


def test_the_measure_itself() -> None:
    """One under and one over each limit, in both languages."""
    for text, found in (
        ("class A:\n def f(self, a, b, c, d, e, f, g): ...", []),
        ("async def f(a, b, c, h, i, *d, e, **g): ...", ["f has 8 parameters"]),
        ("def f():" + "\n 1" * 59, []),
        ("class A:\n def f():" + "\n  1" * 60, ["f has 61 lines"]),
    ):
        assert [*oversized(in_python(text))] == found, text
    for text, found in (
        ("function f(a, b, {c, d}, e = 1, h, i, ...g) {}", []),
        ("class A { #f(a, b, c, d, e, g, h, i) {} }", ["#f has 8 parameters"]),
        ("const f = async (a, b, c, [d], /* and */ e, g = 1, h, i) => a", ["f has 8 parameters"]),
        ("const f = () => {" + "\n" * 60 + "}", ["f has 61 lines"]),
        ("// a script\n(() => {" + "\n" * 60 + "})();", []),
        ("f(() => {" + "\n" * 60 + "});", ["the function of line 1 has 61 lines"]),
    ):
        assert [*oversized(in_javascript(text))] == found, text
    with pytest.raises(ValueError, match="line 2"):
        [*in_javascript("let a;\nfunction f( {}")]


def test_the_budgets_are_those_of_the_design() -> None:
    """What a room has is noted beside them, and never makes them larger."""
    rooms = Size(*map(sum, zip(*BUDGETS.values(), strict=True)))
    assert rooms == Size(27_750, 189)
    assert Size(27_000, 190) == PRODUCT


def test_a_ceiling_stands_only_above_its_budget() -> None:
    """A room that has met its budget keeps it."""
    budgets = BUDGETS | OTHERS | {"product": PRODUCT}
    for name, size in STANDING.items():
        assert size.lines > budgets[name].lines or size.files > budgets[name].files, name
    assert all(number > COUNTS[what] for what, number in STANDING_COUNTS.items())


def test_lines_of_javascript() -> None:
    """Blank lines and comments are none; those of a template are."""
    assert script_lines("// a\n\n/* b\n */\n") == 0
    assert script_lines("f(); // a\n\ng(`b\n\nc`);\n") == 4
