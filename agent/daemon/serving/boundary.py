"""Where every error of the daemon ends: to attach nothing, and to say no more than is needed."""

from typing import Any, NamedTuple

import msgspec

from agent.daemon.process.log import LOG, kind_and_place
from agent.daemon.serving.reading import too_large
from agent.daemon.serving.web import Handler, web
from agent.errors import LockedError, RefusedError, ReticentError, UsageError
from agent.wire.base import JSON_TYPE, Fault
from agent.wire.decide import Answer
from agent.wire.faults import fault_of, http_status

DECIDE = "decide"


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
    what, hint = "the daemon failed at this", "its log says where; report that"
    return reply(Fault(code="failed", what=what, hint=hint), http_status("failed"))


def _unrouted(error: web.HTTPException) -> web.Response:
    """Return the answer where aiohttp knew already that there is none."""
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return _refusal(too_large())
    hint = "openapi.json has every call, and at which door it is"
    if not isinstance(error, web.HTTPMethodNotAllowed):
        return reply(Fault(code="not found", what="there is no such call here", hint=hint), 404)
    allowed = ", ".join(sorted(error.allowed_methods))
    what = f"this call takes {allowed}"
    answer = reply(Fault(code="wrong method", what=what, hint=hint), error.status)
    answer.headers["Allow"] = allowed
    return answer
