"""What waits for the user, and what the user says of it."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, field

from agent.wire.base import MOST_DAYS, MOST_NAMES, Host, Message, Name, Names

Decided = Literal["approve", "deny"]
Lasting = Literal["once", "until restart", "days", "always"]
About = Literal["recipient", "everyone"]
Disclose = Literal["never", "ask", "auto", "always"]


class Review(Message, frozen=True, kw_only=True):
    """What waits for the user: attributes ruled `ask`, or a recipient that offers to use some.

    ``more_bits``, ``people_left``: what they would add, and who would be left with them;
    ``search``: where a recipient that offers says that it is searched, null where it does not.
    """

    id: int
    kind: Literal["ask", "offer"]
    at: datetime
    recipient: str
    pool: str
    names: list[str]
    query: str = ""
    more_bits: float | None = None
    people_left: float | None = None
    prompted: bool = True
    search: str | None = None


class Verdict(Message, frozen=True, kw_only=True):
    """What the user says of a review: from the next request on, and for how long.

    ``names``: null for all of the review; ``pool``: as it was shown, null not to say: a verdict is
    refused where the review has others; ``days``: for a verdict that lasts so many.
    """

    decided: Decided
    lasting: Lasting = "once"
    about: About = "recipient"
    names: Names | None = None
    pool: Host | None = None
    days: Annotated[int, Meta(ge=1, le=MOST_DAYS)] | None = None


class Ruled(Message, frozen=True, kw_only=True):
    """What became of a verdict.

    ``written``: the rule of the policy that says so, null where none does; ``without_effect``:
    the names that it does not reach, each ``decided_by`` the rule that wins; ``blocked``: that is
    the one by which the recipient gets nothing.
    """

    written: str | None
    without_effect: list[str]
    decided_by: list[str] = field(default_factory=list)
    blocked: bool = False


class Override(Message, frozen=True, kw_only=True):
    """The user's word on attributes that need not wait: from the next request on.

    ``disclose``: as a policy has it; ``recipient``: for whom, with those that it pools with, and
    of no effect where ``about`` is everyone; ``days``: for a word that lasts so many.
    """

    recipient: Host
    names: Annotated[list[Name], Meta(min_length=1, max_length=MOST_NAMES)]
    disclose: Disclose
    lasting: Lasting = "once"
    about: About = "recipient"
    days: Annotated[int, Meta(ge=1, le=MOST_DAYS)] | None = None


class Undone(Message, frozen=True, kw_only=True):
    """What was taken back, in a sentence; what left meanwhile stays told."""

    what: str
