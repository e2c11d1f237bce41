"""Changes of a policy file: settings for exactly some requests."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import reduce
from operator import getitem
from typing import Any

from agent.errors import UsageError
from policy.match import Attributes, known
from policy.read import preset, read
from policy.rules import SIGN, Layer, Policy, Rule
from policy.sections import ATTRIBUTE_KINDS, CONDITION_KINDS, TOP_KINDS, SectionReader
from policy.settings import DAEMON, SETTINGS, Value, fitting
from policy.toml_text import Document, parsed, rewritten

Entry = Value | date | Sequence[str]
LONGEST_PART, LONGEST_TITLE = 60, 180  # characters in a name, which has at most 200
SHORT = "disclose"  # the setting that an entry of `[attributes]` has where it is a text
TITLE = {"attribute": "", "topic": "about", "recipient": "for", "query": "with", "expires": "until"}
_NUMBER = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class RuleScope:
    """The requests that a rule is for; a part that is None does not restrict it.

    Each part is as a file has it. ``more``: the other conditions, and lists in place of one part.
    """

    recipient: str | None = None
    attribute: str | None = None
    query: str | None = field(default=None, repr=False)
    expires: date | None = None
    more: Mapping[str, Entry] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """The name of a new rule, unless another has it: each part printable, and cut if long."""
        titles, parts = [], self.parts()
        for key in [each for each in dict.fromkeys((*TITLE, *parts)) if each in parts]:
            part = parts[key]
            whole = ", ".join(part) if isinstance(part, list) else str(part)
            text = "".join(each if each.isprintable() else "?" for each in whole)
            cut = text if len(text) <= LONGEST_PART else f"{text[:LONGEST_PART]}..."
            titles.append(f"{TITLE.get(key, key)} {cut}".lstrip())
        return " ".join(titles)[:LONGEST_TITLE].rstrip()

    def parts(self) -> dict[str, Entry]:
        """The keys of a rule that say for what it is."""
        own = {key: getattr(self, key) for key in ("recipient", "attribute", "query", "expires")}
        return {key: part for key, part in own.items() if part is not None} | {**self.more}

    def rule(self, policy: Policy) -> Rule:
        """The rule of a policy for these requests, without settings; UsageError if none can be."""
        reader = SectionReader(policy.source, Layer.FILE)
        reader.groups, reader.lists = {**policy.groups}, {**policy.lists}
        rule = reader.rule((), "", reader.table((), self.parts(), CONDITION_KINDS))
        for each in reader.problems(""):
            raise UsageError(each.what, each.hint)
        return rule

    def names(self, attributes: Attributes, policy: Policy) -> Attributes:
        """The attributes in the scope, by whatever name; of them one that no model has."""
        rule = self.rule(policy)
        alone = [each.text for each in rule.attributes if not {*each.text} & {"*", SIGN}]
        some = {name: each for name, each in attributes.items() if rule.is_about(each.names)}
        return some or known(*alone)


def places(scope: RuleScope, policy: Policy) -> list[Rule]:
    """The rules of a file for exactly these requests; a query block is none of them."""
    parts = {key: {*texts} for key, texts in scope.rule(policy).parts.items()}
    return [
        rule
        for rule in policy.rules
        if rule.layer is Layer.FILE
        and rule.path[:1] != ("queries",)
        and {key: {*texts} for key, texts in rule.parts.items()} == parts
    ]


def checked_key(key: str) -> str:
    """The key of a setting; UsageError, naming the nearest, if it is none."""
    if key in SETTINGS:
        return key
    if key in TOP_KINDS or key in DAEMON:
        where = " under [daemon]" if key in DAEMON else ""
        hint = f"write it into the file by hand{where}; `reticent policy check` checks it"
        raise UsageError(f"{key!r} is not a setting of requests", hint)
    raise UsageError.unknown("setting", key, SETTINGS)


def checked_value(key: str, value: Value) -> Value:
    """A value as it is, words for bits as bits, if a setting can have it; else UsageError."""
    of = SETTINGS[checked_key(key)]
    try:
        fits = fitting(of, value)
    except UsageError as error:
        raise UsageError(f"{key}: {error.what}", error.hint.removesuffix(" in quotes")) from None
    return fits if isinstance(value, str) else value


def value_of(key: str, text: str) -> Value:
    """The value that a text stands for, of the kind that a setting has; else UsageError."""
    with suppress(UsageError):
        return fitting(SETTINGS[checked_key(key)], text)
    value: Value = text == "true" if text in ("true", "false") else text
    with suppress(ValueError):  # int() also refuses thousands of digits
        value = int(text) if _NUMBER.fullmatch(text) else float(text)
    return checked_value(key, value)


def edited(text: str, policy: Policy, where: RuleScope, new: Mapping[str, Value | None]) -> str:
    """The text of a policy with new settings for exactly some requests, None for those to remove.

    UsageError as `with_settings` and `without_settings`.
    """
    values = {key: value for key, value in new.items() if value is not None}
    removed = [key for key in new if key not in values]
    if values:
        text = with_settings(text, policy, where, values)
        policy = read(text, policy.source, preset)
    return without_settings(text, policy, where, removed) if removed else text


def with_settings(text: str, policy: Policy, where: RuleScope, values: Mapping[str, Value]) -> str:
    """The text of a policy with settings for exactly some requests, comments kept.

    They go to the part that is for these already, of several to one that has such a setting; else
    to the top, to `[attributes]` or into a new rule. UsageError as in `rewritten`.
    """
    present = places(where, policy)
    document: Any = parsed(text)
    fits = {*values} <= {*ATTRIBUTE_KINDS}  # an entry of `[attributes]` can have them
    if not fits:
        present = [each for each in present if each.path[:1] != ("attributes",)]
    having = [each for each in present if {*each.settings} & {*values}]
    parts, entries = where.parts(), document.setdefault("attributes", {})
    name = parts.get("attribute")
    if not parts and not having:
        document |= values
    elif present:
        path = (having or present)[0].path
        table: Any = reduce(getitem, path, document)
        if isinstance(table, dict):
            table |= values
        else:
            merged = {SHORT: table, **values}
            entries[path[-1]] = merged[SHORT] if [*merged] == [SHORT] else merged
    elif fits and parts == {"attribute": str(name)} and name not in {*TOP_KINDS, *entries}:
        entries[name] = values[SHORT] if [*values] == [SHORT] else {**values}
    else:
        title = f"nothing {where.title}" if values == {"nothing": True} else where.title
        add_rule(document, title, {**parts, **values})
    return rewritten(text, document)


def without_settings(text: str, policy: Policy, where: RuleScope, keys: Sequence[str]) -> str:
    """The text without settings for exactly some requests; what is then empty goes as well.

    UsageError where one of them is not set for these, and as in `rewritten`.
    """
    present = places(where, policy)
    document: Any = parsed(text)
    for key in keys:
        if not any(key in rule.settings for rule in present):
            what = f"the policy file does not set {key!r} for exactly this"
            raise UsageError(what, "`reticent policy show` says where each value comes from")
    for rule in present:
        removed = {*keys} & {*rule.settings}
        holder: Any = reduce(getitem, rule.path[:-1], document) if rule.path else document
        if rule.path and removed == {*rule.settings}:
            if isinstance(holder, dict):
                del holder[rule.path[-1]]
                if not holder:  # no entry of `[attributes]` is left
                    del document[rule.path[0]]
            else:
                holder[rule.path[-1]] = None
        else:
            for key in removed:
                del (holder[rule.path[-1]] if rule.path else holder)[key]
    return rewritten(text, document)


def add_rule(document: Document, title: str, parts: Mapping[str, Any]) -> None:
    """Add a rule to a document, its name the title, with a number if another has that."""
    rules = document.setdefault("rule", [])
    taken = [rule.get("name") for rule in rules if rule is not None]
    names = (title, *(f"{title} ({number})" for number in range(2, len(taken) + 3)))
    rules.append({"name": next(each for each in names if each not in taken), **parts})
