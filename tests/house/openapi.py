"""The OpenAPI document of the daemon, made from the routes, the messages and the calls.

`python -m tests.house.openapi > agent/wire/openapi.json` writes the file that is shipped.
Beside OpenAPI's own keys an operation has ``x-doors``: at which sockets it is answered.
Source: OpenAPI 3.1; JSON Schema 2020-12.
"""

import json
import sys
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec

from agent.daemon.api import CALLS
from agent.wire.base import ASKER, JSON_TYPE, UNATTENDED, Fault
from agent.wire.client import HOST, MEDIA_TYPE
from agent.wire.routes import KINDS, ROUTES, Route
from agent.wire.state import Event

Node = dict[str, Any]

REFERENCE = "#/components/schemas/{name}"
ABOUT = (
    "What a request may carry, decided on the machine of the person it is about. Served over two "
    "Unix sockets, `control.sock` for the person's own programs and `query.sock` for all others; "
    "`x-doors` says which call is answered where. A program that calls while nobody is "
    f"there says so by the header `{UNATTENDED}: ?1`, so that the vault still locks itself. On the "
    f"query socket the header `{ASKER}` says who asks for a decision: `user`, `page` or "
    "`assistant`; without it, a program does."
)
FAULT = "It was not done; `x-codes` has what `code` may be, and the status with it."

FAULTS = {  # what each code means
    "usage": "something in the request does not exist or does not fit",
    "locked": "the vault is locked",
    "no daemon": "no daemon runs; a client says so, or the relay",
    "wrong secret": "no key slot opens with this secret",
    "vault": "the vault cannot be used",
    "model": "the model must not be used",
    "policy": "the policy has mistakes",
    "daemon": "the daemon cannot do it",
    "failed": "the daemon failed; see its log",
    "error": "something else went wrong",
    "malformed": "the request is not what openapi.json describes",
    "refused": "this caller may not ask this here",
    "not found": "there is no such call, review or model",
    "slow": "the request did not arrive in time",
    "conflict": "it already exists, or has changed in the meantime",
    "too large": "the request is too large",
}
NO_CALLS = {  # routes that the server answers itself
    "events": "Send what happens, as server-sent events.",
    "relay": "Make one of this socket's calls, for the browser's native host.",
    "shutdown": "End the daemon.",
}


def document() -> Node:
    """Return the document as JSON's own types."""
    taken = [each.takes for each in ROUTES if each.takes is not None]
    kinds = [Fault, Event, *(each.gives for each in ROUTES), *taken]
    paths: Node = {}
    for (path, method), routes in groupby(ROUTES, lambda route: (route.path, route.method)):
        paths.setdefault(path, {})[method.lower()] = _operation([*routes])
    codes = [
        {"code": each.code, "status": each.status, "means": FAULTS[each.code]} for each in KINDS
    ]
    fault = {"content": _content(_schema(Fault))}
    _, schemas = msgspec.json.schema_components(kinds, ref_template=REFERENCE)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Reticent", "version": "1", "description": ABOUT},
        "servers": [{"url": f"http://{HOST}"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {"Fault": {"description": FAULT, **fault, "x-codes": codes}},
        },
    }


def text() -> str:
    return json.dumps(document(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def means_of(route: Route) -> str:
    """Say what a call does: the first sentence of its handler."""
    name = route.name
    return NO_CALLS.get(name) or str(CALLS[name].function.__doc__).split("\n")[0]


def _operation(routes: Sequence[Route]) -> Node:  # two routes of one place differ in their doors
    first, schemas = routes[0], [_schema(each.gives) for each in routes]
    answer = _content(schemas[0] if len(schemas) == 1 else {"anyOf": schemas})
    if first.gives is Event:
        means = "Messages whose data is an Event, and comments that keep the connection alive."
        answer = {MEDIA_TYPE: {"schema": {"type": "string", "description": means}}}
    operation: Node = {
        "operationId": first.name,
        "summary": " ".join(
            f"{'/'.join(each.doors)}: {means_of(each)}" if len(routes) > 1 else means_of(each)
            for each in routes
        ),
        "x-doors": [door for each in routes for door in each.doors],
        "parameters": [
            _parameter(name, kind, first.path) for name, kind in first.parameters.items()
        ],
        "responses": {
            "200": {"description": "It was done.", "content": answer},
            "default": {"$ref": "#/components/responses/Fault"},
        },
    }
    if first.takes is not None:
        operation["requestBody"] = {"required": True, "content": _content(_schema(first.takes))}
    return operation


def _parameter(name: str, kind: Any, path: str) -> Node:  # noqa: ANN401 - a type
    schema, in_path = _schema(kind), f"{{{name}}}" in path
    return {
        "name": name,
        "in": "path" if in_path else "query",
        "required": in_path,
        "description": schema.pop("description"),
        "schema": schema,
    }


def _schema(kind: Any) -> Node:  # noqa: ANN401 - a type
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=REFERENCE)
    return schema


def _content(schema: Node) -> Node:
    return {JSON_TYPE: {"schema": schema}}


if __name__ == "__main__":
    sys.stdout.write(text())
