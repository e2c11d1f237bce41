"""The relay that a browser starts: how soon it answers, and how long a call takes through it."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

from tests.bench.timing import at, timed
from tests.daemon.relay_host import Host, hosting
from tests.daemon.whole_daemon import Live, living

STARTS = 41
CALLS = 500  # no more than the door records in a minute
STATUS = json.dumps({"id": 1, "call": "status"}).encode()
ASK = {"query": "editor", "recipient": "search.example"}


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    with living() as live:
        starts = [_first(live) for _ in range(STARTS)]
        yield (
            f"the relay, from its start until its first reply: p50 {at(starts, 50)} ms, "
            f"worst {at(starts, 100)} (bar: 30)"
        )
        with hosting(live.paths.query) as host:
            calls = [timed(partial(_call, host, number)) for number in range(CALLS)]
        yield f"/v1/decide, warm, through the relay: p50 {at(calls, 50)} ms, p99 {at(calls, 99)}"


def _first(live: Live) -> float:
    """Return how many milliseconds it takes to start a relay and hear from the daemon."""
    with ExitStack() as stack:
        begin = time.perf_counter()
        host = stack.enter_context(hosting(live.paths.query))
        host.send(STATUS)
        host.said()
        return (time.perf_counter() - begin) * 1e3


def _call(host: Host, number: int) -> None:
    """Make one decision."""
    host.ask(number, "decide", ASK)
