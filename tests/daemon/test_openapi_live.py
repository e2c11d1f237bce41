"""The daemon does what openapi.json says, whatever is asked of it."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import msgspec
import pytest
import requests
import schemathesis
from hypothesis import given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup
from schemathesis.core.transport import Response

from agent.daemon.server import LONGEST_LINE
from agent.wire.client import Connection
from agent.wire.routes import CONTROL, QUERY, ROUTES, Door, Route
from tests.house.openapi import document
from tests.worlds.daemons import Live, living

EXAMPLES = 12  # of each call at each door in each mode
PATIENCE = 60.0  # seconds
DOORS: tuple[Door, ...] = (CONTROL, QUERY)
UNSENT = {"events", "shutdown"}  # one never ends, the other ends the daemon
CALLED = [
    (door, route)
    for door in DOORS
    for route in ROUTES
    if door in route.doors and route.name not in UNSENT
]
FORBIDDING = [  # the rest take any text, or nothing that could be wrong
    (door, route)
    for door, route in CALLED
    if route.takes is not None or int in [each.kind for each in route.parameters]
]
load_all_checks()
UNCHECKED: list[Any] = [
    CHECKS.get_one(name)
    for name in (
        "positive_data_acceptance",  # a schema cannot say which words are hosts, or paths
        "unsupported_method",  # these two send more, and not over a Unix socket
        "ignored_auth",
    )
]
REFUSED = {"expected-statuses": [400, 413]}  # too much of something is too large as a whole
CONFIG = SchemathesisConfig.from_dict({"checks": {"negative_data_rejection": REFUSED}})
SCHEMA = schemathesis.openapi.from_dict(document(), config=CONFIG)


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A daemon with an open vault."""
    with living() as live:
        yield live


def answered(live: Live, door: Door, case: Case[Any]) -> Response:
    """Send a case to a door, and return the answer."""
    request = requests.Request(**case.as_transport_kwargs(base_url="http://localhost")).prepare()
    body = request.body if isinstance(request.body, bytes | None) else str(request.body).encode()
    begin = time.perf_counter()
    with closing(Connection(live.at(door), PATIENCE)) as connection:
        connection.request(str(request.method), request.path_url, body, dict(request.headers))
        said = connection.getresponse()
        headers = {name: said.headers.get_all(name) or [] for name in said.headers}
        taken = time.perf_counter() - begin
        return Response(said.status, headers, said.read(), request, taken, verify=False)


def fit(case: Case[Any]) -> bool:
    """Return whether a case names no file that the daemon could make, and is HTTP to aiohttp."""
    if isinstance(case.body, dict) and str(case.body.get("path", "")).startswith("/"):
        return False
    request = requests.Request(**case.as_transport_kwargs(base_url="http://localhost")).prepare()
    return len(request.path_url) < LONGEST_LINE


def check(live: Live, door: Door, route: Route, mode: GenerationMode) -> int:
    """Send cases of a call, and hold the answers to the document; return how many there were."""
    operation, cases = SCHEMA[route.path][route.method], []

    @settings(max_examples=EXAMPLES)
    @given(operation.as_strategy(generation_mode=mode).filter(fit))
    def run(case: Case[Any]) -> None:
        cases.append(case)
        case.validate_response(answered(live, door, case), excluded_checks=UNCHECKED)

    live.unlock()
    run()
    assert live.status().locked == (route.name == "lock")
    return len(cases)


@pytest.mark.parametrize(("door", "route"), CALLED, ids=lambda each: getattr(each, "name", each))
def test_what_is_allowed_is_answered_as_described(live: Live, door: Door, route: Route) -> None:
    """By a type and a shape that the document has, and by no failure."""
    assert check(live, door, route, GenerationMode.POSITIVE)


@pytest.mark.parametrize(
    ("door", "route"), FORBIDDING, ids=lambda each: getattr(each, "name", each)
)
def test_what_is_forbidden_is_refused(live: Live, door: Door, route: Route) -> None:
    """By a fault as the document has it."""
    assert check(live, door, route, GenerationMode.NEGATIVE) > 1


@settings(max_examples=1)
@given(SCHEMA["/v1/decide"]["POST"].as_strategy())
def test_the_check_itself_notices_another_answer(live: Live, case: Case[Any]) -> None:
    """A member that the document lacks, another type, a failure: or the rest would say nothing."""
    said = answered(live, QUERY, case)
    text = msgspec.json.encode({**msgspec.json.decode(said.content), "more": 1})
    plain = {**said.headers, "content-type": ["text/plain"]}
    for status, headers, content in (
        (200, said.headers, text),
        (200, plain, said.content),
        (500, said.headers, said.content),
    ):
        other = Response(status, headers, content, said.request, 0.0, verify=False)
        with pytest.raises(FailureGroup):
            case.validate_response(other, excluded_checks=UNCHECKED)
