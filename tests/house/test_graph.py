"""No module of the product needs itself, not even for a type."""

import ast

import pytest

from tests.house.graph import Graph, called_once, cycles, imports


def test_imports_run_in_no_circle() -> None:
    """Whoever reads one of them would have to read all."""
    assert cycles(imports()) == []


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({"a": "b", "b": "c", "c": ""}, []),
        ({"a": "b", "b": "ac", "c": ""}, ["ab"]),
        ({"a": "b", "b": "c", "c": "a", "d": "ae", "e": "d"}, ["abc", "de"]),
    ],
)
def test_circles_are_found(graph: dict[str, str], found: list[str]) -> None:
    """Each whole, the largest first."""
    known: Graph = {name: frozenset(each) for name, each in graph.items()}
    assert cycles(known) == [frozenset(each) for each in found]


def test_a_private_function_with_one_caller_is_found() -> None:
    """By its name: what is never mentioned, or twice, is not."""
    text = """
def _once(): ...
def _twice(): ...
def public(): return _once() + _twice() + _twice()
class A:
    def _method(self): ...
    def __call__(self): return self._method()
    def _unused(self): ...
"""
    assert called_once({"m": ast.parse(text)}) == ["m._once", "m._method"]
