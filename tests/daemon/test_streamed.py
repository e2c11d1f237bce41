"""Events as they are sent."""

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from time import monotonic

import msgspec
import pytest
from aiohttp import web
from hypothesis import given

from agent.daemon import server
from agent.daemon.events import ENDING, MOST_READERS, ROOM, TOO_SLOW
from agent.daemon.server import as_lines
from agent.wire.client import Client, event_data
from agent.wire.routes import CONTROL
from agent.wire.state import Event
from tests.daemon.fakes import PROMPT, Running, behind, received
from tests.wire.messages import messages_of

GET = b"GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def control() -> Iterator[Running]:
    """Serve the control door."""
    with behind(CONTROL) as running:
        yield running


def rest(opened: socket.socket) -> bytes:
    """Return all that comes yet."""
    return b"".join(iter(lambda: opened.recv(65536), b""))


@given(event=messages_of(Event))
def test_what_is_sent_is_what_is_read(event: Event) -> None:
    """By the client that the command line uses, too."""
    (data,) = event_data(as_lines(event).splitlines(keepends=True))
    assert msgspec.json.decode(data, type=Event) == event


def test_a_reader_gets_what_happens_from_then_on(control: Running) -> None:
    """And at the end is told that it is one."""
    control.bus.publish("lock")
    with control.connect() as opened:
        opened.sendall(GET)
        head = received(opened, b": listening\n\n")
        assert b"HTTP/1.1 200 OK" in head
        assert b"Content-Type: text/event-stream" in head
        assert b"Cache-Control: no-store" in head
        control.bus.publish("review", 7)
        line = b'"number":2,"kind":"review","at":"2026-05-04T12:00:00Z","id":7'
        assert line in received(opened, b"}\n\n")
        control.bus.close()
        assert f": {ENDING}\n\n".encode() in rest(opened)


def test_the_client_reads_it(control: Running) -> None:
    """The one that the command line and the terminal interface share."""
    assert isinstance(control.address, Path)
    read = Flag()

    def publish() -> None:
        while not read.wait(0.01):
            control.bus.publish("policy")

    thread = Thread(target=publish)
    thread.start()
    try:
        assert next(Client(control.address, 10).events()).kind == "policy"
    finally:
        read.set()
        thread.join(60)
    assert not thread.is_alive()


def test_a_quiet_stream_is_kept_alive(control: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """By comments, so that each side notices when the other has gone."""
    monkeypatch.setattr(server, "HEARTBEAT", 0.01)
    with control.connect() as opened:
        opened.sendall(GET)
        assert received(opened, b": alive\n\n").count(b"data:") == 0


def test_one_who_falls_behind_is_told(control: Running) -> None:
    """It gets what there was room for, and no hole in the middle."""
    control.calls.instead["status"] = lambda: [
        control.bus.publish("answer").number for _ in range(ROOM * 2)
    ]
    with control.connect() as opened:
        opened.sendall(GET)
        received(opened, b": listening\n\n")
        control.ask("GET", "/v1/status")  # all of them happen at once
        got = rest(opened)
    assert [int(each) for each in re.findall(rb"^id: (\d+)$", got, re.MULTILINE)] == [
        *range(1, ROOM + 1)
    ]
    assert f": {TOO_SLOW}\n\n".encode() in got


def test_one_who_does_not_read_is_left(control: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent fills the system's buffers, and then nobody waits for it for long."""
    left = Flag()
    leave = server.leave

    def noted(request: web.Request) -> None:
        leave(request)
        left.set()

    monkeypatch.setattr(server, "leave", noted)
    monkeypatch.setattr(server, "READER_PATIENCE", PROMPT)
    control.calls.instead["status"] = lambda: [control.bus.publish("answer").id for _ in range(200)]
    with control.connect() as opened:
        opened.sendall(GET)
        until = monotonic() + 60
        while not left.is_set():
            assert monotonic() < until
            control.ask("GET", "/v1/status")
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
            opened.sendall(GET)
            received(opened, b": listening\n\n")
        with caplog.at_level("INFO", "reticent"):
            happens()
            assert left.wait(10)
            assert control.ask("POST", "/v1/lock").status == 200
    assert caplog.text == ""


def test_too_many_readers_are_refused(control: Running) -> None:
    """With a sentence; those who listen are not disturbed."""
    with ExitStack() as stack:
        opened = [stack.enter_context(control.connect()) for _ in range(MOST_READERS)]
        for each in opened:
            each.sendall(GET)
            received(each, b": listening\n\n")
        said = control.ask("GET", "/v1/events")
        assert (said.status, said.body["code"]) == (500, "daemon")
        control.bus.publish("lock")
        assert all(b"event: lock" in received(each, b"}\n\n") for each in opened)
