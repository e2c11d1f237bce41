"""The proxy for OpenAI clients, beside a bare relay made of the same library.

Both pass the same answers on, by turns: a service of this process sends them as fast as it can.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import numpy as np
from aiohttp import web

from agent.wire.decide import Ask
from agent.wire.routes import CONTROL
from tests.assistants.upstream import WHOM, chunk, proxied, serving, streamed
from tests.bench import at
from tests.house.tree import ROOT
from tests.worlds.daemons import BALANCED, living

QUESTION = "job site"
EVENTS = 300  # of a stream: an answer of some 300 words
ANSWERS, ROUNDS = 60, 5
BEAT = 0.005  # seconds between two events, of a fast service
POLICY = f"page_requests_per_minute = 100000\n{BALANCED}"
RELAY = [sys.executable, "-m", "tests.bench.proxy"]


async def answer(request: web.BaseRequest, body: bytes) -> web.StreamResponse:
    """Stream an answer: in the rhythm of a fast service if it had facts, else at full speed."""
    response, beat = await streamed(request), BEAT if QUESTION.encode() in body else 0
    for _ in range(EVENTS):
        await response.write(chunk("word"))
        await asyncio.sleep(beat)
    return response


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    with living(POLICY) as live, serving() as service:
        with live.client(CONTROL) as client:  # it loads what reads a text
            client.call("decide", Ask(query=QUESTION, recipient=WHOM))
        service.answer = answer
        with proxied(live.paths, service.port) as proxy, relaying(service.port) as relay:
            yield from asyncio.run(_compared([proxy.base, relay]))


async def _compared(bases: list[str]) -> list[str]:
    """Time the proxy and the relay, in this order, by turns."""
    lines = []
    async with aiohttp.ClientSession() as session:
        for what, text, rounds in (("with", QUESTION, ROUNDS), ("without", "", ANSWERS)):
            times = [
                [await _answered(session, each, text) for each in bases] for _ in range(1 + rounds)
            ]
            proxy, relay = ([*each] for each in zip(*times[1:], strict=True))
            ratio = np.median(proxy) / np.median(relay)
            lines.append(
                f"a stream of {EVENTS} events {what} facts: p50 {at(proxy, 50)} ms, "
                f"a bare relay {at(relay, 50)}: {ratio:.2f} times as long (bar: 1.2)"
            )
    return lines


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
    command = [*RELAY, f"http://127.0.0.1:{port}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


async def _relay(upstream: str) -> None:
    """Pass on whatever comes, with nothing looked at."""
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), auto_decompress=False
    ) as session:

        async def passed_on(request: web.Request) -> web.StreamResponse:
            async with session.request(
                request.method,
                upstream + request.raw_path,
                data=await request.read(),
                headers={"Content-Type": request.content_type},
            ) as found:
                response = web.StreamResponse(status=found.status)
                response.content_type = found.content_type
                await response.prepare(request)
                async for part in found.content.iter_any():
                    await response.write(part)
                return response

        made = web.Application()
        made.router.add_route("*", "/{path:.*}", passed_on)
        runner = web.AppRunner(made, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_relay(sys.argv[1]))
