"""Somebody who has just installed it, and types what the README says."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tests.waiting import until
from tests.wire.fake import short_folder

GUIDES = (f"examples/{name}.md" for name in ("USE", "RULES", "MODELS", "OPERATE"))
PAGES = tuple(ROOT / each for each in ("README.md", *GUIDES))
README = "\n".join(each.read_text() for each in PAGES)
COMMAND = re.compile(r"^    ([\w.].*?)(?: +#.*)?$", re.MULTILINE)
DAEMON = "reticent daemon"
EXPORTS = "exports.sh"
SOCKETS = "reticent-trial/run"  # below the newcomer's home
OF_PLACES = ("RETICENT_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
WAIT = 60.0  # seconds, for what takes about one


def commands(title: str) -> list[str]:
    """Return what a section of these pages has its reader type."""
    (text,) = re.findall(rf"^## {title}$.*?(?=^## )", README, re.MULTILINE | re.DOTALL)
    return COMMAND.findall(text)


@contextmanager
def home_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the empty home of a newcomer, in whose `reticent` the sockets lie."""
    with short_folder() as folder:
        home = folder / "Zoë's home"
        home.mkdir()
        for name in OF_PLACES:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("BASH_ENV", str(home / EXPORTS))  # what every terminal is told first
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        yield home


def typed(command: str, folder: Path = ROOT) -> str:
    """Run a command in a shell, with a passphrase for whoever asks; return what it printed.

    ``folder``: where it is typed. What it exports is there in every shell from then on.
    """
    if command.startswith("export "):
        with Path(os.environ["BASH_ENV"]).open("a") as file:
            file.write(f"{command}\n")
        return ""
    done = subprocess.run(
        ["bash", "-c", command],  # noqa: S607  (wherever it is)
        input="four random words here\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT,
        cwd=folder,
    )
    assert (done.returncode, "error" in done.stderr) == (0, False), (command, done.stderr)
    return done.stdout


@contextmanager
def daemon(runtime: Path) -> Iterator[None]:
    """Let the daemon run meanwhile, from when both of its sockets are there."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {DAEMON}"],  # noqa: S607  (wherever it is)
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        both = [runtime / name for name in ("control.sock", "query.sock")]
        until(lambda: process.poll() is not None or all(each.exists() for each in both))
        assert process.poll() is None
        yield
    finally:
        process.terminate()
        ended = process.wait(WAIT)
    assert ended == 0
