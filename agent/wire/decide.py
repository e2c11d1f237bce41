"""What a request may carry, or would carry with another set, at another price (DESIGN.md 5)."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Raw, field

from agent.decision.values import Code, CountedAmong, Decision, Figures, Outcome, Reading, Results
from agent.wire.base import MOST_NAMES, Host, Message, Name, Names, Private, Query, Search, Texts

Carry = Literal["header", "words", "parameters"]  # how facts reach a recipient
BIGGEST = 2**53 - 1  # every reader of JSON counts as far
Number = Annotated[int, Meta(ge=0, le=BIGGEST)]


class Conversation(Message, frozen=True, kw_only=True):
    """What else the user says to a recipient in the request that is about to leave.

    ``earlier``: the turns of a conversation before its question, say. A rule that withholds
    something for some words or topics looks at all of it, any other at the query alone. Null: there
    is more than is at hand, and every such rule holds.
    """

    recipient: Host
    earlier: Texts | None = field(default_factory=list)


class Ask(Conversation, frozen=True, kw_only=True):
    """One request that is about to leave; ``asked``: what the recipient can use, null: anything."""

    query: Query
    asked: Names | None = None


class Because(Message, frozen=True, kw_only=True):
    """Why one attribute is sent, as far as a service may see it; bits are null where unknown."""

    name: str
    reason: str
    gain_bits: float | None
    cost_bits: float | None


class Summary(Message, frozen=True, kw_only=True):
    """The figures of an answer.

    ``pool``: who remembers it, a domain or ``@group``; ``people_left``: how many of the people in
    ``among`` agree with all that the pool holds now; ``waiting``: how many attributes wait for the
    user, and ``pending`` their names; ``because``: for each attribute that leaves, in the order
    chosen; ``titles``: of all these, by name; ``why``: nothing leaves, where nothing does, with the
    limits that keep it; ``read_as``: null where the text was not understood.
    """

    pool: str
    model: str
    utility_bits: float
    people_left: float
    waiting: int
    pending: list[str] = field(default_factory=list)
    because: list[Because] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    why: str = ""
    read_as: Reading | None = None
    among: CountedAmong | None = None


class Answer(Private, frozen=True, kw_only=True):
    """What to attach: nothing unless ``code`` says that something was decided.

    ``attributes``: values by name, or the user's own words, in which those go that ``facts`` names
    with the fact's id; ``unspecified``: names that were chosen and have nothing to
    send, which leaving them out tells: they are set to "unspecified", or have no word. Of the next
    three at most one is not empty, as the policy's ``carry`` says for the recipient: ``header``:
    the values as the value of Shared-Attributes; ``words``: to be added to the query, after one
    space; ``parameters``: to be set in the address, by name. ``id``: of the entry in the ledger;
    ``stale_rules``: the policy file has mistakes, so that the rules before it decided.
    """

    shown: ClassVar[tuple[str, ...]] = ("code",)
    code: Code
    attributes: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    unspecified: list[str] = field(default_factory=list)
    header: str = ""
    words: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    id: int | None = None
    summary: Summary | None = None
    stale_rules: bool = False


class DraftedFact(Private, frozen=True, kw_only=True):
    """A fact that may leave: an attribute, its value in words, and its phrase in the line."""

    shown: ClassVar[tuple[str, ...]] = ("name",)
    name: str
    title: str
    value: str
    phrase: str


class Draft(Private, frozen=True, kw_only=True):
    """What a line in a chat box may say; nothing of it is recorded, nor counts as sent.

    ``id``: by which `Tell` names it once within ten minutes, empty where there is nothing to tell;
    ``facts``: in the order chosen, and ``line``: of them all; ``waiting``: titles of what waits for
    the user's word; ``headline``: why there are no facts, where there are none; ``people``: how
    many are expected to look like the user still once all of it is told; ``read_as``: as in
    `Summary`; ``stale_rules``: as in `Answer`.
    """

    shown: ClassVar[tuple[str, ...]] = ("code",)
    code: Code
    id: str = ""
    facts: list[DraftedFact] = field(default_factory=list)
    line: str = ""
    waiting: list[str] = field(default_factory=list)
    headline: str = ""
    people: str = ""
    read_as: Reading | None = None
    stale_rules: bool = False


class Tell(Message, frozen=True, kw_only=True):
    """The user put facts of a draft into a chat box: those of these names."""

    id: Name
    names: Annotated[list[Name], Meta(min_length=1, max_length=MOST_NAMES)]


class Told(Private, frozen=True, kw_only=True):
    """What may be put into the chat box, now that it is recorded as sent.

    ``id``: of the entry in the ledger; ``line``: of the facts that were named.
    """

    shown: ClassVar[tuple[str, ...]] = ("id",)
    id: int
    line: str


class Line(Message, frozen=True, kw_only=True):
    """A label and a sentence."""

    label: str
    text: str


class SearchResults(Private, frozen=True, kw_only=True):
    """What a search returned, for its results to be ordered here; nothing of it is kept.

    ``results``: title and snippet of each, in the engine's order.
    """

    shown: ClassVar[tuple[str, ...]] = ("recipient",)
    recipient: Host
    query: Query
    results: Results


class Clicked(Message, frozen=True, kw_only=True):
    """A result of a query was visited: ``host`` of the page."""

    query: Query
    host: Host


class Offer(Message, frozen=True, kw_only=True):
    """A recipient says which attributes it can use, or the user wants it among the assistants.

    ``search``: where it is searched, an address of that host with ``{query}`` as the whole value of
    one parameter, such as ``https://search.example/find?q={query}``; null not to say.
    ``address``: of the whole site whose chat box the popup is to offer a line for, such as
    ``https://chat.example/``, where that is all that is wanted; null where it is not.
    """

    recipient: Host
    names: Names = field(default_factory=list)
    search: Search | None = None
    address: Search | None = None


class Allowed(Message, frozen=True, kw_only=True):
    """Whether a refusal was withdrawn, and the rule that still blocks the recipient.

    ``rule``: null where none does.
    """

    done: bool = True
    rule: str | None = None


class Frame(Message, frozen=True, kw_only=True):
    """One call of the query socket in a frame of the native host, which speaks no HTTP.

    ``id``: of the sender's choice, comes back with the answer; ``call``: the path below ``/v1/``;
    ``body``: the message that this takes, null where it takes none; ``by``: who asks, as in the
    header `ASKER`: ``user`` only where the extension itself saw that the user asks (the keyword in
    the address bar, or a form that a key or a click of theirs sent off). No page can say it.
    """

    id: Number
    call: Name
    body: Raw = field(default_factory=lambda: Raw(b"null"))
    by: Literal["user", "page"] = "page"


class RelayAnswer(Private, frozen=True, kw_only=True):
    """What a relayed call answered: its HTTP status and message, a `Fault` unless that is 200."""

    shown: ClassVar[tuple[str, ...]] = ("id", "status")
    id: Number
    status: int
    body: Raw


EntryNumber = Annotated[int, Meta(ge=1, le=10**15)]


class WhatIf(Message, frozen=True, kw_only=True):
    """A request, and what to add to the set that leaves with it and to drop from it.

    It is that of an ``entry`` of the ledger, as things stood before it, or one that is named by
    its ``recipient`` and ``query``; null as the query: the mean of all that the model knows.
    ``people``: as if the policy asked for so many people who look alike, null for its own number.
    """

    entry: EntryNumber | None = None
    people: Annotated[int, Meta(ge=1, le=10**10)] | None = None
    recipient: Host | None = None
    query: Query | None = None
    asked: Names | None = None
    add: Names = field(default_factory=list)
    drop: Names = field(default_factory=list)


class Weighed(Private, frozen=True, kw_only=True):
    """A request with the set that leaves, or left, beside the one that is weighed.

    ``decision``: what would be decided today; ``chosen``: the set that leaves by itself, or that an
    entry of the ledger carried; ``weighed``: the same with what was added and dropped; ``rows``:
    each attribute beside the rest of that set. Where nothing can be decided there are no rows.
    The sentences name what waits in the user's own words by these.
    """

    headline: str
    pool: str = ""
    decision: Decision
    chosen: Figures
    weighed: Figures
    rows: tuple[Outcome, ...] = ()
    lines: list[Line] = field(default_factory=list)


class CurveAsk(Message, frozen=True, kw_only=True):
    """Which curve: of a query, null for all of them; by the terms of a recipient, null: of any."""

    query: Query | None = None
    recipient: Host | None = None
    asked: Names | None = None
