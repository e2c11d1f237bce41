"""The two doors as HTTP: exactly the calls of agent/wire/routes.py, each at its doors."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from typing import Any

from agent.daemon.events import Bus
from agent.daemon.serving.boundary import DECIDE, ENVELOPE, Envelope, boundary, reply
from agent.daemon.serving.pages import asker, check_page, shown
from agent.daemon.serving.reading import body_of, check_type, parameters_of, reader
from agent.daemon.serving.relayed import INSIDE, RELAY, enveloped, unwrapped
from agent.daemon.serving.streamed import stream
from agent.daemon.serving.web import Handler, web
from agent.errors import VaultError
from agent.wire.base import MOST_BYTES, UNATTENDED, Done
from agent.wire.decide import UNDECIDED, Relayed
from agent.wire.routes import ROUTES, Door, Route

PATIENCE = 10.0  # seconds for a body to arrive
IDLE = 60.0  # seconds that a connection may stand open between two calls, or before the first
GRACE = 5.0  # seconds for running calls to end when the daemon does
LONGEST_LINE = 32 * 1024  # bytes of a request's first: the longest host has 12 for a character
AT_ONCE = {"lock", "shutdown", "events"}  # whatever the rules are
LINGERING = 0.25  # seconds in which the rest of a refused body is thrown away

Arguments = list[Any]
Named = dict[str, str | int]
Answering = Callable[[web.Request, Arguments, Named], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Served:
    """What the doors lead to.

    ``calls``: has a method for each route but events and shutdown; ``before``: is told of each
    call before it is answered; ``end``: ends the daemon, or raises; ``fresh``: has the rules in
    force that the policy file says now; ``guard``: is told where the vault could not be used;
    ``used``: is told when a search that the user sent off in a browser was answered; ``patience``:
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
            name, message = _opened(request, sent)
        arguments = [] if message is None else [message]
        if arguments:
            check_page(origins, message)
        parameters = parameters_of(request, route)
        if name == DECIDE:
            parameters["by"] = asker(door, origins, sent, by_port=_is_by_port(request))
        if name not in AT_ONCE:
            await served.fresh()
        served.before(door, "unattended" if UNATTENDED in request.headers else name)
        return await answers[name](request, arguments, parameters)

    return handler


def _is_by_port(request: web.Request) -> bool:
    """Say whether a request came over TCP: the name of a Unix socket is a text."""
    transport = request.transport
    return transport is not None and isinstance(transport.get_extra_info("sockname"), tuple)


def _opened(request: web.Request, message: Relayed) -> tuple[str, object]:
    """Return which call is in an envelope, and its message; the request keeps what it was."""
    inside = unwrapped(message)
    request[ENVELOPE] = Envelope(message.id, inside.route.name)
    return inside.route.name, inside.message


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
