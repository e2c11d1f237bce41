"""What the vault keeps: the ledger, what recipients hold, the profile."""

from datetime import datetime
from typing import Literal

from msgspec import field

from agent.decision.values import Code, CountedAmong, Fact, Reading
from agent.wire.base import Done, Host, Message, Names, Query, Values, masked
from agent.wire.what_if import Number


class _Past(Message, frozen=True, kw_only=True):
    number: int
    at: datetime
    recipient: str
    query: str = ""
    asked: list[str] | None = None
    utility_bits: float | None = None
    people_left: int | None = None
    read_as: Reading | None = None


class Entry(_Past, frozen=True, kw_only=True):
    """One entry of the ledger; ``query`` and ``disclosed`` are empty where it forgets."""

    kind: Literal["disclosed", "forgotten"]
    disclosed: dict[str, str] = field(default_factory=dict)
    model: str = ""

    def __repr__(self) -> str:
        return f"Entry(number={self.number}, kind={self.kind!r}, at={self.at.isoformat()})"


class Handled(_Past, frozen=True, kw_only=True):
    """One request that was answered, or a statement that a recipient forgot; never with values.

    ``number``: of its entry in the ledger, below 0 where it carried nothing and so has none: such
    requests are remembered until the vault is locked. ``disclosed``: names, those that are not
    set too; ``pool``: who remembers it, by the policy as it is now;
    ``model``: that decided, whose names these are; ``waiting``: how many attributes waited for the
    user then, and ``settled`` how many of them do not any more.
    """

    kind: Literal["disclosed", "nothing", "forgotten"]
    pool: str
    code: Code = "answered"
    model: str = ""
    disclosed: list[str] = field(default_factory=list)
    waiting: int = 0
    settled: int = 0


class Moment(Message, frozen=True, kw_only=True):
    """How many people agreed with what a recipient held, from a time on."""

    at: datetime
    people_left: int


class Recipient(Message, frozen=True, kw_only=True):
    """One who was told something, or a group; names only, no values.

    ``sites``: the registered domains that were told; ``held``: the person attributes that
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
    among: CountedAmong | None = None


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


class Held(Message, frozen=True, kw_only=True):
    """What a recipient and its pool hold; ``people_left``: the people whom that fits.

    ``inferred``: of what is guarded from it, by the policy as it is now.
    """

    pool: str
    values: dict[str, str]
    since: dict[str, datetime]
    recent: int
    model: str
    people: int
    people_left: int
    inferred: list[Inferred] = field(default_factory=list)
    among: CountedAmong | None = None

    def __repr__(self) -> str:
        return f"Held(pool={self.pool!r}, values={masked(self.values)})"


class NotThat(Message, frozen=True, kw_only=True):
    """A text was read as what it does not mean, and never is again.

    It is that of an ``entry`` of the ledger, with what it was read as then; or a ``query``, with
    what it is read as now for a ``recipient``, null: for any. ``undo``: whatever was said so of the
    text no longer holds.
    """

    entry: Number | None = None
    query: Query | None = None
    recipient: Host | None = None
    undo: bool = False


class Corrected(Done, frozen=True, kw_only=True):
    """What a text no longer means, or means again: ``read_as``; not ``done`` where that is no news.

    ``now``: what it is read as from now on, null: nothing.
    """

    query: str
    read_as: list[Reading]
    now: Reading | None


class Forget(Message, frozen=True, kw_only=True):
    """Mark a recipient as having forgotten everything; the ledger keeps what it was told."""

    recipient: Host


class ProfileFacts(Message, frozen=True, kw_only=True):
    """The user's facts, ordered by kind; a value is the one that `attributes` lists."""

    facts: list[Fact]


class ProfileChange(Message, frozen=True, kw_only=True):
    """Facts to set and to unset, by kind, by a model's name for it, or by MODEL.NAME.

    With ``dry_run`` nothing changes.
    """

    set: Values = field(default_factory=dict)
    unset: Names = field(default_factory=list)
    dry_run: bool = False

    def __repr__(self) -> str:
        return f"ProfileChange(set={masked(self.set)}, unset={self.unset})"


class ValueChange(Message, frozen=True, kw_only=True):
    """A fact that changes, without its value."""

    name: str
    was_set: bool
    is_set: bool


class Stale(Message, frozen=True, kw_only=True):
    """Recipients, and groups of them, that hold another value of an attribute than the profile."""

    name: str
    pools: list[str]


class Implied(Message, frozen=True, kw_only=True):
    """A fact that changes since it hangs on another one.

    ``value``: "unspecified" where nothing follows for it, null where it is unset.
    """

    name: str
    title: str
    value: str | None

    def __repr__(self) -> str:
        return f"Implied(name={self.name!r})"


class Changed(Done, frozen=True, kw_only=True):
    """The profile was changed, or would be: then it is not ``done``.

    ``changes``: what differs from before; ``implied``: what of it follows from the facts that were
    named; ``stale``: who holds an older value of that. They will
    get the new one like one that they already know, without a charge or a question, and keep
    holding what is no longer set (DESIGN.md 2.6).
    """

    changes: list[ValueChange] = field(default_factory=list)
    implied: list[Implied] = field(default_factory=list)
    stale: list[Stale] = field(default_factory=list)
