"""The parts of a policy file, each as rules."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from agent.errors import UsageError
from policy import fields
from policy.daemon import DAEMON, DaemonSettings
from policy.fields import Findings
from policy.groups import Groups, is_group
from policy.hosts import HostPattern, host_of
from policy.names import NamePattern
from policy.rules import Layer, Path, Rule, frozen
from policy.settings import SETTINGS, Value
from policy.words import Words

PARTS = ("format", "preset", "trusted_keys", "attributes", "groups", "queries", "daemon", "rule")
TOP = "a table goes on until the next [header]: move it to the top of the file"
SELECTORS = ("recipient", "attribute", "query")
RULE_KEYS = (*SELECTORS, "name", "expires", *SETTINGS)
ATTRIBUTE_KEYS = (*(key for key, each in SETTINGS.items() if each.about == "attribute"), "expires")
LONGEST_NAME = 200


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


def read_attributes(reading: Reading, given: Mapping[str, Any]) -> Iterator[Rule]:
    """Yield a rule for each entry of ``[attributes]``."""
    for text, entry in given.items():
        path: Path = ("attributes", text)
        if text in SETTINGS or text in PARTS:
            reading.found.add(path, f"{text!r} is no attribute", TOP)
            continue
        patterns = fields.parsed(reading.found, path, text, NamePattern.parse)
        if isinstance(entry, dict):
            known = reading.known(path, entry, ATTRIBUTE_KEYS)
            expires = _expires(reading, path, known)
            settings = fields.settings(reading.found, path, known)
            if not known and entry.keys() <= {*ATTRIBUTE_KEYS}:
                reading.found.add(path, "nothing is set", _SET_SOMETHING)
        else:
            expires = None
            value = fields.setting(reading.found, path, SETTINGS["disclose"], entry)
            settings = {} if value is None else {"disclose": value}
        name = fields.dotted(path)
        yield reading.rule(name, path, settings, attributes=patterns, expires=expires)


def read_queries(reading: Reading, given: Mapping[str, Any]) -> Iterator[Rule]:
    """Yield the rule that ``[queries]`` stands for."""
    known = reading.known(("queries",), given, ("block",))
    if "block" in known:
        path: Path = ("queries", "block")
        words = fields.parsed(reading.found, path, known["block"], Words.parse)
        yield reading.rule("queries.block", path, {"nothing": True}, queries=words)


def read_daemon(reading: Reading, given: Mapping[str, Any]) -> DaemonSettings:
    """Return what ``[daemon]`` says of the daemon, which no preset does."""
    if given and reading.layer is Layer.PRESET:
        reading.found.add(("daemon",), "a preset does not rule the daemon", "leave it out")
    known = reading.known(("daemon",), given, (*DAEMON,))
    values: dict[str, Any] = {
        key: value
        for key, each in known.items()
        if (value := fields.setting(reading.found, ("daemon", key), DAEMON[key], each)) is not None
    }
    return DaemonSettings(**values)


def read_rules(reading: Reading, given: object) -> Iterator[Rule]:
    """Yield each ``[[rule]]``."""
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        what = f"{fields.shown(given)} is no list of tables"
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
        key: fields.parsed(reading.found, (*path, key), known.pop(key), parse)
        for key, parse in (("attribute", NamePattern.parse), ("query", Words.parse))
        if key in known
    }
    _in_place(reading, path, entry)
    if not known and entry.keys() <= {*RULE_KEYS}:
        reading.found.add(path, "nothing is set", _SET_SOMETHING)
    rule = reading.rule(
        name,
        path,
        fields.settings(reading.found, path, known),
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
    what = f"{fields.shown(name)} is no name"
    reading.found.add(
        (*path, "name"), what, f"a name is one line of up to {LONGEST_NAME} characters"
    )
    return ""


def _expires(reading: Reading, path: Path, known: dict[str, Any]) -> date | None:
    """Take the last day of a rule out of what is known of it."""
    if "expires" not in known:
        return None
    return fields.day(reading.found, (*path, "expires"), known.pop("expires"))


def _recipients(
    reading: Reading, path: Path, known: dict[str, Any]
) -> tuple[tuple[HostPattern, ...], tuple[str, ...]]:
    """Take the recipients out of what is known of a rule: domains, and names of groups."""
    if "recipient" not in known:
        return (), ()
    place = (*path, "recipient")
    listed = fields.texts(reading.found, place, known.pop("recipient"))
    groups = [each for each in listed if is_group(each)]
    for name in groups:
        if name not in reading.groups:
            reading.found.unknown(place, "group", name, [*reading.groups])
    hosts = [each for each in listed if not is_group(each)]
    parsed = fields.parsed(reading.found, place, hosts, HostPattern.parse) if hosts else ()
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


_SET_SOMETHING = "say what the rule does, such as disclose = 'never'"
_OWN_RULE = "leave out {}, or make it a rule of its own"
