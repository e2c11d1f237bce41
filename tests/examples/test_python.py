"""The examples of the public face do what their page says, and import nothing deeper."""

import ast
import re
from contextlib import redirect_stdout
from io import StringIO
from typing import NamedTuple

import pytest

from tests.house.tree import ROOT

PAGE = ROOT / "examples/python/README.md"
EXAMPLE = re.compile(
    r"^## (?P<title>.*?)$|^```python\n(?P<code>.*?)^```\n\n```text\n(?P<out>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Example(NamedTuple):
    """A block of code, and what it prints."""

    name: str
    code: str
    printed: str


def examples() -> list[Example]:
    """Return the examples of the page, each named by its section and place."""
    found: list[Example] = []
    title = ""
    for each in EXAMPLE.finditer(PAGE.read_text()):
        title = each["title"] or title
        if each["code"]:
            found.append(Example(f"{title} {len(found) + 1}", each["code"], each["out"]))
    return found


@pytest.mark.parametrize("example", examples(), ids=lambda each: each.name)
def test_an_example_prints_what_the_page_says(
    example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run from the root of the repository."""
    monkeypatch.chdir(ROOT)
    with redirect_stdout(StringIO()) as printed:
        exec(compile(example.code, example.name, "exec"), {"__name__": "example"})  # noqa: S102  (our own page)
    assert printed.getvalue() == example.printed


def test_the_examples_are_as_short_as_promised() -> None:
    """A decision takes ten lines, a utility and a cost of one's own twenty."""
    lines = {each.name: sum(map(bool, each.code.splitlines())) for each in examples()}
    assert lines["A decision 1"] <= 10
    assert lines["A utility and a cost of your own 5"] <= 20
    assert PAGE.read_text().count("```python") == len(lines) == 6


def test_the_examples_import_the_face_alone() -> None:
    """Whoever copies them depends on what is meant to last."""
    tops = {"agent", "agent.tradeoff", "datetime", "numpy"}
    for each in examples():
        for node in ast.walk(ast.parse(each.code)):
            if isinstance(node, ast.ImportFrom):
                assert node.module in tops
            elif isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= tops
