"""Catching everything is allowed in the outermost frames, once in each, and nowhere else."""

import ast
from collections.abc import Iterator

from tests.house.tree import ROOT, sources

OUTERMOST = {"agent/cli/main.py", "agent/daemon/boundary.py"}
BROAD = {"Exception", "BaseException"}


def names(expression: ast.expr | None) -> set[str]:
    """Return the names in what is caught; a bare except catches BaseException."""
    if expression is None:
        return {"BaseException"}
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}


def broad(text: str) -> Iterator[int]:
    """Yield the lines of the Python source `text` that catch or suppress everything."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ExceptHandler(type=caught) if names(caught) & BROAD:
                yield node.lineno
            case ast.Call(func=ast.Name("suppress") | ast.Attribute(attr="suppress")) if any(
                names(argument) & BROAD for argument in node.args
            ):
                yield node.lineno


def test_everything_is_caught_in_the_outermost_frame_only() -> None:
    """Elsewhere it would hide the defect that it meets."""
    found = {str(path.relative_to(ROOT)): [*broad(path.read_text())] for path in sources(".py")}
    assert {name: lines for name, lines in found.items() if lines and name not in OUTERMOST} == {}
    assert all(len(found.get(name, [])) <= 1 for name in OUTERMOST)


def test_the_search_itself() -> None:
    """Each way to catch everything, and two that do not."""
    for clause, lines in (
        ("except ValueError: ...", []),
        ("except: ...", [3]),
        ("except (OSError, BaseException): ...", [3]),
        ("except OSError:\n with contextlib.suppress(Exception): ...", [4]),
        ("except OSError:\n with suppress(KeyError): ...", []),
    ):
        assert [*broad(f"try:\n ...\n{clause}")] == lines
