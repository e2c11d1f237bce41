"""From a request to the message it takes, and where every error ends: attach nothing.

The daemon's one place that imports aiohttp, whose server all doors are.
"""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any, TypeVar

import aiohttp.typedefs
import aiohttp.web
import msgspec
from aiohttp.http_exceptions import HttpProcessingError

from agent.daemon.events import LOG, kind_and_place
from agent.errors import LockedError, RefusedError, ReticentError, UsageError, misfit
from agent.wire.base import JSON_TYPE, MOST_BYTES, Fault
from agent.wire.decide import Answer
from agent.wire.routes import SEE, Route, fault_of, http_status

web = aiohttp.web
Handler = aiohttp.typedefs.Handler
Response = TypeVar("Response", bound=web.StreamResponse)

DECIDE = "decide"


async def body_of(request: web.Request, route: Route, patience: float) -> bytes:
    """Read the body of a request, if it is small, arrives in time (seconds) and may be there."""
    if (request.content_length or 0) > MOST_BYTES:
        raise _too_large()
    try:
        async with asyncio.timeout(patience):
            body = await request.read()
    except TimeoutError:
        what = f"the body did not arrive within {patience:g} seconds"
        raise RefusedError("slow", what, "send it at once") from None
    except (web.RequestPayloadError, HttpProcessingError, ConnectionError):
        raise _malformed("the body is cut off, or not encoded as the header says") from None
    if body and route.takes is None:
        raise _malformed("this call takes no body")
    return body


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
    except web.HTTPException as error:
        return _unrouted(error)
    except Exception as error:  # noqa: BLE001  (the one place: what fails attaches nothing)
        return _failed(error, name)


@web.middleware
async def boundary(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer a request, whatever becomes of it."""
    return await settled(request.match_info.route.name or "none", handler(request))


def _failed(error: Exception, name: str) -> web.Response:
    """Answer a failed call; why a decision failed goes to the log alone."""
    level = logging.ERROR
    if isinstance(error, ReticentError):
        level = logging.WARNING
        if name != DECIDE or isinstance(error, RefusedError | UsageError):
            return _fault(error)
    LOG.log(level, "%s failed: %s", name, kind_and_place(error))
    if name == DECIDE:
        return reply(Answer(code="locked" if isinstance(error, LockedError) else "failed"))
    what, hint = "the daemon failed", "please report what its log says"
    return reply(Fault(code="failed", what=what, hint=hint), http_status("failed"))


def _fault(error: ReticentError) -> web.Response:
    """Answer with what an error says."""
    code, status = None, None
    if isinstance(error, RefusedError):
        code, status = error.code, error.status
    fault = fault_of(error, code)
    answer = reply(fault, status or http_status(fault.code))
    if code in {"slow", "too large"}:  # the rest of it is not read
        answer.force_close()
    return answer


def _unrouted(error: web.HTTPException) -> web.Response:
    """Answer what aiohttp itself refused."""
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return _fault(_too_large())
    hint = "openapi.json lists every call and its socket"
    return reply(
        Fault(code="not found", what="there is no such call here", hint=hint), error.status
    )
