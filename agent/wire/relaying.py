"""What a browser's extension sends through the relay, and what it gets (DESIGN.md section 5).

The relay parses nothing: it hands each frame to ``/v1/relay``, and the body of the answer back, one
for each frame and in their order. An answer is a `RelayAnswer`, or a `Fault` alone: where a frame
is none of these messages, and where the relay itself could do nothing. Its own codes are those of
agent/daemon/browsers/relay.py: ``no daemon``, ``too slow`` and ``too large``.
"""

from typing import Annotated, Literal

from msgspec import Meta, Raw

from agent.wire.asking import Ask, Clicked, Offer, Refuse
from agent.wire.base import Message

BIGGEST = 2**53 - 1  # every reader of JSON counts as far

Number = Annotated[int, Meta(ge=0, le=BIGGEST)]


class RelayedFrame(Message, frozen=True, kw_only=True, tag_field="call"):
    """What all have in common; ``id``: of the sender's choice, comes back with the answer."""

    id: Number


class RelayedDecide(RelayedFrame, frozen=True, kw_only=True, tag="decide"):
    """Decide what one request carries, as ``/v1/decide`` does.

    ``by``: ``user`` where the extension itself saw that the user asks (the keyword in the address
    bar, or a form that a key or a click of theirs sent off), else ``page``. No page can say it: one
    that asks by itself is a page whatever it says.
    """

    body: Ask
    by: Literal["user", "page"] = "page"


class RelayedStatus(RelayedFrame, frozen=True, kw_only=True, tag="status"):
    """Say whether it is locked, as ``/v1/status`` does."""

    body: None = None


class RelayedClicked(RelayedFrame, frozen=True, kw_only=True, tag="clicked"):
    """A result was visited, as to ``/v1/clicked``."""

    body: Clicked


class RelayedOffer(RelayedFrame, frozen=True, kw_only=True, tag="offer"):
    """Queue a recipient's offer, as ``/v1/offer`` does."""

    body: Offer


class RelayedRefuse(RelayedFrame, frozen=True, kw_only=True, tag="refuse"):
    """Give a recipient nothing more, as ``/v1/refuse`` does."""

    body: Refuse


Relayed = RelayedDecide | RelayedStatus | RelayedClicked | RelayedOffer | RelayedRefuse


class RelayAnswer(Message, frozen=True, kw_only=True):
    """What a call answered: its status of HTTP, and its message, a `Fault` unless that is 200."""

    id: Number
    status: int
    body: Raw

    def __repr__(self) -> str:
        return f"RelayAnswer(id={self.id}, status={self.status}, body=***)"
