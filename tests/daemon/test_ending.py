"""How the daemon ends."""

import signal
import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest
from msgspec import to_builtins

from agent.paths import Paths
from tests.daemon.begun import ask, begun, ended, running, until
from tests.daemon.fakes import ASK, LOCKED, short_home


@pytest.fixture
def home() -> Iterator[Paths]:
    """Return the paths of a machine on which nothing is yet."""
    with short_home() as made:
        yield made


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(home: Paths, number: int) -> None:
    """Its sockets are gone, and what is open is closed; the folders were made for us alone."""
    with running(home, "noting_inside") as process:
        assert ask(home.query).body == to_builtins(LOCKED)
        assert ask(home.control).status == 200
        for folder in (home.config, home.data, home.state, home.runtime):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        process.send_signal(number)
        assert "ending" in ended(process)
    assert [*home.runtime.iterdir()] == []
    assert (home.data / "noted").read_text() == "locked\n"


def test_a_signal_at_any_moment_of_the_start_ends_it(home: Paths) -> None:
    """As soon as it listens to signals; nothing is left behind, and the next one starts."""
    for inside in ("ending_inside", "killing_inside"):
        process = begun(home, "", inside)
        _, said = process.communicate(timeout=30)
        assert (process.returncode == 0) == (inside == "ending_inside"), said
    with running(home):
        assert ask(home.query).status == 200
    assert [*home.runtime.iterdir()] == []


def test_one_that_was_killed_leaves_nothing_in_the_way(home: Paths) -> None:
    """Its sockets are there, but nobody listens; the next one takes their place."""
    with running(home) as first:
        first.kill()
        first.wait()
        assert home.control.is_socket()
        first.returncode = 0
    with running(home):
        assert ask(home.control).status == 200


def test_running_calls_end_before_it_does(home: Paths) -> None:
    """Whoever has begun to ask is answered."""
    noted = home.data / "noted"
    with running(home, "slow_inside") as process, ThreadPoolExecutor() as callers:
        asking = callers.submit(ask, home.control, "POST", "/v1/unlock", {"method": "keyring"})
        while not noted.exists():
            sleep(0.01)
        process.send_signal(signal.SIGTERM)
        until(process, "ending")
        (home.data / "go").touch()
        assert asking.result().body == {"done": True}
        ended(process)
    assert noted.read_text() == "begun\nlocked\n"


def test_a_signal_in_the_middle_of_a_write_waits(home: Paths) -> None:
    """A call is one step: what it begins, it ends and answers, before anything is closed."""
    with running(home, "writing_inside") as process:
        assert ask(home.query, "POST", "/v1/decide", ASK).body["code"] == "answered"
        ended(process)
    assert (home.data / "noted").read_text() == "begun\nwritten\nlocked\n"


def test_an_open_stream_does_not_hold_it_up(home: Paths) -> None:
    """It is told, and ends."""
    with running(home) as process, socket.socket(socket.AF_UNIX) as opened:
        opened.connect(str(home.control))
        opened.sendall(b"GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
        while b": listening" not in opened.recv(1000):
            pass
        process.send_signal(signal.SIGTERM)
        ended(process)
        assert b": the daemon ends\n\n" in b"".join(iter(lambda: opened.recv(1000), b""))


def test_a_hangup_reads_the_files_again(home: Paths) -> None:
    """As of other daemons; it does not end."""
    noted = home.data / "noted"
    with running(home, "noting_inside") as process:
        process.send_signal(signal.SIGHUP)
        while not (noted.exists() and noted.read_text()):
            sleep(0.01)
        assert noted.read_text() == "reloaded\n"
        assert ask(home.query).status == 200
    assert noted.read_text() == "reloaded\nlocked\n"


def test_a_defect_beside_the_calls_ends_it_and_locks(home: Paths) -> None:
    """It must not go on without what locks the vault."""
    process = begun(home, "", "failing_inside")
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert said.endswith("ZeroDivisionError: integer division or modulo by zero\n")
    assert (home.data / "noted").read_text() == "locked\n"
    assert [*home.runtime.iterdir()] == []
