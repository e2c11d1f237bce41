"""The client against listeners that do not behave: one sentence each, and no socket left open."""

import os
import re
import socket
from pathlib import Path
from unittest.mock import Mock

import pytest

from agent.errors import DaemonError
from agent.wire import client as client_module
from agent.wire.base import Done
from agent.wire.client import Client
from tests.wire.fake import FakeDaemon, saying

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GOOD = HEAD + b'Content-Length: 13\r\n\r\n{"done":true}'
SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
EVENT = b'data: {"number":1,"kind":"lock","at":"2026-03-02T09:15:00Z"}\n\n'
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
BROKE = "the daemon broke off or does not speak HTTP"
STRANGE = "this version does not understand the daemon's answer"
LARGE = "the daemon's answer is too large"
RUNS_NOT = "the daemon is not running"


def _refused(path: Path, timeout: float = 60) -> DaemonError:
    with Client(path, timeout) as client, pytest.raises(DaemonError) as raised:
        client.call("shutdown")
    error = raised.value
    assert error.hint
    assert not re.search(r"[A-Z]|\.$", error.what.replace("HTTP", ""))
    return error


def test_no_socket(path: Path) -> None:
    """Nobody started it; and it is found once somebody has."""
    with Client(path) as client:
        with pytest.raises(DaemonError, match=RUNS_NOT) as raised:
            client.call("shutdown")
        assert "`reticent daemon`" in raised.value.hint
        with FakeDaemon(path, {"shutdown": Done}):
            assert client.call("shutdown") == Done()


def test_a_socket_that_nobody_listens_at(path: Path) -> None:
    """Left by a daemon that was killed; or a file of some other kind."""
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    assert _refused(path).what == RUNS_NOT
    path.unlink()
    path.write_text("no socket")
    assert _refused(path).what == RUNS_NOT


def test_a_socket_of_somebody_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent to it, least of all a passphrase; one may not even be opened, but by root."""
    other = os.geteuid() + 1
    with monkeypatch.context() as patched, FakeDaemon(path, {"shutdown": Done}) as fake:
        patched.setattr(os, "geteuid", lambda: other)
        assert _refused(path).what == "the daemon's socket belongs to another user"
        assert fake.calls == []
    monkeypatch.setattr(socket.socket, "connect", Mock(side_effect=PermissionError))
    assert _refused(path).what == "the daemon's socket belongs to another user"


def test_silence(path: Path) -> None:
    """An answer that never comes, and one that stops within."""
    for answer in (b"", GOOD[:-3], HEAD):
        with saying(path, answer, hold=True):
            assert _refused(path, 0.01).what == "the daemon did not answer in time"
        path.unlink()


@pytest.mark.parametrize("cut", range(len(GOOD)))
def test_an_answer_that_is_cut_anywhere(path: Path, cut: int) -> None:
    """Within its head or its body: never taken for a whole one."""
    with saying(path, GOOD[:cut]):
        assert _refused(path).what in {BROKE, STRANGE}


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (b"", BROKE),
        (b"hello\r\n\r\n", BROKE),
        (b"\0" * 70000, BROKE),
        (b"HTTP/1.1 OK\r\n\r\n", BROKE),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n", BROKE),
        (b"HTTP/1.1 200 OK\r\na: " + b"b" * 70000 + b"\r\n\r\n", BROKE),
        (HEAD + CHUNKED + b"zz\r\n", BROKE),
        (HEAD + CHUNKED + b"5\r\nab", BROKE),
        (HEAD + b"\r\n", STRANGE),
        (HEAD + b"\r\nnot JSON", STRANGE),
        (HEAD + b"\r\n" + b"[" * 100_000, STRANGE),
        (HEAD + b'\r\n"\xff"', STRANGE),
        (HEAD + b'\r\n{"\xff":1}', STRANGE),
        (HEAD + b'\r\n{"done":"yes"}', STRANGE),
        (HEAD + b'\r\n{"done":true,"more":1}', STRANGE),
        (HEAD + b'\r\n{"done":true}{}', STRANGE),
        (HEAD + b"Content-Length: 99999999999\r\n\r\n", LARGE),
        (HEAD + b"Content-Length: -1\r\n\r\nnot JSON", STRANGE),
        (b"HTTP/1.1 204 No\r\n\r\n", "the daemon answered with status 204 and no reason"),
        (b"HTTP/1.1 302 No\r\n\r\n", "the daemon answered with status 302 and no reason"),
        (b"HTTP/1.1 500 No\r\n\r\nsorry", "the daemon answered with status 500 and no reason"),
        (b"HTTP/1.1 500 No\r\n\r\n\xff", "the daemon answered with status 500 and no reason"),
    ],
)
def test_an_answer_that_is_none(path: Path, answer: bytes, what: str) -> None:
    """Not HTTP, not JSON, not the message, or not small; nothing is sent twice: it may count."""
    with saying(path, answer) as requests:
        assert _refused(path).what == what
        assert len(requests) == 1


def test_an_answer_without_an_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read up to the limit and no further."""
    monkeypatch.setattr(client_module, "LARGEST", 1000)
    for head in (
        HEAD + b"\r\n",
        HEAD + CHUNKED + b"7d0\r\n",
        HEAD + b"Content-Length: 2000\r\n\r\n",
    ):
        with saying(path, head + b" " * 2000):
            assert _refused(path).what == LARGE
        path.unlink()


def test_a_failed_call_leaves_the_next_one_whole(path: Path) -> None:
    """What came too late, or too much, is not taken for the answer to another call."""
    answers = (GOOD + GOOD.replace(b"true", b'"no"'), GOOD, HEAD + b"\r\n{", GOOD)
    with saying(path, *answers), Client(path) as client:
        for _ in range(2):
            assert client.call("shutdown") == Done()
        with pytest.raises(DaemonError, match="does not understand"):
            client.call("shutdown")
        assert client.call("shutdown") == Done()


def test_the_private_part_of_a_wrong_answer_is_not_said(path: Path) -> None:
    """A value may stand where it does not belong."""
    body = b'{"values": {"so2017": {"gender": ["woman"]}}}'
    with saying(path, HEAD + b"\r\n" + body), pytest.raises(DaemonError) as raised:
        Client(path).call("profile")
    assert "woman" not in f"{raised.value!r} {raised.value.__cause__!r}"
    assert raised.value.__suppress_context__


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (SSE + b"\r\ndata: {}\n\n", STRANGE),
        (SSE + CHUNKED + b"5\r\ndata", BROKE),
        (SSE + b"\r\ndata: " + b"x" * 70000, "the daemon sent an event that is too large"),
        (GOOD, STRANGE),
        (b"HTTP/1.1 500 No\r\n\r\n", "the daemon answered with status 500 and no reason"),
        (b"", BROKE),
    ],
)
def test_events_that_are_none(path: Path, answer: bytes, what: str) -> None:
    """As for answers."""
    with saying(path, answer), Client(path) as client, pytest.raises(DaemonError) as raised:
        list(client.events())
    assert raised.value.what == what


@pytest.mark.parametrize(
    "answer",
    [
        SSE + b"\r\n" + EVENT,
        SSE + b"\r\n" + EVENT + EVENT[:-2],
        SSE + CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(EVENT), EVENT),
        SSE + CHUNKED + b"%x\r\n%b\r\n" % (len(EVENT), EVENT),
    ],
)
def test_events_that_end(path: Path, answer: bytes) -> None:
    """By the daemon's will or not: what came whole is there, and nothing else."""
    with saying(path, answer), Client(path) as client:
        assert [event.number for event in client.events()] == [1]


def test_events_that_stop_coming(path: Path) -> None:
    """Where the caller does not want to wait for ever."""
    with saying(path, SSE + b"\r\n: alive\n" + EVENT, hold=True), Client(path) as client:
        stream = client.events(0.01)
        assert next(stream).number == 1
        with pytest.raises(DaemonError, match="did not answer in time"):
            next(stream)
