"""The tree of errors, and the names it suggests."""

import ast
import errno
import os
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import errors
from agent.errors import ReticentError, UsageError, nearest, reason
from tests.house.tree import ROOT, sources

NAMES = st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True), min_size=1, unique=True)
TREE = [error for error in vars(errors).values() if isinstance(error, type)]


@given(NAMES, st.data())
def test_a_known_name_is_nearest_to_itself(names: list[str], data: st.DataObject) -> None:
    """Case is the most likely mistake and must not hide the name."""
    name = data.draw(st.sampled_from(names))
    assert nearest(name, names) == name
    assert nearest(name.upper(), names) == name


@given(st.text(), NAMES)
def test_nearest_is_a_known_name_whatever_the_order(name: str, names: list[str]) -> None:
    """A suggestion exists, and does not depend on how the names were listed."""
    found = nearest(name, names)
    assert found is None or found in names
    assert found == nearest(name, names[::-1])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("regoin", "did you mean 'region'?"),
        ("zzz", "known: gender, region"),
    ],
)
def test_unknown_names_the_nearest_or_all(name: str, hint: str) -> None:
    """The hint is the likely name, or else the whole choice."""
    error = UsageError.unknown("attribute", name, {"region", "gender"})
    assert (error.what, error.hint) == (f"unknown attribute {name!r}", hint)


def test_unknown_among_nothing_says_so() -> None:
    """An empty choice is not an empty hint."""
    assert UsageError.unknown("query", "css", []).hint == "known: none"


def test_usage_alone_exits_with_two() -> None:
    """Scripts tell the caller's mistake (2) from every other failure (1)."""
    assert {error.__name__ for error in TREE if getattr(error, "exit_code", 1) == 2} == {
        "UnsafeError",
        "UsageError",
    }


@pytest.mark.parametrize("where", [None, "so2017.safetensors"])
def test_an_error_says_where_and_survives_pickling(where: str | None) -> None:
    """A worker process must be able to hand its error on, whole."""
    error = pickle.loads(pickle.dumps(ReticentError("too short", "copy it again", where)))  # noqa: S301  (our own bytes)
    assert (error.what, error.hint, error.where) == ("too short", "copy it again", where)
    assert str(error) == ("too short" if where is None else f"{where}: too short")


def test_the_beginning_of_a_name_is_enough() -> None:
    """What somebody began to type is the nearest, however long the rest."""
    assert nearest("west", ["east_asia", "west_europe", "western_asia"]) == "west_europe"
    assert nearest("", ["a"]) is None


def drawn(text: str) -> dict[str, str]:
    """Return each class in a drawing of a tree, with the one that it stands below."""
    above: list[str] = []
    found = {}
    for marks, name in re.findall(r"^([ │├└─]{4,})(\w+Error)\b", text, re.MULTILINE):
        del above[len(marks) // 4 - 1 :]
        found[name] = above[-1] if above else "Exception"
        above.append(name)
    return found


def made() -> dict[str, str]:
    """Return each class of our own below the root of the tree, with its base."""
    classes = [
        (each.name, [base.id for base in each.bases if isinstance(base, ast.Name)])
        for path in sources(".py")
        if path.relative_to(ROOT).parts[0] in ("agent", "policy")
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(each, ast.ClassDef)
    ]
    found = {"ReticentError": "Exception"}
    while new := {
        name: base
        for name, bases in classes
        for base in bases
        if name not in found and base in found
    }:
        found |= new
    return found


def test_the_tree_is_as_it_is_drawn() -> None:
    """With every error of every room in it, under the one that it is a kind of."""
    assert errors.__doc__ is not None
    assert drawn(errors.__doc__) == made()


def test_what_the_system_says_is_one_sentence_of_ours() -> None:
    """Lower case, and never empty: an error may come without a number."""
    assert reason(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))) == "no space left on device"
    assert reason(TimeoutError()) == "timeouterror"
