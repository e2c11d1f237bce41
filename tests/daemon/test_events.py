"""Every reader gets every event, in order, or is told that it did not."""

import asyncio
import logging
import stat
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon import events
from agent.daemon.events import (
    ENDING,
    LOG,
    MOST_READERS,
    TOO_SLOW,
    Bus,
    EndedError,
    Reader,
    kind_and_place,
    logging_to,
)
from agent.errors import DaemonError
from agent.wire.state import Event

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
LONG = 60.0  # seconds, within which any event comes


def bus(room: int = 8) -> Bus:
    """Return a bus on which it is always noon."""
    return Bus(lambda: NOON, room)


async def numbers(reader: Reader) -> tuple[list[int], str]:
    """Return the numbers of all events until the reader is ended, and why it was."""
    got: list[int] = []
    try:
        while event := await reader.next(LONG):
            got.append(event.number)
    except EndedError as ended:
        return got, str(ended)
    raise AssertionError("no event came")


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
            got, why = await numbers(reader)
        assert got == [early + 1 + index for index in range(min(count, room))]
        assert why == (TOO_SLOW if count > room else ENDING)

    asyncio.run(scenario())


def test_an_event_has_its_time_and_what_it_is_about() -> None:
    """And nothing else: no host, no value."""
    assert bus().publish("review", 7) == Event(number=1, kind="review", at=NOON, id=7)


def test_events_of_a_thread_arrive_too() -> None:
    """Unlocking runs in one; numbers are in order for each reader."""

    async def scenario() -> None:
        events = bus(room=400)
        with events.reader() as one, events.reader() as other:
            threads = [
                Thread(target=lambda: [events.publish("lock") for _ in range(100)])
                for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                await asyncio.to_thread(thread.join, LONG)
                assert not thread.is_alive()
            events.close()
            assert await numbers(one) == await numbers(other) == ([*range(1, 401)], ENDING)

    asyncio.run(scenario())


def test_nothing_for_a_while_is_none() -> None:
    """Then a heartbeat is due."""

    async def scenario() -> None:
        with bus().reader() as reader:
            assert await reader.next(0) is None

    asyncio.run(scenario())


def test_one_who_left_is_told_nothing_and_makes_room() -> None:
    """As many as may listen at once; each who leaves makes room for another."""

    async def scenario() -> None:
        events = bus()
        for _ in range(MOST_READERS + 1):
            with events.reader():
                pass
        readers = [events.reader() for _ in range(MOST_READERS)]
        for each in readers:
            each.__enter__()
        with pytest.raises(DaemonError, match="are listening to events already"), events.reader():
            pass
        for each in readers:
            each.__exit__(None, None, None)
        assert events.publish("lock").number == 1

    asyncio.run(scenario())


def test_a_place_is_a_class_a_file_and_a_line() -> None:
    """Never the text of the error: it quotes what it met."""
    with pytest.raises(ValueError, match="private") as raised:
        int("private")
    line = test_a_place_is_a_class_a_file_and_a_line.__code__.co_firstlineno + 3
    assert kind_and_place(raised.value) == f"ValueError in test_events.py, line {line}"
    assert kind_and_place(ValueError("private")) == "ValueError"


def test_lines_go_to_the_file_and_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While it lasts, and not afterwards; nobody else can read the file."""
    path = tmp_path / "daemon.log"
    path.touch(0o644)
    with logging_to(path):
        LOG.info("ready (process %d)", 1)
    LOG.info("after")
    for text in (path.read_text(), capsys.readouterr().err):
        assert text.endswith(" INFO ready (process 1)\n")
        assert text.count("\n") == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_libraries_below_are_silent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They quote what they choke on."""
    path = tmp_path / "daemon.log"
    with logging_to(path):
        for name in ("asyncio", "aiohttp.server", "elsewhere"):
            logging.getLogger(name).error("private")
    assert path.read_text() + capsys.readouterr().err == ""


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
    with logging_to(tmp_path / "daemon.log"):

        def full(*_: object) -> None:
            raise OSError(28, "no space left on device")

        (private,) = (each for each in LOG.handlers if isinstance(each, logging.FileHandler))
        monkeypatch.setattr(private.stream, "write", full)
        LOG.info("ready")
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ", 2)[2] for line in lines] == ["INFO ready"]
