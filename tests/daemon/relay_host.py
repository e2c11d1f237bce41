"""A relay as a browser starts it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from agent.daemon import relay
from tests.waiting import PATIENCE, living

COMMAND = [sys.executable, "-I", "-S", relay.__file__]


class Host(NamedTuple):
    """A relay that runs."""

    process: subprocess.Popen[bytes]

    def send(self, frame: bytes) -> None:
        """Send what a frame holds."""
        self.raw(relay.framed(frame))

    def raw(self, data: bytes) -> None:
        """Send bytes."""
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def said(self) -> Any:  # noqa: ANN401  (any JSON)
        """Return what the next frame from it holds."""
        assert self.process.stdout
        [length] = relay.LENGTH.unpack(self.process.stdout.read(relay.LENGTH.size))
        return json.loads(self.process.stdout.read(length))

    def ask(self, number: int, call: str, body: object = None) -> Any:  # noqa: ANN401  (any JSON)
        """Make a call, and return its answer."""
        self.send(json.dumps({"id": number, "call": call, "body": body}).encode())
        return self.said()

    def end(self) -> int:
        """Close its standard input, and return its exit code; it says nothing more."""
        rest, _ = self.process.communicate(timeout=PATIENCE)
        assert rest == b""
        return self.process.returncode


@contextmanager
def hosting(socket: Path, *command: str) -> Iterator[Host]:
    """Yield a relay for a socket, or what a command starts, and end it."""
    started = command or (*COMMAND, str(socket))
    with (
        subprocess.Popen(
            started,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},
        ) as process,
        living(process, 4 * PATIENCE),
    ):
        yield Host(process)
