"""The tree of errors, and what is said of a message that does not fit."""

import ast
import errno
import json
import os
import pickle
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, get_args, get_origin

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent.wire.routes  # noqa: F401  (which imports every message)
from agent import errors
from agent.daemon.server import message_of
from agent.errors import RefusedError, ReticentError, UsageError, misfit, nearest, reason
from agent.wire.base import LONGEST_HOST, LONGEST_QUERY, Message
from agent.wire.routes import ROUTES
from tests.house.tree import ROOT, sources

NAMES = st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True), min_size=1, unique=True)
TREE = [error for error in vars(errors).values() if isinstance(error, type)]
MARK = "Zz-private"  # what is sent, and must not come back
ODD: tuple[Any, ...] = (
    *(None, True, -1, 2**70, 1e308, 0.5, "", [], {}, MARK, [MARK], [[MARK]], {MARK: MARK}),
    *(MARK * 8000, [MARK] * 2000, {f"{MARK}{n}": MARK for n in range(1100)}, {"": ""}, [None]),
)


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


def test_unknown_names_the_nearest_or_all() -> None:
    """The hint is the likely name, or else the whole choice."""
    for name, names, hint in (
        ("regoin", {"region", "gender"}, "did you mean 'region'?"),
        ("zzz", {"region", "gender"}, "known: gender, region"),
        ("css", (), "known: none"),
        ("2", [*"abcdefghijklmn"], "known: a, b, c, d, e, f, g, h, i, j, k, l, ..."),
    ):
        error = UsageError.unknown("attribute", name, names)
        assert (error.what, error.hint) == (f"unknown attribute {name!r}", hint)
    assert UsageError.unknown("fact", "2", [*"abcdefghijklmn"]).hint.startswith("`reticent model")


def test_usage_alone_exits_with_two() -> None:
    """Scripts tell the caller's mistake (2) from every other failure (1)."""
    twos = {error.__name__ for error in TREE if getattr(error, "exit_code", 1) == 2}
    assert twos == {"UnsafeError", "UsageError"}


def test_an_error_says_where_and_survives_pickling() -> None:
    """A worker process must be able to hand its error on, whole."""
    for where, sentence in ((None, "too short"), ("a.toml", "a.toml: too short")):
        error = pickle.loads(pickle.dumps(ReticentError("too short", "copy it again", where)))  # noqa: S301  (our own bytes)
        assert (error.what, error.hint, error.where) == ("too short", "copy it again", where)
        assert str(error) == sentence


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
        (each.name, [ast.unparse(base).rpartition(".")[2] for base in each.bases])
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


def messages(kind: type[Message] = Message) -> Iterator[type[Message]]:
    for each in kind.__subclasses__():
        yield each
        yield from messages(each)


def own(text: str) -> bool:
    """Say whether a sentence is ours: plain, in lower case, and with nothing that was sent."""
    foreign = ("`", "$", "Expected", "Object", "Invalid", "length", "field", MARK, "\n", "Zz")
    return text[:1].islower() and not text.endswith(".") and not any(e in text for e in foreign)


def filled(kind: Any) -> Any:  # noqa: ANN401  (a type, and what fits it)
    """Return what fits a type, as JSON has it: so that the next member is looked at too."""
    if get_origin(kind) is not None and hasattr(kind, "__metadata__"):
        return filled(get_args(kind)[0])
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        found = {each.name: each for each in msgspec.structs.fields(kind)}
        tag = kind.__struct_config__.tag
        head = {} if tag is None else {kind.__struct_config__.tag_field: tag}
        return head | {n: filled(each.type) for n, each in found.items() if each.required}
    plain: dict[Any, Any] = {str: "a", int: 1, float: 1.0, bool: True, list: [], tuple: []}
    plain |= {dict: {}, datetime: "2027-03-08T12:00:00Z"}
    first = (*get_args(kind), None)[0]
    return plain.get(get_origin(kind) or kind, filled(first) if isinstance(first, type) else first)


def test_what_does_not_fit_any_message_is_said_in_our_words() -> None:
    """The whole of each, and each member in turn, with all that it could not be."""
    for kind in messages():
        names, said = (*kind.__struct_fields__, MARK), []
        for body in (*ODD, *(filled(kind) | {name: odd} for name in names for odd in ODD)):
            try:
                msgspec.json.decode(json.dumps(body), type=kind)
            except msgspec.ValidationError as error:
                said.append(misfit(error))
        assert len(said) > len(ODD), kind
        assert [each for each in said if not own(each)] == [], kind


MISFITS: tuple[tuple[object, str], ...] = (
    ({"query": "q", "recipient": ""}, "recipient is empty"),
    ({"query": "", "recipient": "a.example"}, "query is empty"),
    ({"query": "q" * (LONGEST_QUERY + 1), "recipient": "a"}, "query has over 4,096 characters"),
    ({"query": "q", "recipient": "h" * (LONGEST_HOST + 1)}, "recipient has over 2,048 characters"),
    ({"query": "q"}, "recipient is missing"),
    ({"query": 1, "recipient": "a"}, "query is not text"),
    ({"query": "q", "recipient": "a", MARK: 1}, "the body has an unknown member"),
    ({"query": "q", "recipient": "a", "aksed": []}, "the body has an unknown member, aksed"),
    ({"query": "q", "recipient": "a", "asked": [""]}, "an entry of asked is empty"),
    ([], "the body is not an object"),
)


def test_a_request_that_does_not_fit() -> None:
    """As whoever wrote it would want to read."""
    kind = next(each.takes for each in ROUTES if each.name == "decide")
    for body, what in MISFITS:
        with pytest.raises(RefusedError) as refused:
            message_of(json.dumps(body).encode(), kind)
        assert refused.value.what == what
