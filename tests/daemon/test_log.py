"""What the daemon says of itself."""

import logging
import stat
from pathlib import Path

import pytest

from agent.daemon import log
from agent.daemon.log import LOG, kind_and_place, logging_to


def test_a_place_is_a_class_a_file_and_a_line() -> None:
    """Never the text of the error: it quotes what it met."""
    with pytest.raises(ValueError, match="private") as raised:
        int("private")
    line = test_a_place_is_a_class_a_file_and_a_line.__code__.co_firstlineno + 3
    assert kind_and_place(raised.value) == f"ValueError in test_log.py, line {line}"
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
    monkeypatch.setattr(log, "MOST_BYTES", 1000)
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
