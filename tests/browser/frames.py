"""What the extension sends to the native host, a type for each call."""

from typing import Literal

from agent.wire.base import Message
from agent.wire.decide import Ask, Clicked, Number, Offer, Refuse, Tell


class RelayedFrame(Message, frozen=True, kw_only=True, tag_field="call"):
    """What all have in common; ``id``: of the sender's choice, comes back with the answer."""

    id: Number


class RelayedDecide(RelayedFrame, frozen=True, kw_only=True, tag="decide"):
    """Decide what one request carries."""

    body: Ask
    by: Literal["user", "page"] = "page"


class RelayedStatus(RelayedFrame, frozen=True, kw_only=True, tag="status"):
    """Whether it is locked, as ``/v1/status``."""

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


class RelayedDraft(RelayedFrame, frozen=True, kw_only=True, tag="draft"):
    """Draft a line for a chat box, as ``/v1/draft`` does."""

    body: Ask


class RelayedTell(RelayedFrame, frozen=True, kw_only=True, tag="tell"):
    """Record what of a draft the user put into a chat box, as ``/v1/tell`` does."""

    body: Tell


Relayed = (
    RelayedDecide
    | RelayedStatus
    | RelayedClicked
    | RelayedOffer
    | RelayedRefuse
    | RelayedDraft
    | RelayedTell
)
