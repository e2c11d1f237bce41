"""What the vault keeps: the ledger, what recipients hold, the profile."""

from datetime import datetime
from typing import Literal

from msgspec import field

from agent.wire.base import Done, Host, Message, Name, Names, Values, masked
from agent.wire.overview import Inferred


class Entry(Message, frozen=True, kw_only=True):
    """One entry of the ledger; ``query`` and ``disclosed`` are empty where it forgets."""

    number: int
    kind: Literal["disclosed", "forgotten"]
    at: datetime
    recipient: str
    query: str = ""
    asked: list[str] | None = None
    disclosed: dict[str, str] = field(default_factory=dict)
    model: str = ""
    utility_bits: float | None = None
    people_left: int | None = None

    def __repr__(self) -> str:
        return f"Entry(number={self.number}, kind={self.kind!r}, at={self.at.isoformat()})"


class Held(Message, frozen=True, kw_only=True):
    """What a recipient, and whoever it pools with, holds; ``people_left``: who agree with it.

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

    def __repr__(self) -> str:
        return f"Held(pool={self.pool!r}, values={masked(self.values)})"


class Forget(Message, frozen=True, kw_only=True):
    """A statement that a recipient can no longer link; the ledger keeps what it was told."""

    recipient: Host


class Profile(Message, frozen=True, kw_only=True):
    """The user's values: by model, then by attribute."""

    values: dict[str, dict[str, str]]

    def __repr__(self) -> str:
        return f"Profile({', '.join(self.values)})"


class ProfileChange(Message, frozen=True, kw_only=True):
    """Values to set and attributes to unset; ``model``: null for every model that has them.

    With ``replace`` all other values of that model (or of all) go.
    """

    model: Name | None = None
    set: Values = field(default_factory=dict)
    unset: Names = field(default_factory=list)
    replace: bool = False

    def __repr__(self) -> str:
        return f"ProfileChange(model={self.model!r}, set={masked(self.set)}, unset={self.unset})"


class Stale(Message, frozen=True, kw_only=True):
    """Recipients, and groups of them, that hold another value of an attribute than the profile."""

    name: str
    pools: list[str]


class Changed(Done, frozen=True, kw_only=True):
    """The profile was changed.

    ``stale``: who holds an older value of what changed. They will be told the new one like one
    that they know already, without being charged or asked for (DESIGN.md 2.6).
    """

    stale: list[Stale] = field(default_factory=list)
