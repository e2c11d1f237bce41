"""JavaScript as the house tests see it: parsed, and never run."""

from collections.abc import Iterator

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

LANGUAGE = Language(tree_sitter_javascript.language())
NAMES = {"identifier", "property_identifier", "private_property_identifier"}
SHORTHAND = {"shorthand_property_identifier", "shorthand_property_identifier_pattern"}


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
    return "" if node is None or node.text is None else node.text.decode()


def field(node: Node, name: str) -> str:
    """Return the text of a part of a node, nothing where it has no such part."""
    return text_of(node.child_by_field_name(name))


def imports(root: Node) -> Iterator[tuple[str, list[str]]]:
    for node in root.children:
        if source := field(node, "source")[1:-1]:
            found = [*walk(node)]
            here = [
                field(each, "alias") or field(each, "name")
                for each in found
                if each.type == "import_specifier"
            ]
            whole = (each for each in found if each.type in {"import_clause", "namespace_import"})
            parts = (part for each in whole for part in each.children if part.type == "identifier")
            yield source, here + [text_of(each) for each in parts]


def names(root: Node) -> Iterator[tuple[str, int]]:
    """Yield each name that is written outside of strings and comments, and its line."""
    for node in walk(root):
        if node.type in NAMES | SHORTHAND:
            yield text_of(node), node.start_point.row + 1
