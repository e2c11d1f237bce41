"""The daemon at its sockets: how soon it is there, how fast it answers, how much it occupies."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from tempfile import TemporaryDirectory

import numpy as np

from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.paths import Paths
from agent.wire.decide import Ask
from agent.wire.routes import CONTROL, QUERY
from tests.bench.timing import at, timed
from tests.daemon.crowd import QUERIES, Crowd, request
from tests.daemon.whole_daemon import PATIENCE, Live, begun, environment, home, started

STARTS = 9
STATUSES = 21
CALLS = 3_000
WARMING = 500
CLIENTS, EACH, SITES = 200, 50, 40
TEXTS = 200
LARGEST = 65_536  # bytes of an answer
STATUS = b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n"
COMMAND = [sys.executable, "-m", "agent.cli", "status"]


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    with home() as places:
        with TemporaryDirectory() as compiled:  # as pip leaves it, whatever the environment says
            told = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": compiled}
            yield _starting(places, told)
            yield _command(places, told)
        with started(places) as live:
            live.unlock()
            yield _reading(live)
            yield f"the daemon's memory, both models and the encoder: {live.resident():.0f} MiB"
            yield from _warm(live)
            yield from _fresh(live)
            yield _crowd(live)
            yield f"the daemon's memory after all that: {live.resident():.0f} MiB (bar: 300)"


def _starting(places: Paths, told: Mapping[str, str]) -> str:
    """Time from the start of a process until it says to systemd that it is ready."""
    times: list[float] = []
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        name = f"{folder}/notify"
        heard.bind(name)
        heard.settimeout(PATIENCE)
        for _ in range(1 + STARTS):
            begin = time.perf_counter()
            with begun(places, {**told, "NOTIFY_SOCKET": name}) as live:
                while heard.recv(100) != b"READY=1":  # not the last one's end
                    pass
                times.append((time.perf_counter() - begin) * 1e3)
                live.stop()
    p50 = at(times[1:], 50)  # the first has compiled the modules
    return f"the daemon, from its start until it is ready: p50 {p50} ms (bar: 500)"


def _command(places: Paths, told: Mapping[str, str]) -> str:
    """Time the whole of a command, with its interpreter."""
    run = partial(
        subprocess.run,
        COMMAND,
        env={**environment(places), **told},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    with started(places):
        times = [timed(run) for _ in range(STATUSES)]
    return f"reticent status: p50 {at(times, 50)} ms (bar: 150)"


def _warm(live: Live) -> Iterator[str]:
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
    yield (
        f"at the control socket: /v1/status p50 {at(status, 50)} ms; /v1/decide, warm, its "
        f"ledger entry included, p50 {at(warm, 50)}, p99 {at(warm, 99)}: "
        f"{ratio:.2f} times as long (bar: 3)"
    )


def _reading(live: Live) -> str:
    """Time, by turns, the reading of a text and a decision on an exact name that is warm."""
    models = [read(shipped_model(name)) for name in ("so2017", "atus")]
    exact = request(Ask(query=models[0].queries[0].text, recipient="search.example"))
    texts = [f"what could i do this weekend with {number} kids" for number in range(TEXTS)]
    for model in models:
        model.read("load the encoder, and index the names of queries")
    with closing(live.connect(CONTROL)) as opened:
        for first in (request(Ask(query=texts[0], recipient="search.example")), exact):
            _exchange(opened, first)  # the daemon loads the encoder, and both models
        times = [
            (timed(partial(_read, text, models)), timed(partial(_exchange, opened, exact)))
            for text in texts
        ]
    reads, warm = ([*each] for each in zip(*times, strict=True))
    ratio = float(np.median(reads) / np.median(warm))
    return (
        f"reading a text by both shipped models: p50 {at(reads, 50)} ms, p99 {at(reads, 99)}; "
        f"{ratio:.2f} times as long as a warm decision"
    )


def _read(text: str, models: list[Model]) -> None:
    for model in models:
        model.read(text)


def _fresh(live: Live) -> Iterator[str]:
    """Time the first decision of each query, for a recipient that knows nothing, and a second.

    By then it knows what the first has told it.
    """
    queries = [query.text for query in read(shipped_model("so2017")).queries]
    with closing(live.connect(QUERY)) as opened:
        for told in ("nothing", "what the first told it"):
            asks = [
                request(Ask(query=each, recipient=f"q{number}.example"))
                for number, each in enumerate(queries)
            ]
            times = [timed(partial(_exchange, opened, each)) for each in asks]
            yield (
                f"/v1/decide, fresh, on disk before it leaves, the recipient knows {told}: "
                f"p50 {at(times, 50)} ms, worst {at(times, 100)}"
            )


def _crowd(live: Live) -> str:
    """Let many clients ask at once, each for one site; every answer is in the ledger."""
    crowd = Crowd(live.at(CONTROL))
    before = live.status().entries or 0

    def ask() -> None:
        asyncio.run(crowd.ask(CLIENTS, EACH, lambda client, _: f"s{client % SITES}.example"))

    ask()  # what they know is settled from here on
    seconds = timed(ask) / 1e3
    lost = 2 * CLIENTS * EACH - ((live.status().entries or 0) - before)
    return (
        f"{CLIENTS} clients at once: {CLIENTS * EACH / seconds:,.0f} answers a second, "
        f"{len(crowd.other) + crowd.cut} errors, {lost} entries lost"
    )


def _exchange(opened: socket.socket, data: bytes) -> bytes:
    """Send a request, and return its answer, which comes in one piece."""
    opened.sendall(data)
    return opened.recv(LARGEST)
