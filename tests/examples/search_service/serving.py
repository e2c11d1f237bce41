"""Serving the search service to a test."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from examples.search_service.service import Service, application
from tests.waiting import PATIENCE

Client = TestClient[web.Request, web.Application]


@asynccontextmanager
async def client_of(service: Service) -> AsyncIterator[Client]:
    """Serve it, and yield a client."""
    async with TestClient(TestServer(application(service))) as client:
        yield client


def asking(service: Service, do: Callable[[Client], Awaitable[None]]) -> None:
    """Do something with a client."""

    async def inside() -> None:
        async with asyncio.timeout(PATIENCE), client_of(service) as client:
            await do(client)

    asyncio.run(inside())


def get(service: Service, path: str, **headers: str) -> tuple[ClientResponse, str]:
    """Get a path."""
    found = []

    async def do(client: Client) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with client.get(path, headers=named) as answer:
            found.append((answer, await answer.text()))

    asking(service, do)
    return found[0]


async def raw(client: Client, query: bytes, headers: bytes = b"") -> tuple[int, bytes]:
    """Search with bytes that no client would send, and return the status and all that comes."""
    reader, writer = await asyncio.open_connection(client.host, client.port)
    first = b"GET /search?q=" + query + b" HTTP/1.1\r\nHost: localhost\r\n"
    writer.write(first + headers + b"Connection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.split()[1]), answer


def titles(text: str) -> list[str]:
    """Return the titles of the results of a page."""
    return re.findall(r'data-result="\d+">([^<]*)<', text)
