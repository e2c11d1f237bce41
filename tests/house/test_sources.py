"""Every source file: its size, what it catches, and what is said of it elsewhere."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pkgutil import resolve_name

import pytest

from tests.bench import PARTS
from tests.house import javascript
from tests.house.budget import script_lines
from tests.house.tree import ROOT, sources

FILE_LINES, FUNCTION_LINES, PARAMETERS = 450, 60, 7  # ruff counts the parameters in Python
OUTERMOST = {"agent/cli/main.py", "agent/daemon/server.py"}  # where everything may be caught
BROAD = {"Exception", "BaseException"}


@lru_cache(maxsize=1)
def nodes(text: str) -> list[ast.AST]:
    return [*ast.walk(ast.parse(text))]


def oversized(text: str) -> Iterator[str]:
    """Yield the functions of a Python source that do two things."""
    for node in nodes(text):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{node.name} has {lines} lines"


def oversized_script(text: str) -> Iterator[str]:
    """Yield the same of JavaScript; the function that a whole classic script stands in is none."""
    root = javascript.parsed(text)
    statements = [each for each in root.children if each.type != "comment"]
    whole = [each.type for each in statements] == ["expression_statement"]
    scope = statements[0].start_point.row if whole else None
    for node in javascript.walk(root):
        if node.child_by_field_name("body") is None or not re.search("function|method", node.type):
            continue
        first, last = node.start_point.row, node.end_point.row
        listed = node.child_by_field_name("parameters")
        some = [node] if listed is None else listed.named_children  # an arrow's only one
        parameters = sum(each.type != "comment" for each in some)
        if parameters > PARAMETERS:
            yield f"line {first + 1} takes {parameters}"
        if last - first >= FUNCTION_LINES and not (first == scope and parameters == 0):
            yield f"line {first + 1} begins {last - first + 1} lines"


def broad(text: str) -> Iterator[int]:
    """Yield the lines of a Python source that catch or suppress everything."""
    for node in nodes(text):
        match node:
            case ast.ExceptHandler(type=None):
                yield node.lineno
            case ast.ExceptHandler(type=ast.expr() as caught) if _names(caught) & BROAD:
                yield node.lineno
            case ast.Call(func=ast.Name("suppress") | ast.Attribute(attr="suppress")) if any(
                _names(argument) & BROAD for argument in node.args
            ):
                yield node.lineno


def _names(expression: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}


def test_no_file_holds_two_ideas_and_no_function_does_two_things() -> None:
    """By their lines; and what catches everything would hide the defect that it meets."""
    wrong, caught = [], []
    for path in sources(".py", ".js", ".mjs"):
        name, text = str(path.relative_to(ROOT)), path.read_text()
        python = path.suffix == ".py"
        if len(text.splitlines()) > FILE_LINES:
            wrong.append(f"{name} is too long")
        wrong += [f"{name}: {each}" for each in (oversized if python else oversized_script)(text)]
        caught += [name for _ in broad(text)] if python else []
    assert wrong == []
    assert sorted(caught) == sorted(OUTERMOST)


def test_the_measures_themselves() -> None:
    """One under and one over each limit, and each way to catch everything."""
    assert [*oversized("def f():" + "\n 1" * 59)] == []
    assert [*oversized("class A:\n def f():" + "\n  1" * 60)] == ["f has 61 lines"]
    for script, found in (
        ("function f(a, b, {c, d}, e = 1, h, i, ...g) {}", []),
        ("class A { #f(a, b, c, d, e, g, h, i) {} }", ["line 1 takes 8"]),
        ("const f = async (a, b, c, [d], /* and */ e, g = 1, h, i) => a", ["line 1 takes 8"]),
        ("const f = () => {" + "\n" * 60 + "}", ["line 1 begins 61 lines"]),
        ("// a script\n(() => {" + "\n" * 60 + "})();", []),
        ("f((a) => {" + "\n" * 60 + "});", ["line 1 begins 61 lines"]),
    ):
        assert [*oversized_script(script)] == found, script
    with pytest.raises(ValueError, match="line 2"):
        [*oversized_script("let a;\nfunction f( {}")]
    for clause, lines in (
        ("except ValueError: ...", []),
        ("except: ...", [3]),
        ("except (OSError, BaseException): ...", [3]),
        ("except OSError:\n with contextlib.suppress(Exception): ...", [4]),
        ("except OSError:\n with suppress(KeyError): ...", []),
    ):
        assert [*broad(f"try:\n ...\n{clause}")] == lines
    assert script_lines("// a\n\n/* b\n */\n") == 0
    assert script_lines("f(); // a\n\ng(`b\n\nc`);\n") == 4


def absent(page: str) -> Iterator[str]:
    """Yield the tests, modules and names of ours that a page names and that do not exist."""
    for file, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page):
        text = (ROOT / file).read_text() if (ROOT / file).exists() else ""
        if not re.search(rf"^(async )?def {name}\(", text, re.MULTILINE):
            yield f"{file}::{name}"
    for name in re.findall(r"`((?:agent|policy)\.[\w.]+)`", page):
        try:
            resolve_name(name)
        except (ImportError, AttributeError):
            yield name


def test_each_threat_and_each_item_of_the_paper_names_tests_that_exist() -> None:
    """Or says why there is none; a protection that no test holds is a hope."""
    threats, paper = ((ROOT / "agent" / e).read_text() for e in ("THREATS.md", "lab/PAPER.md"))
    paragraphs = re.findall(r"^\*\*(\d+)\. ", threats, re.MULTILINE)
    rows = dict(re.findall(r"^\| (\d+) \| (.+) \|$", threats, re.MULTILINE))
    assert len(paragraphs) > 15
    wrong = [*{*paragraphs} ^ {*rows}, *absent(threats), *absent(paper)]
    wrong += [number for number, row in rows.items() if "::" not in row]
    items = re.findall(r"^\| \d.+$", paper, re.MULTILINE)
    wrong += [each for each in items if not re.search("::test_|No test|Not here", each)]
    assert wrong == []
    kinds = re.findall(r"^\| [\d.]+ \|.*\*\*(\w+) [\d.]+\*\*", paper, re.MULTILINE)
    numbered = {"Theorem": 6, "Lemma": 2, "Problem": 3, "Algorithm": 1, "Table": 1, "Figure": 12}
    assert {each: kinds.count(each) for each in kinds} == numbered


def test_every_benchmark_is_a_part() -> None:
    """One that is not named would never be looked at."""
    files = "".join(path.read_text() for path in (ROOT / "tests/bench").glob("*.py"))
    measuring = re.findall(r"^def ([a-z]+)\(\) -> Iterator", files, re.MULTILINE)
    assert sorted(measuring) == sorted(PARTS)
