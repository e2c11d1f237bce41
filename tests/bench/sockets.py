"""The daemon at its sockets and from the shell, and the proxy: how fast they answer; the memory.

What counts is the clock. What is compared is timed by turns: the proxy with a bare relay of the
same library, as both pass on what a service of this process sends as fast as it can.
"""

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from subprocess import PIPE

import aiohttp
import numpy as np
from aiohttp import web

from agent.model.file import read, shipped_model
from agent.wire.decide import Ask
from agent.wire.routes import CONTROL, QUERY
from tests.assistants.upstream import WHOM, chunk, proxied, serving, streamed
from tests.bench import at, row, timed
from tests.house.tree import ROOT
from tests.worlds.daemons import BALANCED, QUERIES, Live, environment, living, request
from tests.worlds.doors import hosting

RETICENT = str(Path(sys.executable).with_name("reticent"))
STARTS, CALLS, WARMING = 15, 3_000, 500
LARGEST = 65_536  # bytes of an answer
STATUS = b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n"
FRAME = json.dumps({"id": 1, "call": "status"}).encode()
QUESTION = "job site"
EVENTS = 300  # of a stream: an answer of some 300 words
ANSWERS, ROUNDS = 60, 5
BEAT = 0.005  # seconds between two events, of a fast service
SESSION = cache(partial(aiohttp.ClientSession, auto_decompress=False))  # of the relay
POLICY = f"page_requests_per_minute = 100000\n{BALANCED}"


def sockets() -> Iterator[str]:
    """Yield the rows of the daemon and of the shell."""
    with living() as live:
        live.call("explain", Ask(query="no query's name", recipient="x.example"))  # the encoder
        queries = [query.text for query in read(shipped_model("so2017")).queries]
        asks = [request(Ask(query=e, recipient=f"q{at}.example")) for at, e in enumerate(queries)]
        with closing(live.connect(QUERY)) as opened:  # by each query, its recipient knows more
            for knowing in ("nothing", "what the first answer disclosed"):
                times = [timed(partial(_exchange, opened, each))[0] for each in asks]
                what, found = f"/v1/decide, fresh, the recipient knows {knowing}", np.median(times)
                yield row(what, (6,), (found,), "ms", f"worst {max(times):.3g}")
        decide = request(Ask(query=QUERIES[0], recipient="search.example"))
        with closing(live.connect(CONTROL)) as opened:  # the other takes so many a minute
            every = [
                [timed(partial(_exchange, opened, data))[0] for data in (decide, STATUS)]
                for _ in range(WARMING + CALLS)
            ]
        yield _beside("/v1/decide, warm, by /v1/status", 2, every[WARMING:])
        yield row("the daemon's memory after that", (340,), (live.resident(),), "MiB")
        starts = [timed(partial(_first_reply, live))[0] for _ in range(STARTS)]
        yield row("the relay, its start to its first reply", (30,), (np.median(starts),), "ms")
        for what, bar in (("model decide --query weather", 0.2), ("status", 0.08)):
            run = partial(subprocess.run, [RETICENT, *what.split()], env=environment(live.paths))
            times = [timed(partial(run, check=True, capture_output=True))[0] for _ in range(STARTS)]
            yield row(f"reticent {what}", (bar,), (np.median(times) / 1e3,), "s")


def _beside(what: str, bar: float, times: Sequence[Sequence[float]]) -> str:
    """A row of how many times as long as another thing one takes, by pairs of both."""
    ours, other = np.median(times, axis=0)
    return row(what, (bar,), (ours / other,), "times", f"{at([ours])} ms by {at([other])}")


def _first_reply(live: Live) -> None:
    """Start a relay, and wait until the daemon's answer comes through it."""
    with hosting(live.paths.query) as host:
        host.send(FRAME)
        host.said()


def _exchange(opened: socket.socket, data: bytes) -> bytes:
    """Send a request, and receive its answer, which comes in one piece."""
    opened.sendall(data)
    return opened.recv(LARGEST)


def proxy() -> Iterator[str]:
    """Yield the rows of the proxy."""
    with living(POLICY) as live, serving() as service:
        live.call("decide", Ask(query=QUESTION, recipient=WHOM))  # it loads what reads a text
        service.answer = _answer
        command = [sys.executable, "-m", "tests.bench.sockets", f"http://127.0.0.1:{service.port}"]
        relaying = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=ROOT)
        with proxied(live.paths, service.port) as before, relaying as relay:
            assert relay.stdout is not None
            bases = [before.base, relay.stdout.readline().strip()]
            for what, text, rounds in (("with", QUESTION, ROUNDS), ("without", "", ANSWERS)):
                times = asyncio.run(_by_turns(bases, text, rounds))
                yield _beside(f"the proxy by a bare relay, {what} facts", 1.2, times)
            relay.kill()


async def _answer(request: web.BaseRequest, body: bytes) -> web.StreamResponse:
    """Stream an answer: in the rhythm of a fast service if it had facts, else at full speed."""
    response, beat = await streamed(request), BEAT if QUESTION.encode() in body else 0
    for _ in range(EVENTS):
        await response.write(chunk("word"))
        await asyncio.sleep(beat)
    return response


async def _by_turns(bases: list[str], text: str, rounds: int) -> list[list[float]]:
    """Time a question at each address until its answer is whole, in ms; not the first."""
    message = {"messages": [{"role": "user", "content": text}]}

    async def answered(base: str) -> float:
        begin = time.perf_counter()
        async with session.post(f"{base}/chat/completions", json=message) as response:
            assert len(await response.read()) == EVENTS * len(chunk("word"))
        return (time.perf_counter() - begin) * 1e3

    async with aiohttp.ClientSession() as session:
        return [[await answered(each) for each in bases] for _ in range(1 + rounds)][1:]


async def _relayed(request: web.BaseRequest, body: bytes) -> web.StreamResponse:
    """Pass on whatever comes, with nothing looked at."""
    async with SESSION().post(sys.argv[1] + request.raw_path, data=body) as found:
        response = await streamed(request)
        async for part in found.content.iter_any():
            await response.write(part)
    return response


if __name__ == "__main__":
    with serving() as bare:
        bare.answer = _relayed
        print(f"http://127.0.0.1:{bare.port}/v1", flush=True)
        sys.stdin.read()
