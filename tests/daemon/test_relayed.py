"""Calls in an envelope."""

from collections.abc import Callable, Iterator
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.server import INSIDE
from agent.errors import LockedError, UsageError, VaultError
from agent.wire.decide import Relayed, RelayedDecide
from agent.wire.routes import CONTROL, QUERY, ROUTES
from tests.daemon.fakes import ASK, Running, Said, behind
from tests.wire.messages import messages_of

PRIVATE = "married, 47 years old"
TYPES = {each.__struct_config__.tag: each for each in get_args(Relayed)}
RAISED = [
    LockedError(),
    VaultError("the disk is full", "make room"),
    UsageError("there is no such host", "name one"),
    ZeroDivisionError(PRIVATE),
    MemoryError(PRIVATE),
]
Spoilt = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def query() -> Iterator[Running]:
    """Serve the query door."""
    with behind(QUERY) as running:
        yield running


@pytest.fixture
def plain(query: Running) -> Iterator[Running]:
    """The same, and what a test lets its calls do is over with the test."""
    before = dict(query.calls.instead)
    yield query
    query.calls.instead = before


def relayed(running: Running, number: object, call: str, body: object = None) -> Said:
    """Make a call in an envelope."""
    return running.ask("POST", "/v1/relay", {"id": number, "call": call, "body": body})


def test_an_envelope_takes_every_call_of_the_door_and_no_other() -> None:
    """What the control door has is behind none."""
    assert TYPES.keys() == INSIDE.keys()
    there = {route.name for route in ROUTES if QUERY in route.doors}
    assert {route.name for route in INSIDE.values()} == there - {"relay"}
    for tag, kind in TYPES.items():
        [body] = [each for each in msgspec.structs.fields(kind) if each.name == "body"]
        assert (INSIDE[tag].takes or type(None)) is (body.type or type(None))


@pytest.mark.parametrize("tag", sorted(TYPES))
@given(data=st.data())
def test_a_call_is_made_as_if_it_came_alone(query: Running, tag: str, data: st.DataObject) -> None:
    """With its message, and its number comes back."""
    message = data.draw(messages_of(TYPES[tag]))
    query.calls.made.clear()
    said = query.ask("POST", "/v1/relay", msgspec.json.encode(message))
    route, body = INSIDE[tag], message.body
    arguments = () if body is None else (body,)
    named = {"by": message.by} if isinstance(message, RelayedDecide) else {}
    assert query.calls.made == [(route.name, arguments, named)]
    assert query.before[-1] == (QUERY, route.name)
    alone = query.ask(
        route.method,
        route.path,
        None if body is None else msgspec.json.encode(body),
    )
    assert said.status == 200
    assert said.body == {"id": message.id, "status": alone.status, "body": alone.body}


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("call", ["decide", "refuse"])
def test_what_fails_in_it_fails_as_it_would_alone(
    plain: Running, call: str, error: Exception
) -> None:
    """A decision attaches nothing; of a defect nothing is told."""

    def fails(*_: object, **__: object) -> object:
        raise error

    body = {"decide": ASK, "refuse": {"recipient": "a.example"}}[call]
    plain.calls.instead[call] = fails
    alone = plain.ask("POST", f"/v1/{call}", body)
    said = relayed(plain, 7, call, body)
    assert said.body == {"id": 7, "status": alone.status, "body": alone.body}
    assert PRIVATE not in str(said.body)
    if call == "decide" and not isinstance(error, UsageError):
        assert not said.body["body"]["attributes"]


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda whole: {**whole, "call": "unlock"},
        lambda whole: {**whole, "call": "relay"},
        lambda whole: {**whole, "call": 1},
        lambda whole: {**whole, "id": "1"},
        lambda whole: {**whole, "id": -1},
        lambda whole: {**whole, "id": 2**53},
        lambda whole: {**whole, "more": 1},
        lambda whole: {**whole, "body": None},
        lambda whole: {**whole, "body": {**ASK, "more": 1}},
        lambda whole: {name: whole[name] for name in ("id", "body")},
        lambda whole: {name: whole[name] for name in ("call", "body")},
    ],
)
def test_what_is_no_envelope_is_refused_whole(query: Running, spoilt: Spoilt) -> None:
    """And reaches nobody."""
    query.calls.made.clear()
    said = query.ask("POST", "/v1/relay", spoilt({"id": 1, "call": "decide", "body": ASK}))
    assert (said.status, said.body["code"]) == (400, "malformed")
    assert query.calls.made == []


def test_the_control_door_has_none() -> None:
    """It is for the user's own programs, which speak HTTP."""
    with behind(CONTROL) as control:
        assert relayed(control, 1, "decide", ASK).status == 404
