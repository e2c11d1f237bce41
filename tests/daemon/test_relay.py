"""The native-messaging host: frames, and what it makes of a daemon or of none."""

import json
import os
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon import relay
from agent.daemon.relay import LARGEST, LENGTH, BrokenOffError, asked, framed, frames
from agent.wire.base import MOST_BYTES
from agent.wire.decide import Ask
from agent.wire.routes import QUERY
from tests.waiting import PATIENCE
from tests.wire.fake import short_folder
from tests.worlds.daemons import Live, home, living, started
from tests.worlds.doors import COMMAND, Host, hosting

HEAD = b"HTTP/1.1 200 OK\r\ncontent-Length: %d\r\n\r\n%b"
LIMITS = [1, LARGEST - 1, LARGEST, LARGEST + 1, relay.AT_ONCE + LARGEST + 7]
CONTENTS = st.lists(
    st.binary(min_size=1, max_size=40) | st.sampled_from(LIMITS).map(bytes), max_size=4
)
ASK = {"query": "editor", "recipient": "search.example"}
ENVELOPE = json.dumps({"id": 1, "call": "status"}).encode()
DAMAGED = [bytes(4), b"\xff\xff\xff\xff{}", b"\x01", relay.framed(b"{ }")[:-1]]


def reading(data: bytes, chunks: st.DataObject | None = None) -> Callable[[int], bytes]:
    """Return what reads bytes as a pipe hands them over: some, at most as many as are asked for."""
    rest = data

    def read(most: int) -> bytes:
        nonlocal rest
        count = most if chunks is None else chunks.draw(st.sampled_from([1, 2, 3, most]))
        found, rest = rest[: min(count, most)], rest[min(count, most) :]
        return found

    return read


@given(contents=st.lists(st.binary(min_size=1, max_size=12), max_size=4), data=st.data())
def test_frames_are_what_was_sent_however_it_was_split(
    contents: list[bytes], data: st.DataObject
) -> None:
    """In their order, and the end of the bytes is the end of them."""
    sent = b"".join(framed(each) for each in contents)
    assert [*frames(reading(sent, data))] == contents


@given(contents=CONTENTS)
def test_too_large_a_frame_is_passed_over(contents: list[bytes]) -> None:
    """One byte too many is; and what follows it is read as it was sent."""
    sent = b"".join(framed(each) for each in contents)
    assert [*frames(reading(sent))] == [each if len(each) <= LARGEST else None for each in contents]


@given(contents=st.lists(st.binary(min_size=1, max_size=12), min_size=1), data=st.data())
def test_what_is_cut_off_ends_it(contents: list[bytes], data: st.DataObject) -> None:
    """Whole frames before are read; half of one is none."""
    whole = b"".join(framed(each) for each in contents[:-1])
    last = framed(contents[-1])
    found = frames(reading(whole + last[: data.draw(st.integers(1, len(last) - 1))]))
    assert [next(found) for _ in contents[:-1]] == contents[:-1]
    with pytest.raises(BrokenOffError):
        next(found)


def test_lengths_are_as_browsers_send_them() -> None:
    """32 bits, in the order of this machine; after one that can be none nothing is a frame."""
    for length in (0, relay.DAMAGED + 1, 2**32 - 1):
        with pytest.raises(BrokenOffError):
            next(frames(reading(LENGTH.pack(length) + bytes(99))))
    assert framed(b"{}") == struct.pack("=I", 2) + b"{}"
    assert LARGEST == MOST_BYTES
    assert relay.LARGEST_ANSWER == 1024 * 1024


@contextmanager
def listening() -> Iterator[tuple[socket.socket, str]]:
    with short_folder() as folder, closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(str(folder / "s"))
        made.listen(1)
        made.settimeout(60)
        yield made, str(folder / "s")


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Answer one request with bytes, whatever it asks, and close the connection."""
    with listening() as (made, path):

        def serve() -> None:
            opened, _ = made.accept()
            with opened:
                opened.settimeout(60)
                opened.recv(1 << 20)
                opened.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield path
        thread.join(120)
        assert not thread.is_alive()


@pytest.mark.parametrize("more", [1 - relay.LARGEST_ANSWER, -1, 0, 1, 1 << 15])
def test_an_answer_is_handed_back_whole(more: int) -> None:
    """As large as a browser takes it; it would end the relay for a larger one."""
    body = b"x" * (relay.LARGEST_ANSWER + more)
    with answering(HEAD % (len(body), body)) as path:
        assert asked(path, b"{}", PATIENCE) == (body if more <= 0 else relay.LARGE)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n{}",
        HEAD % (3, b"{}"),
        HEAD % (1, b"{}"),
        HEAD % (0, b""),
        (HEAD % (2, b"{}")).replace(b": 2", b": two"),
        b"Content-Length: 2\r\n" + HEAD % (2, b"{}"),
    ],
)
def test_half_an_answer_is_none(answer: bytes) -> None:
    """What was cut off could be read as something else."""
    with answering(answer) as path:
        assert asked(path, b"{}", PATIENCE) == relay.BROKEN


def test_a_silent_daemon_is_slow() -> None:
    """It takes the request and says nothing, or takes none."""
    with listening() as (_, path):
        assert asked(path, b"{}", 0.01) == relay.SLOW
        assert asked(path, b"x" * LARGEST, 0.01) == relay.SLOW
        assert asked(path, b"{}", 0.0) == relay.SLOW


def test_a_socket_of_somebody_else_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not asked: what a request says is private."""
    other = os.geteuid() + 1
    with listening() as (made, path):
        monkeypatch.setattr("agent.daemon.relay.os.geteuid", lambda: other)
        assert asked(path, b"{}") == relay.BROKEN
        opened, _ = made.accept()
        with opened:
            opened.settimeout(60)
            assert opened.recv(1) == b""


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A daemon with an open vault, which has decided once: the first time takes the longest."""
    with living() as live:
        with live.client(QUERY) as client:
            client.call("decide", Ask(query="editor", recipient="first.example"))
        yield live


@pytest.fixture
def host(live: Live) -> Iterator[Host]:
    """A relay in front of it."""
    with hosting(live.paths.query) as host:
        yield host


def test_a_call_goes_through(host: Host) -> None:
    """And comes back with its number; the last frame's end is the end."""
    decided = host.ask(1, "decide", ASK)
    assert (decided["id"], decided["status"], decided["body"]["code"]) == (1, 200, "answered")
    assert decided["body"]["attributes"]
    assert host.end() == 0


def test_what_is_wrong_is_a_fault(host: Host) -> None:
    """In the envelope where there is one, alone where there is none; and the relay goes on."""
    refused = host.ask(1, "decide", {**ASK, "recipient": "a b"})
    assert (refused["id"], refused["status"], refused["body"]["code"]) == (1, 400, "usage")
    assert host.ask(2, "unlock", {"method": "keyring"})["code"] == "malformed"
    for damaged in (b"{", b"\xff\xfe", b"[]", b"\x00" * 9):
        host.send(damaged)
        assert host.said()["code"] == "malformed"
    host.send(b" " * (relay.LARGEST + 1))
    assert host.said()["code"] == "too large"
    host.send(ENVELOPE + b" " * (relay.LARGEST - len(ENVELOPE)))
    assert host.said()["id"] == 1


def test_a_daemon_may_come_and_go() -> None:
    """The relay says that there is none, and stays; nothing is attached then, or while locked."""
    with home() as places, hosting(places.query) as host:
        assert host.ask(1, "decide", ASK)["code"] == "no daemon"
        with started(places) as live:
            locked = host.ask(2, "decide", ASK)
            assert (locked["status"], locked["body"]["code"]) == (200, "locked")
            assert not locked["body"]["attributes"]
            live.kill()
            assert host.ask(3, "decide", ASK)["code"] == "no daemon"
        with started(places):
            assert host.ask(4, "status")["id"] == 4
        assert host.end() == 0


def stop(process: "subprocess.Popen[bytes]") -> None:
    """Have a process stand still, and wait until it does."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)


def test_an_answer_that_comes_too_late_goes_nowhere() -> None:
    """The next frame gets its own: a header of another query would be worse than none."""
    with living() as live, hosting(live.paths.query) as host:
        assert host.ask(1, "status")["id"] == 1
        stop(live.process)
        assert host.ask(2, "decide", ASK)["code"] == "too slow"
        live.process.send_signal(signal.SIGCONT)
        assert host.ask(3, "status")["id"] == 3
        assert host.ask(4, "decide", ASK)["id"] == 4
        stop(live.process)
        host.send(ENVELOPE)
        live.kill()  # which had the request, and had not answered
        assert host.said()["code"] == "no daemon"
        assert host.ask(2, "status")["code"] == "no daemon"


def test_damaged_frames_and_a_browser_that_is_gone_end_it(live: Live) -> None:
    """Silently: there is nobody to tell, or nobody who reads the answer."""
    for data in DAMAGED:
        with hosting(live.paths.query) as host:
            host.raw(data)
            assert host.end() == 1
    with hosting(live.paths.query) as host:
        assert host.process.stdout
        host.process.stdout.close()
        host.send(ENVELOPE)
        assert host.process.wait(PATIENCE) == 1


def test_it_imports_nothing_of_ours_and_little_else() -> None:
    """A user feels its start."""
    command = [COMMAND[0], "-X", "importtime", *COMMAND[1:], "/none"]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    lines = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()[1:]]
    found = {each.partition(".")[0] for each in lines}
    assert {"_socket", "struct"} <= found
    assert found.isdisjoint({"agent", "policy", "numpy", "textual", "msgspec", "aiohttp", "site"})
    assert found.isdisjoint({"json", "http", "asyncio", "socket", "email", "re", "pathlib"})
