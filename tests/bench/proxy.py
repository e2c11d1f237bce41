"""The proxy for OpenAI clients, beside a bare relay made of the same library.

Both pass the same answers on, by turns: a service of this process sends them as fast as it can.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import aiohttp
import numpy as np
from aiohttp import web

from agent.wire.decide import Ask
from agent.wire.routes import CONTROL
from tests.assistants.upstream import WHOM, chunk, proxied, serving, streamed
from tests.bench import at, row
from tests.house.tree import ROOT
from tests.worlds.daemons import BALANCED, living

QUESTION = "job site"
EVENTS = 300  # of a stream: an answer of some 300 words
ANSWERS, ROUNDS = 60, 5
BEAT = 0.005  # seconds between two events, of a fast service
POLICY = f"page_requests_per_minute = 100000\n{BALANCED}"


async def answer(request: web.BaseRequest, body: bytes) -> web.StreamResponse:
    """Stream an answer: in the rhythm of a fast service if it had facts, else at full speed."""
    response, beat = await streamed(request), BEAT if QUESTION.encode() in body else 0
    for _ in range(EVENTS):
        await response.write(chunk("word"))
        await asyncio.sleep(beat)
    return response


def proxy() -> Iterator[str]:
    """Yield the rows of this benchmark."""
    with living(POLICY) as live, serving() as service:
        with live.client(CONTROL) as client:  # it loads what reads a text
            client.call("decide", Ask(query=QUESTION, recipient=WHOM))
        service.answer = answer
        with proxied(live.paths, service.port) as before, relaying(service.port) as relay:
            for what, text, rounds in (("with", QUESTION, ROUNDS), ("without", "", ANSWERS)):
                yield asyncio.run(_compared([before.base, relay], what, text, rounds))


async def _compared(bases: list[str], what: str, text: str, rounds: int) -> str:
    """Time the proxy and the relay, in this order, by turns."""
    async with aiohttp.ClientSession() as session:
        every = [[await _answered(session, e, text) for e in bases] for _ in range(1 + rounds)]
    ours, bare = np.median(every[1:], axis=0)
    more = f"{at([ours])} ms by {at([bare])}"
    return row(f"the proxy by a bare relay, {what} facts", (1.2,), (ours / bare,), "times", more)


async def _answered(session: aiohttp.ClientSession, base: str, text: str) -> float:
    """Time a question until its answer is whole, in milliseconds."""
    message = {"messages": [{"role": "user", "content": text}]}
    begin = time.perf_counter()
    async with session.post(f"{base}/chat/completions", json=message) as response:
        assert len(await response.read()) == EVENTS * len(chunk("word"))
    return (time.perf_counter() - begin) * 1e3


@contextmanager
def relaying(port: int) -> Iterator[str]:
    """Yield the base URL of a bare relay before the service at a port."""
    command = [sys.executable, "-m", "tests.bench.proxy", f"http://127.0.0.1:{port}"]
    pipe = subprocess.PIPE  # whose end ends it
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=ROOT) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        process.kill()


@cache
def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), auto_decompress=False)


async def _relayed(request: web.BaseRequest, body: bytes) -> web.StreamResponse:
    """Pass on whatever comes, with nothing looked at."""
    kind = {"Content-Type": request.content_type}
    target = sys.argv[1] + request.raw_path
    async with _session().request(request.method, target, data=body, headers=kind) as found:
        response = web.StreamResponse(status=found.status)
        response.content_type = found.content_type
        await response.prepare(request)
        async for part in found.content.iter_any():
            await response.write(part)
        return response


if __name__ == "__main__":
    with serving() as bare:
        bare.answer = _relayed
        print(bare.port, flush=True)
        sys.stdin.read()
