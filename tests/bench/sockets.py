"""The daemon at its sockets: how fast it answers, how much memory it takes; and the relay."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial

import numpy as np

from agent.model.file import read, shipped_model
from agent.wire.decide import Ask
from agent.wire.routes import CONTROL, QUERY
from tests.bench import at, timed
from tests.worlds.daemons import QUERIES, Live, living, request
from tests.worlds.doors import hosting

STARTS = 41
CALLS, WARMING = 3_000, 500
LARGEST = 65_536  # bytes of an answer
STATUS = b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n"
FRAME = json.dumps({"id": 1, "call": "status"}).encode()


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    with living() as live:
        live.call("explain", Ask(query="no query's name", recipient="x.example"))  # the encoder
        yield from _fresh(live)
        yield _warm(live)
        yield f"the daemon's memory after that: {live.resident():.0f} MiB (bar: 340)"
        starts = [_first_reply(live) for _ in range(STARTS)]
        yield (
            f"the relay, from its start until its first reply: p50 {at(starts, 50)} ms, "
            f"worst {at(starts, 100)} (bar: 30)"
        )


def _fresh(live: Live) -> Iterator[str]:
    """Time the first and the second decision of each query, each query for a recipient."""
    queries = [query.text for query in read(shipped_model("so2017")).queries]
    asks = [
        request(Ask(query=each, recipient=f"q{number}.example"))
        for number, each in enumerate(queries)
    ]
    with closing(live.connect(QUERY)) as opened:
        for knowing in ("nothing", "what the first answer disclosed"):
            times = [timed(partial(_exchange, opened, each)) for each in asks]
            yield (
                f"/v1/decide, fresh, on disk before it leaves, the recipient knows {knowing}: "
                f"p50 {at(times, 50)} ms, worst {at(times, 100)}"
            )


def _warm(live: Live) -> str:
    """Time, by turns, a status and one decision that is made over and over.

    At the control socket: the other has so many a minute recorded, and no more.
    """
    decide = request(Ask(query=QUERIES[0], recipient="search.example"))
    with closing(live.connect(CONTROL)) as opened:
        for _ in range(WARMING):
            _exchange(opened, decide)
        times = [
            (timed(partial(_exchange, opened, STATUS)), timed(partial(_exchange, opened, decide)))
            for _ in range(CALLS)
        ]
    status, warm = ([*each] for each in zip(*times, strict=True))
    ratio = float(np.median(warm) / np.median(status))
    return (
        f"at the control socket: /v1/status p50 {at(status, 50)} ms; /v1/decide, warm, its "
        f"ledger entry included, p50 {at(warm, 50)}, p99 {at(warm, 99)}: "
        f"{ratio:.2f} times as long (bar: 2)"
    )


def _first_reply(live: Live) -> float:
    """Time the start of a relay until the daemon's answer comes through it, in milliseconds."""
    with ExitStack() as stack:
        begin = time.perf_counter()
        host = stack.enter_context(hosting(live.paths.query))
        host.send(FRAME)
        host.said()
        return (time.perf_counter() - begin) * 1e3


def _exchange(opened: socket.socket, data: bytes) -> bytes:
    """Send a request, and receive its answer, which comes in one piece."""
    opened.sendall(data)
    return opened.recv(LARGEST)
