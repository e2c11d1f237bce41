"""The program as a newcomer starts it."""

import asyncio
import json
import logging
import re
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from io import StringIO
from itertools import count
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from examples.search_service.__main__ import main, runner_of
from examples.search_service.journal import KEPT, Journal, Shown
from tests.house.tree import ROOT
from tests.waiting import PATIENCE, bounded

PROGRAM = [sys.executable, "-m", "examples.search_service"]


def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    """It says where, answers there, writes what is chosen, and ends quietly."""
    book = tmp_path / "chosen.jsonl"
    with ExitStack() as ending:
        running = ending.enter_context(
            subprocess.Popen(
                [*PROGRAM, "--port", "0", "--log", str(book)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        ending.callback(running.kill)
        assert running.stdout is not None
        with bounded(running.kill):
            line = running.stdout.readline()
        where = re.match(r"http://127\.0\.0\.1:\d+", line)
        assert where, line
        assert "6 of the 22 attributes" in line
        carried = {"Shared-Attributes": 'age="35_44"'}
        search = Request(f"{where[0]}/search?q=garden", headers=carried)  # noqa: S310
        with urlopen(search, timeout=PATIENCE) as answer:  # noqa: S310
            (first, *_) = re.findall(r'href="(/result[^"]*)"', answer.read().decode())
        with urlopen(where[0] + first, timeout=PATIENCE) as answer:  # noqa: S310
            assert answer.status == 200
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=PATIENCE)
    assert (running.returncode, told) == (0, "")
    assert '"rank": 1' in book.read_text()
    assert book.stat().st_mode & 0o777 == 0o600


def test_a_port_in_use_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """And a way out."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--port", str(port)]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said.splitlines() == [
        f"search_service: error: port {port} is in use",
        "search_service: hint: choose another with --port",
    ]


@pytest.mark.parametrize("option", ["--log", "--model"])
def test_a_file_that_is_none_is_one_sentence(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is served."""
    assert main([option, str(tmp_path / "no" / "file")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[1] for line in said] == ["error", "hint"]
    assert str(tmp_path) in said[0]


@pytest.mark.parametrize("port", ["-1", "65536", "x", "٣", ""])
def test_a_port_that_is_none_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As every option is."""
    with pytest.raises(SystemExit, match="2"):
        main([f"--port={port}"])
    assert "is no port: give a number from 0 to 65535" in capsys.readouterr().err


def test_the_log_of_the_server_quotes_no_request(caplog: pytest.LogCaptureFixture) -> None:
    """Bytes that are no HTTP, and a failure of our own, are said by their kind alone."""

    async def asked() -> None:
        async def failing(_request: web.Request) -> web.Response:
            raise ValueError("secret")

        failing_one = web.Application()
        failing_one.router.add_get("/", failing)
        runner = runner_of(failing_one)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        for line in (b"Secret secret", b"Host: localhost"):
            reader, writer = await asyncio.open_connection(*runner.addresses[0])
            writer.write(b"GET / HTTP/1.1\r\n" + line + b"\r\n\r\n")
            assert (await reader.readline()).split()[1] in {b"400", b"500"}
            writer.close()
            await writer.wait_closed()
        await runner.cleanup()

    with caplog.at_level(logging.DEBUG):
        asyncio.run(asyncio.wait_for(asked(), PATIENCE))
    said = [record for record in caplog.records if record.name.startswith("search_service")]
    assert "a request failed: ValueError" in [record.getMessage() for record in said]
    assert "secret" not in caplog.text.lower()


NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
PAGE = Shown("git\n\ud800", told=True, ranks={7: (1, 3), 9: (2, 1)})


def journal(file: StringIO | None) -> Journal:
    """Return a journal at noon that numbers its pages."""
    numbers = count()
    return Journal(file, clock=lambda: NOON, name=lambda: str(next(numbers)))


def test_a_line_says_both_ranks_and_nothing_else() -> None:
    """One object of JSON, whatever was searched for."""
    file = StringIO()
    book = journal(file)
    assert book.chosen(book.shown(PAGE), 7)
    (line,) = file.getvalue().splitlines()
    assert json.loads(line) == {
        "time": "2026-11-21T12:00:00+00:00",
        "query": "git\n\ud800",
        "rank": 1,
        "rank_without": 3,
        "header": True,
    }


@given(st.lists(st.tuples(st.sampled_from(["0", "1", "2", ""]), st.integers(6, 10))))
def test_each_result_of_a_page_is_taken_once(choices: list[tuple[str, int]]) -> None:
    """A page that was not shown, and a result that was not on it, count for nothing."""
    file = StringIO()
    book = journal(file)
    assert [book.shown(PAGE), book.shown(PAGE)] == ["0", "1"]
    taken = [choice for choice in choices if book.chosen(*choice)]
    shown = {(name, result) for name in ("0", "1") for result in PAGE.ranks}
    assert set(taken) == shown & {*choices}
    assert len(taken) == len(set(taken)) == len(file.getvalue().splitlines())


def test_it_forgets_the_oldest_pages() -> None:
    """What it holds does not grow for ever."""
    book = journal(None)
    names = [book.shown(PAGE) for _ in range(KEPT + 1)]
    assert not book.chosen(names[0], 7)
    assert book.query(names[0]) == ""
    assert book.chosen(names[1], 7)
    assert book.query(names[1]) == PAGE.query


def test_names_of_pages_cannot_be_told_from_others() -> None:
    """They are drawn, and long."""
    book = Journal()
    names = {book.shown(PAGE) for _ in range(100)}
    assert len(names) == 100
    assert min(map(len, names)) >= 16


def test_a_full_disk_is_said_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The page is shown all the same."""

    class Full(StringIO):
        def write(self, _text: str) -> int:
            raise OSError(28, "No space left on device")

    book = journal(Full())
    with caplog.at_level(logging.WARNING):
        assert book.chosen(book.shown(PAGE), 7)
    assert caplog.messages == ["a choice could not be written: no space left on device"]
