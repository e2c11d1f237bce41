"""A service that speaks the OpenAI protocol, as far as a test needs it, and the proxy before it."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from aiohttp import web

from agent.assistants.proxy import WHO
from agent.paths import Paths
from tests.house.tree import ROOT
from tests.worlds.daemons import PATIENCE, environment

WORDS = ("Hello", " there", ".")
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
TIMED = re.compile(r"\d\d:\d\d:\d\d  [A-Z]+ ")  # a line of `--verbose`
KEY = "sk-nobody-may-see-this"
WHOM = "openai.com"
RUN = """
import sys
import agent.assistants.proxy
from agent.cli.main import run
agent.assistants.proxy.SECONDS = float(sys.argv.pop(1))
run()
"""
NO_MORE: Mapping[str, str] = MappingProxyType({})
Answering = Callable[[web.BaseRequest, bytes], Awaitable[web.StreamResponse]]


class Asked(NamedTuple):
    """A request that has reached the service."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def messages(self) -> list[dict[str, Any]]:
        found = json.loads(self.body)
        messages: list[dict[str, Any]] = found["messages" if "messages" in found else "input"]
        return messages

    @property
    def line(self) -> str | None:
        """What it was told of its user; None for nothing."""
        lines = [each["content"] for each in self.messages if each.get("role") == "system"]
        told = [each.rpartition("\n\n")[2] for each in lines if f"{WHO} About me: " in each]
        assert len(told) <= 1
        return told[0] if told else None


class Service:
    """What was asked, and how it answers; ``port``: of 127.0.0.1."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[Asked] = []
        self.answer: Answering = usual

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        found = [*request.headers.items()]
        self.asked.append(Asked(request.method, request.raw_path, found, body))
        return await self.answer(request, body)


def chunk(word: str) -> bytes:
    """Return an event of a stream, with a part of the answer."""
    choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
    made = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    return b"data: %s\n\n" % json.dumps({**made, "choices": [choice]}).encode()


async def streamed(request: web.BaseRequest) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    return response


async def usual(request: web.BaseRequest, _body: bytes) -> web.StreamResponse:
    if request.path.removeprefix("/v1/") == "models":
        model = {"id": "m", "object": "model", "created": 0, "owned_by": "nobody"}
        return web.json_response({"object": "list", "data": [model]})
    message = {"role": "assistant", "content": "".join(WORDS)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    made = {"id": "c", "object": "chat.completion", "created": 0, "model": "m"}
    return web.json_response({**made, "choices": [choice], "usage": USAGE})


@contextmanager
def serving(largest: int = 2**26) -> Iterator[Service]:
    """Yield a service that answers in a thread of its own; ``largest``: bytes of a body."""
    service, ready, over = Service(), Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def live() -> None:
        made = web.Application(client_max_size=largest)
        made.router.add_route("*", "/{path:.*}", service.handle)
        runner = web.AppRunner(
            made,
            access_log=None,
            handler_cancellation=True,
            auto_decompress=False,
            shutdown_timeout=0.1,
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        service.port = runner.addresses[0][1]
        ready.set()
        await over.wait()
        await runner.cleanup()

    thread = Thread(target=loop.run_until_complete, args=(live(),))
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield service
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(PATIENCE)
        assert not thread.is_alive()
        loop.close()


class Proxied(NamedTuple):
    """A proxy that runs; ``base``: the URL to put into a client; ``noted``: once it has ended."""

    process: subprocess.Popen[bytes]
    base: str
    noted: list[str]

    @property
    def port(self) -> int:
        return urlsplit(self.base).port or 0

    @property
    def path(self) -> str:
        return urlsplit(self.base).path


@contextmanager
def proxied(
    places: Paths, port: int, told: Mapping[str, str] = NO_MORE, patience: float = PATIENCE
) -> Iterator[Proxied]:
    """Yield a proxy before the service at a port.

    ``told``: more of its environment; ``patience``: seconds that it waits for facts, which a busy
    machine may take. It ends by a signal, and has printed nothing but what it says at its start.
    """
    upstream = f"http://127.0.0.1:{port}/v1"
    options = ("--json", "--verbose", "--port", "0")
    command = [sys.executable, "-c", RUN, str(patience), "proxy", *options]
    with subprocess.Popen(
        [*command, "--upstream", upstream, "--recipient", WHOM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environment(places), **told},
        cwd=ROOT,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            said = b"".join(iter(process.stdout.readline, b"}\n")) + b"}"
            yield Proxied(process, json.loads(said)["base_url"], noted := [])
            process.terminate()
            assert process.stdout.read() == b""
            noted += process.stderr.read().decode().splitlines()
            others = [each for each in noted if not TIMED.match(each)]
            assert all(
                "so nothing is told; " in each or "left without facts" in each for each in others
            )
            assert KEY not in "".join(noted)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
