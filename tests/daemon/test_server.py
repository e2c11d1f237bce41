"""The two doors as HTTP: their calls, calls in an envelope, and events as they are sent."""

import asyncio
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event as Flag
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon import server
from agent.daemon.events import ENDING, TOO_SLOW
from agent.daemon.server import RELAYED, Daemon, application
from agent.errors import LockedError, ReticentError, UsageError, VaultError
from agent.wire.base import ASKER, Done
from agent.wire.client import event_data
from agent.wire.decide import Answer
from agent.wire.routes import CONTROL, QUERY, ROUTES, Door, Route, target_of
from agent.wire.state import Event
from tests.waiting import PATIENCE, until
from tests.wire.messages import messages_of
from tests.worlds.doors import ASK, PROMPT, FakeApi, Running, Said, behind, received

DOORS: tuple[Door, ...] = (CONTROL, QUERY)
CALLED = [
    (door, route)
    for door in DOORS
    for route in ROUTES
    if door in route.doors and route.name not in {"events", "shutdown", "relay"}
]
SEGMENT = "a b/é%@"
PRIVATE = "married, 47 years old"
RAISED = [
    LockedError(),
    VaultError("the disk is full", "make room"),
    UsageError("there is no such host", "name one"),
    ZeroDivisionError(PRIVATE),
    MemoryError(PRIVATE),
]
CALL_OF = {route.name: call for call, route in RELAYED.items()}
ABSENT = object()  # in place of a member: it is left out
LISTEN = b"GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def doors() -> Iterator[dict[Door, Running]]:
    with behind(CONTROL) as control, behind(QUERY) as query:
        yield {CONTROL: control, QUERY: query}


@pytest.mark.parametrize("door", DOORS)
def test_a_door_has_exactly_its_calls(door: Door) -> None:
    """No more than the table says, and no fewer."""
    nothing: Any = FakeApi()
    daemon = Daemon(nothing, nothing, nothing)
    wanted = {(each.method, each.path, each.name) for each in ROUTES if door in each.doors}
    routes = application(door, daemon).router.routes()
    found = {(e.method, e.resource and e.resource.canonical, e.name) for e in routes}
    assert {each for each in found if each[1] is not None} == wanted


@pytest.mark.parametrize(("door", "route"), CALLED, ids=lambda each: getattr(each, "name", each))
@given(data=st.data())
def test_a_call_reaches_the_method_of_its_name(
    doors: dict[Door, Running], door: Door, route: Route, data: st.DataObject
) -> None:
    """With its message first, if it takes one, and its parameters by name; so does one relayed."""
    running = doors[door]
    message = None if route.takes is None else data.draw(messages_of(route.takes))
    values: dict[str, Any] = {
        name: SEGMENT if name == "recipient" else data.draw(messages_of(kind))
        for name, kind in route.parameters.items()
        if name == "id" or data.draw(st.booleans())
    }
    path = target_of(route, values)
    running.api.made.clear()
    body = None if message is None else msgspec.json.encode(message)
    said = running.ask(route.method, path, body)
    assert said.status == 200, said
    if route.name in {"decide", "disclosed", "reranked"}:
        values["by"] = "command" if door == CONTROL else "program"
    made = [(route.name, () if message is None else (message,), values)]
    assert running.api.made == made
    assert running.before[-1] == (door, route.name)
    if door == QUERY and not route.parameters:
        running.api.made.clear()
        frame = {"id": 3, "call": CALL_OF[route.name], "body": msgspec.to_builtins(message)}
        whole = running.ask("POST", "/v1/relay", frame | {"by": "user"})
        assert (whole.status, whole.body) == (200, {"id": 3, "status": 200, "body": said.body})
        if route.name in {"decide", "disclosed", "reranked"}:
            values["by"] = "user"
        assert running.api.made == made
        assert running.before[-1] == (door, route.name)


def test_a_call_that_nobody_makes_is_told_apart() -> None:
    """Whatever it asks, so that the vault still locks itself."""
    with behind(CONTROL) as running:
        lines = [b"GET /v1/status HTTP/1.1", b"Host: x", b"Reticent-Unattended: ?1"]
        running.raw(b"\r\n".join([*lines, b"Connection: close", b"", b""]))
        assert running.before == [(CONTROL, "unattended")]


@pytest.mark.parametrize("in_time", [True, False])
def test_a_request_waits_for_a_vault_that_is_being_opened(
    monkeypatch: pytest.MonkeyPatch, *, in_time: bool
) -> None:
    """Not for ever: the request itself is never held up."""
    monkeypatch.setattr(server, "OPENING", PATIENCE if in_time else PROMPT)
    with behind(QUERY) as running, ThreadPoolExecutor(1) as pool:
        lock, answered = running.api.agent.unlock_lock, Flag()

        async def opening(*_: object) -> Done:
            async with lock:
                while not (answered.is_set() or (in_time and (QUERY, "decide") in running.before)):
                    await asyncio.to_thread(answered.wait, PROMPT)
            return Done()

        running.api.instead["means"] = opening
        running.api.instead["decide"] = lambda *_, **__: Answer(
            code="locked" if lock.locked() else "answered"
        )
        opened = pool.submit(running.ask, "POST", "/v1/means", {"query": "tea", "topic": "tea"})
        until(lock.locked, "the vault is being opened")
        said = running.ask("POST", "/v1/decide", ASK).body
        answered.set()
        assert said["code"] == ("answered" if in_time else "locked")
        assert opened.result().status == 200


def test_shutdown_is_said_to_be_done_before_it_is() -> None:
    """The caller gets an answer."""
    with behind(CONTROL) as running:
        assert running.ask("POST", "/v1/shutdown").body == {"done": True}
        assert running.ended.is_set()


def relayed(running: Running, number: object, call: str, body: object = None) -> Said:
    return running.ask("POST", "/v1/relay", {"id": number, "call": call, "body": body})


def test_a_frame_takes_every_call_of_the_query_socket_and_no_other() -> None:
    """What control has is behind none."""
    there = {route.name for route in ROUTES if QUERY in route.doors}
    assert {route.name for route in RELAYED.values()} == there - {"relay"}


@pytest.mark.parametrize("door", DOORS)
def test_who_asks_is_said_by_the_socket_and_the_header(
    doors: dict[Door, Running], door: Door
) -> None:
    """On control a command does, whatever the header; else a program, unless it says otherwise."""
    for given_, by in {"user": "user", "page": "page", "assistant": "assistant"}.items():
        assert _asker(doors[door], {ASKER: given_}) == ("command" if door == CONTROL else by)
    for other in ("command", "draft", "User", "user, page", ""):
        assert _asker(doors[door], {ASKER: other}) == ("command" if door == CONTROL else "program")


def _asker(running: Running, headers: dict[str, str]) -> object:
    running.api.made.clear()
    assert running.ask("POST", "/v1/decide", ASK, headers).status == 200
    return running.api.made[0][2]["by"]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("call", ["decide", "refuse"])
def test_what_fails_in_it_fails_as_it_would_alone(
    doors: dict[Door, Running], monkeypatch: pytest.MonkeyPatch, call: str, error: Exception
) -> None:
    """A decision attaches nothing; of a defect nothing is told."""
    body = {"decide": ASK, "refuse": {"recipient": "a.example"}}[call]
    query = doors[QUERY]
    monkeypatch.setitem(query.api.instead, call, Mock(side_effect=error))
    alone = query.ask("POST", f"/v1/{call}", body)
    said = relayed(query, 7, call, body)
    assert said.body == {"id": 7, "status": alone.status, "body": alone.body}
    assert PRIVATE not in str(said.body)
    if call == "refuse" and isinstance(error, ReticentError):
        assert (alone.body["what"], alone.body["hint"]) == (error.what, error.hint)
    if call == "decide" and not isinstance(error, UsageError):
        assert not said.body["body"]["attributes"]


@pytest.mark.parametrize(
    "spoilt",
    [
        *({"call": each} for each in ("unlock", "relay", 1, ABSENT)),
        *({"id": each} for each in ("1", -1, 2**53, ABSENT)),
        *({"more": 1}, {"body": None}, {"body": {**ASK, "more": 1}}),
    ],
)
def test_what_is_no_envelope_is_refused_whole(
    doors: dict[Door, Running], spoilt: dict[str, object]
) -> None:
    """And reaches nobody."""
    query, frame = doors[QUERY], {"id": 1, "call": "decide", "body": ASK} | spoilt
    query.api.made.clear()
    frame = {name: each for name, each in frame.items() if each is not ABSENT}
    said = query.ask("POST", "/v1/relay", frame)
    assert (said.status, said.body["code"]) == (400, "malformed")
    assert query.api.made == []


@pytest.fixture
def control() -> Iterator[Running]:
    with behind(CONTROL) as running:
        yield running


def rest(opened: socket.socket) -> bytes:
    return b"".join(iter(lambda: opened.recv(65536), b""))


@given(event=messages_of(Event))
def test_what_is_sent_is_what_is_read(event: Event) -> None:
    """By the client that the command line uses, too."""
    (data,) = event_data(event.lines().splitlines(keepends=True))
    assert msgspec.json.decode(data, type=Event) == event


def test_a_reader_gets_what_happens_from_then_on(control: Running) -> None:
    """And at the end is told that it is one."""
    control.bus.publish("lock")
    with control.connect() as opened:
        opened.sendall(LISTEN)
        head = received(opened, b": listening\n\n")
        assert b"HTTP/1.1 200 OK" in head
        assert b"Content-Type: text/event-stream" in head
        control.bus.publish("review", 7)
        line = b'"number":2,"kind":"review","at":"2026-05-04T12:00:00Z","id":7'
        assert line in received(opened, b"}\n\n")
        control.bus.close()
        assert f": {ENDING}\n\n".encode() in rest(opened)


def test_one_who_does_not_read_is_left(control: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent fills the system's buffers, and then nobody waits for it for long."""
    left, leave = Flag(), server.leave

    def noted(request: web.Request) -> None:
        leave(request)
        left.set()

    monkeypatch.setattr(server, "leave", noted)
    monkeypatch.setattr(server, "READER_PATIENCE", PROMPT)
    control.api.instead["status"] = lambda: [
        control.api.agent.bus.publish("answer").id for _ in range(200)
    ]
    with control.connect() as opened:
        opened.sendall(LISTEN)
        until(lambda: control.ask("GET", "/v1/status") and left.is_set(), "its leaving")
        with suppress(ConnectionResetError):
            assert TOO_SLOW.encode() not in rest(opened)
    assert control.ask("POST", "/v1/lock").status == 200


def test_one_who_has_left_is_no_failure(
    control: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whenever that is noticed: at an event, at a heartbeat, or at the end."""
    left = Flag()
    monkeypatch.setattr(server, "leave", lambda _: left.set())
    for happens in (lambda: control.bus.publish("lock"), control.bus.close):
        left.clear()
        with control.connect() as opened:
            opened.sendall(LISTEN)
            received(opened, b": listening\n\n")
        with caplog.at_level("INFO", "reticent"):
            happens()
            assert left.wait(10)
            assert control.ask("POST", "/v1/lock").status == 200
    assert caplog.text == ""
