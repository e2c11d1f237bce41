"""Which module of the product imports which."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path

from tests.house.tree import ROOT

PRODUCT = ("agent", "policy")
Graph = Mapping[str, frozenset[str]]


@cache
def modules() -> Mapping[str, ast.Module]:
    """Return the modules of the product by name, a package by its own."""
    paths = chain.from_iterable(sorted((ROOT / top).rglob("*.py")) for top in PRODUCT)
    return {_name(path): ast.parse(path.read_text()) for path in paths}


def imports() -> Graph:
    """Return what each module imports of the product: at its top, in a function, for types."""
    known = modules()
    return {name: frozenset(_imported(name, tree, known)) for name, tree in known.items()}


def cycles(graph: Graph) -> list[frozenset[str]]:
    """Return the sets of more than one module that all reach each other, the largest first."""
    reached = {name: _reached(graph, name) for name in graph}
    found = {frozenset(each for each in reached[name] if name in reached[each]) for name in graph}
    return sorted(
        (each for each in found if len(each) > 1), key=lambda each: (-len(each), min(each))
    )


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(name: str, tree: ast.Module, known: Mapping[str, ast.Module]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            deeper = (f"{node.module}.{alias.name}" for alias in node.names)
            names = [each if each in known else node.module for each in deeper]
        else:
            continue
        yield from (each for each in names if each in known and each != name)


def _reached(graph: Graph, start: str) -> set[str]:
    """Return the modules on a way of one import or more from a module."""
    found, rest = set[str](), [*graph[start]]
    while rest:
        name = rest.pop()
        if name not in found:
            found.add(name)
            rest.extend(graph[name])
    return found
