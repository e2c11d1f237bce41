"""The two sockets as HTTP: exactly the calls of agent/wire/routes.py, each at its sockets.

Here every error ends: attach nothing. The daemon's one place that imports aiohttp.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import aiohttp.typedefs
import aiohttp.web
import msgspec
from aiohttp.http_exceptions import HttpProcessingError

from agent.daemon.autolock import Autolock
from agent.daemon.events import LOG, Bus, kind_and_place
from agent.daemon.handle import JUDGED, consult, failure
from agent.daemon.request_log import ASSISTED, Asker
from agent.decision.values import UNDECIDED
from agent.errors import RefusedError, ReticentError, UsageError, VaultError, misfit
from agent.wire.base import ASKER, JSON_TYPE, MOST_BYTES, UNATTENDED, Done, Fault
from agent.wire.client import MEDIA_TYPE
from agent.wire.decide import Answer, Ask, Frame, RelayAnswer
from agent.wire.routes import QUERY, ROUTES, SEE, Door, Route, fault_of, http_status

if TYPE_CHECKING:
    from agent.daemon.agent import Agent
    from agent.daemon.api import Api

web = aiohttp.web
Handler = aiohttp.typedefs.Handler
Response = TypeVar("Response", bound=web.StreamResponse)
DECIDE = "decide"
ASKED = {DECIDE, "draft", "explain"}  # of which a local judge may be asked
RELAY = "relay"
RELAYED = {route.path.removeprefix("/v1/"): route for route in ROUTES if QUERY in route.doors}
del RELAYED[RELAY]
ASKERS: Mapping[str, Asker] = {"user": "user", "page": "page", **{e: e for e in ASSISTED}}
HEARTBEAT = 5.0  # seconds of silence after which a comment is sent: who has left is noticed so
READER_PATIENCE = 10.0  # seconds that a reader may leave what was sent unread
PATIENCE = 10.0  # seconds for a body to arrive
OPENING = 1.0  # seconds that a request waits for a vault, and the encoder, that are being opened
IDLE = 60.0  # seconds that a connection may stand open between two calls, or before the first
GRACE = 5.0  # seconds for running calls to end when the daemon does
LONGEST_LINE = 32 * 1024  # bytes of a request's first: the longest host has 12 for a character
LINGERING = 0.25  # seconds in which the rest of a refused body is thrown away


async def stream(request: web.Request, bus: Bus) -> web.StreamResponse:
    """Send events until the reader leaves, reads too slowly, or the daemon ends."""
    response = web.StreamResponse(headers={"Content-Type": MEDIA_TYPE})
    with bus.reader() as reader:
        response.force_close()
        try:
            await response.prepare(request)
            part = b": listening\n\n"
            while part:
                async with asyncio.timeout(READER_PATIENCE):
                    await response.write(part)
                part = b": alive\n\n"
                with suppress(TimeoutError):
                    async with asyncio.timeout(HEARTBEAT):
                        part = await reader.get()
        except (TimeoutError, ConnectionError):
            leave(request)
    return response


def leave(request: web.Request) -> None:
    """Abort a connection that is no longer read."""
    if request.transport is not None:
        request.transport.abort()


class Caller(NamedTuple):
    """Who calls: at which socket, who asks for a decision, whether nobody sits behind it."""

    door: Door
    by: Asker
    unattended: bool


@dataclass(frozen=True, slots=True)
class Daemon:
    """What the sockets lead to.

    ``end``: ends the daemon, or raises; ``patience``: seconds for a body to arrive.
    """

    api: Api
    autolock: Autolock
    end: Callable[[], None]
    patience: float = PATIENCE


def application(door: Door, daemon: Daemon) -> web.Application:
    """Build the application that answers at a door."""
    app = web.Application(middlewares=[boundary], client_max_size=MOST_BYTES)
    for route in ROUTES:
        if door in route.doors:
            handler = _handler(route, door, daemon)
            app.router.add_route(route.method, route.path, handler, name=route.name)
    return app


def runner(app: web.Application, idle: float = IDLE) -> web.AppRunner:
    """Build the runner of an application; nothing that it is asked reaches a log.

    ``idle``: seconds after which a connection is closed that asks nothing, or not all of it.
    """
    silent = logging.getLogger("reticent.http")
    silent.disabled = True  # aiohttp logs the bytes of a request that is no HTTP
    return web.AppRunner(
        app,
        logger=silent,
        access_log=None,
        auto_decompress=False,
        keepalive_timeout=idle,
        max_line_size=LONGEST_LINE,
        lingering_time=LINGERING,
        shutdown_timeout=GRACE,
    )


def _handler(route: Route, door: Door, daemon: Daemon) -> Handler:
    """Build the handler of a call, which reads what it takes, if that is small and in time."""

    async def handler(request: web.Request) -> web.StreamResponse:
        if (request.content_length or 0) > MOST_BYTES:
            raise _too_large()
        try:
            async with asyncio.timeout(daemon.patience):
                body = await request.read()
        except TimeoutError:
            what = f"the body did not arrive within {daemon.patience:g} seconds"
            raise RefusedError("slow", what, "send it at once") from None
        except (web.RequestPayloadError, HttpProcessingError, ConnectionError):
            raise _malformed("the body is cut off, or not encoded as the header says") from None
        if body and route.takes is None:
            raise _malformed("this call takes no body")
        message = None if route.takes is None else message_of(body, route.takes)
        parameters = parameters_of(request, route) if route.parameters or request.query else {}
        caller = Caller(door, "command", unattended=UNATTENDED in request.headers)
        if door == QUERY:
            caller = caller._replace(by=ASKERS.get(request.headers.get(ASKER, ""), "program"))
        if route.name == "events":
            daemon.autolock.check(caller.door, "events")
            return await stream(request, daemon.api.agent.bus)
        if isinstance(message, Frame):
            return await _relayed(message, caller, daemon)
        return await _call(route.name, message, parameters, caller, daemon)

    return handler


async def _call(
    name: str, message: object, parameters: dict[str, Any], caller: Caller, daemon: Daemon
) -> web.Response:
    """Make a call, as one step that nothing comes between, unless the call itself can wait."""
    daemon.autolock.check(caller.door, "unattended" if caller.unattended else name)
    if name in {DECIDE, "disclosed", "reranked"}:
        parameters["by"] = caller.by
        if (opening := daemon.api.agent.unlock_lock).locked():
            with suppress(TimeoutError):
                async with asyncio.timeout(OPENING), opening:
                    pass
    if name == "models":
        await daemon.api.agent.registry.prepare()
    if isinstance(message, Ask) and message.earlier:
        await _read_earlier(message.earlier, daemon.api.agent)
    if isinstance(message, Ask) and name in ASKED and caller.by in JUDGED:
        await consult(message, daemon.api.agent.look(), daemon.api.agent)
    try:
        if name == "shutdown":
            daemon.end()
            return reply(Done())
        answer: Any = daemon.api.call(name, message, **parameters)
        if isawaitable(answer):
            answer = await answer
    except VaultError:
        daemon.api.agent.guard()
        raise
    if name == DECIDE and caller.by == "user" and answer.code not in UNDECIDED:
        daemon.autolock.used()
    return reply(answer)


async def _read_earlier(texts: Sequence[str], agent: Agent) -> None:
    """Read what else the user says, text by text, while there is a vault that answers.

    Each is read once, and other calls come in between.
    """
    if agent.vault is not None and not agent.is_paused(agent.clock()):
        for text in texts:
            agent.rules.active.topics(text)
            await asyncio.sleep(0)


async def _relayed(frame: Frame, caller: Caller, daemon: Daemon) -> web.Response:
    """Make the call in a frame of the native host; its answer, or its fault, goes into a frame."""
    if frame.call not in RELAYED:
        raise RefusedError("malformed", "no such call can be relayed", SEE)
    route = RELAYED[frame.call]
    message = message_of(frame.body, route.takes, "the body of the frame")
    calling = _call(route.name, message, {}, caller._replace(by=frame.by), daemon)
    answer = await settled(route.name, calling)
    body = msgspec.Raw(answer.body if isinstance(answer.body, bytes) else b"null")
    return reply(RelayAnswer(id=frame.id, status=answer.status, body=body))


def message_of(body: bytes | msgspec.Raw, kind: Any, whole: str = "the body") -> Any:  # noqa: ANN401  (of the kind)
    """Decode a message; RefusedError for all other bytes, which says what ``whole`` they are."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _malformed(misfit(error, whole)) from None


def parameters_of(request: web.Request, route: Route) -> dict[str, Any]:
    """Read the parameters of the path and of the query string, each given once at most."""
    values: dict[str, Any] = {}
    for name, text in (*request.match_info.items(), *request.query.items()):
        if name not in route.parameters:
            raise _malformed("this call has no such parameter")
        if name in values:
            raise _malformed(f"{name} is given twice")
        try:
            values[name] = msgspec.convert(text, route.parameters[name], strict=False)
        except msgspec.ValidationError as error:
            raise _malformed(misfit(error, name)) from None
    return values


def _too_large() -> RefusedError:
    what = f"the body is larger than {MOST_BYTES:,} bytes"
    return RefusedError("too large", what, "send less at once")


def _malformed(what: str) -> RefusedError:
    return RefusedError("malformed", what, SEE)


def reply(message: Any, status: int = 200) -> web.Response:  # noqa: ANN401  (any of the messages)
    """Answer with a message, or a list of them."""
    body = msgspec.json.encode(message)
    return web.Response(body=body, status=status, content_type=JSON_TYPE)


async def settled(name: str, answering: Awaitable[Response]) -> Response | web.Response:
    """Answer a call, whatever becomes of it; ``name``: of its route.

    A decision that fails is an answer that attaches nothing. Anything else becomes a fault. The
    log gets the class of what was not foreseen and its place; the caller, not even that.
    """
    try:
        return await answering
    except web.HTTPRequestEntityTooLarge:
        return _fault(_too_large())
    except web.HTTPException as error:
        hint = "openapi.json lists every call and its socket"
        fault = Fault(code="not found", what="there is no such call here", hint=hint)
        return reply(fault, error.status)
    except Exception as error:  # noqa: BLE001  (the one place: what fails attaches nothing)
        return _failed(error, name)


@web.middleware
async def boundary(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer a request, whatever becomes of it."""
    return await settled(request.match_info.route.name or "none", handler(request))


def _failed(error: Exception, name: str) -> web.Response:
    """Answer a failed call; why a decision failed goes to the log alone."""
    faults = RefusedError | UsageError if name == DECIDE else ReticentError
    if isinstance(error, faults):
        return _fault(error)
    level = logging.WARNING if isinstance(error, ReticentError) else logging.ERROR
    LOG.log(level, "%s failed: %s", name, kind_and_place(error))
    if name == DECIDE:
        return reply(Answer(code=failure(error)))
    what, hint = "the daemon failed", "please report what its log says"
    return reply(Fault(code="failed", what=what, hint=hint), http_status("failed"))


def _fault(error: ReticentError) -> web.Response:
    """Answer with what an error says."""
    fault = fault_of(error, error.code if isinstance(error, RefusedError) else None)
    answer = reply(fault, http_status(fault.code))
    if fault.code in {"slow", "too large"}:  # the rest of it is not read
        answer.force_close()
    return answer
