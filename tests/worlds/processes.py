"""The outer half of the daemon in a process of its own, with nothing real behind it.

Run as `python -m tests.worlds.processes KIND`: what the doors lead to has something to try it by.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from agent.daemon.run import run
from agent.errors import ReticentError
from agent.paths import Paths, paths
from agent.wire.base import Done
from agent.wire.decide import Answer
from agent.wire.routes import ROUTES
from tests import waiting
from tests.house.tree import ROOT
from tests.vault.doubles import state
from tests.worlds.doors import FakeApi, Said, asked


def awaited(path: Path, text: str = "") -> None:
    """Wait until a file is there, with a text in it."""
    waiting.until(lambda: path.exists() and text in path.read_text(), f"{text!r} in {path}")


@contextmanager
def begun(
    home: Paths, kind: str = "plain", before: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[str]]:
    """Begin a daemon in a process of its own, and kill it at the end; it need not be ready."""
    program = (sys.executable, "-m", "tests.worlds.processes", kind)
    environment = {**os.environ, "RETICENT_HOME": str(home.config.parent)}
    with (
        subprocess.Popen(
            [*before, *program], stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        ) as process,
        waiting.living(process),
    ):
        yield process


def until(process: subprocess.Popen[str], mark: str) -> str:
    """Return what a daemon says up to the first line with a mark in it."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if mark in line:
            return said
    raise AssertionError(said)


@contextmanager
def running(home: Paths, kind: str = "plain") -> Iterator[subprocess.Popen[str]]:
    """Run a daemon, and make sure that it ends when it is told to, if it has not ended yet."""
    with begun(home, kind) as process:
        until(process, "ready")
        yield process
        process.terminate()
        ended(process)


def ended(process: subprocess.Popen[str]) -> str:
    """Wait until a daemon has ended of itself; return what it said last."""
    assert process.stderr is not None
    said = process.stderr.read()
    assert process.wait(waiting.PATIENCE) == 0, said
    return said


def ask(at: Path, method: str = "GET", path: str = "/v1/status", body: object = None) -> Said:
    """Ask a daemon at a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as opened:
        opened.settimeout(waiting.PATIENCE)
        opened.connect(str(at))
        return asked(opened, method, path, body)


SIGNALS = {"ending": signal.SIGTERM, "killing": signal.SIGKILL}  # which come meanwhile


def inside(kind: str, home: Paths) -> Any:  # noqa: ANN401  (it stands for `Api`)
    """Build what the doors lead to; all but the plain ones note what they are told to do."""
    api: Any = FakeApi()

    def note(what: str) -> None:
        with (home.data / "noted").open("a") as noted:
            noted.write(f"{what}\n")

    def writing(*_: object, **_named: object) -> Answer:
        note("begun")
        signal.raise_signal(signal.SIGTERM)
        note("written")
        return Answer(code="answered")

    async def slow(*_: object) -> Done:
        note("begun")
        await asyncio.to_thread(awaited, home.data / "go")
        return Done()

    def fails(*arguments: object, **named: object) -> object:
        raise RuntimeError(f"married, {arguments}, {named}")

    calls: dict[str, Any] = {
        "writing": {"decide": writing},  # is told to end in the middle of a decision
        "slow": {"unlock": slow},  # has a call that takes until a file is there
        "loud": dict.fromkeys((route.name for route in ROUTES), fails),  # quotes what was asked
    }
    api.instead |= calls.get(kind, {})
    if kind in {"undumped", "writing", "slow", "failing"}:
        api.agent.lock, api.refresh = partial(note, "locked"), partial(note, "reloaded")
    if kind == "undumped":  # says whether there may be a core file
        note(state())
    if kind == "failing":  # meets a defect where nobody calls
        api.agent.look_at_all = lambda: 1 // 0
    if kind in SIGNALS:
        signal.raise_signal(SIGNALS[kind])
    return api


if __name__ == "__main__":
    try:
        run(paths(), build=partial(inside, sys.argv[1]))
    except ReticentError as error:
        sys.exit(f"{error} / {error.hint}")
