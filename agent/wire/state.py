"""How the daemon is, and what the vault keeps: the ledger, what recipients hold, the profile."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct, field, json

from agent.decision.values import Code, CountedAmong, Fact, Inferred, Proposal, Reading
from agent.wire import base
from agent.wire.base import Done, Host, Message, Name, Names, Private, Query, Values, Words
from agent.wire.decide import Carry, EntryNumber

Secret = Annotated[str, Meta(min_length=1, max_length=base.LONGEST_SECRET)]
Method = Literal["passphrase", "recovery", "keyring"]
# The variables by which programs find a screen, and those of them that a caller has.
SCREEN = (
    *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"),
    *("GPG_TTY", "TERM"),  # a terminal, by the name that gpg-agent has for it
)
Variable = Annotated[str, Meta(max_length=4096)]
Screen = Annotated[dict[Name, Variable], Meta(max_length=len(SCREEN))]
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


def locale_country(environment: Mapping[str, str]) -> str:
    """The country of the locale in an environment, in lower case, "" where it names none."""
    names = map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG"))
    named = re.match(r"[a-z]{2,3}_([A-Z]{2})(?![A-Za-z])", next(filter(None, names), ""))
    return named[1].lower() if named else ""


def screen_of(environment: Mapping[str, str]) -> dict[str, str]:
    """Pick the variables of an environment that name its screen, or its terminal."""
    variables = {name: environment.get(name, "") for name in SCREEN}
    return {name: each for name, each in variables.items() if each and each.isprintable()}


class PolicyStatus(Message, frozen=True, kw_only=True):
    """The policy: ``in_use`` is false without one; ``problems`` of the file as it is now.

    A file with problems leaves the last good rules in use. ``limits``: that hold, in words;
    ``doubled``: the policy's limits on people count twice, since those of the user's country are
    counted as in another one (DESIGN.md 2.8).
    """

    path: str
    in_use: bool
    rules: int
    loaded_at: datetime | None
    problems: list[str]
    limits: str = ""
    doubled: bool = False


class ModelStatus(Message, frozen=True, kw_only=True):
    """One model: by which file and digest it is known, or why it cannot be used.

    ``attributes``: how many, second and third facts of a kind left out.
    """

    name: str
    digest: str
    shipped: bool
    attributes: int
    queries: int
    maker: str | None = None
    problem: str | None = None


class WithoutFacts(Message, frozen=True, kw_only=True):
    """Requests that carried nothing, since the vault was locked; ``until``: null while it is."""

    since: datetime
    until: datetime | None = None
    requests: int = 0


class Pause(Message, frozen=True, kw_only=True):
    """For how many minutes nothing is attached from now on; 0 ends a pause."""

    minutes: Annotated[int, Meta(ge=0, le=7 * 24 * 60)]


class Status(Message, frozen=True, kw_only=True):
    """How the daemon is; ``vault``: whether there is one; figures of a locked vault are null.

    ``paused_until``: nothing is attached before; ``without_facts``: what the latest lock cost;
    ``silent``: how many requests carried nothing since the daemon began, but for those of a lock.

    ``people``: whom the world counts, in which country; ``waiting``: how much waits for the user;
    ``raised``: of how much of that they are notified.
    ``notice``: what happened to the vault while it was open and what to do, until that is repaired.
    """

    version: str
    process: int
    started_at: datetime
    vault: bool
    locked: bool
    lock_after_minutes: float
    paused_until: datetime | None = None
    without_facts: WithoutFacts | None = None
    silent: int = 0
    policy: PolicyStatus
    models: list[ModelStatus]
    people: str | None = None
    waiting: int
    raised: int = 0
    entries: int | None
    notes: list[str]
    notice: str | None = None


class Site(Message, frozen=True, kw_only=True):
    """A recipient that browsers may ask about, and its search, with ``{query}`` in it once.

    ``{query}`` is the whole value of one parameter of the query string. ``carry``: how facts reach
    it: in a header, as words after the query, or as parameters of the address; ``rerank``: whether
    its results are ordered here.
    """

    recipient: str
    search: str
    carry: Carry = "header"
    rerank: bool = False


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


class Unlock(Private, frozen=True, kw_only=True):
    """How to unlock; ``secret``: null for the keyring, which has it.

    ``screen``: where dialogs may ask the user from now on, empty for where they did.
    """

    shown: ClassVar[tuple[str, ...]] = ("method",)
    method: Method
    secret: Secret | None = None
    screen: Screen = field(default_factory=dict)


class Place(Message, frozen=True, kw_only=True):
    """A file, by its absolute path."""

    path: Annotated[str, Meta(max_length=4096, pattern="^/")]


class Event(Message, frozen=True, kw_only=True):
    """Something happened; ``number`` grows by one; private details are asked for separately."""

    number: int
    kind: EventKind
    at: datetime
    id: int | None = None

    def lines(self) -> bytes:
        """Encode it as a message of a stream."""
        data = json.encode(self)
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (self.number, self.kind.encode(), data)


class Entry(Private, frozen=True, kw_only=True):
    """One request that was answered, or a statement that a recipient forgot.

    ``number``: in the ledger, below 0 where it carried nothing and so has none: such requests are
    remembered until the vault is locked, but for what was ``asked``. ``disclosed``: names, those
    that are not set too, and ``values`` of them, in the list of the ledger alone; ``pool``: who
    remembers it, by the policy as it is now; ``door``: by which it came, as policies name it, empty
    where that is not known; ``model``: that decided, whose names these are; ``waiting``: how many
    attributes waited for the user then, and ``settled`` how many of them do not any more; ``why``:
    it carried nothing, where the ``code`` does not say it all.
    """

    shown: ClassVar[tuple[str, ...]] = ("number", "kind", "at")
    number: int
    kind: Literal["disclosed", "nothing", "forgotten"]
    at: datetime
    recipient: str
    pool: str = ""
    door: str = ""
    code: Code = "answered"
    why: str = ""
    query: str = ""
    asked: list[str] | None = None
    model: str = ""
    disclosed: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    utility_bits: float | None = None
    people_left: int | None = None
    read_as: Reading | None = None
    waiting: int = 0
    settled: int = 0


class Deletion(Message, frozen=True, kw_only=True):
    """Which texts to delete: of ``entries`` of the ledger, and of all ``before`` a time."""

    entries: Annotated[list[EntryNumber], Meta(max_length=base.MOST_NAMES)] = field(
        default_factory=list
    )
    before: Annotated[datetime, Meta(tz=True)] | None = None


class Recipient(Private, frozen=True, kw_only=True):
    """One who was sent something, or a group, and what it and its pool hold.

    ``sites``: the registered domains that were sent anything; ``held``: the facts that it holds,
    by name; ``requests``: how many carried something; ``people_left``: who fit what it holds,
    and ``first_left`` what it held at first; ``blocked``: the policy gives it nothing; ``stopped``:
    it is told nothing new, since the user would stand out with these attributes of the model that
    decided, the rarest first. Where one is asked about, and not in the list of all: ``values`` of
    what it holds, ``since`` when; ``recent``: how many it was sent in the last seven days;
    ``inferred``: of what is guarded from it, by the policy as it is now.
    """

    shown: ClassVar[tuple[str, ...]] = ("pool",)
    pool: str
    sites: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    requests: int = 0
    model: str = ""
    people: int
    people_left: int
    first_left: int
    among: CountedAmong | None = None
    blocked: bool = False
    stopped: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    since: dict[str, datetime] = field(default_factory=dict)
    recent: int = 0
    inferred: list[Inferred] = field(default_factory=list)


class ReadingEdit(Message, frozen=True, kw_only=True):
    """What a text means from now on: a ``topic``, or, where that is null, not what it was read as.

    The text is that of an ``entry`` of the ledger, with what it was read as then; or a ``query``,
    with what it is read as now for a ``recipient``, null: for any. ``topic``: by its name, its
    title, or a beginning that no other one has. ``undo``: whatever was said so of the text no
    longer holds, and ``topic`` does not count.
    """

    entry: EntryNumber | None = None
    query: Query | None = None
    recipient: Host | None = None
    topic: Name | None = None
    undo: bool = False


class Corrected(Done, frozen=True, kw_only=True):
    """What a text means, no longer means, or means again: ``read_as``; not ``done`` if no news.

    ``now``: what it is read as from now on, null: nothing.
    """

    query: str
    read_as: list[Reading]
    now: Reading | None


class FactFigures(Private, frozen=True, kw_only=True):
    """What a fact helps with, how rare it is, and what became of it.

    ``helps_with``: titles of topics, the one it helps most first; ``share``: of the people
    ``share_of`` who hold its value, or would say the same, null where it is not known; ``helped``:
    titles of the topics with which it was new to somebody; ``pools``: who knows it, recipients and
    groups; ``same_as``: the ids of the other facts with which it counts as one.
    """

    shown: ClassVar[tuple[str, ...]] = ("helps_with",)
    helps_with: list[str] = field(default_factory=list)
    share: float | None = None
    share_of: str | None = None
    helped: list[str] = field(default_factory=list)
    pools: list[str] = field(default_factory=list)
    same_as: list[str] = field(default_factory=list)


class ProfileFacts(Message, frozen=True, kw_only=True):
    """The user's facts, ordered by kind; a value is the one that `attributes` lists.

    Relevance and vectors stay with the daemon. ``figures``: by the id of a fact; ``country``: where
    the user lives, by them or by the locale, "" where neither says.
    """

    facts: list[Fact]
    figures: dict[str, FactFigures] = field(default_factory=dict)
    country: str = ""


class FactTexts(Private, frozen=True, kw_only=True):
    """Statements of the user about themselves, a fact each; ``draft``: to add them to, null: new.

    ``repr`` masks them.
    """

    texts: Annotated[list[Words], Meta(min_length=1, max_length=base.MOST_NAMES)]
    draft: Name | None = None


class FactDraft(Message, frozen=True, kw_only=True):
    """Facts in own words that are not stored yet, and may be kept while the vault is open.

    ``draft``: by which a `ProfileChange` names it; ``proposals``: in the order of the texts; the id
    of a fact is its number in the draft. ``same_as`` and ``contradicts`` may be such a number.
    """

    draft: str
    proposals: list[Proposal]


class FactEdit(Private, frozen=True, kw_only=True, omit_defaults=True):
    """A fact in own words by its id, of which the beginning will do, and what changes of it.

    ``kind`` by any of its names, ``share`` of all people who would say the same, ``sensitivity`` in
    bits; null as it is. ``short``: for a search, "" for none. ``same_as``: the id of a fact of the
    profile with which it counts as one from now on, its own for none. Other words are another fact.
    In a draft the id is its number there.
    """

    shown: ClassVar[tuple[str, ...]] = ("id",)
    id: Name
    kind: Name | None = None
    short: Annotated[str, Meta(max_length=48)] | None = None
    share: Annotated[float, Meta(ge=1e-9, le=1)] | None = None
    sensitivity: Annotated[float, Meta(ge=0, le=64)] | None = None
    same_as: Name | None = None


class FactProposal(Private, frozen=True, kw_only=True):
    """A fact about the user that a program met in a conversation with a recipient."""

    shown: ClassVar[tuple[str, ...]] = ("recipient",)
    text: Words
    recipient: Host


class ProfileChange(Private, frozen=True, kw_only=True):
    """Facts to set and to unset, by kind, by a model's name for it, or by MODEL.NAME.

    Those in own words are unset by their ids. ``keep``: those of a ``draft``, which is used up by
    that; ``edit``: facts in own words that are there. With ``dry_run`` nothing changes.
    """

    shown: ClassVar[tuple[str, ...]] = ("unset",)
    set: Values = field(default_factory=dict)
    unset: Names = field(default_factory=list)
    draft: Name | None = None
    keep: Annotated[list[FactEdit], Meta(max_length=2 * base.MOST_NAMES)] = field(
        default_factory=list
    )
    edit: Annotated[list[FactEdit], Meta(max_length=base.MOST_NAMES)] = field(default_factory=list)
    dry_run: bool = False


class ValueChange(Message, frozen=True, kw_only=True):
    """A fact that changes, without its value."""

    name: str
    was_set: bool
    is_set: bool


class Implied(Private, frozen=True, kw_only=True):
    """A fact that changes since it hangs on another one.

    ``value``: "unspecified" where nothing follows for it, null where it is unset.
    """

    shown: ClassVar[tuple[str, ...]] = ("name",)
    name: str
    title: str
    value: str | None


class Changed(Done, frozen=True, kw_only=True):
    """The profile was changed, or would be: then it is not ``done``.

    ``changes``: what differs from before; ``facts``: in own words, that are new or other than
    before; ``gone``: those that are there no more; ``implied``: what follows from the facts that
    were named; ``stale``: by fact, the recipients and groups of them that hold an older value, or,
    by its id, own words that are gone.
    They will get the new value like one that they already know, without a charge, but with a new
    question where one is ruled, and keep holding what is no longer set (DESIGN.md 2.6).
    """

    changes: list[ValueChange] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    gone: list[Fact] = field(default_factory=list)
    implied: list[Implied] = field(default_factory=list)
    stale: dict[str, list[str]] = field(default_factory=dict)
