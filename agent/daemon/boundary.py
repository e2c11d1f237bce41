"""From a request to the message it takes, and where every error ends: attach nothing."""

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from agent.daemon.log import LOG, kind_and_place
from agent.daemon.web import Handler, HttpProcessingError, web
from agent.errors import LockedError, RefusedError, ReticentError, UsageError, misfit
from agent.wire.base import JSON_TYPE, MOST_BYTES, Fault
from agent.wire.decide import Answer
from agent.wire.faults import SEE, fault_of, http_status
from agent.wire.routes import Parameter, Route

DIGITS = 18  # of a number; all of them fit into 64 bits
Read = Callable[[bytes], Any]
DECIDE = "decide"


def reader(route: Route) -> Read:
    """Return what makes a route's message of a body, and RefusedError of all other bytes."""
    decoder = msgspec.json.Decoder(route.takes)

    def read(body: bytes) -> Any:  # noqa: ANN401  (of the type that the route takes)
        try:
            message = decoder.decode(body)
            json.loads(body, object_pairs_hook=_once)  # msgspec takes the last of two
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _malformed(misfit(error, "the body")) from None
        return message

    return read


async def body_of(request: web.Request, patience: float) -> bytes:
    """Return the body of a request, if it is small and arrives in time (seconds)."""
    if (request.content_length or 0) > MOST_BYTES:
        raise too_large()
    try:
        async with asyncio.timeout(patience):
            return await request.read()
    except TimeoutError:
        what = f"the body did not arrive within {patience:g} seconds"
        raise RefusedError("slow", what, "send it at once") from None
    except (web.RequestPayloadError, HttpProcessingError, ConnectionError):
        raise _malformed("the body is cut off, or not encoded as the header says") from None


def check_type(request: web.Request, route: Route) -> None:
    """Refuse a body that is not said to be JSON: a form on a web page can send the other kinds.

    And one where a call takes none.
    """
    if route.takes is None:
        raise _malformed("this call takes no body")
    kind, charset = request.content_type.lower(), (request.charset or "utf-8").lower()
    if kind != JSON_TYPE or charset != "utf-8":
        what = f"the body must be {JSON_TYPE}"
        raise RefusedError("malformed", what, f"send Content-Type: {JSON_TYPE}", 415)


def parameters_of(request: web.Request, route: Route) -> dict[str, str | int]:
    """Return the parameters of the path and of the query string, each given once at most."""
    known = {each.name: each for each in route.parameters}
    given = [*request.match_info.items(), *request.query.items()]
    values: dict[str, str | int] = {}
    for name, text in given:
        parameter = known.get(name)
        if parameter is None or (parameter.where == "path") != (name in request.match_info):
            raise _malformed("this call has no such parameter")
        if name in values:
            raise _malformed(f"{name} is given twice")
        values[name] = _value(parameter, text)
    return values


def too_large() -> RefusedError:
    """Return the error for a body over the limit."""
    what = f"the body is larger than {MOST_BYTES:,} bytes"
    return RefusedError("too large", what, "send less at once")


def _value(parameter: Parameter, text: str) -> str | int:
    """Return what a parameter is, if it is of its kind and within its bounds."""
    bounds = f"{parameter.least:,} to {parameter.most:,}"
    if parameter.kind is not int:
        if parameter.least <= len(text) <= parameter.most:
            return text
        raise _malformed(f"{parameter.name} must have {bounds} characters")
    if text.isascii() and text.isdecimal() and len(text) <= DIGITS:
        number = int(text)
        if parameter.least <= number <= parameter.most:
            return number
    raise _malformed(f"{parameter.name} must be a whole number, {bounds}")


def _once(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Return the object of these pairs; two of one name could be read in two ways."""
    whole: dict[str, object] = {}
    for name, value in pairs:
        if name in whole:
            raise msgspec.DecodeError("an object has two members of one name")
        whole[name] = value
    return whole


def _malformed(what: str) -> RefusedError:
    return RefusedError("malformed", what, SEE)


class Envelope(NamedTuple):
    """That a call came in an envelope: the number of that, and the name of the call's route."""

    id: int
    name: str


ENVELOPE = web.RequestKey("envelope", Envelope)  # where a request keeps it


def reply(message: Any, status: int = 200) -> web.Response:  # noqa: ANN401  (any of the messages)
    """Return an answer with a message, or a list of them, in it."""
    body = msgspec.json.encode(message)
    return web.Response(body=body, status=status, content_type=JSON_TYPE)


@web.middleware
async def boundary(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer a request, whatever becomes of it.

    A decision that fails is an answer that attaches nothing. Anything else becomes a fault. The
    log gets the class of what was not foreseen and its place; the caller, not even that.
    """
    try:
        return await handler(request)
    except RefusedError as error:
        return _refusal(error)
    except ReticentError as error:
        return _foreseen(error, _name(request))
    except web.HTTPException as error:
        return _unrouted(error)
    except Exception as error:  # noqa: BLE001  (the one place: what fails attaches nothing)
        name = _name(request)
        LOG.error("%s failed: %s", name, kind_and_place(error))
        return _unforeseen(name)


def _name(request: web.Request) -> str:
    """Return which call it was; one that came in an envelope is known once that was opened."""
    if ENVELOPE in request:
        return request[ENVELOPE].name
    return request.match_info.route.name or "none"


def _refusal(error: RefusedError) -> web.Response:
    """Return the answer to a request that is not as it should be; its connection may end."""
    status = error.status or http_status(error.code)
    answer = reply(fault_of(error, error.code), status)
    if error.code in {"slow", "too large"}:  # the rest of it is not read
        answer.force_close()
    return answer


def _foreseen(error: ReticentError, name: str) -> web.Response:
    """Return the answer that says what went wrong; a decision says it to nobody but the log."""
    if name != DECIDE or isinstance(error, UsageError):
        fault = fault_of(error)
        return reply(fault, http_status(fault.code))
    LOG.warning("%s failed: %s", name, kind_and_place(error))
    return reply(Answer(code="locked" if isinstance(error, LockedError) else "failed"))


def _unforeseen(name: str) -> web.Response:
    """Return the answer where a defect of ours was met."""
    if name == DECIDE:
        return reply(Answer(code="failed"))
    what, hint = "the daemon failed", "please report what its log says"
    return reply(Fault(code="failed", what=what, hint=hint), http_status("failed"))


def _unrouted(error: web.HTTPException) -> web.Response:
    """Return the answer to what aiohttp itself refused."""
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return _refusal(too_large())
    hint = "openapi.json lists every call and its socket"
    if not isinstance(error, web.HTTPMethodNotAllowed):
        return reply(Fault(code="not found", what="there is no such call here", hint=hint), 404)
    allowed = ", ".join(sorted(error.allowed_methods))
    what = f"this call takes {allowed}"
    answer = reply(Fault(code="wrong method", what=what, hint=hint), error.status)
    answer.headers["Allow"] = allowed
    return answer
