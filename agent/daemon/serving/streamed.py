"""Server-sent events. Source: the HTML standard, section 9.2."""

import asyncio

import msgspec

from agent.daemon.events import Bus, EndedError, Reader
from agent.daemon.serving.web import web
from agent.wire.client import MEDIA_TYPE
from agent.wire.state import Event

HEARTBEAT = 5.0  # seconds of silence after which a comment is sent: who has left is noticed so
PATIENCE = 10.0  # seconds that a reader may leave what was sent unread


async def stream(request: web.Request, bus: Bus) -> web.StreamResponse:
    """Send all that happens until the reader leaves, reads too slowly, or the daemon ends."""
    with bus.reader() as reader:
        response = web.StreamResponse(headers={"Content-Type": MEDIA_TYPE})
        response.force_close()
        try:
            await response.prepare(request)
            await _send_all(response, reader)
        except (TimeoutError, ConnectionError):
            leave(request)
    return response


async def _send_all(response: web.StreamResponse, reader: Reader) -> None:
    """Send what a reader gets, and why there is no more; an error if nobody takes it."""
    await _send(response, b": listening\n\n")
    try:
        while True:
            event = await reader.next(HEARTBEAT)
            await _send(response, b": alive\n\n" if event is None else as_lines(event))
    except EndedError as ended:
        await _send(response, f": {ended}\n\n".encode())


def as_lines(event: Event) -> bytes:
    """Return an event as it is sent."""
    data = msgspec.json.encode(event)
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.number, event.kind.encode(), data)


async def _send(response: web.StreamResponse, data: bytes) -> None:
    """Send some bytes; TimeoutError if the reader does not read them."""
    async with asyncio.timeout(PATIENCE):
        await response.write(data)


def leave(request: web.Request) -> None:
    """End a connection that nobody reads from, without waiting for it."""
    transport = request.transport
    if isinstance(transport, asyncio.WriteTransport):
        transport.abort()
