"""The parts of a policy file, each as rules; single values, with a sentence for each that fails."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar

import msgspec

from agent.errors import Problem, UsageError, nearest
from policy.hosts import LOCAL, HostPattern, host_of, site_of, suffixes
from policy.rules import Groups, Layer, NamePattern, Path, Rule, Words, frozen, is_group
from policy.settings import DAEMON, SETTINGS, DaemonSettings, Risk, Setting, Share, Value
from policy.toml_edit import line_of, lines_of

MOST_LISTED = 1000  # recipients, attributes or words in one list
MOST_FOUND = 1000  # mistakes of one file
LONGEST, CUT = 60, "..."  # characters of a value in a sentence
LARGE = 1e9
PER_CENT = 100
HUGE = 4000  # bits: Python refuses to write larger numbers in decimal
PARTS = ("format", "preset", "trusted_keys", "attributes", "groups", "queries", "daemon", "rule")
TOP = "a table goes on until the next [header]: move it to the top of the file"
SELECTORS = ("recipient", "attribute", "query")
RULE_KEYS = (*SELECTORS, "name", "expires", *SETTINGS)
ATTRIBUTE_KEYS = (*(key for key, each in SETTINGS.items() if each.about == "attribute"), "expires")
LONGEST_NAME = 200
_GROUP_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_SET_SOMETHING = "say what the rule does, such as disclose = 'never'"
_OWN_RULE = "leave out {}, or make it a rule of its own"


Parsed = TypeVar("Parsed")


class Findings:
    """What is wrong with a file, as it is found."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._found: list[tuple[Path, str, str]] = []

    def __bool__(self) -> bool:
        """Say whether anything was found."""
        return bool(self._found)

    def add(self, path: Path, what: str, hint: str) -> None:
        """Note what is wrong at a key; of a file that is wrong throughout, not all."""
        if len(self._found) < MOST_FOUND:
            self._found.append((path, what, hint))

    def unknown(self, path: Path, kind: str, name: str, names: list[str]) -> None:
        """Note a name that is none of these."""
        if len(self._found) < MOST_FOUND:  # to look for the nearest takes its time
            error = UsageError.unknown(kind, name, names)
            self.add(path, error.what, error.hint)

    def places(self) -> set[Path]:
        """Return the rules, attributes and other such parts in which something was found."""
        return {path[:2] for path, _, _ in self._found}

    def problems(self, text: str) -> list[Problem]:
        """Return what was found with its lines in the text of the file."""
        lines = lines_of(text)
        found = [
            Problem(line_of(lines, path), dotted(path), what, hint)
            for path, what, hint in self._found
        ]
        if len(found) == MOST_FOUND:
            what = f"the file has {MOST_FOUND:,} mistakes or more, and no more are listed"
            found.append(Problem(text.count("\n") + 1, "", what, "mend these first"))
        return found


def dotted(path: Path) -> str:
    """Return a key as a person writes it, rules counted from 1."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            plain = part.replace("_", "").replace("-", "").isalnum() and part.isascii()
            quoted = part if plain else json.dumps(part, ensure_ascii=not part.isprintable())
            text += ("." if text else "") + quoted
    return text


def read_setting(found: Findings, path: Path, of: Setting, given: object) -> Value | None:
    """Return the value of a setting; None, with a finding, if it cannot have this one."""
    try:
        value: Value = msgspec.convert(given, of.kind)
    except (msgspec.ValidationError, OverflowError):
        found.add(path, *_refusal(of, given))
        return None
    return value


def read_settings(found: Findings, path: Path, given: Mapping[str, Any]) -> dict[str, Value]:
    """Return the settings of a table whose keys are all settings."""
    read = {
        key: read_setting(found, (*path, key), SETTINGS[key], each) for key, each in given.items()
    }
    return {key: value for key, value in read.items() if value is not None}


def read_texts(found: Findings, path: Path, given: object) -> list[str]:
    """Return a text or a list of them as a list, empty with a finding if it is neither."""
    listed = given if isinstance(given, list) else [given]
    words = [each for each in listed if isinstance(each, str)]
    if 0 < len(words) == len(listed) <= MOST_LISTED:
        return words
    what = f"{shown(given)} is no text, and no list of up to {MOST_LISTED} texts"
    if given == []:
        what = "the list is empty"
    found.add(path, what, 'write "one" or ["one", "another"], or leave it out')
    return []


def read_parsed(
    found: Findings, path: Path, given: object, parse: Callable[[str], Parsed]
) -> tuple[Parsed, ...]:
    """Return each text of a list as ``parse`` reads it; what it refuses is a finding."""
    results = []
    for text in read_texts(found, path, given):
        try:
            results.append(parse(text))
        except UsageError as error:
            found.add(path, error.what, error.hint)
    return tuple(results)


def read_table(found: Findings, path: Path, given: object) -> Mapping[str, Any]:
    """Return a table, empty with a finding if it is none."""
    if isinstance(given, dict):
        return given
    found.add(path, f"{shown(given)} is no table", f"write [{dotted(path)}] and its keys below")
    return {}


def read_date(found: Findings, path: Path, given: object) -> date | None:
    """Return a date; None, with a finding, if it is none."""
    if isinstance(given, date) and not isinstance(given, datetime):
        return given
    found.add(path, f"{shown(given)} is no date", "write it as 2027-03-01, without quotes")
    return None


def shown(given: object) -> str:
    """Return a value as it may stand in a sentence, cut where it is long."""
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, dict):
        return "a table"
    if isinstance(given, list):
        return "a list"
    if isinstance(given, int) and given.bit_length() > HUGE:
        return "a huge number"
    text = repr(given) if isinstance(given, str) else str(given)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - len(CUT)]}{CUT}"


def _way_out(of: Setting, given: object) -> str:
    """Return how to write what was probably meant."""
    if isinstance(given, str) and given.strip().replace(".", "", 1).isdigit():
        return f"write {given.strip()} without quotes"
    counts = "whole" in of.demand
    if counts and isinstance(given, float) and given.is_integer() and 0 <= given < LARGE:
        return f"write {int(given)} without decimals"
    of_share = of.kind in (Share, Risk) and not isinstance(given, bool)
    if of_share and isinstance(given, float | int) and 1 <= given <= PER_CENT:
        return f"for {given:g} % write {given / PER_CENT:g}"
    return f"write {of.key} = {of.demand}" if of.key == "search" else f"{of.key} is {of.demand}"


def _refusal(of: Setting, given: object) -> tuple[str, str]:
    if not of.choices:
        return f"{shown(given)} is not {of.demand}", _way_out(of, given)
    near = nearest(given, of.closers) if isinstance(given, str) else None
    hint = f"did you mean {near!r}?" if near else "write one of them in quotes"
    return f"{shown(given)} is not one of {', '.join(of.choices)}", hint


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a file needs at every turn."""

    found: Findings
    source: str
    layer: Layer
    groups: Groups

    def rule(self, name: str, path: Path, settings: Mapping[str, Value], **parts: Any) -> Rule:  # noqa: ANN401  (of any field)
        """Return a rule of this file; one of a preset is called after it."""
        if self.layer is Layer.PRESET:
            name = f"{self.source}, {name}" if path else self.source
        return Rule(name, frozen(settings), self.layer, self.source, path, **parts)

    def known(self, path: Path, given: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
        """Return what is given under known keys, with a finding for every other key."""
        for key in given:
            if key in keys:
                continue
            if key in SETTINGS or key in PARTS or key in DAEMON:
                hint = "move it under [daemon]" if key in DAEMON else TOP
                self.found.add((*path, key), f"{key!r} does not belong here", hint)
            else:
                self.found.unknown((*path, key), "key", key, [*keys])
        return {key: value for key, value in given.items() if key in keys}


def read_groups(found: Findings, given: Mapping[str, Any]) -> Groups:
    """Return the members of each group, each widened to all that its owner has registered."""
    groups = {}
    for name, members in given.items():
        path = ("groups", name)
        if not _GROUP_NAME.fullmatch(name) or name == LOCAL:
            hint = "a name has small letters, digits, _ and -, and is not localhost"
            found.add(path, f"{shown(name)} is no name of a group", hint)
        patterns = read_parsed(found, path, members, HostPattern.parse)
        groups[name] = tuple(_widened(each) for each in patterns)
    _apart(found, groups)
    return groups


def read_attributes(reading: Reading, given: Mapping[str, Any]) -> Iterator[Rule]:
    """Yield a rule for each entry of ``[attributes]``."""
    for text, entry in given.items():
        path: Path = ("attributes", text)
        if text in SETTINGS or text in PARTS:
            reading.found.add(path, f"{text!r} is no attribute", TOP)
            continue
        patterns = read_parsed(reading.found, path, text, NamePattern.parse)
        if isinstance(entry, dict):
            known = reading.known(path, entry, ATTRIBUTE_KEYS)
            expires = _expires(reading, path, known)
            settings = read_settings(reading.found, path, known)
            if not known and entry.keys() <= {*ATTRIBUTE_KEYS}:
                reading.found.add(path, "nothing is set", _SET_SOMETHING)
        else:
            expires = None
            value = read_setting(reading.found, path, SETTINGS["disclose"], entry)
            settings = {} if value is None else {"disclose": value}
        name = dotted(path)
        yield reading.rule(name, path, settings, attributes=patterns, expires=expires)


def read_queries(reading: Reading, given: Mapping[str, Any]) -> Iterator[Rule]:
    """Yield the rule that ``[queries]`` stands for."""
    known = reading.known(("queries",), given, ("block",))
    if "block" in known:
        path: Path = ("queries", "block")
        words = read_parsed(reading.found, path, known["block"], Words.parse)
        yield reading.rule("queries.block", path, {"nothing": True}, queries=words)


def read_daemon(reading: Reading, given: Mapping[str, Any]) -> DaemonSettings:
    """Return what ``[daemon]`` says of the daemon, which no preset does."""
    if given and reading.layer is Layer.PRESET:
        reading.found.add(("daemon",), "a preset does not rule the daemon", "leave it out")
    known = reading.known(("daemon",), given, (*DAEMON,))
    values: dict[str, Any] = {
        key: value
        for key, each in known.items()
        if (value := read_setting(reading.found, ("daemon", key), DAEMON[key], each)) is not None
    }
    return DaemonSettings(**values)


def read_rules(reading: Reading, given: object) -> Iterator[Rule]:
    """Yield each ``[[rule]]``."""
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        what = f"{shown(given)} is no list of tables"
        reading.found.add(("rule",), what, "write [[rule]] and its keys below")
        return
    names: set[str] = set()
    for number, entry in enumerate(given):
        rule = _rule(reading, ("rule", number), entry)
        if rule.name and rule.name in names:
            what = f"another rule is called {rule.name!r}"
            reading.found.add((*rule.path, "name"), what, "give each rule a name of its own")
        names.add(rule.name)
        yield rule


def _rule(reading: Reading, path: Path, entry: Mapping[str, Any]) -> Rule:
    known = reading.known(path, entry, RULE_KEYS)
    name = _name(reading, path, known)
    expires = _expires(reading, path, known)
    hosts, groups = _recipients(reading, path, known)
    parts = {
        key: read_parsed(reading.found, (*path, key), known.pop(key), parse)
        for key, parse in (("attribute", NamePattern.parse), ("query", Words.parse))
        if key in known
    }
    _in_place(reading, path, entry)
    if not known and entry.keys() <= {*RULE_KEYS}:
        reading.found.add(path, "nothing is set", _SET_SOMETHING)
    rule = reading.rule(
        name,
        path,
        read_settings(reading.found, path, known),
        recipients=hosts,
        groups=groups,
        attributes=parts.get("attribute", ()),
        queries=parts.get("query", ()),
        expires=expires,
    )
    _search_in_reach(reading, rule)
    return rule


def _name(reading: Reading, path: Path, known: dict[str, Any]) -> str:
    """Take the name out of what is known of a rule; make one up where it has none."""
    number = path[-1]
    name = known.pop("name", None)
    if name is None:
        return f"rule {number + 1}" if isinstance(number, int) else str(number)
    if isinstance(name, str) and 0 < len(name.strip()) <= LONGEST_NAME and name.isprintable():
        return name
    what = f"{shown(name)} is no name"
    reading.found.add(
        (*path, "name"), what, f"a name is one line of up to {LONGEST_NAME} characters"
    )
    return ""


def _expires(reading: Reading, path: Path, known: dict[str, Any]) -> date | None:
    """Take the last day of a rule out of what is known of it."""
    if "expires" not in known:
        return None
    return read_date(reading.found, (*path, "expires"), known.pop("expires"))


def _recipients(
    reading: Reading, path: Path, known: dict[str, Any]
) -> tuple[tuple[HostPattern, ...], tuple[str, ...]]:
    """Take the recipients out of what is known of a rule: domains, and names of groups."""
    if "recipient" not in known:
        return (), ()
    place = (*path, "recipient")
    listed = read_texts(reading.found, place, known.pop("recipient"))
    groups = [each for each in listed if is_group(each)]
    for name in groups:
        if name not in reading.groups:
            reading.found.unknown(place, "group", name, [*reading.groups])
    hosts = [each for each in listed if not is_group(each)]
    parsed = read_parsed(reading.found, place, hosts, HostPattern.parse) if hosts else ()
    return parsed, tuple(groups)


def _in_place(reading: Reading, path: Path, entry: Mapping[str, Any]) -> None:
    """Note settings about requests in a rule for attributes, and about recipients for queries."""
    for key in entry:
        about = SETTINGS[key].about if key in SETTINGS else "attribute"
        if about != "attribute" and "attribute" in entry:
            what = "a rule for some attributes cannot set it"
            reading.found.add((*path, key), what, _OWN_RULE.format("attribute"))
        elif about == "recipient" and "query" in entry:
            what = "a rule for some queries cannot set it"
            reading.found.add((*path, key), what, _OWN_RULE.format("query"))


def _search_in_reach(reading: Reading, rule: Rule) -> None:
    """Note an address to search that is not of the rule's own recipients."""
    search = rule.settings.get("search")
    if not isinstance(search, str):
        return
    try:
        host = host_of(search.replace("{query}", "q"))
    except UsageError as error:
        reading.found.add((*rule.path, "search"), error.what, error.hint)
        return
    if not any(pattern.matches(host) for pattern in rule.recipients):
        what = f"{host} is no recipient of this rule"
        hint = f"write recipient = {host!r}, or another address"
        reading.found.add((*rule.path, "search"), what, hint)


def _widened(member: HostPattern) -> HostPattern:
    """Return the pattern for the registered domain of a member, unless it is of many of them."""
    below = f"x.{member.key}"
    site = site_of(below)
    several = site in (below, "x") or ":" in member.key
    return member if several or site == member.text else HostPattern.parse(site)


def _apart(found: Findings, groups: Groups) -> None:
    """Note groups that have a recipient in common: then one domain is, or is below, the other."""
    at: dict[str, str] = {}
    above: dict[str, str] = {}
    for name, members in groups.items():
        domains = [(member, suffixes(member.key)) for member in members]
        shared: dict[str, HostPattern] = {}
        for member, its in domains:
            others = [at[each] for each in its if each in at]
            if member.key in above:
                others.append(above[member.key])
            for other in others:
                shared.setdefault(other, member)
        for other, member in shared.items():
            what = f"{member.text} is in {other!r} as well"
            found.add(("groups", name), what, "put it into one group, or make the two groups one")
        at.update((member.key, name) for member in members if member.key not in at)
        above.update((each, name) for _, its in domains for each in its if each not in above)
