"""The daemon at its sockets and from the shell: how fast it answers, and the memory it takes."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from agent.model.file import read, shipped_model
from agent.wire.decide import Ask
from agent.wire.routes import CONTROL, QUERY
from tests.bench import Pair, at, row, timed
from tests.worlds.daemons import QUERIES, Live, environment, living, request
from tests.worlds.doors import hosting

RETICENT = str(Path(sys.executable).with_name("reticent"))
STARTS, CALLS, WARMING = 15, 3_000, 500
LARGEST = 65_536  # bytes of an answer
STATUS = b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n"
FRAME = json.dumps({"id": 1, "call": "status"}).encode()


def sockets() -> Iterator[str]:
    """Yield the rows of this benchmark; what counts is the clock."""
    with living() as live:
        live.call("explain", Ask(query="no query's name", recipient="x.example"))  # the encoder
        yield from _fresh(live)
        yield _warm(live)
        yield row("the daemon's memory after that", (340,), (live.resident(),), "MiB")
        starts = [timed(partial(_first_reply, live))[0] for _ in range(STARTS)]
        yield row("the relay, its start to its first reply", (30,), (np.median(starts),), "ms")
        for what, bar in (("model decide --query weather", 0.2), ("status", 0.08)):
            run = partial(subprocess.run, [RETICENT, *what.split()], env=environment(live.paths))
            times = [timed(partial(run, check=True, capture_output=True))[0] for _ in range(STARTS)]
            yield row(f"reticent {what}", (bar,), (np.median(times) / 1e3,), "s")


def _fresh(live: Live) -> Iterator[str]:
    """Time the first and the second decision of each query, each query for a recipient."""
    queries = [query.text for query in read(shipped_model("so2017")).queries]
    asks = [request(Ask(query=e, recipient=f"q{at}.example")) for at, e in enumerate(queries)]
    with closing(live.connect(QUERY)) as opened:
        for knowing in ("nothing", "what the first answer disclosed"):
            times = [timed(partial(_exchange, opened, each))[0] for each in asks]
            what, found = f"/v1/decide, fresh, the recipient knows {knowing}", np.median(times)
            yield row(what, (6,), (found,), "ms", f"worst {max(times):.3g}")


def _warm(live: Live) -> str:
    """Time, by turns, a status and one decision that is made over and over.

    At the control socket: the other has so many a minute recorded, and no more.
    """
    decide, times = request(Ask(query=QUERIES[0], recipient="search.example")), list[Pair]()
    with closing(live.connect(CONTROL)) as opened:
        for number in range(WARMING + CALLS):
            each = [timed(partial(_exchange, opened, data))[0] for data in (STATUS, decide)]
            times += [(each[0], each[1])] if number >= WARMING else []
    status, warm = np.median(times, axis=0)
    what, more = "/v1/decide, warm, by /v1/status", f"{at([warm])} ms by {at([status])}"
    return row(what, (2,), (warm / status,), "times", more)


def _first_reply(live: Live) -> None:
    """Start a relay, and wait until the daemon's answer comes through it."""
    with hosting(live.paths.query) as host:
        host.send(FRAME)
        host.said()


def _exchange(opened: socket.socket, data: bytes) -> bytes:
    """Send a request, and receive its answer, which comes in one piece."""
    opened.sendall(data)
    return opened.recv(LARGEST)
