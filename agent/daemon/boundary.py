"""From a request to the message it takes, and where every error ends: attach nothing.

The daemon's one place that imports aiohttp, whose server all doors are.
"""

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

from agent.daemon.events import LOG, kind_and_place
from agent.errors import LockedError, RefusedError, ReticentError, UsageError, misfit
from agent.wire.base import JSON_TYPE, MOST_BYTES, Fault
from agent.wire.decide import Answer
from agent.wire.routes import SEE, Route, fault_of, http_status

NOWHERE = {"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": os.devnull}  # as OpenSSL names them


@contextmanager
def without_certificates() -> Iterator[None]:
    """Let OpenSSL find no certificate authorities for as long as this lasts."""
    before = {name: os.environ.get(name) for name in NOWHERE}
    os.environ.update(NOWHERE)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


with without_certificates():  # which aiohttp would load as it is imported
    import aiohttp.typedefs
    import aiohttp.web
    from aiohttp.http_exceptions import HttpProcessingError

web = aiohttp.web
Handler = aiohttp.typedefs.Handler
Response = TypeVar("Response", bound=web.StreamResponse)

DIGITS = 18  # of a number; all of them fit into 64 bits
DECIDE = "decide"


async def body_of(request: web.Request, route: Route, patience: float) -> bytes:
    """Return the body of a request, if it is small, arrives in time (seconds) and may be there.

    It must be declared as JSON: a form on a web page can send the other types.
    """
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
    kind, charset = request.content_type.lower(), (request.charset or "utf-8").lower()
    if body and (kind != JSON_TYPE or charset != "utf-8"):
        what = f"the body must be {JSON_TYPE}"
        raise RefusedError("malformed", what, f"send Content-Type: {JSON_TYPE}", 415)
    return body


def message_of(body: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:  # noqa: ANN401  (of the decoder's type)
    """Return the message in a body; RefusedError for all other bytes."""
    try:
        message = decoder.decode(body)
        json.loads(body, object_pairs_hook=_once)  # msgspec takes the last of two
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _malformed(misfit(error, "the body")) from None
    return message


def message_in(body: msgspec.Raw, kind: Any) -> Any:  # noqa: ANN401  (of the kind)
    """Return the message in a part of a body that was read; RefusedError where it is another."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _malformed(misfit(error, "the body of the frame")) from None


def _once(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Return the object of these pairs; two of one name could be read in two ways."""
    whole: dict[str, object] = {}
    for name, value in pairs:
        if name in whole:
            raise msgspec.DecodeError("an object has two members of one name")
        whole[name] = value
    return whole


def parameters_of(request: web.Request, route: Route) -> dict[str, Any]:
    """Return the parameters of the path and of the query string, each given once at most."""
    wanted = {(each.where == "path", each.name): each for each in route.parameters}
    given = [(True, *pair) for pair in request.match_info.items()]
    given += [(False, *pair) for pair in request.query.items()]
    values: dict[str, str | int] = {}
    for in_path, name, text in given:
        parameter = wanted.get((in_path, name))
        if parameter is None:
            raise _malformed("this call has no such parameter")
        if name in values:
            raise _malformed(f"{name} is given twice")
        bounds = f"{parameter.least:,} to {parameter.most:,}"
        if parameter.kind is not int:
            what, size = f"{name} must have {bounds} characters", len(text)
            values[name] = text
        else:
            what = f"{name} must be a whole number, {bounds}"
            if not (text.isascii() and text.isdecimal() and len(text) <= DIGITS):
                raise _malformed(what)
            size = values[name] = int(text)
        if not parameter.least <= size <= parameter.most:
            raise _malformed(what)
    return values


def _too_large() -> RefusedError:
    what = f"the body is larger than {MOST_BYTES:,} bytes"
    return RefusedError("too large", what, "send less at once")


def _malformed(what: str) -> RefusedError:
    return RefusedError("malformed", what, SEE)


def reply(message: Any, status: int = 200) -> web.Response:  # noqa: ANN401  (any of the messages)
    """Return an answer with a message, or a list of them, in it."""
    body = msgspec.json.encode(message)
    return web.Response(body=body, status=status, content_type=JSON_TYPE)


async def settled(name: str, answering: Awaitable[Response]) -> Response | web.Response:
    """Return the answer to a call, whatever becomes of it; ``name``: of its route.

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
    """Return the answer to a failed call; why a decision failed goes to the log alone."""
    level = logging.ERROR
    if isinstance(error, ReticentError):
        if name != DECIDE or isinstance(error, RefusedError | UsageError):
            return _fault(error)
        level = logging.WARNING
    LOG.log(level, "%s failed: %s", name, kind_and_place(error))
    if name == DECIDE:
        return reply(Answer(code="locked" if isinstance(error, LockedError) else "failed"))
    what, hint = "the daemon failed", "please report what its log says"
    return reply(Fault(code="failed", what=what, hint=hint), http_status("failed"))


def _fault(error: ReticentError) -> web.Response:
    """Return the answer that says what an error says."""
    code, status = None, None
    if isinstance(error, RefusedError):
        code, status = error.code, error.status
    fault = fault_of(error, code)
    answer = reply(fault, status or http_status(fault.code))
    if code in {"slow", "too large"}:  # the rest of it is not read
        answer.force_close()
    return answer


def _unrouted(error: web.HTTPException) -> web.Response:
    """Return the answer to what aiohttp itself refused."""
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return _fault(_too_large())
    hint = "openapi.json lists every call and its socket"
    if not isinstance(error, web.HTTPMethodNotAllowed):
        return reply(Fault(code="not found", what="there is no such call here", hint=hint), 404)
    allowed = ", ".join(sorted(error.allowed_methods))
    fault = Fault(code="wrong method", what=f"this call takes {allowed}", hint=hint)
    answer = reply(fault, error.status)
    answer.headers["Allow"] = allowed
    return answer
