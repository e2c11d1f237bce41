"""JavaScript as the house tests see it: parsed, and never run."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

LANGUAGE = Language(tree_sitter_javascript.language())
NAMES = {"identifier", "property_identifier", "private_property_identifier"}
SHORTHAND = {"shorthand_property_identifier", "shorthand_property_identifier_pattern"}


class Import(NamedTuple):
    """What a module takes from another: its path, the name there, None for all, and the one here.

    ``here`` is empty where it is only passed on.
    """

    source: str
    there: str | None
    here: str


def parsed(text: str) -> Node:
    """Return the tree of a JavaScript source; ValueError, with the line, where it is none."""
    root = Parser(LANGUAGE).parse(text.encode()).root_node
    for node in walk(root):
        if node.is_error or node.is_missing:
            raise ValueError(f"line {node.start_point.row + 1} is no JavaScript")
    return root


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, in the order of the text."""
    yield node
    for child in node.children:
        yield from walk(child)


def text_of(node: Node | None) -> str:
    """Return the text of a node, nothing of none."""
    return "" if node is None or node.text is None else node.text.decode()


def field(node: Node, name: str) -> str:
    """Return the text of a part of a node, nothing where it has no such part."""
    return text_of(node.child_by_field_name(name))


def imports(root: Node) -> Iterator[Import]:
    """Yield what a module imports or passes on; of one that it only runs, no name."""
    for node in root.children:
        source = field(node, "source")[1:-1]
        if not source:
            continue
        passing = node.type == "export_statement"
        found = [
            Import(source, field(each, "name"), "" if passing else _here(each))
            for each in walk(node)
            if each.type in {"import_specifier", "export_specifier"}
        ]
        found += [
            Import(source, None, text_of(each.named_children[0]))
            for each in walk(node)
            if each.type == "namespace_import"
        ]
        clause = next((each for each in node.children if each.type == "import_clause"), None)
        if clause is not None and clause.children[0].type == "identifier":
            found.append(Import(source, "default", text_of(clause.children[0])))
        yield from found or [Import(source, None, "")]


def exports(root: Node) -> Iterator[str]:
    """Yield the names that a module exports."""
    for node in root.children:
        if node.type != "export_statement":
            continue
        if any(each.type == "default" for each in node.children):
            yield "default"
        declared = node.child_by_field_name("declaration")
        if declared is not None:
            parts = [declared, *declared.named_children]
            yield from filter(None, (field(each, "name") for each in parts))
        for each in walk(node):
            if each.type == "export_specifier":
                yield _here(each)


def names(root: Node) -> Iterator[tuple[str, int]]:
    """Yield each name that is written outside of strings and comments, and its line."""
    for node in walk(root):
        if node.type in NAMES | SHORTHAND:
            yield text_of(node), node.start_point.row + 1


def is_module(path: Path, root: Node) -> bool:
    """Say whether a file is a module and no classic script."""
    kinds = {node.type for node in root.children}
    return path.suffix == ".mjs" or bool(kinds & {"import_statement", "export_statement"})


def _here(specifier: Node) -> str:
    """Return under which name something is known on this side of an import or export."""
    return field(specifier, "alias") or field(specifier, "name")
