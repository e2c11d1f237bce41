"""The clients of examples/clients where something fails: nothing is attached, and soon enough."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from agent.paths import HOME
from agent.wire.base import Fault
from agent.wire.decide import Answer, Ask
from tests.daemon.fakes import short_home
from tests.examples.clients import ABSENT, GIT, Client, Question, Told, at, clients, faking
from tests.waiting import PATIENCE
from tests.wire.fake import Raw, says
from tests.wire.misbehaving import saying

BROKEN = "the daemon did not answer in time, or not as it should"
SHORT = 0.05  # seconds
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GOOD = b'{"code":"answered","attributes":{"a":"b"},"unspecified":[],"header":"a=\\"b\\"","id":1}'


@clients
def test_no_daemon(kind: type[Client]) -> None:
    """Nobody started it, or it was killed; one sentence says what to do."""
    with short_home() as places:
        client = kind(at(places))
        assert client.decide(Question(GIT, "forge.example")) == Told("", {}, ABSENT)
        places.runtime.mkdir()
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(places.query))
        assert client.decide(Question(GIT, "forge.example")) == Told("", {}, ABSENT)
        assert not client.offer("forge.example", ["region"])


@clients
def test_a_path_that_is_too_long(kind: type[Client], tmp_path: Path) -> None:
    """Nothing can listen there."""
    told = kind({HOME: str(tmp_path / ("x" * 120))}).decide(Question(GIT, "forge.example"))
    assert (told.header, told.attributes) == ("", {})
    assert told.said in {ABSENT, BROKEN}


@clients
def test_a_slow_daemon(kind: type[Client]) -> None:
    """The request goes on without it."""
    let = threading.Event()

    def decide(body: Ask) -> Answer:  # noqa: ARG001  (of the route)
        let.wait(PATIENCE)
        return Answer(code="answered", header="a", attributes={"a": "yes"})

    with faking(kind, decide=decide) as (_, client):
        try:
            told = client.decide(Question(GIT, "forge.example", limit=SHORT))
        finally:
            let.set()
    assert told == Told("", {}, BROKEN)


@clients
def test_a_daemon_that_never_ends(kind: type[Client]) -> None:
    """Every byte in time, and no end of them: the limit is one of the whole."""
    with short_home() as places:
        places.runtime.mkdir()
        with dripping(places.query):
            client = kind(at(places))
            told = client.decide(Question(GIT, "forge.example", limit=4 * SHORT))
    assert told == Told("", {}, BROKEN)


@contextmanager
def dripping(path: Path) -> Iterator[None]:
    """Answer one caller byte by byte, until it leaves, or should have left long ago."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(PATIENCE)

        def serve() -> None:
            with suppress(OSError), listener.accept()[0] as one:
                one.settimeout(PATIENCE)
                one.sendall(HEAD + b"\r\n")
                end = time.monotonic() + PATIENCE / 2
                while time.monotonic() < end:
                    time.sleep(SHORT / 5)
                    one.sendall(b" ")

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            thread.join(PATIENCE)
            assert not thread.is_alive()


@clients
@pytest.mark.parametrize(
    "answer",
    [
        *(Raw(200, each) for each in (b"", b"not JSON", b'"\xff"', b"[" * 100_000)),
        *(Raw(200, each) for each in (b"null", b"[]", b"{}", GOOD[:-1])),
        Raw(200, GOOD.replace(b"a=", b"a=\\n")),
        Raw(200, GOOD.replace(b"a=", b"a=\n")),
        Raw(200, GOOD.replace(b"a=", "ä=".encode())),
        Raw(200, GOOD.replace(b'"a=\\"b\\""', b"1")),
        Raw(200, GOOD.replace(b'{"a":"b"}', b'["a"]')),
        Raw(200, GOOD.replace(b'"b"', b"2")),
        Raw(200, GOOD.replace(b'"answered"', b"null")),
        Raw(200, GOOD + b" " * (1 << 21)),
        *(Raw(500, GOOD), Raw(500, b""), Raw(302, GOOD)),
    ],
)
def test_an_answer_that_is_none(kind: type[Client], answer: Raw) -> None:
    """Nothing of it is attached."""
    with faking(kind, decide=says(answer)) as (_, client):
        told = client.decide(Question(GIT, "forge.example"))
    assert (told.header, told.attributes) == ("", {})
    assert told.said != "answered"


@clients
def test_an_answer_that_is_cut(kind: type[Client]) -> None:
    """What came of it would pass for a whole one."""
    for length, whole in ((len(GOOD), True), (len(GOOD) + 1, False)):
        with short_home() as places:
            places.runtime.mkdir()
            head = HEAD + f"Content-Length: {length}\r\n\r\n".encode()
            with saying(places.query, head + GOOD):
                told = kind(at(places)).decide(Question(GIT, "forge.example"))
        assert told == (Told('a="b"', {"a": "b"}, "answered") if whole else Told("", {}, BROKEN))


@clients
def test_a_refusal(kind: type[Client]) -> None:
    """Of what is no host, say; or because the daemon is locked."""
    fault = Fault(code="usage", what="this is no host", hint="give another")
    with faking(kind, decide=says(fault), offer=says(fault)) as (_, client):
        told = client.decide(Question(GIT, "no host"))
        assert not client.offer("no host", ["region"])
    assert (told.header, told.attributes) == ("", {})
    assert told.said in {"the daemon refused", "the daemon refused: this is no host"}
    with faking(kind, decide=says(Answer(code="locked"))) as (_, client):
        assert client.decide(Question(GIT, "forge.example")) == Told("", {}, "locked")
