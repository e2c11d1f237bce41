"""Every call stands in one table, and its address is made from it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agent.errors import UsageError
from agent.wire.base import Fault
from agent.wire.routes import DOTS, KINDS, ROUTES, target_of
from agent.wire.state import Event
from tests.house.openapi import document, means_of, text
from tests.house.test_imports import imported
from tests.house.tree import ROOT
from tests.wire.messages import messages_of

ROUTE = {route.name: route for route in ROUTES}
SHIPPED = ROOT / "agent/wire/openapi.json"
DOCUMENT = document()
OPERATIONS = {
    (path, method.upper()): operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
TYPES = [Fault, Event, *(each for route in ROUTES for each in (route.gives, route.takes) if each)]
HEAVY = {
    *("numpy", "aiohttp", "http_sf", "cryptography", "safetensors", "publicsuffixlist"),
    *("sqlite3", "asyncio", "textual", "ibis", "platformdirs"),
}


@given(st.text(min_size=1).filter(lambda text: text not in DOTS))
def test_a_part_of_the_path_is_one_segment(text: str) -> None:
    """With any sign in it, also those that divide an address."""
    target = target_of(ROUTE["knowledge"], {"recipient": text})
    assert target.isascii()
    assert not set(target) & set(" ?#\r\n")
    *_, folder, last = urlsplit(target).path.split("/")
    assert (folder, unquote(last)) == ("knowledge", text)


@pytest.mark.parametrize("text", ["", ".", "..", None])
def test_a_step_through_the_path_is_refused(text: str | None) -> None:
    """`/v1/models/..` would be another call."""
    with pytest.raises(UsageError, match="is not a name"):
        target_of(ROUTE["remove_model"], {"name": text})


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


def validator(kind: Any) -> Draft202012Validator:  # noqa: ANN401 - a type
    """Return the judge of a type's messages, as the document describes it."""
    template = "#/components/schemas/{name}"
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=template)
    return Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def test_the_shipped_file_is_what_is_printed() -> None:
    """It is generated, and only looks like data."""
    command = [sys.executable, "-m", "tests.house.openapi"]
    done = subprocess.run(command, capture_output=True, check=True, cwd=ROOT, timeout=60)
    assert done.stdout.decode() == text()
    hint = "out of step: run `python -m tests.house.openapi > agent/wire/openapi.json`"
    assert SHIPPED.read_text(encoding="utf-8") == text(), hint


def test_it_has_exactly_the_routes() -> None:
    """Each at its doors, and none twice at one."""
    assert {*OPERATIONS} == {(route.path, route.method) for route in ROUTES}
    for route in ROUTES:
        assert {*route.doors} <= {*OPERATIONS[route.path, route.method]["x-doors"]}
    doors = [door for each in OPERATIONS.values() for door in each["x-doors"]]
    assert len(doors) == sum(len(route.doors) for route in ROUTES)
    assert all(len({*each["x-doors"]}) == len(each["x-doors"]) for each in OPERATIONS.values())


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_each_route_is_described(route: Any) -> None:  # noqa: ANN401 - a route
    """With what it takes, what it gives, and every parameter, those of the path in it."""
    operation = OPERATIONS[route.path, route.method]
    assert means_of(route) in operation["summary"]
    assert ("requestBody" in operation) == (route.takes is not None)
    named = {each["name"]: each for each in operation["parameters"]}
    assert [*named] == [each.name for each in route.parameters]
    in_path = {name for name, each in named.items() if each["in"] == "path"}
    assert in_path == {*re.findall(r"\{(\w+)\}", route.path)}
    assert all(each["required"] == (name in in_path) for name, each in named.items())
    assert operation["responses"]["default"] == {"$ref": "#/components/responses/Fault"}


def test_every_fault_is_documented() -> None:
    """With its status."""
    listed = DOCUMENT["components"]["responses"]["Fault"]["x-codes"]
    assert [(each["code"], each["status"]) for each in listed] == [kind[:2] for kind in KINDS]


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


def test_no_object_has_unknown_keys() -> None:
    """As the messages are strict, so is what describes them."""
    objects = [
        each
        for each in nodes(DOCUMENT["components"]["schemas"])
        if each.get("type") == "object" and "properties" in each
    ]
    assert len(objects) >= len(DOCUMENT["components"]["schemas"])
    assert all(each["additionalProperties"] is False for each in objects)


@given(st.data())
def test_each_message_is_as_its_schema_says(data: st.DataObject) -> None:
    """What goes over the wire is what the document describes."""
    kind = data.draw(st.sampled_from(TYPES))
    message = data.draw(messages_of(kind))
    validator(kind).validate(json.loads(msgspec.json.encode(message)))


@given(st.data())
def test_what_is_read_is_what_the_schema_allows(data: st.DataObject) -> None:
    """Also where something in it is missing, or is something else."""
    kind = data.draw(st.sampled_from([each for each in TYPES if isinstance(each, type)]))
    sent = json.loads(msgspec.json.encode(data.draw(messages_of(kind))))
    key = data.draw(st.sampled_from([*sent, "more"]))
    if data.draw(st.booleans()):
        sent.pop(key, None)
    else:
        sent[key] = data.draw(
            st.sampled_from([None, True, 0, -1, 1.5, "", "x" * 5000, [], [1], {}])
        )
    try:
        msgspec.json.decode(json.dumps(sent), type=kind)
    except msgspec.ValidationError:
        return
    assert validator(kind).is_valid(sent)


@pytest.mark.parametrize("module", ["agent.wire.client", "agent.wire.base", "agent.wire.routes"])
def test_it_brings_no_library_but_msgspec(module: str) -> None:
    """No mathematics, no server, no keys."""
    _, found = imported(probe=f"import sys, {module}\nprint('imported', *sys.modules)")
    assert {module, "msgspec"} <= found
    assert found & HEAVY == set()
