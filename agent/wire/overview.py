"""What happened, at a glance: the latest requests, and who was told what over time."""

from datetime import datetime
from typing import Literal

from msgspec import field

from agent.wire.asking import Code
from agent.wire.base import Message


class Handled(Message, frozen=True, kw_only=True):
    """One request that was answered, or a statement that a recipient forgot; never with values.

    ``number``: of its entry in the ledger, below 0 where it carried nothing and so has none: such
    requests are remembered until the vault is locked. ``disclosed``: names, those that are not
    set too; ``pool``: who remembers it, by the policy as it is now.
    """

    number: int
    kind: Literal["disclosed", "nothing", "forgotten"]
    at: datetime
    recipient: str
    pool: str
    query: str = ""
    asked: list[str] | None = None
    code: Code = "answered"
    disclosed: list[str] = field(default_factory=list)
    utility_bits: float | None = None
    people_left: int | None = None
    waiting: int = 0


class Moment(Message, frozen=True, kw_only=True):
    """How many people agreed with what a recipient held, from a time on."""

    at: datetime
    people_left: int


class Recipient(Message, frozen=True, kw_only=True):
    """One who was told something, or a group; names only, no values.

    ``sites``: registered domains by way of which it was told; ``held``: the person attributes that
    it holds; ``requests``: how many carried something; ``history``: oldest first, a few dozen at
    most; ``blocked``: the policy gives it nothing.
    """

    pool: str
    sites: list[str]
    held: list[str]
    requests: int
    last_at: datetime
    people: int
    people_left: int
    history: list[Moment]
    blocked: bool


class Inferred(Message, frozen=True, kw_only=True):
    """What a recipient could infer of a guarded attribute from what it holds.

    ``bits``: how much what it holds tells of it, of ``bits_in_all``, below 0 where it is less
    certain for that; ``best_guess``: the chance that its best guess at anybody like the user is
    right, ``by_chance``: that of one who holds nothing. Where fewer than 30 people agree nothing
    can be said: then ``bits`` and ``best_guess`` are 0.
    """

    name: str
    title: str
    bits: float
    bits_in_all: float
    best_guess: float
    by_chance: float
