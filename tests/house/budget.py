"""What each room, the extension, the examples and the tests weigh, beside their budgets.

Run as `python -m tests.house.budget`: prints the tables, and fails above a ceiling. A line of code
is a line that is not blank, no comment and no part of a docstring; a line of tests is any line.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import click
import tree_sitter

from tests.house import javascript
from tests.house.tree import ROOT, sources

SILENT = {tokenize.COMMENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}
SILENT |= {tokenize.INDENT, tokenize.NEWLINE, tokenize.NL}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Size(NamedTuple):
    """Lines and files."""

    lines: int
    files: int


# Lines of code and files of Python in each room (DESIGN.md 3). An issue may raise one, by what it
# states; nothing else does.
BUDGETS = {
    "agent": Size(432, 4),  # __init__, errors, files, paths
    "agent/assistants": Size(504, 4),
    "agent/build": Size(3_010, 20),
    "agent/cli": Size(4_284, 31),
    "agent/daemon": Size(5_452, 33),
    "agent/decision": Size(1_968, 12),
    "agent/facts": Size(456, 5),
    "agent/lab": Size(2_658, 25),
    "agent/model": Size(1_775, 11),
    "agent/tradeoff": Size(2_950, 18),
    "agent/tui": Size(2_615, 20),
    "agent/vault": Size(2_295, 14),
    "agent/wire": Size(799, 7),
    "agent/words": Size(948, 7),
    "policy": Size(2_327, 13),
}
PRODUCT = Size(32_450, 224)  # less than the rooms together: not every room can be at its own
OTHERS = {
    "the extension": Size(2_200, 23),
    "examples": Size(1_960, 38),
    "tests": Size(51_210, 296),
    "tests/bench": Size(900, 9),
}
COUNTS = {"classes": 459, "class names that two classes share": 0, "commands": 59, "options": 192}


def code_lines(text: str) -> int:
    """Count the lines of code of a Python module."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    spans = (range(each.start[0], each.end[0] + 1) for each in tokens if each.type not in SILENT)
    rows = set(chain.from_iterable(spans))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            rows -= {*range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
    return len(rows)


def script_lines(text: str) -> int:
    """Count the lines of code of a JavaScript source."""
    return len({*_rows_of(javascript.parsed(text))})


def _rows_of(node: tree_sitter.Node) -> Iterator[int]:
    if node.type == "comment":
        return
    if (not node.children and node.text) or node.type in {"string", "template_string"}:
        yield from range(node.start_point.row, node.end_point.row + 1)
    for child in node.children:
        yield from _rows_of(child)


def product_sources() -> list[Path]:
    return [path for path in sources(".py") if room_of(path) in BUDGETS]


def room_of(path: Path) -> str:
    """Name the room that a module below the root belongs to."""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[:2]) if parts[0] == "agent" and len(parts) > 2 else parts[0]


def sizes() -> dict[str, Size]:
    """Measure each room, the extension, the examples and the tests."""
    lines, files = Counter[str](), Counter[str]()

    def count(name: str, number: int) -> None:
        lines[name] += number
        files[name] += 1

    for path in product_sources():
        count(room_of(path), code_lines(path.read_text()))
    for path in (ROOT / "agent" / "browser_extension").rglob("*.js"):
        count("the extension", script_lines(path.read_text()))
    for path in (ROOT / "examples").rglob("*.py"):
        count("examples", code_lines(path.read_text()))
    for path in (ROOT / "tests").rglob("*"):
        if path.suffix in {".py", ".mjs"}:
            bench = path.is_relative_to(ROOT / "tests" / "bench")
            count("tests/bench" if bench else "tests", len(path.read_bytes().splitlines()))
    return {name: Size(lines[name], files[name]) for name in sorted(lines)}


def counts() -> dict[str, int]:
    nodes = chain.from_iterable(ast.walk(ast.parse(path.read_text())) for path in product_sources())
    names = Counter(each.name for each in nodes if isinstance(each, ast.ClassDef))
    options = [*_options()]
    twice = sum(times > 1 for times in names.values())
    return dict(zip(COUNTS, (names.total(), twice, len(options), sum(options)), strict=True))


def _options() -> Iterator[int]:
    from agent.cli.main import program

    rest: list[tuple[click.Command, click.Context]] = [(program, click.Context(program))]
    while rest:
        command, context = rest.pop()
        if not isinstance(command, click.Group):
            yield sum(isinstance(each, click.Option) for each in command.params)
            continue
        for name in command.list_commands(context):
            each = command.get_command(context, name)
            if each is not None and not each.hidden:
                rest.append((each, click.Context(each, parent=context, info_name=name)))


def table(found: dict[str, Size], counted: dict[str, int]) -> Iterator[str]:
    """Yield a line for each room, for all of them, for what else has a size, and for each count."""
    yield f"{'room':34} {'lines':>6} {'budget':>7} {'files':>6} {'budget':>7}"
    rows = [(name, found[name], BUDGETS[name]) for name in found if name in BUDGETS]
    rows += [("product", product(found), PRODUCT), *((n, found[n], OTHERS[n]) for n in OTHERS)]
    for name, size, budget in rows:
        yield f"{name:34} {size.lines:6} {budget.lines:7} {size.files:6} {budget.files:7}"
    for what, number in counted.items():
        yield f"{what:34} {number:6} {COUNTS[what]:7}"


def product(found: dict[str, Size]) -> Size:
    return Size(*map(sum, zip(*(found[room] for room in BUDGETS), strict=True)))


def excess(found: dict[str, Size], counted: dict[str, int]) -> Iterator[str]:
    """Yield a sentence for whatever is above its ceiling."""
    budgets = BUDGETS | OTHERS | {"product": PRODUCT}
    for name, size in (found | {"product": product(found)}).items():
        lines, files = budgets[name]
        if size.lines > lines or size.files > files:
            yield f"{name} has {size.lines} lines in {size.files} files; at most {lines} in {files}"
    for what, number in counted.items():
        if number > COUNTS[what]:
            yield f"{number} {what}; at most {COUNTS[what]}"


def main() -> None:
    """Print the tables, and fail above a ceiling."""
    found, counted = sizes(), counts()
    above = [*excess(found, counted)]
    print(*table(found, counted), *above, sep="\n")
    sys.exit(bool(above))


if __name__ == "__main__":
    main()
