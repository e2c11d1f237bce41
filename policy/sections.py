"""The parts of a policy file, each as rules; single values, with a sentence for each that fails."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeVar

from agent.errors import Problem, UsageError
from policy.hosts import LOCAL, HostPattern, host_of, suffixes
from policy.match import PER_ATTRIBUTE
from policy.rules import SIGN, KeyPath, Layer, NamePattern, Rule, Words, recipient, topic_pattern
from policy.services import owned_with
from policy.settings import (
    ADDRESSES,
    DAEMON,
    DAY,
    JUDGE,
    LINE,
    PUBLIC_KEY,
    SETTINGS,
    TOGETHER,
    WHEN,
    Setting,
    checking,
    fitting,
    shown,
)
from policy.toml_text import dotted, line_of, lines_of

FORMAT = 1
PRESETS = ("balanced", "generous", "strict")
NO_PRESET = "none"  # the defaults alone, which limit nothing
MOST_LISTED = 1000  # recipients, attributes or words in one list
MOST_FOUND = 1000  # mistakes of one file
FEW = (2, 3)  # facts that may have a price together
CONDITIONS = ("recipient", "attribute", "query", "topic", "name", "expires", "except", *WHEN)
TOP = "a table goes on until the next [header]: move it to the top of the file"

Parsed = TypeVar("Parsed")
# Reads what stands at a path; None if it is wrong.
Kind = Callable[["SectionReader", KeyPath, Any], Any]


class SectionReader:
    """Reads a file's parts, and collects all that is wrong with them.

    ``layer``: of its rules; ``groups``, ``lists``: those of the file, once they are read: of
    recipients that pool what they learn, and of others.
    """

    def __init__(self, source: str, layer: Layer) -> None:
        """Begin with nothing found."""
        self.source, self.layer = source, layer
        self.groups: dict[str, tuple[HostPattern, ...]] = {}
        self.lists: dict[str, tuple[HostPattern | str, ...]] = {}
        self._mistakes: list[tuple[KeyPath, str, str]] = []

    def problems(self, text: str) -> list[Problem]:
        """List the mistakes, with their lines in the text of the file."""
        lines = lines_of(text) if self._mistakes else {}
        problems = [
            Problem(line_of(lines, path), dotted(path), what, hint)
            for path, what, hint in self._mistakes
        ]
        if len(problems) == MOST_FOUND:
            what = f"the file has {MOST_FOUND:,} mistakes or more, and no more are listed"
            problems.append(Problem(text.count("\n") + 1, "", what, "fix these first"))
        return problems

    def add(self, path: KeyPath, what: str, hint: str) -> None:
        """Note what is wrong at a key; of a file that is wrong throughout, not all."""
        if len(self._mistakes) < MOST_FOUND:
            self._mistakes.append((path, what, hint))

    def unknown(self, path: KeyPath, kind: str, name: str, names: Iterable[str]) -> None:
        """Note a name that is none of these."""
        if len(self._mistakes) < MOST_FOUND:
            error = UsageError.unknown(kind, name, names)
            self.add(path, error.what, error.hint)

    def attempt(
        self, path: KeyPath, parse: Callable[[Any], Parsed], given: object
    ) -> Parsed | None:
        """Parse a value; None, with its UsageError noted, if that fails."""
        if len(self._mistakes) == MOST_FOUND:  # looking for the nearest name takes time
            return None
        try:
            return parse(given)
        except UsageError as error:
            self.add(path, error.what, error.hint)
            return None

    def each(
        self, path: KeyPath, given: object, parse: Callable[[str], Parsed]
    ) -> tuple[Parsed, ...]:
        """Parse a text, or each text of a list."""
        read = [self.attempt(path, parse, text) for text in self.attempt(path, _texts, given) or ()]
        return tuple(one for one in read if one is not None)

    def mapping(self, path: KeyPath, given: object) -> Mapping[str, Any]:
        """A table, empty if it is none."""
        if isinstance(given, dict):
            return given
        hint = f"write [{dotted(path)}] and its keys below"
        self.add(path, f"{shown(given)} is not a table", hint)
        return {}

    def tables(self, path: KeyPath, given: object) -> list[Mapping[str, Any]]:
        """A list of tables, empty if it is none."""
        if isinstance(given, list) and all(isinstance(each, dict) for each in given):
            return given
        hint = f"write [[{dotted(path)}]] and its keys below"
        self.add(path, f"{shown(given)} is not a list of tables", hint)
        return []

    def table(self, path: KeyPath, given: object, kinds: Mapping[str, Kind]) -> dict[str, Any]:
        """The values of a table, each read as its key wants; other keys are noted."""
        values = {}
        for key, value in self.mapping(path, given).items():
            place = (*path, key)
            if key in kinds:
                values[key] = kinds[key](self, place, value)
            elif key in TOP_KINDS or key in DAEMON:
                hint = "move it under [daemon]" if key in DAEMON else TOP
                self.add(place, f"{key!r} does not belong here", hint)
            elif isinstance(value, str) and value in SETTINGS["disclose"].choices:
                hint = f"write {dotted((key,))} = {value!r} under [attributes]"
                if path:
                    hint = f"write attribute = {key!r} and disclose = {value!r}"
                self.add(place, f"{key!r} is not a key here; is it a fact?", hint)
            else:
                self.unknown(place, "key", key, kinds)
        return values

    def entry(self, path: KeyPath, given: Any, kinds: Mapping[str, Kind]) -> dict[str, Any]:  # noqa: ANN401  (a table)
        """The values of a table that makes a rule."""
        if given.keys() <= {*CONDITIONS} & {*kinds}:
            self.add(path, "nothing is set", "say what the rule does, such as disclose = 'never'")
        return self.table(path, given, kinds)

    def rule(self, path: KeyPath, name: str, values: Mapping[str, Any]) -> Rule:
        """A rule of this file; one of a preset is called after it."""
        if self.layer is Layer.PRESET:
            name = f"{self.source}, {name}" if path else self.source
        recipients = values.get("recipient", ())
        return Rule(
            name,
            MappingProxyType(
                {key: each for key, each in values.items() if key in SETTINGS and each is not None}
            ),
            self.layer,
            self.source,
            path,
            recipients=tuple(each for each in recipients if isinstance(each, HostPattern)),
            groups=tuple(each for each in recipients if isinstance(each, str)),
            attributes=values.get("attribute", ()),
            queries=values.get("query", ()),
            topics=values.get("topic", ()),
            expires=values.get("expires"),
            excepted=values.get("except", ()),
            hours=values.get("hours") or "",
            days=values.get("days", ()),
            doors=values.get("door", ()),
        )


def _texts(given: object) -> list[str]:
    listed = given if isinstance(given, list) else [given]
    words = [each for each in listed if isinstance(each, str)]
    if 0 < len(words) == len(listed) <= MOST_LISTED:
        return words
    what = f"{shown(given)} is not text, nor a list of up to {MOST_LISTED:,} texts"
    if given == []:
        what = "the list is empty"
    raise UsageError(what, 'write "one" or ["one", "another"], or leave it out')


def _note_places(
    reader: SectionReader, path: KeyPath, rule: Rule, given: Mapping[str, Any]
) -> None:
    """Note an address that is not of the recipients of its rule, and an assistant without one."""

    def check(address: str) -> None:
        host = host_of(address.replace("{query}", "q"))
        if not any(pattern.matches(host) for pattern in rule.recipients):
            hint = f"write recipient = {host!r}, or another address"
            raise UsageError(f"{host} is not a recipient of this rule", hint)

    for key in ADDRESSES & rule.settings.keys():
        reader.attempt((*path, key), check, rule.settings[key])
    if rule.settings.get("assistant") is True and "address" not in given:
        hint = "write the address beside it, such as address = 'https://chat.example/'"
        reader.add((*path, "assistant"), "nothing says where the assistant is", hint)
    if "address" in given and "assistant" not in given:
        hint = "write assistant = true beside it"
        reader.add((*path, "address"), "nothing says what is there", hint)


def check_carry(reader: SectionReader, rule: Rule) -> None:
    """Note where a rule says how a search carries facts, and names no search."""
    if rule.settings.get("carry", "header") != "header" and "search" not in rule.settings:
        hint = "write search = 'https://search.example/find?q={query}' beside it, or leave it out"
        reader.add((*rule.path, "carry"), "this rule has no search", hint)


def _member(text: str) -> HostPattern:
    """A member of a group, widened to all that its owner has registered."""
    member = HostPattern.parse(text)
    return member if member.site is None else HostPattern(member.site)


def _groups(reader: SectionReader, path: KeyPath, given: object) -> None:
    """Read the groups, and note those that have a recipient in common."""
    groups: dict[str, tuple[HostPattern, ...]] = {}
    named, above = dict[str, str](), dict[str, str]()  # the first group that has, or has below it
    for name, members in reader.mapping(path, given).items():
        place = (*path, name)
        reader.attempt(place, _GROUP_NAME, name)
        groups[name] = reader.each(place, members, _member)
        shared: dict[str, HostPattern] = {}
        owned = (map(HostPattern, owned_with(each.key)) for each in groups[name] if each.site)
        for member in (*groups[name], *chain.from_iterable(owned)):
            domains = suffixes(member.key)
            for other in (*map(named.get, domains), above.get(member.key)):
                if other is not None and other != name:
                    shared.setdefault(other, member)
            named.setdefault(member.key, name)
            above.update((each, name) for each in domains if each not in above)
        for other, member in shared.items():
            what = f"{member.text} is in {other!r} as well"
            reader.add(place, what, "put it into one group, or make the two groups one")
    reader.groups = groups


def _lists(reader: SectionReader, path: KeyPath, given: object) -> None:
    """Read the lists of recipients that do not share what they learn."""
    for name, members in reader.mapping(path, given).items():
        reader.attempt((*path, name), _GROUP_NAME, name)
        if name in reader.groups:
            reader.add((*path, name), f"{name!r} is a group as well", "give one another name")
        reader.lists[name] = reader.each((*path, name), members, HostPattern.parse)


def _contexts(reader: SectionReader, path: KeyPath, given: object) -> list[Rule]:
    """Each context, as the rule that withholds its attributes from all but its recipients."""
    rules = []
    for name, entry in reader.mapping(path, given).items():
        place = (*path, name)
        values = {"disclose": "never", **reader.table(place, entry, CONTEXT_KINDS)}
        for key in CONTEXT_KINDS.keys() - values.keys():
            reader.add(place, f"{key!r} is missing", f"write {key} = [...] below its header")
        parts = {"attribute": values.get("attributes", ()), "except": values.get("recipients", ())}
        rules.append(reader.rule(place, dotted(place), {**values, **parts}))
    return rules


def _attributes(reader: SectionReader, path: KeyPath, given: object) -> list[Rule]:
    """A rule for each entry of ``[attributes]``."""
    rules = []
    for text, entry in reader.mapping(path, given).items():
        place = (*path, text)
        if text in TOP_KINDS:
            reader.add(place, f"{text!r} is not an attribute", TOP)
            continue
        patterns = reader.each(place, text, NamePattern.parse)
        if isinstance(entry, dict):
            values = reader.entry(place, entry, ATTRIBUTE_KINDS)
        else:
            values = {"disclose": SETTING_KINDS["disclose"](reader, place, entry)}
        rules.append(reader.rule(place, dotted(place), {**values, "attribute": patterns}))
    return rules


def _queries(reader: SectionReader, path: KeyPath, given: object) -> list[Rule]:
    """The rules that ``[queries]`` stands for."""
    listed = reader.table(path, given, {key: RULE_KINDS[part] for key, part in BLOCKS.items()})
    values = {"nothing": True, "except": listed.pop("except", ())}
    return [
        reader.rule((*path, key), f"queries.{key}", {**values, BLOCKS[key]: each})
        for key, each in listed.items()
    ]


def _apart(settings: Mapping[str, Setting], *, whole: bool = False) -> Kind:
    """Make what reads a table of settings that no preset has; ``whole``: all must be there."""

    def read(reader: SectionReader, path: KeyPath, given: object) -> dict[str, Any]:
        if given and reader.layer is Layer.PRESET:
            reader.add(path, f"a preset cannot have [{path[0]}]", "leave it out")
        values = reader.table(path, given, _settings(settings))
        for key in [each for each in settings if whole and each not in values]:
            reader.add(path, f"{key!r} is missing", f"{key} is {settings[key].demand}")
        return {key: each for key, each in values.items() if each is not None}

    return read


def _rules(reader: SectionReader, path: KeyPath, given: object) -> list[Rule]:
    """Each ``[[rule]]``, or each ``[[test]]``."""
    rules: list[Rule] = []
    names: set[str] = set()
    kinds = RULE_KINDS if path == ("rule",) else TEST_KINDS
    for number, entry in enumerate(reader.tables(path, given)):
        place = (*path, number)
        values = reader.entry(place, entry, kinds)
        for part, (several, about) in MISPLACED.items():
            for key in entry if part in entry else ():
                if key in SETTINGS and {key, SETTINGS[key].about} & {*about}:
                    hint = f"leave out {part}, or make it a rule of its own"
                    reader.add((*place, key), f"a rule for some {several} cannot set it", hint)
        when = (values.get("hours"), *values.get("days", ()), *values.get("door", ()))
        several = ", ".join(filter(None, when))  # which say why something is, or is not, sent
        name = values.get("name", f"{dotted(path)} {number + 1}{several and f' ({several})'}")
        if name and name in names:
            what = f"another {dotted(path)} is called {name!r}"
            reader.add((*place, "name"), what, f"give each {dotted(path)} a name of its own")
        names.add(name)
        rules.append(reader.rule(place, name or "", values))
        check_carry(reader, rules[-1])
        _note_places(reader, place, rules[-1], entry)
    return rules


def _together(reader: SectionReader, path: KeyPath, given: object) -> list[Rule]:
    """Each ``[[together]]``, as a rule on its facts, with the price as its setting."""
    rules = []
    for number, entry in enumerate(reader.tables(path, given)):
        place = (*path, number)
        values = reader.table(place, entry, TOGETHER_KINDS)
        for key in sorted(TOGETHER_KINDS.keys() - entry.keys()):
            example = '["employer_kind", "place"]' if key == "facts" else "1.5"
            reader.add(place, f"{key!r} is missing", f"write {key} = {example} below its header")
        facts = values.get("facts", ())
        names = {each.text for each in facts if each.text.isidentifier()}  # no pattern, no family
        if facts and not len(names) == len(facts) in FEW:
            hint = 'write names, as in facts = ["employer_kind", "place"]'
            reader.add((*place, "facts"), "these are not two or three single facts", hint)
        rule = reader.rule(place, f"{dotted(path)} {number + 1}", {"attribute": facts})
        settings = {key: each for key, each in values.items() if key in TOGETHER}
        rules.append(replace(rule, settings=MappingProxyType(settings)))
    return rules


def _preset(reader: SectionReader, path: KeyPath, given: object) -> str | None:
    """The name of the preset to start from."""
    if reader.layer is Layer.PRESET:
        reader.add(path, "a preset cannot start from another one", "leave it out")
    elif not isinstance(given, str):
        hint = f"write one of {', '.join((*PRESETS, NO_PRESET))} in quotes"
        reader.add(path, f"{shown(given)} is not a preset", hint)
    elif given in (*PRESETS, NO_PRESET):
        return given
    else:
        reader.unknown(path, "preset", given, (*PRESETS, NO_PRESET))
    return None


def _recipients(
    reader: SectionReader, path: KeyPath, given: object
) -> tuple[HostPattern | str, ...]:
    """The patterns of hosts, those of lists among them, and the names of groups and kinds."""

    def members(text: str) -> tuple[HostPattern | str, ...]:
        listed = reader.lists.get(text.strip().removeprefix(SIGN))
        return listed or (recipient(text, {*reader.groups, *reader.lists}),)

    return (*chain.from_iterable(reader.each(path, given, members)),)


def _one(parse: Callable[[Any], object]) -> Kind:
    return lambda reader, path, given: reader.attempt(path, parse, given)


def _some(parse: Callable[[str], object]) -> Kind:
    return lambda reader, path, given: reader.each(path, given, parse)


def _settings(table: Mapping[str, Setting]) -> dict[str, Kind]:
    """How to read the settings of a table."""
    return {key: _one(partial(fitting, each)) for key, each in table.items()}


_GROUP_NAME = checking(
    lambda given: re.fullmatch("[a-z][a-z0-9_-]*", given) and given != LOCAL,
    "a group name",
    "a name has small letters, digits, _ and -, and is not localhost",
)
_FORMAT = checking(
    lambda given: type(given) is int and given == FORMAT,
    "a format that this version reads",
    f"write format = {FORMAT}, or use a newer version of reticent",
)
SETTING_KINDS = _settings(SETTINGS)
ATTRIBUTE_KINDS = {key: SETTING_KINDS[key] for key in PER_ATTRIBUTE} | {"expires": _one(DAY)}
# Keys of `[queries]`, by those of a rule.
BLOCKS = {"block": "query", "block_topics": "topic", "except": "except"}
RULE_KINDS: dict[str, Kind] = {
    "recipient": _recipients,
    "attribute": _some(NamePattern.parse),
    "query": _some(Words.parse),
    "topic": _some(topic_pattern),
    "name": _one(LINE),
    "expires": _one(DAY),
    "except": _recipients,
    "hours": _one(partial(fitting, WHEN["hours"])),
    "days": _some(partial(fitting, WHEN["days"])),
    "door": _some(partial(fitting, WHEN["door"])),
    **SETTING_KINDS,
}
CONDITION_KINDS = {key: RULE_KINDS[key] for key in CONDITIONS if key != "name"}
UNTESTED = {"expires", "except"}
TEST_KINDS = {key: each for key, each in RULE_KINDS.items() if key not in UNTESTED}
CONTEXT_KINDS = {"attributes": RULE_KINDS["attribute"], "recipients": _recipients}
TOGETHER_KINDS = {"facts": _some(NamePattern.parse), **_settings(TOGETHER)}
TOP_KINDS: dict[str, Kind] = {
    "format": _one(_FORMAT),
    "preset": _preset,
    "trusted_keys": _some(PUBLIC_KEY),
    "attributes": _attributes,
    "groups": _groups,
    "lists": _lists,
    "contexts": _contexts,
    "queries": _queries,
    "daemon": _apart(DAEMON),
    "judge": _apart(JUDGE, whole=True),
    "rule": _rules,
    "test": _rules,
    "together": _together,
    **SETTING_KINDS,
}
# What a rule with such a part cannot set, by its key or what it is about, and what the part names.
MISPLACED = {
    "attribute": ("attributes", ("request", "recipient")),
    "query": ("queries", ("recipient",)),
    "topic": ("topics", ("recipient",)),
    "hours": ("hours", ("recipient",)),
    "days": ("days", ("recipient",)),
    "door": ("doors", ("recipient",)),
}
