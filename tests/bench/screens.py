"""The screens: how soon something stands there, and how soon a key is answered."""

import asyncio
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct
from textual.message import Message

from agent.errors import UsageError
from agent.tui.app import ReviewApp
from agent.tui.link import Connected, Link
from agent.tui.virtual_list import Listing
from agent.wire.records import Handled
from tests.bench.timing import at, timed
from tests.daemon.whole_daemon import Live, environment, living
from tests.tui.double import OPEN
from tests.tui.running import NOTHING, NOW, Running

COMMAND = [sys.executable, "-m", "agent.cli", "screens"]
ROUNDS = 15
MANY, LEAPS = 10_000, 300
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
        f"reticent, the screens, from its start: first paint p50 {at(first, 50)} ms (bar: 300), "
        f"with the daemon's word p50 {at(told, 50)} ms"
    )
    listed, leaps = asyncio.run(_scrolled())
    yield (
        f"{MANY:,} requests on the screen: shown anew in {at(listed, 50)} ms, a screenful "
        f"on p50 {at(leaps, 50)} ms, p99 {at(leaps, 99)} ms"
    )


class Many(Link):
    """The way to a daemon that answered many requests, and says nothing else."""

    def __init__(self) -> None:
        super().__init__(Path("nowhere"), lambda: None)

    async def call(self, name: str, _body: Struct | None = None, /, **_: Any) -> Any:  # noqa: ANN401  (of the route's types)
        """Return the requests."""
        if name == "status":
            return OPEN
        if name == "whatif":
            raise UsageError("this daemon weighs nothing", "ask another")
        return [handled(number) for number in range(1, MANY + 1)] if name == "requests" else []

    async def begin(self) -> bool:
        """Say that a daemon runs."""
        return False

    def follow(self, tell: Callable[[Message], object]) -> None:
        """Tell that it was heard."""
        tell(Connected(OPEN))


def handled(number: int) -> Handled:
    """Return a request."""
    return Handled(
        number=number,
        kind="disclosed",
        at=NOW - timedelta(minutes=MANY - number),
        recipient=f"shop{number % 50}.example",
        pool=f"shop{number % 50}.example",
        query=f"query {number}",
        disclosed=["region", "int_python"],
        utility_bits=0.1,
        people_left=1000,
    )


async def _scrolled() -> tuple[list[float], list[float]]:
    """Return the milliseconds of showing many requests, and of each screenful of them."""
    app = ReviewApp(Many(), NOTHING)
    async with app.run_test(size=(COLUMNS, LINES)) as pilot:
        shown = Running(app, pilot)
        await shown.until(lambda: app.reachable)
        await shown.settled()
        page = app.page()
        assert page is not None
        begun = time.perf_counter()
        await page.renew()
        shown.text()
        listed = (time.perf_counter() - begun) * 1e3
        listing = page.query_one(Listing)
        return [listed], [timed(lambda: _leapt(listing, shown)) for _ in range(LEAPS)]


def _leapt(listing: Listing[Any], shown: Running) -> None:
    """Go a screenful on, and draw it."""
    listing.action_leap(1)
    shown.text()


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
