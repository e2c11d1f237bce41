"""What goes over the sockets, both ways, as strict JSON (DESIGN.md section 5).

Every object refuses unknown keys. Times are RFC 3339 with a zone. Values of the profile stand
in `Answer`, `Entry`, `Held`, `Profile` and `ProfileChange` alone; their `repr` masks them.
"""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

LONGEST_QUERY = 4096  # characters
LONGEST_HOST = 2048
LONGEST_NAME = 200
MOST_NAMES = 1024
MOST_BYTES = 64 * 1024  # of a request's body

Query = Annotated[str, Meta(min_length=1, max_length=LONGEST_QUERY)]
Host = Annotated[str, Meta(min_length=1, max_length=LONGEST_HOST)]
Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Names = Annotated[list[Name], Meta(max_length=MOST_NAMES)]
Secret = Annotated[str, Meta(min_length=1, max_length=1024)]
Values = Annotated[dict[Name, Name], Meta(max_length=MOST_NAMES)]

Code = Literal[
    "answered",  # decided in the ordinary way, whether or not anything is attached
    "unknown query",
    "blocked",
    "recognised",
    "outside the model",
    "past a limit already",
    "locked",  # from here on: nothing was decided, and nothing is attached
    "no policy",
    "no model",
    "unfit",  # the recipient holds a value that the model does not have, or the like
    "failed",
]
Decided = Literal["approve", "deny"]
Lasting = Literal["once", "until restart", "days", "always"]
About = Literal["recipient", "everyone"]
Method = Literal["passphrase", "recovery", "keyring"]
EventKind = Literal["answer", "review", "offer", "lock", "policy", "models", "profile", "forget"]


class Message(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all messages are: immutable, and strict about their keys."""


class Fault(Message):
    """What went wrong, in one sentence, and how to mend it; ``code``: the kind, for programs."""

    code: str
    what: str
    hint: str
    where: str | None = None


class Done(Message):
    """It was done."""

    done: bool = True


class Ask(Message):
    """One request that is about to leave; ``asked``: what the recipient can use, null: anything."""

    query: Query
    recipient: Host
    asked: Names | None = None


class Summary(Message):
    """The figures of an answer.

    ``pool``: who remembers it, a domain or ``@group``; ``people_left``: how many of the model's
    people agree with all that the pool holds now; ``waiting``: how many attributes wait for the
    user.
    """

    headline: str
    pool: str
    model: str
    utility_bits: float
    people_left: float
    waiting: int


class Answer(Message):
    """What to attach: nothing unless ``code`` says that something was decided.

    ``attributes``: values by name, those not specified left out; ``header``: the same as the
    value of Shared-Attributes, empty where there is nothing; ``id``: to ask about it later.
    """

    code: Code
    attributes: dict[str, str] = field(default_factory=dict)
    header: str = ""
    id: int | None = None
    summary: Summary | None = None

    def __repr__(self) -> str:
        return f"Answer(code={self.code!r}, attributes={masked(self.attributes)})"


class Reason(Message):
    """One attribute beside the set that was chosen; bits are null where it was no candidate."""

    name: str
    disclosed: bool
    reason: str
    rule: str | None
    gain_bits: float | None
    cost_bits: float | None


class Line(Message):
    """A label and a sentence."""

    label: str
    text: str


class Explained(Message):
    """What would be decided about a request now, and why; nothing is sent or recorded."""

    code: Code
    headline: str
    disclosed: list[str]
    pending: list[str]
    lines: list[Line]
    candidates: list[Reason]
    proof: str = "none"


class PolicyStatus(Message):
    """The policy: ``in_use`` is false where there is none; ``problems`` of the file as it is now.

    A file with problems leaves the last good rules in use.
    """

    path: str
    in_use: bool
    rules: int
    loaded_at: datetime | None
    problems: list[str]


class ModelStatus(Message):
    """One model: by which file and digest it is known, or why it cannot be used."""

    name: str
    digest: str
    shipped: bool
    attributes: int
    queries: int
    maker: str | None = None
    problem: str | None = None


class Status(Message):
    """How the daemon is; ``vault``: whether there is one; figures of a locked vault are null."""

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


class Locked(Message):
    """All that the query socket says of the daemon."""

    version: str
    locked: bool


class Unlock(Message):
    """How to unlock; ``secret``: null for the keyring, which has it."""

    method: Method
    secret: Secret | None = None

    def __repr__(self) -> str:
        return f"Unlock(method={self.method!r})"


class Review(Message):
    """What waits for the user: attributes ruled `ask`, or a recipient that offers to use some.

    ``more_bits``, ``people_left``: what they would add, and who would be left with them.
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


class Verdict(Message):
    """What the user says of a review: from the next request on, and for how long.

    ``names``: null for all of the review; ``days``: for a verdict that lasts so many.
    """

    decided: Decided
    lasting: Lasting = "once"
    about: About = "recipient"
    names: Names | None = None
    days: Annotated[int, Meta(ge=1, le=3650)] | None = None


class Ruled(Message):
    """What became of a verdict: ``written`` into the policy, and what it does not reach."""

    written: str | None
    without_effect: list[str]


class Entry(Message):
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


class Held(Message):
    """What a recipient, and whoever it pools with, holds; ``people_left``: who agree with it."""

    pool: str
    values: dict[str, str]
    since: dict[str, datetime]
    recent: int
    model: str
    people: int
    people_left: int

    def __repr__(self) -> str:
        return f"Held(pool={self.pool!r}, values={masked(self.values)})"


class Forget(Message):
    """A statement that a recipient can no longer link; the ledger keeps what it was told."""

    recipient: Host


class Profile(Message):
    """The user's values: by model, then by attribute."""

    values: dict[str, dict[str, str]]

    def __repr__(self) -> str:
        return f"Profile({', '.join(self.values)})"


class ProfileChange(Message):
    """Values to set and attributes to unset; ``model``: null for every model that has them.

    With ``replace`` all other values of that model (or of all) go.
    """

    model: Name | None = None
    set: Values = field(default_factory=dict)
    unset: Names = field(default_factory=list)
    replace: bool = False

    def __repr__(self) -> str:
        return f"ProfileChange(model={self.model!r}, set={masked(self.set)}, unset={self.unset})"


class Place(Message):
    """A file, by its absolute path."""

    path: Annotated[str, Meta(min_length=1, max_length=4096)]


class Clicked(Message):
    """A result of a query was visited: ``host`` of the page."""

    query: Query
    host: Host


class Offer(Message):
    """A recipient says which attributes it can use."""

    recipient: Host
    names: Annotated[list[Name], Meta(min_length=1, max_length=MOST_NAMES)]


class Refuse(Message):
    """A recipient is to get nothing any more."""

    recipient: Host


class Event(Message):
    """Something happened; ``number`` grows by one; what is private about it is asked for apart."""

    number: int
    kind: EventKind
    at: datetime
    id: int | None = None


def masked(values: dict[str, str]) -> str:
    """Return the names of values, with the values masked."""
    return "{" + ", ".join(f"{name}: ***" for name in values) + "}"
