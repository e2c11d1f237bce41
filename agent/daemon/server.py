"""The two doors as HTTP: exactly the calls of agent/wire/routes.py, each at its doors.

The query door is also at a port of 127.0.0.1 if asked for, for what cannot open a Unix socket.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent.daemon.autolock import Autolock
from agent.daemon.boundary import (
    DECIDE,
    ENVELOPE,
    Envelope,
    Handler,
    body_of,
    boundary,
    message_of,
    parameters_of,
    reply,
    web,
)
from agent.daemon.events import Bus, EndedError
from agent.daemon.request_log import Asker
from agent.daemon.sockets import ADDRESS, PortSocket
from agent.decision.values import UNDECIDED
from agent.errors import RefusedError, VaultError
from agent.wire.base import MOST_BYTES, UNATTENDED, Done
from agent.wire.client import MEDIA_TYPE
from agent.wire.decide import Ask, Clicked, Offer, Refuse, Relayed, RelayedDecide
from agent.wire.routes import CONTROL, QUERY, ROUTES, Door, Route
from agent.wire.state import Event, Locked
from policy.hosts import host_of, site_of
from policy.match import in_clear

if TYPE_CHECKING:
    from agent.daemon.api import Calls

EXTENSIONS = ("chrome-extension://", "moz-extension://")
RELAY = "relay"
BY_HAND = {"draft", "tell"}  # calls for the user's own hand in the popup
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
AT_ONCE = {"lock", "shutdown", "events"}  # these do not wait for the policy
UNASKED = 5.0  # seconds that one may stand open and ask nothing: anybody here can make one
_SCHEME = "Bearer "
_PREFLIGHT = {"Origin", "Access-Control-Request-Method"}  # Fetch standard, section 3.2.2
_PRIVATE_NETWORK = "Access-Control-{}-Private-Network"
_MAY_SEND = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",  # seconds that a browser may keep this answer
}
LINGERING = 0.25  # seconds in which the rest of a refused body is thrown away


def sites_of(origins: Sequence[str]) -> set[str]:
    """Return the sites of the pages that ask, none where a program or an extension does."""
    return {site_of(host_of(each)) for each in origins if not each.startswith(EXTENSIONS)}


def check_page(origins: Sequence[str], message: object) -> None:
    """Raise RefusedError where a page asks for another site, or is not https.

    Limits are per recipient: with many names a page could learn more than any one of them may.
    ``origins``: the values of the header Origin; programs send none. UsageError for a host that is
    not one.
    """
    if any(in_clear(each) for each in origins if each.startswith("http:")):
        what, hint = "the network could read what this page gets", "use the site's https address"
        raise RefusedError("refused", what, hint)
    if not (pages := sites_of(origins)):
        return
    match message:
        case Offer(address=str()):  # which a page cannot want for its user
            is_own = False
        case (
            Ask(recipient=host)
            | Offer(recipient=host)
            | Refuse(recipient=host)
            | Clicked(host=host)
        ):
            is_own = pages == {site_of(host_of(str(host)))}
        case _:
            is_own = False
    if not is_own:
        hint = "ask from an extension, or from a program with the token"
        raise RefusedError("refused", "a page may ask only for its own site", hint)


async def stream(request: web.Request, bus: Bus) -> web.StreamResponse:
    """Send events until the reader leaves, reads too slowly, or the daemon ends."""
    response = web.StreamResponse(headers={"Content-Type": MEDIA_TYPE})

    async def send(data: bytes) -> None:
        async with asyncio.timeout(READER_PATIENCE):
            await response.write(data)

    with bus.reader() as reader:
        response.force_close()
        try:
            await response.prepare(request)
            await send(b": listening\n\n")
            try:
                while True:
                    event = await reader.next(HEARTBEAT)
                    await send(b": alive\n\n" if event is None else as_lines(event))
            except EndedError as ended:
                await send(f": {ended}\n\n".encode())
        except (TimeoutError, ConnectionError):
            leave(request)
    return response


def as_lines(event: Event) -> bytes:
    """Return an event as it is sent."""
    data = msgspec.json.encode(event)
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.number, event.kind.encode(), data)


def leave(request: web.Request) -> None:
    """Abort a connection that is no longer read."""
    if request.transport is not None:
        request.transport.abort()


@dataclass(frozen=True, slots=True)
class Daemon:
    """What the doors lead to.

    ``calls``: has a method for each route but events and shutdown; ``end``: ends the daemon, or
    raises; ``patience``: seconds for a body to arrive.
    """

    calls: Calls
    autolock: Autolock
    end: Callable[[], None]
    patience: float = PATIENCE


def application(door: Door, daemon: Daemon) -> web.Application:
    """Return what answers at a door."""
    made = web.Application(middlewares=[boundary], client_max_size=MOST_BYTES)
    for route in ROUTES:
        if door in route.doors:
            handler = _handler(route, door, daemon)
            made.router.add_route(route.method, route.path, handler, name=route.name)
    return made


def admitted(
    made: web.Application, listening: PortSocket, origins: Sequence[str], token: str
) -> web.Application:
    """Let an application at a port of 127.0.0.1 answer only those who may ask.

    Any program on this machine can connect, and any web page can try. A call needs the token, one
    of two names for this address (against DNS rebinding), and no origin or one of ``origins``.
    """
    hosts = [f"{name}:{listening.getsockname()[1]}" for name in (ADDRESS, "localhost")]

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        headers = request.headers
        if headers.getall("Host", []) not in [[host] for host in hosts]:
            what = "the Host header does not name this address"
            raise RefusedError("refused", what, f"use http://{hosts[0]}")
        pages = headers.getall("Origin", [])
        if len(pages) > 1 or not {*pages} <= {*origins}:
            hint = "if you trust the page, start the daemon with --origin"
            raise RefusedError("refused", "this page may not ask", hint)
        if request.method == "OPTIONS" and all(name in headers for name in _PREFLIGHT):
            answer = web.Response(status=204, headers=_MAY_SEND)
            if headers.get(_PRIVATE_NETWORK.format("Request")) == "true":
                answer.headers[_PRIVATE_NETWORK.format("Allow")] = "true"
            return answer
        if not _has(headers.getall("Authorization", []), token):
            hint = f"send Authorization: {_SCHEME}and the token"
            raise RefusedError("refused", "the token is missing or wrong", hint, status=401)
        if request.transport is not None:
            listening.proven(request.transport.get_extra_info("peername"))
        return await handler(request)

    async def readable(request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Vary"] = "Origin"
        if (origin := request.headers.get("Origin")) in origins:
            response.headers["Access-Control-Allow-Origin"] = str(origin)

    made.middlewares.append(check)  # within the boundary
    made.on_response_prepare.append(readable)
    return made


def _has(given: Sequence[str], token: str) -> bool:
    """Return whether the headers Authorization are one, with the token; in constant time."""
    text = given[0] if len(given) == 1 and given[0].startswith(_SCHEME) else ""
    sent = text.removeprefix(_SCHEME).encode("utf-8", "replace")
    return hmac.compare_digest(sent, token.encode())


class _Request(web.Request):
    """A request whose answer has our headers, also where aiohttp refuses it before any route."""

    async def _prepare_hook(self, response: web.StreamResponse) -> None:
        """Let nothing keep or guess at an answer, and let none say what serves it."""
        await super()._prepare_hook(response)
        response.headers.popall("Server", None)
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Content-Type-Options"] = "nosniff"


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


def _handler(route: Route, door: Door, daemon: Daemon) -> Handler:
    """Return what answers one call: reads what it takes, then makes it.

    As one step that nothing comes between, unless the call itself can wait.
    """
    decoder = None if route.takes is None else msgspec.json.Decoder(route.takes)
    calls = daemon.calls

    async def handler(request: web.Request) -> web.StreamResponse:
        body = await body_of(request, route, daemon.patience)
        sent = None if decoder is None else message_of(body, decoder)
        name, message = _opened(request, route, sent)
        origins = request.headers.getall("Origin", [])
        if message is not None:  # no page drafts, be it its own site's
            check_page(origins, None if name in BY_HAND else message)
        pages, parameters = sites_of(origins), parameters_of(request, route)
        if name == DECIDE:
            parameters["by"] = _asker(request, door, pages, sent)
        if name not in AT_ONCE:
            await calls.fresh()
            await calls.readable(message)
        daemon.autolock.before(door, "unattended" if UNATTENDED in request.headers else name)
        if name == "events":
            return await stream(request, calls.agent.bus)
        call = daemon.end if name == "shutdown" else getattr(calls, name)
        try:
            found: Any = call(*([] if message is None else [message]), **parameters)
            if isawaitable(found):
                found = await found
        except VaultError:
            calls.agent.guard()
            raise
        if parameters.get("by") == "user" and found.code not in UNDECIDED:
            daemon.autolock.used()
        if pages and isinstance(found, Locked):  # all would tell a page which sites the user trusts
            own = [each for each in found.sites if pages == {site_of(host_of(each.recipient))}]
            found = replace(found, sites=own, assistants=[])
        return reply(Done() if found is None else found)  # an empty list is an answer

    return handler


def _opened(request: web.Request, route: Route, sent: Any) -> tuple[str, Any]:  # noqa: ANN401  (of the route's type)
    """Return the name and the message of a call, which may have come in an envelope."""
    if not isinstance(sent, Relayed):
        return route.name, sent
    tag: Any = type(sent).__struct_config__.tag
    name = INSIDE[tag].name
    request[ENVELOPE] = Envelope(sent.id, name)
    return name, sent.body


def _asker(request: web.Request, door: Door, pages: AbstractSet[str], sent: object) -> Asker:
    """Return who asks for a decision: at the query door, whom an envelope names.

    Our extension sends one for the user or a page, and `reticent mcp` for an assistant, by the
    Unix socket: what comes by the port is a program's, and a page is a page all the same.
    """
    if pages:
        return "page"
    if door == CONTROL:
        return "command"
    transport = request.transport
    at = None if transport is None else transport.get_extra_info("sockname")
    by_port = isinstance(at, tuple)  # the name of a Unix socket is a text
    return sent.by if isinstance(sent, RelayedDecide) and not by_port else "program"
