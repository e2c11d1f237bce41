"""What the policy rules and changes of it, and what waits for the user's word."""

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, field

from agent.decision.values import Reading
from agent.wire.base import MOST_DAYS, MOST_NAMES, Host, Message, Name, Names, Private, Query

REPLAYED = 50  # latest requests that a policy is tried on: each is decided anew
Lasting = Literal["once", "days", "always"]
About = Literal["recipient", "everyone", "family"]
Disclose = Literal["never", "ask", "auto", "always"]


Value = str | int | float | bool


Settings = Annotated[dict[Name, Value], Meta(max_length=100)]
Conditions = Annotated[dict[Name, Query | Names], Meta(max_length=100)]


class RuleRemark(Message, frozen=True, kw_only=True):
    """A mistake in a line of the policy, or a line without effect, and how to fix it."""

    line: int
    key: str
    what: str
    hint: str


class RuleStatus(Message, frozen=True, kw_only=True):
    """A rule, as ``name`` calls it, of a file or a preset; ``line``: in that file, null: in none.

    ``conditions``: for which requests it is, empty for all; ``settings``: as TOML writes them.
    """

    name: str
    source: str
    line: int | None
    conditions: dict[str, str]
    settings: dict[str, str]
    expires: date | None = None
    expired: bool = False
    remarks: list[RuleRemark] = field(default_factory=list)


class SettingStatus(Message, frozen=True, kw_only=True):
    """What holds for requests that no rule is especially for, and by which rule."""

    key: str
    value: str
    rule: str
    line: int | None


class RulesStatus(Message, frozen=True, kw_only=True):
    """The policy in use, whole; ``problems``: of the file as it is now.

    A file with problems leaves the last good rules in use.
    """

    path: str
    in_use: bool
    problems: list[RuleRemark]
    effective: list[SettingStatus] = field(default_factory=list)
    rules: list[RuleStatus] = field(default_factory=list)


class AttributeStatus(Message, frozen=True, kw_only=True):
    """An attribute of the model in use, and what the policy says of it, for one recipient or any.

    ``kind``: what it is about, under the name that models share; ``disclose``: never, ask, auto,
    always or guarded; ``rule``: which says so; ``guard``: its weight, 0 where it is not guarded;
    ``shared``: the name of the first fact of its kind, where a person may have several; ``also``:
    what other models call it.
    """

    name: str
    kind: str
    title: str
    scope: str
    values: list[str]
    model: str
    disclose: str
    sensitivity_bits: float
    guard: float
    rule: str
    line: int | None
    shared: str = ""
    also: list[str] = field(default_factory=list)


class PolicyEdit(Message, frozen=True, kw_only=True):
    """Settings to write into the policy and to take out of it, for exactly some requests.

    ``recipient``: a host or the name of a group; ``attribute``: a name or a pattern; ``query``:
    words; each null for all. ``expires``: the last day. ``more``: the other conditions of a rule,
    and lists in place of one name, as a file has them. ``dry_run``: nothing is written.
    """

    recipient: Host | None = None
    attribute: Name | None = None
    query: Query | None = None
    expires: date | None = None
    more: Conditions = field(default_factory=dict)
    dry_run: bool = False
    set: Settings = field(default_factory=dict)
    unset: Annotated[list[Name], Meta(max_length=MOST_NAMES)] = field(default_factory=list)


class Win(Message, frozen=True, kw_only=True):
    """A setting that is still decided otherwise, for these attributes, by another rule."""

    key: str
    value: Value
    names: list[str]
    rule: str
    line: int | None


class Edited(Message, frozen=True, kw_only=True):
    """What became of an edit; ``changed``: the file says something else than before.

    In a dry run, ``replayed``: how many of the latest requests were decided anew, and ``differ``:
    how many of them would have carried something else.
    """

    changed: bool
    wins: list[Win]
    replayed: int = 0
    differ: int = 0


class Review(Private, frozen=True, kw_only=True):
    """What waits for the user: attributes ruled `ask`, an offer, what a text means, or a fact.

    ``more_bits``, ``people_left``: what they would add, and who would be left with them;
    ``search``: where a recipient that offers says that it is searched, null where it does not;
    ``address``: of an assistant that is to be listed, which then names no attributes, else null;
    ``model``: whose names these are, empty for an offer; ``topic``: what ``query`` is said to mean,
    else null; of a fact to remember ``query`` is the text. ``families``: those of the names, as a
    policy calls them, of which only a preset says that they wait: one word settles them for
    ``whom``, all recipients of this kind. ``raised``: whether the user is notified of it. ``own``:
    the words of facts in own words, by their names.
    """

    shown: ClassVar[tuple[str, ...]] = ("id", "kind", "names")
    id: int
    kind: Literal["ask", "offer", "means", "fact"]
    at: datetime
    recipient: str
    pool: str
    names: list[str]
    query: str = ""
    more_bits: float | None = None
    people_left: float | None = None
    search: str | None = None
    address: str | None = None
    model: str = ""
    topic: Reading | None = None
    families: list[str] = field(default_factory=list)
    whom: str = ""
    raised: bool = False
    own: dict[str, str] = field(default_factory=dict)


class Word(Message, frozen=True, kw_only=True):
    """What the user says of attributes, those of a review or any: from the next request on.

    ``disclose``: as a policy has it; of what waits "auto" or "never"; ``about``: family for all
    families of a review and all recipients of its kind, for good; ``names``: null for all of a
    review; ``recipient``: for whom, with those that it pools with, ignored if ``about`` is
    everyone; of a review the pool as it was shown, null not to say: the word is refused if the
    review is about another; ``days``: for a word that expires.
    """

    disclose: Disclose
    lasting: Lasting = "once"
    about: About = "recipient"
    names: Names | None = None
    recipient: Host | None = None
    days: Annotated[int, Meta(ge=1, le=MOST_DAYS)] | None = None


class Ruled(Message, frozen=True, kw_only=True):
    """What became of a verdict.

    ``written``: the rule of the policy that says so, null where none does; ``without_effect``:
    the names that it does not reach, each ``decided_by`` the rule that wins.
    """

    written: str | None
    without_effect: list[str]
    decided_by: list[str] = field(default_factory=list)
