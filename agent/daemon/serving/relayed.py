"""A call that came through the relay: it is made like any other, and answered in an envelope."""

from typing import Any, NamedTuple

import msgspec

from agent.daemon.serving.boundary import ENVELOPE, reply
from agent.daemon.serving.web import Handler, web
from agent.wire.decide import Ask, Clicked, Offer, Refuse, RelayAnswer, Relayed
from agent.wire.routes import QUERY, ROUTES, Route

RELAY = "relay"
INSIDE = {
    route.path.removeprefix("/v1/"): route
    for route in ROUTES
    if QUERY in route.doors and route.name != RELAY
}


class Unwrapped(NamedTuple):
    """A call that was in an envelope, and its message, None where it takes none."""

    route: Route
    message: Ask | Clicked | Offer | Refuse | None


def unwrapped(message: Relayed) -> Unwrapped:
    """Return what is in an envelope."""
    tag: Any = type(message).__struct_config__.tag
    return Unwrapped(INSIDE[tag], message.body)


@web.middleware
async def enveloped(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer an envelope with one, whatever became of the call; all else as it is."""
    answer = await handler(request)
    body = answer.body if isinstance(answer, web.Response) else None
    if ENVELOPE not in request or not isinstance(body, bytes):
        return answer
    number = request[ENVELOPE].id
    return reply(RelayAnswer(id=number, status=answer.status, body=msgspec.Raw(body)))
