"""From the text of a policy file to a policy, or to all that is wrong with it. Pure."""

import re
import tomllib
from collections.abc import Callable, Sequence
from typing import Any

from agent.errors import PolicyError, Problem
from policy import fields
from policy.conflicts import note_conflicts
from policy.fields import Findings
from policy.groups import read_groups
from policy.rules import DEFAULT_RULE, Layer, Policy, Rule
from policy.sections import (
    PARTS,
    Reading,
    read_attributes,
    read_daemon,
    read_queries,
    read_rules,
)
from policy.settings import SETTINGS

FORMAT = 1
LARGEST = 1 << 19  # characters
MOST_RULES = 2000  # entries of [attributes] among them, and different attributes in all
MOST_PARTS = 64  # of a dotted key: tomllib compares each with all before it
PRESETS = ("balanced", "generous", "strict")

Preset = Callable[[str], tuple[Rule, ...]]
WAYS_OUT = {  # by what tomllib says
    "invalid value": 'write text in "quotes", and true or false in small letters',
    "expected newline": "write one value: 5.12 with a point, 0.05 for 5 %, 2027-03-01 for a day",
    "expected '='": 'write a key with *, dots or other signs in "quotes"',
    "invalid statement": 'write a key with *, dots or other signs in "quotes"',
    "twice": "put all of a table under one [header]",
    "overwrite": "a key stands twice, or is a table as well: keep one of them",
    "nul": "save the file as plain text",
}
_KEY = re.compile(r"ed25519:[0-9a-f]{64}")
_BARE, _BASIC, _LITERAL = "[A-Za-z0-9_-]++", r'"(?:[^"\\\n]|\\.)*+"?', r"'[^'\n]*+'?"
_PART = f"(?:{_BARE}|{_BASIC}|{_LITERAL})"
_DOT = r"[ \t]*+\.[ \t]*+"
_TOKEN = re.compile(  # each branch takes all that it has looked at, so that time is linear
    r"""#[^\n]*+|\"{3}(?:[^"\\]|\\.|"(?!""))*+(?:\"{3})?|'{3}(?:[^']|'(?!''))*+(?:'{3})?"""
    rf"|(?P<deep>{_PART}(?:{_DOT}{_PART}){{{MOST_PARTS}}})|{_PART}(?:{_DOT}{_PART})*+"
    r"|[^\"'#A-Za-z0-9_-]++",
    re.DOTALL,
)
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read(text: str, source: str, preset: Preset | None) -> Policy:
    """Return the policy that a file's text describes.

    ``source``: what to call the file; ``preset``: returns the rules of a shipped preset by name,
    None where a file is a preset itself. PolicyError with all that is wrong, if anything is.
    Source: FORMAT.md.
    """
    document = _document(text, source)
    found = Findings()
    own = Layer.PRESET if preset is None else Layer.FILE
    groups = read_groups(found, _table(found, document, "groups"))
    reading = Reading(found, source, own, groups)
    known = reading.known((), document, (*PARTS, *SETTINGS))
    _check_format(found, known)
    rules = [*_started_from(found, known, preset), *_rules(reading, known)]
    keys = _trusted(found, known)
    daemon = read_daemon(reading, _table(found, known, "daemon"))
    own_rules = [rule for rule in rules if rule.layer is own]
    if _comparable(found, own_rules):
        wrong = found.places()
        note_conflicts(found, [each for each in own_rules if each.path not in wrong], groups)
    if found:
        raise PolicyError(source, found.problems(text))
    return Policy(source, (DEFAULT_RULE, *rules), groups, keys, daemon, text)


def _document(text: str, source: str) -> dict[str, Any]:
    if len(text) > LARGEST:
        what = "the file has over half a million characters"
        raise PolicyError(source, [Problem(1, "", what, "shorten it")])
    deep = next((each for each in _TOKEN.finditer(text) if each["deep"]), None)
    if deep is not None:
        line = text.count("\n", 0, deep.start()) + 1
        what = f"a name with dots has more than {MOST_PARTS} parts"
        raise PolicyError(source, [Problem(line, "", what, "no key of a policy has so many")])
    try:
        return tomllib.loads(text)
    except RecursionError:
        problem = Problem(1, "", "something is nested too deeply", "no part of a policy nests so")
    except ValueError as error:  # also a number with thousands of digits
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else 1
        what = _PLACE.sub("", str(error)).lower()
        problem = Problem(line, "", f"this is not TOML: {what}", _way_out(what))
    raise PolicyError(source, [problem])


def _way_out(what: str) -> str:
    """Return how to mend what the reader of TOML stumbled over."""
    return next((hint for sign, hint in WAYS_OUT.items() if sign in what), "see toml.io")


def _rules(reading: Reading, known: dict[str, Any]) -> list[Rule]:
    top = {key: value for key, value in known.items() if key in SETTINGS}
    settings = fields.settings(reading.found, (), top)
    rules = [reading.rule("the top of the file", (), settings)] if top else []
    rules += read_attributes(reading, _table(reading.found, known, "attributes"))
    rules += read_queries(reading, _table(reading.found, known, "queries"))
    rules += read_rules(reading, known.get("rule", []))
    return rules


def _comparable(found: Findings, rules: Sequence[Rule]) -> bool:
    """Say whether there are no more rules than can be compared; note it where there are."""
    attributes = {each.text for rule in rules for each in rule.attributes}
    if len(rules) > MOST_RULES:
        what = f"the file has {len(rules):,} rules, and {MOST_RULES:,} are the most it may have"
        found.add((), what, "list several recipients, attributes or queries in one rule")
    if len(attributes) > MOST_RULES:
        what = f"the rules name {len(attributes):,} attributes, and {MOST_RULES:,} are the most"
        found.add((), what, "write patterns with *")
    return max(len(rules), len(attributes)) <= MOST_RULES


def _table(found: Findings, document: dict[str, Any], key: str) -> dict[str, Any]:
    return dict(fields.table(found, (key,), document.get(key, {})))


def _check_format(found: Findings, known: dict[str, Any]) -> None:
    given = known.get("format", FORMAT)
    if given != FORMAT or isinstance(given, (bool, float)):
        what = f"format {fields.shown(given)} is not one that this version reads"
        found.add(("format",), what, f"write format = {FORMAT}, or use a newer version of reticent")


def _started_from(
    found: Findings, known: dict[str, Any], preset: Preset | None
) -> tuple[Rule, ...]:
    name = known.get("preset")
    if name is None:
        return ()
    if preset is None:
        found.add(("preset",), "a preset starts from no other", "leave it out")
    elif isinstance(name, str) and name in PRESETS:
        return preset(name)
    elif isinstance(name, str):
        found.unknown(("preset",), "preset", name, [*PRESETS])
    else:
        what = f"{fields.shown(name)} is no preset"
        found.add(("preset",), what, f"write one of {', '.join(PRESETS)} in quotes")
    return ()


def _trusted(found: Findings, known: dict[str, Any]) -> tuple[str, ...]:
    if "trusted_keys" not in known:
        return ()
    keys = fields.texts(found, ("trusted_keys",), known["trusted_keys"])
    for key in keys:
        if not _KEY.fullmatch(key):
            hint = "`reticent model verify` prints it: ed25519: and 64 hexadecimal digits"
            found.add(("trusted_keys",), f"{fields.shown(key)} is no public key", hint)
    return tuple(keys)
