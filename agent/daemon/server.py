"""The two doors as HTTP: exactly the calls of agent/wire/routes.py, each at its doors."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from typing import Any

import msgspec
from msgspec.structs import replace

from agent.daemon.boundary import (
    DECIDE,
    ENVELOPE,
    Envelope,
    body_of,
    boundary,
    check_type,
    parameters_of,
    reader,
    reply,
)
from agent.daemon.events import Bus, EndedError, Reader
from agent.daemon.request_log import Asker
from agent.daemon.web import Handler, web
from agent.errors import RefusedError, VaultError
from agent.wire.base import MOST_BYTES, UNATTENDED, Done
from agent.wire.client import MEDIA_TYPE
from agent.wire.decide import (
    UNDECIDED,
    Ask,
    Clicked,
    Offer,
    Refuse,
    RelayAnswer,
    Relayed,
    RelayedDecide,
)
from agent.wire.routes import CONTROL, QUERY, ROUTES, Door, Route
from agent.wire.state import Event, Locked
from policy.hosts import host_of, site_of
from policy.match import in_clear

EXTENSIONS = ("chrome-extension://", "moz-extension://")
RELAY = "relay"
INSIDE = {
    route.path.removeprefix("/v1/"): route
    for route in ROUTES
    if QUERY in route.doors and route.name != RELAY
}
HEARTBEAT = 5.0  # seconds of silence after which a comment is sent: who has left is noticed so
READER_PATIENCE = 10.0  # seconds that a reader may leave what was sent unread
PATIENCE = 10.0  # seconds for a body to arrive
IDLE = 60.0  # seconds that a connection may stand open between two calls, or before the first
GRACE = 5.0  # seconds for running calls to end when the daemon does
LONGEST_LINE = 32 * 1024  # bytes of a request's first: the longest host has 12 for a character
AT_ONCE = {"lock", "shutdown", "events"}  # whatever the rules are
LINGERING = 0.25  # seconds in which the rest of a refused body is thrown away
Arguments = list[Any]
Named = dict[str, str | int]
Answering = Callable[[web.Request, Arguments, Named], Awaitable[web.StreamResponse]]


def check_page(origins: Sequence[str], message: object) -> None:
    """Raise RefusedError where a page asks in somebody else's name, or is not https.

    Limits are each recipient's own: under many names it would be told more than any of them may
    be. ``origins``: of the request, as the header Origin has them; who sends none is a program.
    UsageError where a host is none.
    """
    if any(in_clear(each) for each in origins if each.startswith("http:")):
        what, hint = "the network could read what this page gets", "use the site's https address"
        raise RefusedError("refused", what, hint)
    host, pages = _named(message), sites_of(origins)
    if pages and (host is None or pages != {site_of(host_of(host))}):
        hint = "ask from an extension, or from a program with the token"
        raise RefusedError("refused", "a page may ask only for its own site", hint)


def shown(answer: object, origins: Sequence[str]) -> object:
    """Return an answer as the caller may read it: a page sees its own site's searches alone.

    All of them would tell it which sites the user trusts. UsageError where a host is none.
    """
    pages = sites_of(origins)
    if not pages or not isinstance(answer, Locked):
        return answer
    own = [each for each in answer.sites if pages == {site_of(host_of(each.recipient))}]
    return replace(answer, sites=own)


def asker(door: Door, origins: Sequence[str], message: object, *, by_port: bool) -> Asker:
    """Return who asks for a decision: at the query door, the user where our extension says so.

    It says so in an envelope, which comes by the Unix socket: what comes by the port is a
    program's, and a page that sends an envelope is a page all the same.
    """
    if sites_of(origins):
        return "page"
    if door == CONTROL:
        return "command"
    return message.by if isinstance(message, RelayedDecide) and not by_port else "program"


def sites_of(origins: Sequence[str]) -> set[str]:
    """Return the sites of the pages that ask, none where a program or an extension does."""
    return {site_of(host_of(each)) for each in origins if not each.startswith(EXTENSIONS)}


def _named(message: object) -> str | None:
    """Return whom a message is about, None where it says nothing of that."""
    match message:
        case Ask(recipient=host) | Offer(recipient=host) | Refuse(recipient=host):
            return str(host)
        case Clicked(host=host):
            return str(host)
    return None


@web.middleware
async def enveloped(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer an envelope with one, whatever became of the call; all else as it is."""
    answer = await handler(request)
    body = answer.body if isinstance(answer, web.Response) else None
    if ENVELOPE not in request or not isinstance(body, bytes):
        return answer
    number = request[ENVELOPE].id
    return reply(RelayAnswer(id=number, status=answer.status, body=msgspec.Raw(body)))


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
    async with asyncio.timeout(READER_PATIENCE):
        await response.write(data)


def leave(request: web.Request) -> None:
    """End a connection that nobody reads from, without waiting for it."""
    transport = request.transport
    if isinstance(transport, asyncio.WriteTransport):
        transport.abort()


@dataclass(frozen=True, slots=True)
class Served:
    """What the doors lead to.

    ``calls``: has a method for each route but events and shutdown; ``before``: called before each
    call before it is answered; ``end``: ends the daemon, or raises; ``fresh``: has the rules in
    force that the policy file says now; ``guard``: called when the vault could not be used;
    ``used``: called when a search that the user sent off in a browser was answered; ``patience``:
    seconds.
    """

    calls: object
    bus: Bus
    before: Callable[[Door, str], None]
    end: Callable[[], None]
    fresh: Callable[[], Awaitable[object]]
    guard: Callable[[], object]
    patience: float = PATIENCE
    used: Callable[[], None] = lambda: None


def application(door: Door, served: Served) -> web.Application:
    """Return what answers at a door."""
    made = web.Application(middlewares=[enveloped, boundary], client_max_size=MOST_BYTES)
    for route in ROUTES:
        if door in route.doors:
            handler = _handler(route, door, served)
            made.router.add_route(route.method, route.path, handler, name=route.name)
    return made


class _Request(web.Request):
    """A request whose answer has our headers, also where aiohttp refuses it before any route."""

    async def _prepare_hook(self, response: web.StreamResponse) -> None:
        await super()._prepare_hook(response)
        _headers(response)


class _Runner(web.AppRunner):
    """Runs an application with requests of our own kind: aiohttp has no other place for that."""

    async def setup(self) -> None:
        await super().setup()
        if self.server is not None:
            made: Callable[..., web.BaseRequest] = self.server.request_factory
            self.server.request_factory = partial(made, _cls=_Request)


def runner(made: web.Application, idle: float = IDLE) -> web.AppRunner:
    """Return what runs an application: nothing that it is asked reaches a log.

    ``idle``: seconds after which a connection is closed that asks nothing, or not all of it.
    """
    silent = logging.getLogger("reticent.http")
    silent.disabled = True  # aiohttp logs the bytes of a request that is no HTTP
    return _Runner(
        made,
        logger=silent,
        access_log=None,
        auto_decompress=False,
        keepalive_timeout=idle,
        max_line_size=LONGEST_LINE,
        lingering_time=LINGERING,
        shutdown_timeout=GRACE,
    )


def _handler(route: Route, door: Door, served: Served) -> Handler:
    """Return what answers one call: reads what it takes, then makes it."""
    read = None if route.takes is None else reader(route)
    made = [*INSIDE.values()] if route.name == RELAY else [route]
    answers = {each.name: _answering(each, served) for each in made}

    async def handler(request: web.Request) -> web.StreamResponse:
        body = await body_of(request, served.patience)
        if body:
            check_type(request, route)
        sent, origins = None if read is None else read(body), request.headers.getall("Origin", [])
        name, message = route.name, sent
        if isinstance(sent, Relayed):
            tag: Any = type(sent).__struct_config__.tag
            name, message = INSIDE[tag].name, sent.body
            request[ENVELOPE] = Envelope(sent.id, name)
        arguments = [] if message is None else [message]
        if arguments:
            check_page(origins, message)
        parameters = parameters_of(request, route)
        if name == DECIDE:
            transport = request.transport
            at = None if transport is None else transport.get_extra_info("sockname")
            by_port = isinstance(at, tuple)  # the name of a Unix socket is a text
            parameters["by"] = asker(door, origins, sent, by_port=by_port)
        if name not in AT_ONCE:
            await served.fresh()
        served.before(door, "unattended" if UNATTENDED in request.headers else name)
        return await answers[name](request, arguments, parameters)

    return handler


def _answering(route: Route, served: Served) -> Answering:
    """Return what makes a call: as one step that nothing comes between, unless it can wait."""
    if route.name == "events":
        return lambda request, _arguments, _parameters: stream(request, served.bus)
    ends = route.name == "shutdown"
    call: Callable[..., Any] = served.end if ends else getattr(served.calls, route.name)

    async def answer(request: web.Request, arguments: Arguments, named: Named) -> web.Response:
        try:
            found = call(*arguments, **named)
            if isawaitable(found):
                found = await found
        except VaultError:
            served.guard()
            raise
        if named.get("by") == "user" and found.code not in UNDECIDED:
            served.used()
        found = shown(found, request.headers.getall("Origin", []))
        return reply(Done() if found is None else found)  # an empty list is an answer

    return answer


def _headers(response: web.StreamResponse) -> None:
    """Let nothing keep or guess at an answer, and let none say what serves it."""
    response.headers.popall("Server", None)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
