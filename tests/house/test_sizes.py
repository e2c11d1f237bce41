"""A file has at most 450 lines, a function at most 60 and seven parameters; nobody is excused."""

from collections.abc import Callable, Iterable, Iterator

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
Measure = Callable[[str], Iterator[Function]]


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


@pytest.mark.parametrize(
    ("suffixes", "functions"), [((".py",), in_python), ((".js", ".mjs"), in_javascript)]
)
def test_no_function_is_too_large(suffixes: tuple[str, ...], functions: Measure) -> None:
    """A function over a limit does two things."""
    found = {
        str(path.relative_to(ROOT)): [*oversized(functions(path.read_text()))]
        for path in sources(*suffixes)
    }
    assert {name: what for name, what in found.items() if what} == {}
    assert found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(a, b, c, d, e, f, g): ...", []),
        ("def f(a, b, /, c, d, e, *, f, **g): ...", []),
        ("class A:\n def f(self, a, b, c, d, e, f, g): ...", []),
        ("async def f(a, b, c, h, i, *d, e, **g): ...", ["f has 8 parameters"]),
        ("def f():" + "\n 1" * 59, []),
        ("def f():" + "\n 1" * 60, ["f has 61 lines"]),
        ("class A:\n def f():" + "\n  1" * 60, ["f has 61 lines"]),
    ],
)
def test_the_measure_itself(text: str, found: list[str]) -> None:
    """One under and one over each limit."""
    assert [*oversized(in_python(text))] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("function f(a, b, {c, d}, e = 1, h, i, ...g) {}", []),
        ("class A { #f(a, b, c, d, e, g, h, i) {} }", ["#f has 8 parameters"]),
        ("const f = async (a, b, c, [d], /* and */ e, g = 1, h, i) => a", ["f has 8 parameters"]),
        ("const f = a => a", []),
        ("x.f = function* (a, b, c, d, e, g, h, i) {}", ["x.f has 8 parameters"]),
        ("const o = {f: (a, b, c, d, e, g, h, i) => a}", ["f has 8 parameters"]),
        (
            "export default (a, b, c, d, e, g, h, i) => a",
            ["the function of line 1 has 8 parameters"],
        ),
        ("function f() {" + "\n" * 59 + "}", []),
        ("const f = () => {" + "\n" * 60 + "}", ["f has 61 lines"]),
        (
            "function f() {\n on(" + "() => {" + "\n" * 60 + "});}",
            ["f has 62 lines", "the function of line 2 has 61 lines"],
        ),
        ("// a script\n(() => {" + "\n" * 60 + "})();", []),
        ("(() => {" + "\n" * 60 + "})();\nf();", ["the function of line 1 has 61 lines"]),
        ("((a) => {" + "\n" * 60 + "})(1);", ["the function of line 1 has 61 lines"]),
        ("f(() => {" + "\n" * 60 + "});", ["the function of line 1 has 61 lines"]),
    ],
)
def test_the_measure_of_javascript(text: str, found: list[str]) -> None:
    """Each way to write a function, and what each counts as a parameter."""
    assert [*oversized(in_javascript(text))] == found


def test_what_cannot_be_read_is_not_passed_over() -> None:
    """Its functions would be of no size at all."""
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


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", 0),
        ("// a\n\n/* b\n */\n", 0),
        ("f(); // a\n\ng(`b\n\nc`);\n", 4),
        ("x =\n  /* a */ 1;", 2),
    ],
)
def test_lines_of_javascript(text: str, lines: int) -> None:
    """Blank lines and comments are none; those of a template are."""
    assert script_lines(text) == lines
