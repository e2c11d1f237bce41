"""The outer half of the daemon in a process of its own, with nothing real behind it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.paths import Paths
from tests.daemon.fakes import Said, asked
from tests.house.tree import ROOT

PROGRAM = """
import sys
from agent.daemon.run import Options
from agent.daemon.run import run
from agent.errors import ReticentError
from agent.paths import paths
from tests.daemon import insides
try:
    run(paths(), Options({options}), build=insides.{inside})
except ReticentError as error:
    sys.exit(f"{{error}} / {{error.hint}}")
"""


def begun(
    home: Paths, options: str = "", inside: str = "fake_inside", before: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    """Begin a daemon in a process of its own; it need not be ready."""
    program = PROGRAM.format(options=options, inside=inside)
    environment = {**os.environ, "RETICENT_HOME": str(home.config.parent)}
    command = [*before, sys.executable, "-c", program]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)


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
def running(home: Paths, inside: str = "fake_inside") -> Iterator[subprocess.Popen[str]]:
    """Run a daemon, and make sure that it ends when it is told to, if it has not ended yet."""
    process = begun(home, "", inside)
    try:
        until(process, "ready")
        yield process
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        ended(process)
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> str:
    """Wait until a daemon has ended of itself; return what it said last."""
    assert process.stderr is not None
    said = process.stderr.read()
    assert process.wait(30) == 0, said
    return said


def ask(at: Path, method: str = "GET", path: str = "/v1/status", body: object = None) -> Said:
    """Ask a daemon at a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as opened:
        opened.settimeout(30)
        opened.connect(str(at))
        return asked(opened, method, path, body)
