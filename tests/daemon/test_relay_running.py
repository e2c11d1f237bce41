"""The native-messaging host beside a daemon."""

import json
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent import __version__
from agent.daemon import relay
from tests.daemon.relay_host import COMMAND, PATIENCE, Host, hosting
from tests.daemon.whole_daemon import Live, home, living, started

ASK = {"query": "editor", "recipient": "search.example"}
ENVELOPE = json.dumps({"id": 1, "call": "status"}).encode()
MANY = 50
DAMAGED = [bytes(4), b"\xff\xff\xff\xff{}", b"\x01", relay.framed(b"{ }")[:-1]]


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A daemon with an open vault."""
    with living() as live:
        yield live


@pytest.fixture
def host(live: Live) -> Iterator[Host]:
    """A relay in front of it."""
    with hosting(live.paths.query) as host:
        yield host


def numbers(host: Host, first: int) -> list[int]:
    """Return the numbers that come back with answers to many calls, one after another."""
    return [host.ask(first + n, "decide", ASK)["id"] for n in range(MANY)]


def test_every_call_goes_through(host: Host) -> None:
    """And comes back with its number; the last frame's end is the end."""
    decided = host.ask(1, "decide", ASK)
    assert (decided["id"], decided["status"], decided["body"]["code"]) == (1, 200, "answered")
    assert decided["body"]["attributes"]
    said = host.ask(2, "status")
    known = {"version": __version__, "locked": False, "clicks": False, "sites": []}
    assert said == {"id": 2, "status": 200, "body": known | {"stale_rules": False}}
    clicked = host.ask(3, "clicked", {"query": "editor", "host": "page.example"})
    assert clicked == {"id": 3, "status": 200, "body": {"done": False}}  # no policy lets them
    offered = host.ask(4, "offer", {"recipient": "a.example", "names": ["region"]})
    assert offered["status"] == 200
    assert host.ask(5, "refuse", {"recipient": "a.example"})["status"] == 200
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


def test_answers_come_in_the_order_of_the_frames(host: Host) -> None:
    """However many are sent before the first is read."""
    sent = [json.dumps({"id": n, "call": "status"}).encode() for n in range(MANY)]
    host.raw(b"".join(map(relay.framed, sent)))
    assert [host.said()["id"] for _ in sent] == [*range(MANY)]


def test_two_relays_do_not_meet(live: Live) -> None:
    """Each browser has its own, and each gets its own answers."""
    with (
        hosting(live.paths.query) as one,
        hosting(live.paths.query) as other,
        ThreadPoolExecutor(2) as browsers,
    ):
        asked = [browsers.submit(numbers, one, 0), browsers.submit(numbers, other, 1000)]
        found = [each.result(PATIENCE) for each in asked]
    assert found == [[*range(MANY)], [*range(1000, 1000 + MANY)]]


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


def test_an_answer_that_comes_too_late_goes_nowhere() -> None:
    """The next frame gets its own: a header of another query would be worse than none."""
    with living() as live, hosting(live.paths.query) as host:
        assert host.ask(1, "status")["id"] == 1
        live.process.send_signal(signal.SIGSTOP)
        assert host.ask(2, "decide", ASK)["code"] == "too slow"
        live.process.send_signal(signal.SIGCONT)
        assert host.ask(3, "status")["id"] == 3
        assert host.ask(4, "decide", ASK)["id"] == 4
        live.process.send_signal(signal.SIGSTOP)
        host.send(ENVELOPE)
        live.kill()  # which had the request, and had not answered
        assert host.said()["code"] == "no daemon"
        assert host.ask(2, "status")["code"] == "no daemon"


@pytest.mark.parametrize("data", DAMAGED)
def test_damaged_frames_end_it(live: Live, data: bytes) -> None:
    """Silently: there is nobody to tell."""
    with hosting(live.paths.query) as host:
        host.raw(data)
        assert host.end() == 1


def test_a_browser_that_is_gone_ends_it(live: Live) -> None:
    """It may not read the answer any more."""
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
