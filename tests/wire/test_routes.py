"""Every call stands in one table, and its address is made from it."""

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agent import errors
from agent.errors import DaemonError, PolicyError, Problem, RefusedError, ReticentError, UsageError
from agent.wire.base import Fault
from agent.wire.routes import KINDS, ROUTES, error_of, fault_of, http_status, target_of
from agent.wire.state import Event
from tests.house.openapi import document, text
from tests.house.tree import ROOT
from tests.wire.messages import messages_of

ROUTE = {route.name: route for route in ROUTES}
SHIPPED = ROOT / "agent/wire/openapi.json"
DOCUMENT = document()
TYPES = [Fault, Event, *(each for route in ROUTES for each in (route.gives, route.takes) if each)]


@given(st.text(min_size=1))
def test_a_parameter_is_one_part_of_the_address(text: str) -> None:
    """With any sign in it, also those that divide an address."""
    target = target_of(ROUTE["recipients"], {"recipient": text})
    assert target.isascii()
    assert parse_qs(urlsplit(target).query, keep_blank_values=True) == {"recipient": [text]}
    assert target_of(ROUTE["dismiss"], {"id": 7}) == "/v1/reviews/7"


def test_a_parameter_that_is_not_there_is_our_own_mistake() -> None:
    """Never sent."""
    with pytest.raises(TypeError, match="status has no parameters"):
        target_of(ROUTE["status"], {"id": 1})


def nodes(node: object) -> Iterator[dict[str, Any]]:
    """Yield every object within one."""
    if isinstance(node, dict):
        yield node
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for each in inner:
        yield from nodes(each)


def test_the_shipped_file_is_what_is_printed() -> None:
    """It is generated, and only looks like data."""
    command = [sys.executable, "-m", "tests.house.openapi"]
    done = subprocess.run(command, capture_output=True, check=True, cwd=ROOT, timeout=60)
    assert done.stdout.decode() == text()
    hint = "out of step: run `python -m tests.house.openapi > agent/wire/openapi.json`"
    assert SHIPPED.read_text(encoding="utf-8") == text(), hint


def test_it_holds_together() -> None:
    """Every reference leads somewhere, every schema is one, and every part is used."""
    assert all(
        part in DOCUMENT["components"][room]
        for node in nodes(DOCUMENT)
        if "$ref" in node
        for room, part in [node["$ref"].removeprefix("#/components/").split("/")]
    )
    schemas = DOCUMENT["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    used = {node["$ref"].rpartition("/")[2] for node in nodes(DOCUMENT) if "$ref" in node}
    assert {*schemas} - used == {"Event"}  # which comes within a stream


@given(st.data())
def test_each_message_is_as_its_schema_says(data: st.DataObject) -> None:
    """What goes over the wire is what the document describes."""
    kind = data.draw(st.sampled_from(TYPES))
    message = data.draw(messages_of(kind))
    template = "#/components/schemas/{name}"
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=template)
    validator = Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    validator.validate(json.loads(msgspec.json.encode(message)))


TREE = [
    each
    for _, each in inspect.getmembers(errors, inspect.isclass)
    if issubclass(each, ReticentError) and each is not RefusedError  # it has a kind's code
]
TEXT = st.text(min_size=1, max_size=20)


@given(st.sampled_from(TREE), TEXT, TEXT, TEXT | st.none())
def test_an_error_comes_back_as_what_it_was(
    kind: type[ReticentError], what: str, hint: str, where: str | None
) -> None:
    """Its class, or the nearest that has a kind, and all that it says."""
    if kind is PolicyError:
        error: ReticentError = PolicyError(where or "p", [Problem(3, "", what, hint)])
    else:
        error = kind(what, hint, where)
    back = error_of(msgspec.json.decode(msgspec.json.encode(fault_of(error)), type=Fault))
    assert isinstance(error, type(back))
    assert type(back) is kind or kind not in {each.error for each in KINDS}
    assert (back.what, back.hint, back.where) == (error.what, error.hint, error.where)


def test_what_the_other_side_may_not_have_is_an_error_all_the_same() -> None:
    """A policy's fault without a line, a class or a kind that is newer."""

    class NewError(UsageError):
        pass

    for where in (None, "policy.toml", "policy.toml:x", ":7", "7"):
        back = error_of(Fault(code="policy", what="a", hint="b", where=where))
        assert (type(back), back.what, back.hint) == (PolicyError, "a", "b")
    assert fault_of(NewError("a", "b")).code == "usage"
    assert type(error_of(Fault(code="out of paper", what="a", hint="b"))) is DaemonError
    assert http_status("out of paper") == 500


def test_each_kind_has_one_code_and_a_status_of_failure() -> None:
    """And each is of an error."""
    assert len({kind.code for kind in KINDS}) == len(KINDS)
    assert all(400 <= http_status(kind.code) == kind.status < 600 for kind in KINDS)
    assert {kind.error for kind in KINDS} <= {*TREE}
