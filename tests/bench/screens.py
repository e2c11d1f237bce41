"""The screens: how soon something stands there, and how soon a key is answered."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator

from tests.bench.timing import at
from tests.daemon.whole_daemon import Live, environment, living

COMMAND = [sys.executable, "-m", "agent.cli", "review"]
ROUNDS = 15
LINES, COLUMNS = 24, 80
PATIENCE = 10.0  # seconds
PAINTED = b"Requests"  # the name of the screen, in its first line
BEGUN = "√ open".encode()  # what the daemon said, in the same line


def figures() -> Iterator[str]:
    """Yield a line for each figure."""
    with living() as live:
        times = [_painted(live) for _ in range(ROUNDS)]
    first, told = ([*each] for each in zip(*times, strict=True))
    yield (
        f"reticent review, from its start: first paint p50 {at(first, 50)} ms (bar: 300), "
        f"with the daemon's word p50 {at(told, 50)} ms"
    )


def _painted(live: Live) -> tuple[float, float]:
    """Return the milliseconds until the screen has its name, and until it has the daemon's word."""
    terminal, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    told = environment(live.paths) | {"TERM": "xterm-256color"}
    begun = time.perf_counter()
    process = subprocess.Popen(COMMAND, stdin=inner, stdout=inner, stderr=inner, env=told)
    os.close(inner)
    try:
        seen = b""
        found = []
        for wanted in (PAINTED, BEGUN):
            while wanted not in seen:
                assert time.perf_counter() - begun < PATIENCE
                seen += os.read(terminal, 1 << 16)
            found.append((time.perf_counter() - begun) * 1e3)
        return found[0], found[1]
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
