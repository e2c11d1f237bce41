"""The functions of a source file, as large as they are."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from tests.house import javascript

HAVE_A_BODY = {
    "arrow_function",
    "function_declaration",
    "function_expression",
    "generator_function",
    "generator_function_declaration",
    "method_definition",
}


class Function(NamedTuple):
    """How many lines a function has, and how many parameters a caller of it passes."""

    name: str
    lines: int
    parameters: int


def in_python(text: str) -> Iterator[Function]:
    """Yield the functions of a Python source."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield Function(node.name, lines, _passed(node.args))


def in_javascript(text: str) -> Iterator[Function]:
    """Yield the functions of a JavaScript source, with those that are written in others.

    A function in which a whole classic script stands is none: it is the scope of that file.
    """
    root = javascript.parsed(text)
    for node in javascript.walk(root):
        if node.type in HAVE_A_BODY and node != _scope(root):
            lines = node.end_point.row - node.start_point.row + 1
            yield Function(_name(node), lines, _taken(node))


def _passed(arguments: ast.arguments) -> int:
    """Count what a caller passes: everything but self and cls."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    bound = bool(named) and named[0].arg in {"self", "cls"}
    rest = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    return len(named) - bound + len(rest)


def _taken(function: Node) -> int:
    """Count parameters; one without parentheses is one, and so is an object that is taken apart."""
    listed = function.child_by_field_name("parameters")
    if listed is None:
        return 1
    return sum(each.type != "comment" for each in listed.named_children)


def _scope(root: Node) -> Node | None:
    """Return the function without parameters that is called as the only statement of a source."""
    found = [each for each in root.children if each.type != "comment"]
    if len(found) != 1:
        return None
    for kind in ("expression_statement", "call_expression", "parenthesized_expression"):
        if found[0].type != kind:
            return None
        found = found[0].named_children
    return found[0] if found[0].type in HAVE_A_BODY and _taken(found[0]) == 0 else None


def _name(function: Node) -> str:
    """Return the name of a function, or else of what it is bound to."""
    holder = function.parent
    own = javascript.field(function, "name")
    if own or holder is None:
        return own
    names = (javascript.field(holder, part) for part in ("name", "key", "left", "property"))
    return next(filter(None, names), f"the function of line {function.start_point.row + 1}")
