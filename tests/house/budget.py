"""Lines of code and files of each room, and what else is counted, beside its budget (DESIGN.md 3).

Run as `python -m tests.house.budget`: prints the table, and fails above a ceiling. A line of code
is a line that is not blank, no comment and no part of a docstring.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from tests.house.graph import called_once, modules
from tests.house.tree import ROOT

SILENT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Size(NamedTuple):
    """Lines of code, and files of Python."""

    lines: int
    files: int


# What a room may have in the end, as DESIGN.md 3 says: only STANDING changes with the code.
BUDGETS = {
    "agent/tradeoff": Size(1_800, 15),
    "agent/model": Size(800, 8),
    "policy": Size(1_900, 14),
    "agent/decision": Size(1_300, 10),
    "agent/vault": Size(1_900, 16),
    "agent/build": Size(1_100, 13),
    "agent/wire": Size(1_000, 11),
    "agent/words": Size(800, 6),
    "agent/daemon": Size(3_500, 32),
    "agent/tui": Size(3_300, 28),
    "agent/cli": Size(3_300, 30),
    "agent/lab": Size(3_500, 34),
    "agent": Size(300, 4),  # __init__, errors, files, paths
    "agent/assistants": Size(0, 0),  # brings its own
}
WHOLE = Size(24_500, 220)
# Of the whole house: what there may be in the end, and what there may be now.
COUNTS = {
    "private functions with one caller": (250, 276),
    "lines of tests": (42_000, 71_508),
}
STANDING = {
    "agent": Size(1_118, 7),
    "agent/assistants": Size(915, 6),
    "agent/cli": Size(5_820, 38),
    "agent/daemon": Size(6_472, 40),
    "agent/decision": Size(2_126, 14),
    "agent/lab": Size(4_790, 42),
    "agent/model": Size(1_942, 14),
    "agent/tradeoff": Size(2_783, 20),
    "agent/tui": Size(4_560, 26),
    "agent/vault": Size(3_338, 19),
    "agent/wire": Size(1_777, 14),
    "policy": Size(2_933, 17),
    "agent/build": Size(2_336, 19),
    "agent/words": Size(1_529, 10),
}


def code_lines(text: str) -> int:
    """Return how many lines of code a module has."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    spans = (range(each.start[0], each.end[0] + 1) for each in tokens if each.type not in SILENT)
    rows = set(chain.from_iterable(spans))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            rows -= {*range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
    return len(rows)


def room_of(path: Path) -> str:
    """Return the room that a module below the root belongs to."""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[:2]) if parts[0] == "agent" and len(parts) > 2 else parts[0]


def sizes() -> dict[str, Size]:
    """Return the size of each room."""
    found: dict[str, Size] = {}
    for top in ("agent", "policy"):
        for path in sorted((ROOT / top).rglob("*.py")):
            before = found.get(room_of(path), Size(0, 0))
            lines = code_lines(path.read_text())
            found[room_of(path)] = Size(before.lines + lines, before.files + 1)
    return found


def counts() -> dict[str, int]:
    """Return what is counted of the whole house."""
    tests = (path for path in (ROOT / "tests").rglob("*") if path.suffix in {".py", ".mjs"})
    lines = sum(len(path.read_bytes().splitlines()) for path in tests)
    return dict(zip(COUNTS, (len(called_once(modules())), lines), strict=True))


def table(found: dict[str, Size], counted: dict[str, int]) -> Iterator[str]:
    """Yield a line for each room, for all of them, and for each count of the whole."""
    yield f"{'room':16} {'lines':>6} {'budget':>7} {'files':>6} {'budget':>7}"
    whole = Size(*map(sum, zip(*found.values(), strict=True)))
    for room, size, budget in [
        *((room, found[room], BUDGETS[room]) for room in sorted(found)),
        ("sum", whole, WHOLE),
    ]:
        yield f"{room:16} {size.lines:6} {budget.lines:7} {size.files:6} {budget.files:7}"
    for what, number in counted.items():
        yield f"{what:34} {number:5} {COUNTS[what][0]:7}"


def excess(found: dict[str, Size], counted: dict[str, int]) -> Iterator[str]:
    """Yield a sentence for each room, and each count, that is above its ceiling."""
    for room, size in found.items():
        budget, stands = BUDGETS[room], STANDING.get(room, Size(0, 0))
        ceiling = Size(max(budget.lines, stands.lines), max(budget.files, stands.files))
        if size.lines > ceiling.lines or size.files > ceiling.files:
            yield (
                f"{room} has {size.lines} lines of code in {size.files} files; "
                f"at most {ceiling.lines} in {ceiling.files}"
            )

    for what, number in counted.items():
        if number > max(COUNTS[what]):
            yield f"{number} {what}; at most {max(COUNTS[what])}"


def main() -> None:
    """Print the table, and fail above a ceiling."""
    found, counted = sizes(), counts()
    print(*table(found, counted), sep="\n")
    above = [*excess(found, counted)]
    print(*above, sep="\n", end="\n" if above else "")
    sys.exit(bool(above))


if __name__ == "__main__":
    main()
