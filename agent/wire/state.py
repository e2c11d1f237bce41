"""How the daemon is, and what changes that."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from agent.wire.base import LONGEST_SECRET, Message, Name
from agent.wire.decide import Carry

Secret = Annotated[str, Meta(min_length=1, max_length=LONGEST_SECRET)]
Method = Literal["passphrase", "recovery", "keyring"]
# The variables by which programs find a screen, and those of them that a caller has.
SCREEN = (
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
)
Variable = Annotated[str, Meta(max_length=4096)]
Screen = Annotated[dict[Name, Variable], Meta(max_length=len(SCREEN))]
Encoder = Literal["loaded", "loading", "absent"]
EventKind = Literal[
    "answer",  # a request was answered, and carried something
    "nothing",  # one was answered, and carried nothing
    "review",
    "offer",
    "lock",
    "policy",
    "models",
    "profile",
    "forget",
]


class Finding(Struct, frozen=True):
    """One thing that was checked: ``what`` was found, and the ``fix`` where one is needed.

    bad: something does not work, or is not safe; warn: it works less well than it could.
    """

    name: str
    state: Literal["ok", "warn", "bad"]
    what: str
    fix: str = ""


def screen_of(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of an environment that name its screen."""
    found = {name: environment.get(name, "") for name in SCREEN}
    return {name: each for name, each in found.items() if each and each.isprintable()}


class PolicyStatus(Message, frozen=True, kw_only=True):
    """The policy: ``in_use`` is false without one; ``problems`` of the file as it is now.

    A file with problems leaves the last good rules in use.
    """

    path: str
    in_use: bool
    rules: int
    loaded_at: datetime | None
    problems: list[str]


class ModelStatus(Message, frozen=True, kw_only=True):
    """One model: by which file and digest it is known, or why it cannot be used."""

    name: str
    digest: str
    shipped: bool
    attributes: int
    queries: int
    maker: str | None = None
    problem: str | None = None


class Status(Message, frozen=True, kw_only=True):
    """How the daemon is; ``vault``: whether there is one; figures of a locked vault are null.

    ``notice``: what happened to the vault while it was open and what to do, until that is repaired;
    ``encoder``: until it is loaded, texts are read by their exact names only.
    """

    version: str
    process: int
    started_at: datetime
    vault: bool
    locked: bool
    lock_after_minutes: float
    policy: PolicyStatus
    models: list[ModelStatus]
    waiting: int
    entries: int | None
    notes: list[str]
    notice: str | None = None
    encoder: Encoder = "absent"


class Site(Message, frozen=True, kw_only=True):
    """A recipient that browsers may ask about, and its search, with ``{query}`` in it once.

    ``{query}`` is the whole value of one parameter of the query string. ``carry``: how facts reach
    it: in a header, as words after the query, or as parameters of the address.
    """

    recipient: str
    search: str
    carry: Carry = "header"


class Locked(Message, frozen=True, kw_only=True):
    """What the query socket reveals about the daemon.

    ``clicks``: browsers may tell which results are visited; ``sites``: by recipient, those of the
    policy alone while the vault is locked; ``assistants``: the origins, such as
    ``https://chat.example``, where the popup may offer a line for a chat box; ``stale_rules``: the
    policy file has mistakes, so that the rules before it are in use.
    """

    version: str
    locked: bool
    clicks: bool = False
    sites: list[Site] = field(default_factory=list)
    assistants: list[str] = field(default_factory=list)
    stale_rules: bool = False


class Unlock(Message, frozen=True, kw_only=True):
    """How to unlock; ``secret``: null for the keyring, which has it.

    ``screen``: where dialogs may ask the user from now on, empty for where they did.
    """

    method: Method
    secret: Secret | None = None
    screen: Screen = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Unlock(method={self.method!r})"


class Place(Message, frozen=True, kw_only=True):
    """A file, by its absolute path."""

    path: Annotated[str, Meta(min_length=1, max_length=4096)]


class Event(Message, frozen=True, kw_only=True):
    """Something happened; ``number`` grows by one; private details are asked for separately."""

    number: int
    kind: EventKind
    at: datetime
    id: int | None = None
