"""The examples of the public face do what their page says, and import nothing deeper."""

import ast
import re
from contextlib import redirect_stdout
from io import StringIO

import pytest

from tests.house.tree import ROOT

PAGE = ROOT / "examples/python/README.md"
EXAMPLE = re.compile(
    r"^## (?P<title>.*?)$|^```python\n(?P<code>.*?)^```\n\n```text\n(?P<out>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def examples() -> dict[str, tuple[str, str]]:
    """Return the code of each example of the page, and what it prints, by its section and place."""
    found: dict[str, tuple[str, str]] = {}
    title = ""
    for each in EXAMPLE.finditer(PAGE.read_text()):
        title = each["title"] or title
        if each["code"]:
            found[f"{title} {len(found) + 1}"] = each["code"], each["out"]
    return found


@pytest.mark.parametrize("name", examples())
def test_an_example_prints_what_the_page_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run from the root of the repository."""
    monkeypatch.chdir(ROOT)
    code, wanted = examples()[name]
    with redirect_stdout(StringIO()) as printed:
        exec(compile(code, name, "exec"), {"__name__": "example"})  # noqa: S102  (our own page)
    assert printed.getvalue() == wanted


def test_the_examples_are_as_short_as_promised() -> None:
    """A decision takes ten lines, a utility and a cost of one's own twenty."""
    lines = {name: sum(map(bool, code.splitlines())) for name, (code, _) in examples().items()}
    assert lines["A decision 1"] <= 10
    assert lines["A utility and a cost of your own 9"] <= 20
    assert PAGE.read_text().count("```python") == len(lines) == 11


def test_the_examples_import_the_face_alone() -> None:
    """Whoever copies them depends on what is meant to last."""
    tops = {"asyncio", "agent", "agent.tradeoff", "agent.tradeoff.coverage", "datetime", "numpy"}
    for code, _ in examples().values():
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom):
                assert node.module in tops
            elif isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= tops
