"""Settings put into a policy for exactly some requests, or taken out, and what overrides them."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from agent.errors import UsageError
from policy import sections
from policy.edit import Entry, free_name, with_attribute, with_keys, with_rule, without
from policy.hosts import ANYBODY, HostPattern
from policy.match import Rulebook, Ruling
from policy.precedence import GUARDED, may
from policy.read import with_typo_guard
from policy.rules import Layer, NamePattern, Path, Policy, Rule, Words, is_group
from policy.sections import ATTRIBUTE_KEYS, PARTS, Findings
from policy.settings import DAEMON, SETTINGS, Value

TOP: Path = ()
LONGEST_PART = 60  # characters in a name, which has at most 200
_NUMBER = re.compile(r"[+-]?[0-9]+")
SHORT = "disclose"  # what an entry of `[attributes]` says that is a text


@dataclass(frozen=True, slots=True)
class Scope:
    """The requests that a rule is for; a part that is None does not restrict it.

    Each part is as `policy` has it: canonical, ``recipient`` a host pattern or a group.
    """

    recipient: str | None = None
    attribute: str | None = None
    query: str | None = field(default=None, repr=False)
    expires: date | None = None

    @property
    def title(self) -> str:
        """What a new rule is called, unless another is called so."""
        parts = [
            "" if self.attribute is None else _short(self.attribute),
            "" if self.recipient is None else f"for {_short(self.recipient)}",
            "" if self.query is None else f"with {_short(self.query)}",
            "" if self.expires is None else f"until {self.expires}",
        ]
        return " ".join(part for part in parts if part)

    def parts(self) -> dict[str, Entry]:
        """Return the keys of a rule that say for what it is."""
        parts = {
            "recipient": self.recipient,
            "attribute": self.attribute,
            "query": self.query,
            "expires": self.expires,
        }
        return {key: part for key, part in parts.items() if part is not None}

    def host(self, policy: Policy) -> str:
        """Return a recipient that is meant; somebody unheard of where all are."""
        if self.recipient is None:
            return ANYBODY
        named = is_group(self.recipient)
        pattern = policy.groups[self.recipient][0] if named else HostPattern.parse(self.recipient)
        return pattern.host

    def words(self) -> str:
        """Return a query that is meant."""
        return "" if self.query is None else self.query.replace("*", "")

    def names(self, known: Iterable[str]) -> list[str]:
        """Return the attributes that are meant."""
        if self.attribute is None:
            return [*known]
        pattern = NamePattern.parse(self.attribute)
        plain = () if "*" in self.attribute else (self.attribute,)
        return [each for each in dict.fromkeys((*known, *plain)) if pattern.matches(each)]

    def is_of(self, rule: Rule) -> bool:
        """Say whether a rule is for exactly these requests."""
        recipients = {*(each.text for each in rule.recipients), *rule.groups}
        attributes = {each.text for each in rule.attributes}
        found = (recipients, attributes, {each.text for each in rule.queries}, {rule.expires})
        own = (self.recipient, self.attribute, self.query)
        return found == (*({part} - {None} for part in own), {self.expires})


def scope(
    recipient: str | None, attribute: str | None, query: str | None, expires: date | None
) -> Scope:
    """Return the scope that options name; UsageError where one of them cannot be meant."""
    if recipient is not None:
        recipient = recipient.strip()
        recipient = recipient if is_group(recipient) else HostPattern.parse(recipient).text
    if attribute is not None:
        attribute = NamePattern.parse(attribute.strip()).text
    if query is not None:
        query = Words.parse(query).text
    return Scope(recipient, attribute, query, expires)


def check_day(scope: Scope, today: date) -> None:
    """Raise UsageError where what is set would be over before it holds."""
    if scope.expires is not None and scope.expires < today:
        raise UsageError(f"{scope.expires} is over, so this would never hold", "name a later day")


def check_group(scope: Scope, policy: Policy) -> None:
    """Raise UsageError where a group is named that a policy does not have."""
    name = scope.recipient
    if name is not None and is_group(name) and name not in policy.groups:
        raise UsageError.unknown("group", name, policy.groups)


def places(scope: Scope, policy: Policy) -> list[Rule]:
    """Return the rules of a file for exactly these requests; a query block is none of them."""
    return [
        rule
        for rule in policy.rules
        if rule.layer is Layer.FILE and rule.path[:1] != ("queries",) and scope.is_of(rule)
    ]


def is_entry(scope: Scope, keys: Iterable[str]) -> bool:
    """Say whether an entry of `[attributes]` can say this, as it then should."""
    name = scope.attribute
    if name is None or name in SETTINGS or name in PARTS:
        return False
    return scope == Scope(attribute=name) and {*keys} <= {*ATTRIBUTE_KEYS}


def _short(text: str) -> str:
    """Return a part of a name: of printable characters, and cut where it is long."""
    plain = "".join(each if each.isprintable() else "?" for each in text)
    return plain if len(plain) <= LONGEST_PART else f"{plain[:LONGEST_PART]}..."


def known(key: str) -> str:
    """Return the key of a setting; UsageError, naming the nearest, if it is none."""
    if key in SETTINGS:
        return key
    if key in PARTS or key in DAEMON:
        hint = "write it into the file by hand; `reticent policy check` checks it"
        raise UsageError(f"{key!r} is no setting of requests", hint)
    raise UsageError.unknown("setting", key, SETTINGS)


def value_of(key: str, text: str) -> Value:
    """Return the value that a text stands for, of the kind that a setting has; else UsageError."""
    of = SETTINGS[known(key)]
    if sections.read_setting(Findings(), (key,), of, text) is not None:
        return text
    return fitting(key, _plain(text))


def fitting(key: str, value: Value) -> Value:
    """Return a value that a setting can have; else UsageError."""
    found = Findings()
    if sections.read_setting(found, (key,), SETTINGS[known(key)], value) is None:
        (problem,) = found.problems("")
        raise UsageError(f"{key}: {problem.what}", problem.hint.removesuffix(" in quotes"))
    return value


def with_settings(text: str, policy: Policy, where: Scope, values: Mapping[str, Value]) -> str:
    """Return the text of a policy with settings for exactly some requests, comments kept.

    They go to the part that is for these already, of several to one that has such a setting; else
    to the top, to `[attributes]` or into a new rule. UsageError as in `policy.edit`.
    """
    check_group(where, policy)
    found = places(where, policy)
    if not {*values} <= {*ATTRIBUTE_KEYS}:
        found = [each for each in found if each.path[:1] != ("attributes",)]
    having = [each for each in found if {*each.settings} & {*values}]
    if where == Scope() and not having:
        return with_keys(text, TOP, values)
    if found:
        return _at(text, (having or found)[0].path, values)
    if is_entry(where, values) and where.attribute not in _document(text).get("attributes", {}):
        return with_attribute(text, str(where.attribute), _entry({}, values))
    return with_rule(text, {"name": free_name(text, where.title), **where.parts(), **values})


def without_settings(text: str, policy: Policy, where: Scope, keys: Sequence[str]) -> str:
    """Return the text without settings for exactly some requests; what is then empty goes as well.

    UsageError where one of them is not set for these, and as in `policy.edit`.
    """
    check_group(where, policy)
    found = places(where, policy)
    for key in keys:
        if not any(key in rule.settings for rule in found):
            what = f"the policy file does not set {key!r} for exactly this"
            raise UsageError(what, "`reticent policy show` says where each value comes from")
    return without(text, *(path for rule in found for path in _gone(rule, keys)))


def _at(text: str, path: Path, values: Mapping[str, Value]) -> str:
    """Return the text with settings in a part that is there."""
    there = reduce(getitem, path, _document(text))
    if isinstance(there, dict):
        return with_keys(text, path, values)
    return with_attribute(text, str(path[-1]), _entry({SHORT: there}, values))


def _entry(before: Mapping[str, Value], values: Mapping[str, Value]) -> str | dict[str, Value]:
    """Return what `[attributes]` says of a name, as a text where that can say it."""
    entry = {**before, **values}
    return str(entry[SHORT]) if [*entry] == [SHORT] else entry


def _gone(rule: Rule, keys: Sequence[str]) -> list[Path]:
    """Return the paths that go where a rule loses settings: its own, if it has no other."""
    had = [key for key in keys if key in rule.settings]
    if rule.path != TOP and {*rule.settings} == {*had}:
        return [rule.path]
    return [(*rule.path, key) for key in had]


def _document(text: str) -> Any:  # noqa: ANN401  (any TOML)
    return tomllib.loads(text)


def _plain(text: str) -> Value:
    """Return the number, or the truth value, that a text stands for; else the text."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text) if _NUMBER.fullmatch(text) else float(text)
    except ValueError:  # int() takes no thousands of digits
        return text


class Win(NamedTuple):
    """A setting that another rule decides; ``names``: the attributes of which it does, if of any.

    ``key``: of what is decided, which may be a guard over what was to leave.
    """

    key: str
    value: Value
    rule: Rule
    names: tuple[str, ...] = ()


def wins(
    policy: Policy, where: Scope, values: Mapping[str, Value], names: Sequence[str], today: date
) -> tuple[Win, ...]:
    """Return what decides otherwise about requests of a scope: rules as specific, or more so.

    ``names``: the attributes of the model.
    """
    meant = where.names(names)
    ruling = Rulebook(with_typo_guard(policy, names), meant).match(
        where.host(policy), where.words(), today
    )
    return tuple(win for key, value in values.items() for win in _wins(ruling, key, value))


def _wins(ruling: Ruling, key: str, value: Value) -> Iterator[Win]:
    if SETTINGS[key].about != "attribute":
        verdict = ruling.settings[key]
        if verdict.value != value:
            yield Win(key, verdict.value, verdict.rule)
        return
    found: dict[tuple[str, Value, Rule], list[str]] = {}
    for name, verdicts in ruling.attributes.items():
        decides = key
        if key == "disclose" and value != "never" and may(verdicts) == GUARDED:
            decides = "guard"
        verdict = verdicts[decides]
        if decides != key or verdict.value != value:
            found.setdefault((decides, verdict.value, verdict.rule), []).append(name)
    for (decides, decided, rule), names in found.items():
        yield Win(decides, decided, rule, tuple(names))
