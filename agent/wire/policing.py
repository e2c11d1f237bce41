"""What the policy rules, by which rule, and changes of it."""

from datetime import date, datetime
from typing import Annotated

from msgspec import Meta, field

from agent.wire.base import MOST_NAMES, Host, Message, Name, Query

Value = str | int | float | bool
Settings = Annotated[dict[Name, Value], Meta(max_length=100)]


class Problem(Message, frozen=True, kw_only=True):
    """What is wrong with a line of the policy, or does nothing there, and how to mend it."""

    line: int
    key: str
    what: str
    hint: str


class RuleStatus(Message, frozen=True, kw_only=True):
    """A rule, as ``name`` calls it, of a file or a preset; ``line``: in that file, null: in none.

    ``conditions``: for which requests it is, empty for all; ``settings``: as TOML writes them;
    ``fired_at``: when it last decided something about a request, null: not since the vault was
    unlocked.
    """

    name: str
    source: str
    line: int | None
    conditions: dict[str, str]
    settings: dict[str, str]
    expires: date | None = None
    expired: bool = False
    fired_at: datetime | None = None
    remarks: list[Problem] = field(default_factory=list)


class SettingStatus(Message, frozen=True, kw_only=True):
    """What holds for requests that no rule is especially for, and by which rule."""

    key: str
    value: str
    rule: str
    line: int | None


class RulesStatus(Message, frozen=True, kw_only=True):
    """The policy in use, whole; ``problems``: of the file as it is now; ``since``: firing counts.

    A file with problems leaves the last good rules in use. What fired is forgotten, and counted
    from now on, while the vault is locked.
    """

    path: str
    in_use: bool
    since: datetime
    problems: list[Problem]
    effective: list[SettingStatus]
    rules: list[RuleStatus]


class AttributeStatus(Message, frozen=True, kw_only=True):
    """An attribute of the model in use, and what the policy says of it, for one recipient or any.

    ``refines``: the attribute of which it is a finer grain; ``disclose``: never, ask, auto, always
    or guarded; ``rule``: which says so; ``guard``: its weight, 0 where it is not guarded.
    """

    name: str
    title: str
    scope: str
    values: list[str]
    refines: str | None
    model: str
    disclose: str
    sensitivity_bits: float
    guard: float
    rule: str
    line: int | None


class PolicyEdit(Message, frozen=True, kw_only=True):
    """Settings to write into the policy and to take out of it, for exactly some requests.

    ``recipient``: a host or the name of a group; ``attribute``: a name or a pattern; ``query``:
    words; each null for all. ``expires``: the last day.
    """

    recipient: Host | None = None
    attribute: Name | None = None
    query: Query | None = None
    expires: date | None = None
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
    """What became of an edit; ``changed``: the file says something else than before."""

    changed: bool
    wins: list[Win]
