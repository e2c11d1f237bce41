"""One table per idea: no room but agent/words has a table of sentences by code."""

import ast
from collections.abc import Iterator

from agent.words.figures import MEASURED
from agent.words.outcomes import BROWSER, LIMITS, PROOFS, REASONS, RULINGS, WHY_NOTHING
from tests.house.tree import ROOT

TABLES = (WHY_NOTHING, BROWSER, REASONS, RULINGS, LIMITS, PROOFS, MEASURED)
FEWEST = 3  # codes of one kind: with fewer it is a choice, not a table
HOME = ROOT / "agent" / "words"
MODULES = [
    path
    for path in sorted((ROOT / "agent").rglob("*.py"))
    if HOME not in path.parents and "lab" not in path.parts
]


def worded(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the codes of each literal table that has sentences by code."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Dict):
            continue
        said = {
            str(key.value)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
            if isinstance(value.value, str) and " " in value.value
        }
        for table in TABLES:
            if len(said & {*table}) >= FEWEST:
                yield node.lineno, sorted(said & {*table})


def test_no_other_room_words_a_code() -> None:
    """A second table would say the same in other words."""
    found = {str(path.relative_to(ROOT)): [*worded(path.read_text())] for path in MODULES}
    assert {path: tables for path, tables in found.items() if tables} == {}


def test_a_second_table_is_found() -> None:
    """So that the test above can fail."""
    table = '{"locked": "it was locked", "blocked": "a rule did it", "failed": "it went wrong"}'
    assert [*worded(f"WHY = {table}")] == [(1, ["blocked", "failed", "locked"])]
    assert [*worded('{"locked": 1, "blocked": "short", "failed": f(1)}')] == []
