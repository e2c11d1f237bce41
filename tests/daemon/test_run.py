"""The daemon begins once, tells nothing of what it is asked, and ends without a loss."""

import asyncio
import logging
import os
import re
import signal
import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from agent.daemon import events
from agent.daemon.events import ENDING, LOG, MOST_READERS, TOO_SLOW, Bus, logging_to
from agent.daemon.run import run
from agent.errors import DaemonError, UsageError
from agent.paths import Paths
from agent.wire.state import Event
from tests.vault.doubles import NEVER
from tests.waiting import PATIENCE
from tests.worlds.doors import (
    ASK,
    LOCKED,
    ask,
    awaited,
    begun,
    ended,
    running,
    short_home,
    until,
)


@pytest.fixture
def home() -> Iterator[Paths]:
    with short_home() as made:
        yield made


def test_a_failing_start_puts_everything_back(home: Paths) -> None:
    """Signals, the umask, the lock, the sockets; nothing is put into a folder that others share."""
    before = os.umask(0o022)
    unbuilt = Mock(side_effect=DaemonError("not today", "try tomorrow"))
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
    for number in (signal.SIGTERM, signal.SIGHUP):
        assert signal.getsignal(number) is signal.SIG_DFL


def test_the_log_has_nothing_of_what_was_asked(home: Paths) -> None:
    """Neither of what was answered, nor of what failed, nor of what was no request."""
    body = {"query": "rare disease", "recipient": "clinic.example", "asked": ["gender"]}
    with running(home, "loud"):
        for path in ("decide", "clicked", "unlock", "rerank"):
            for at in (home.query, home.control):
                ask(at, "POST", f"/v1/{path}", body)
        ask(home.control, "GET", "/v1/ledger?recipient=clinic.example")
        ask(home.control, "GET", "/v1/recipients?recipient=clinic.example")
        ask(home.query, "GET", "/clinic.example?rare+disease")
        with socket.socket(socket.AF_UNIX) as opened:
            opened.settimeout(PATIENCE)
            opened.connect(str(home.query))
            opened.sendall(b"rare disease at clinic.example\r\n\r\n")
            assert b" 400 " in opened.recv(1000)
    text = home.log.read_text()
    assert text.count("decide failed: RuntimeError in doors.py, line") == 2
    assert re.search("ready .*ending", text, re.DOTALL)
    for word in ("rare", "disease", "clinic", "gender", "married", "Traceback"):
        assert word not in text


def test_signals_end_it_and_have_it_read_its_files(home: Paths) -> None:
    """Its sockets are gone, and what is open is closed; the folders were made for us alone.

    No core file is made of it from before anything is read that is secret.
    """
    noted = home.data / "noted"
    with running(home, "undumped") as process:
        process.send_signal(signal.SIGHUP)
        awaited(noted, "reloaded\n")
        assert ask(home.query).body == to_builtins(LOCKED)
        assert ask(home.control).status == 200
        for folder in (home.config, home.data, home.state, home.runtime):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        process.send_signal(signal.SIGINT)
        assert "ending" in ended(process)
    assert [*home.runtime.iterdir()] == []
    assert noted.read_text() == f"{NEVER}\nreloaded\nlocked\n"


def test_a_signal_at_any_moment_of_the_start_ends_it(home: Paths) -> None:
    """As soon as it listens to signals; nothing is left behind, and the next one starts."""
    for inside in ("ending", "killing"):
        with begun(home, inside) as process:
            _, said = process.communicate(timeout=PATIENCE)
        assert (process.returncode == 0) == (inside == "ending"), said
    with running(home):
        assert ask(home.query).status == 200
    assert [*home.runtime.iterdir()] == []


def test_running_calls_end_before_it_does(home: Paths) -> None:
    """Whoever has begun to ask is answered."""
    noted = home.data / "noted"
    with running(home, "slow") as process, ThreadPoolExecutor() as callers:
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
    with running(home, "writing") as process:
        assert ask(home.query, "POST", "/v1/decide", ASK).body["code"] == "answered"
        ended(process)
    assert (home.data / "noted").read_text() == "begun\nwritten\nlocked\n"


def test_a_defect_beside_the_calls_ends_it_and_locks(home: Paths) -> None:
    """It must not go on without what locks the vault."""
    with begun(home, "failing") as process:
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert said.endswith("ZeroDivisionError: integer division or modulo by zero\n")
    assert (home.data / "noted").read_text() == "locked\n"
    assert [*home.runtime.iterdir()] == []


NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def bus(room: int = 8) -> Bus:
    return Bus(lambda: NOON, room)


@given(room=st.integers(1, 6), count=st.integers(0, 12), early=st.integers(0, 12))
def test_a_reader_gets_all_or_is_told(room: int, count: int, early: int) -> None:
    """Those it had room for come whole and in order; who is ended as too slow missed some."""

    async def scenario() -> None:
        events = bus(room)
        for _ in range(early):
            events.publish("answer")
        with events.reader() as reader:
            for _ in range(count):
                events.publish("answer")
            events.close()
            for number in range(min(count, room)):
                event = Event(number=early + 1 + number, kind="answer", at=NOON)
                assert reader.get_nowait() == event.lines()
            why = TOO_SLOW if count > room else ENDING
            assert [reader.get_nowait(), reader.get_nowait()] == [f": {why}\n\n".encode(), b""]

    asyncio.run(scenario())


def test_one_who_left_is_told_nothing_and_makes_room() -> None:
    """As many as may listen at once; each who leaves makes room for another."""

    async def scenario() -> None:
        events = bus()
        for _ in range(MOST_READERS + 1):
            with events.reader() as reader:
                assert reader.empty()
        readers = [events.reader() for _ in range(MOST_READERS)]
        for each in readers:
            each.__enter__()
        with pytest.raises(DaemonError, match="are listening to events already"), events.reader():
            pass
        for each in readers:
            each.__exit__(None, None, None)
        assert events.publish("lock").number == 1

    asyncio.run(scenario())


def test_lines_go_to_the_file_and_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While it lasts, and not afterwards; nobody else can read the file.

    The libraries below are silent: they quote what they choke on.
    """
    path = tmp_path / "daemon.log"
    path.touch(0o644)
    with logging_to(path):
        for name in ("asyncio", "aiohttp.server", "elsewhere"):
            logging.getLogger(name).error("private")
        LOG.info("ready (process %d)", 1)
    LOG.info("after")
    for text in (path.read_text(), capsys.readouterr().err):
        assert text.endswith(" INFO ready (process 1)\n")
        assert text.count("\n") == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_it_is_put_aside_once_it_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files at most, each private."""
    monkeypatch.setattr(events, "MOST_BYTES", 1000)
    path = tmp_path / "daemon.log"
    with logging_to(path):
        for number in range(100):
            LOG.info("line %d", number)
    assert {each.name for each in tmp_path.iterdir()} == {"daemon.log", "daemon.log.1"}
    for each in tmp_path.iterdir():
        assert each.stat().st_size <= 1000
        assert stat.S_IMODE(each.stat().st_mode) == 0o600
    assert path.read_text().endswith("line 99\n")


def test_a_disk_that_is_full_costs_lines_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither an error nor a word of what could not be written."""
    full = Mock(side_effect=OSError(28, "no space left on device"))
    with logging_to(tmp_path / "daemon.log"):
        (private,) = (each for each in LOG.handlers if isinstance(each, logging.FileHandler))
        monkeypatch.setattr(private.stream, "write", full)
        LOG.info("ready")
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ", 2)[2] for line in lines] == ["INFO ready"]
