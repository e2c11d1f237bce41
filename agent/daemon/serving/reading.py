"""From a request to the message and the parameters that its route takes; strict about both."""

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from agent.daemon.serving.web import HttpProcessingError, web
from agent.errors import RefusedError, misfit
from agent.wire.base import JSON_TYPE, MOST_BYTES
from agent.wire.faults import SEE
from agent.wire.routes import Parameter, Route

DIGITS = 18  # of a number; all of them fit into 64 bits

Read = Callable[[bytes], Any]


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
    what = f"the body has over {MOST_BYTES:,} bytes"
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
