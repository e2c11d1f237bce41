"""A file has at most 300 lines, a function at most 50 and five parameters; nobody is excused."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.tree import ROOT, sources

FILE_LINES, FUNCTION_LINES, PARAMETERS = 300, 50, 5


def parameters(arguments: ast.arguments) -> int:
    """Count what a caller passes: everything but self and cls."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    bound = bool(named) and named[0].arg in {"self", "cls"}
    rest = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    return len(named) - bound + len(rest)


def oversized(text: str) -> Iterator[str]:
    """Yield what is too large in the Python source `text`."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > FUNCTION_LINES:
            yield f"{node.name} has {lines} lines"
        if (count := parameters(node.args)) > PARAMETERS:
            yield f"{node.name} has {count} parameters"


def test_no_file_is_too_long() -> None:
    """A file over the limit holds two ideas."""
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in sources(".py", ".js", ".mjs")
    }
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES} == {}
    assert "agent/errors.py" in lengths


def test_no_function_is_too_large() -> None:
    """A function over a limit does two things."""
    found = {str(path.relative_to(ROOT)): [*oversized(path.read_text())] for path in sources(".py")}
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(a, b, c, d, e): ...", []),
        ("def f(a, b, /, c, *, d, **e): ...", []),
        ("class A:\n def f(self, a, b, c, d, e): ...", []),
        ("async def f(a, b, c, *d, e, **g): ...", ["f has 6 parameters"]),
        ("def f():" + "\n 1" * 49, []),
        ("def f():" + "\n 1" * 50, ["f has 51 lines"]),
        ("class A:\n def f():" + "\n  1" * 50, ["f has 51 lines"]),
    ],
)
def test_the_measure_itself(text: str, found: list[str]) -> None:
    """One under and one over each limit."""
    assert [*oversized(text)] == found
