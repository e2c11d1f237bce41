"""The daemon begins once, tells nothing of what it is asked, and ends without a loss."""

import os
import re
import signal
import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Never

import pytest
from msgspec import to_builtins

from agent.daemon.run import run
from agent.errors import DaemonError, UsageError
from agent.paths import Paths
from tests.programs import needs
from tests.vault.doubles import NEVER
from tests.waiting import PATIENCE
from tests.worlds.doors import ASK, LOCKED, received, short_home
from tests.worlds.processes import ask, awaited, begun, ended, running, until


@pytest.fixture
def home() -> Iterator[Paths]:
    """Return the paths of a machine on which nothing is yet."""
    with short_home() as made:
        yield made


def test_a_failing_start_puts_everything_back(home: Paths) -> None:
    """Signals, the umask, the lock, the sockets; nothing is put into a folder that others share."""
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    before = os.umask(0o022)

    def unbuilt(_: Paths) -> Never:
        raise DaemonError("not today", "try tomorrow")

    home.runtime.mkdir(0o700)
    try:
        for mode, kind, why in (
            (0o700, DaemonError, "not today"),
            (0o777, UsageError, "other users can write to this folder"),
            (0o700, DaemonError, "not today"),
        ):
            home.runtime.chmod(mode)
            with pytest.raises(kind, match=why):
                run(home, build=unbuilt)
            assert [*home.runtime.iterdir()] == []
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == handlers


def test_the_log_has_nothing_of_what_was_asked(home: Paths) -> None:
    """Neither of what was answered, nor of what failed, nor of what was no request."""
    body = {"query": "rare disease", "recipient": "clinic.example", "asked": ["gender"]}
    with running(home, "loud_inside"):
        for path, sent in (("/v1/decide", body), ("/v1/clicked", body), ("/v1/unlock", body)):
            for at in (home.query, home.control):
                ask(at, "POST", path, sent)
        ask(home.control, "GET", "/v1/ledger?recipient=clinic.example")
        ask(home.control, "GET", "/v1/knowledge/clinic.example")
        ask(home.query, "GET", "/clinic.example?rare+disease")
        with socket.socket(socket.AF_UNIX) as opened:
            opened.settimeout(PATIENCE)
            opened.connect(str(home.query))
            opened.sendall(b"rare disease at clinic.example\r\n\r\n")
            assert b" 400 " in opened.recv(1000)
    text = home.log.read_text()
    assert text.count("decide failed: RuntimeError in processes.py, line") == 2
    assert re.search("ready .*ending", text, re.DOTALL)
    for word in ("rare", "disease", "clinic", "gender", "married", "Traceback"):
        assert word not in text


def test_no_core_file_is_made_of_it(home: Paths) -> None:
    """From before anything is read that is secret."""
    with running(home, "undumped_inside"):
        assert (home.data / "noted").read_text() == f"{NEVER}\n"


def test_systemd_hands_over_its_sockets(home: Paths) -> None:
    """And keeps them: they are there when the daemon has ended."""
    switch = needs("systemd-socket-activate")
    home.runtime.mkdir(0o700, parents=True)
    ours = [home.runtime / "c", home.runtime / "q"]
    listening = [part for path in ours for part in ("-l", str(path))]
    names = ["--fdname=control:query", f"--setenv=RETICENT_HOME={home.config.parent}"]
    with begun(home, before=(switch, *names, *listening, "--")) as process:
        until(process, "Listening on")
        until(process, "Listening on")
        assert ask(ours[1]).body == to_builtins(LOCKED)
        assert ask(ours[0]).body == {"done": True}
        assert [*home.runtime.glob("*.sock")] == []
        assert ask(ours[0], "POST", "/v1/shutdown").body == {"done": True}
        ended(process)
        assert all(path.is_socket() for path in ours)


def test_systemd_is_told_when_it_is_ready(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """And when it is not any more."""
    place = home.config.parent / "n"
    monkeypatch.setenv("NOTIFY_SOCKET", str(place))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(place))
        heard.settimeout(PATIENCE)
        with running(home):
            assert heard.recv(100) == b"READY=1"
        assert heard.recv(100) == b"STOPPING=1"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(home: Paths, number: int) -> None:
    """Its sockets are gone, and what is open is closed; the folders were made for us alone."""
    with running(home, "Noting") as process:
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
        with begun(home, inside) as process:
            _, said = process.communicate(timeout=PATIENCE)
        assert (process.returncode == 0) == (inside == "ending_inside"), said
    with running(home):
        assert ask(home.query).status == 200
    assert [*home.runtime.iterdir()] == []


def test_running_calls_end_before_it_does(home: Paths) -> None:
    """Whoever has begun to ask is answered."""
    noted = home.data / "noted"
    with running(home, "slow_inside") as process, ThreadPoolExecutor() as callers:
        asking = callers.submit(ask, home.control, "POST", "/v1/unlock", {"method": "keyring"})
        awaited(noted)
        process.terminate()
        until(process, "ending")
        (home.data / "go").touch()
        assert asking.result(PATIENCE).body == {"done": True}
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
        opened.settimeout(PATIENCE)
        opened.connect(str(home.control))
        opened.sendall(b"GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
        received(opened, b": listening\n\n")
        process.terminate()
        ended(process)
        received(opened, b": the daemon ends\n\n")


def test_a_hangup_reads_the_files_again(home: Paths) -> None:
    """As of other daemons; it does not end."""
    noted = home.data / "noted"
    with running(home, "Noting") as process:
        process.send_signal(signal.SIGHUP)
        awaited(noted, "reloaded\n")
        assert ask(home.query).status == 200
    assert noted.read_text() == "reloaded\nlocked\n"


def test_a_defect_beside_the_calls_ends_it_and_locks(home: Paths) -> None:
    """It must not go on without what locks the vault."""
    with begun(home, "failing_inside") as process:
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert said.endswith("ZeroDivisionError: integer division or modulo by zero\n")
    assert (home.data / "noted").read_text() == "locked\n"
    assert [*home.runtime.iterdir()] == []
