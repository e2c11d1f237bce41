"""Policy files on disk: whatever lies there, reading it waits for nobody."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from agent.errors import UsageError
from policy.read import LARGEST, load, opened


def _bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


@pytest.mark.parametrize(
    "make", [os.mkfifo, _bind, Path.mkdir, lambda path: path.symlink_to("/dev/zero")]
)
def test_what_is_no_file_is_refused_at_once(
    tmp_path: Path, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe into which nobody writes would be waited for without end; a device ends nowhere."""
    monkeypatch.chdir(tmp_path)
    path = Path("policy.toml")
    make(path)
    said: list[str] = []

    def read() -> None:
        with pytest.raises(UsageError) as caught:
            load(path)
        said.append(caught.value.what)

    reading = Thread(target=read, daemon=True)
    reading.start()
    reading.join(5)
    assert len(said) == 1
    assert said[0].startswith("policy.toml cannot be read: ")


def test_nothing_stays_open(tmp_path: Path) -> None:
    """Whether a file was read or refused."""
    (tmp_path / "good").write_text("k = 3\n")
    (tmp_path / "bad").write_bytes(b"\xff")
    before = len([*Path("/proc/self/fd").iterdir()])
    opened(tmp_path / "good")
    for each in ("bad", "", "missing"):
        with pytest.raises(UsageError):
            opened(tmp_path / each)
    assert len([*Path("/proc/self/fd").iterdir()]) == before


def test_what_was_opened_is_said(tmp_path: Path) -> None:
    """The status is that of the file that was read, the mark of the encoding apart."""
    path = tmp_path / "policy.toml"
    path.write_bytes(b"\xef\xbb\xbfk = 3\n")
    found = opened(path)
    assert (found.text, found.mark) == ("k = 3\n", b"\xef\xbb\xbf")
    assert found.status.st_ino == path.stat().st_ino


def test_no_more_is_read_than_a_policy_may_have(tmp_path: Path) -> None:
    """A file without end, or nearly so."""
    path = tmp_path / "policy.toml"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert len(opened(path).text) == 4 * LARGEST + 1
