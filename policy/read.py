"""From a policy file to a policy or to all that is wrong with it, and what in it has no effect."""

import os
import re
import stat
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from agent.errors import PolicyError, Problem, UsageError, nearest, reason
from policy.families import other_words
from policy.rules import DEFAULT_RULE, Layer, NamePattern, Policy, Rule, topic_pattern
from policy.sections import NO_PRESET, PRESETS, TOP_KINDS, SectionReader, check_carry
from policy.settings import SETTINGS, DaemonSettings, shown

LARGEST = 1 << 19  # characters
MOST_RULES = 2000  # entries of [attributes] among them, and different attributes in all
MOST_PARTS = 64  # of a dotted key: tomllib compares each with all before it
Preset = Callable[[str], tuple[Rule, ...]]
WAYS_OUT = {  # by what tomllib says
    "invalid value": 'write text in "quotes", and true or false in small letters',
    "expected newline": "write one value: 5.12 with a point, 0.05 for 5 %, 2027-03-01 for a day",
    "expected '='": 'write a key with *, dots or other signs in "quotes"',
    "invalid statement": 'write a key with *, dots or other signs in "quotes"',
    "character '\\n'": 'end the text with " in the line where it begins',
    "cannot": "a key stands twice, or is a table as well: keep one of them",
}
_PART = r"""(?: [\w-]++ | "[^"\n]*+" | '[^'\n]*+' )"""
_DEEP = re.compile(rf"(?<![\w-]) (?: {_PART} [ \t]*+ \. [ \t]*+ ){{{MOST_PARTS}}}", re.VERBOSE)
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
EMPTY_POLICY = Problem(1, "", "the file sets nothing", 'write preset = "balanced" into it')
STRICT_IDLE = MappingProxyType({"lock_after_minutes": 15.0})  # with that preset, by default
MISSING = "name a policy file; `reticent policy set preset=balanced` writes your own"
_NEVER = MappingProxyType({"disclose": "never"})
Check = Callable[[Path, os.stat_result], None]


def read(text: str, source: str, preset: Preset | None) -> Policy:
    """The policy that a file's text describes.

    ``source``: what to call the file; ``preset``: returns the rules of a shipped preset by name,
    None where a file is a preset itself; without a name that is the first of PRESETS. PolicyError
    with all that is wrong, if anything is.
    Source: FORMAT.md.
    """
    document = _document(text, source)
    own = Layer.PRESET if preset is None else Layer.FILE
    reader = SectionReader(source, own)
    order = sorted(document, key=lambda key: (key != "groups", key != "lists"))
    values = reader.table((), {key: document[key] for key in order}, TOP_KINDS)
    rules = [reader.rule((), "the top of the file", values)] if document.keys() & SETTINGS else []
    for rule in rules:
        check_carry(reader, rule)
    for part in ("attributes", "queries", "rule"):
        rules += values.get(part, ())
    attributes = {each.text for rule in rules for each in rule.attributes}
    if len(rules) > MOST_RULES:
        what = f"the file has {len(rules):,} rules; at most {MOST_RULES:,} are allowed"
        reader.add((), what, "list several recipients, attributes or queries in one rule")
    if len(attributes) > MOST_RULES:
        what = f"the rules name {len(attributes):,} attributes; at most {MOST_RULES:,} are allowed"
        reader.add((), what, "write patterns with *")
    if problems := reader.problems(text):
        raise PolicyError(source, problems)
    start = NO_PRESET if preset is None else values.get("preset", PRESETS[0])
    started = () if preset is None or start == NO_PRESET else preset(start)
    everything = (DEFAULT_RULE, *started, *rules)
    idle = STRICT_IDLE if values.get("preset") == "strict" else {}
    daemon, judge = DaemonSettings(**{**idle, **values.get("daemon", {})}), values.get("judge", {})
    keys = values.get("trusted_keys", ())
    more = (tuple(values.get(key, ())) for key in ("contexts", "test", "together"))
    return Policy(source, everything, reader.groups, reader.lists, keys, daemon, judge, text, *more)


def _document(text: str, source: str) -> dict[str, Any]:
    if len(text) > LARGEST:
        what = "the file has more than half a million characters"
        raise PolicyError(source, [Problem(1, "", what, "shorten it")])
    if line := deep_line(text):
        what = f"a key has more than {MOST_PARTS} parts"
        raise PolicyError(source, [Problem(line, "", what, "no key of a policy is that long")])
    try:
        return tomllib.loads(text)
    except RecursionError:
        problem = Problem(
            1, "", "the file is nested too deeply", "no part of a policy is that deep"
        )
    except ValueError as error:  # also a number with thousands of digits
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else 1
        what = _TOML_PLACE.sub("", str(error)).lower()
        hint = next((each for sign, each in WAYS_OUT.items() if sign in what), "see toml.io")
        problem = Problem(line, "", f"this is not TOML: {what}", hint)
    raise PolicyError(source, [problem])


def deep_line(text: str) -> int:
    """The first line with a dotted key of more than MOST_PARTS parts; 0 where there is none."""
    deep = _DEEP.search(text)
    return 0 if deep is None else text.count("\n", 0, deep.start()) + 1


def is_empty_policy(text: str) -> bool:
    """Whether a policy sets nothing but ``format``; ``text``: of a valid one.

    Taken literally it would allow everything, and it is what remains when a file is emptied before
    it is written.
    """
    filled = {key for key, value in tomllib.loads(text).items() if value not in ({}, [])}
    return not filled - {"format"}


def with_typo_guard(policy: Policy, names: Sequence[str], topics: Sequence[str] = ()) -> Policy:
    """A policy with a rule that withholds each attribute whose name it nearly has.

    And with each rule that withholds something about a topic, for the topic that it nearly names.
    ``names``: the attributes of the model that decides; ``topics``: all that topics are called.
    Source: policy/FORMAT.md, "Attributes".
    """
    more = []
    for rule in (*policy.rules, *policy.contexts):
        for pattern in rule.attributes:
            intended = near(pattern, names)
            if intended is not None and keeps(rule, policy):
                name = f"{shown(pattern.text)}, which nearly names {intended}"
                kept = (NamePattern.parse(intended),)
                more.append(replace(rule, name=name, settings=_NEVER, attributes=kept))
        for each in rule.topics:
            intended = near(each, topics)
            if intended is not None and keeps(rule, policy):
                name = f"{shown(each.text)}, which nearly names {intended}"
                more.append(replace(rule, name=name, topics=(topic_pattern(intended),)))
    return replace(policy, rules=(*policy.rules, *more)) if more else policy


def keeps(rule: Rule, policy: Policy) -> bool:
    """Whether a rule of the file holds for what it nearly names until that is fixed.

    Not where the rule would only have allowed something, nor where the file serves several models:
    the name may be that of another one.
    """
    if not rule.is_own:
        return False
    if any("population" in each.settings and not each.lasting for each in policy.rules):
        return False
    return rule.withholds


def near(pattern: NamePattern, names: Sequence[str]) -> str | None:
    """The attribute or topic that a name was probably meant to be, if it is the name of none.

    That is what it is another word for, or what is spelt like it and begins alike: `kids` is no
    slip for `skills`.
    """
    text = pattern.text
    if {*text} & {*"*@#"} or text in names:
        return None
    if (meant := other_words().get(text)) in names:
        return meant
    found = closest(text, tuple(names))
    return found if found and (found[0] == text[0] or text in found) else None


closest = lru_cache(1 << 13)(nearest)  # which takes a tenth of a millisecond, for each rule


class Opened(NamedTuple):
    """The text of a policy file, with the status of the very file that it was read from."""

    text: str
    status: os.stat_result


def load(path: Path, check: Check | None = None) -> Policy:
    """The policy in a file; UsageError as `opened`, PolicyError if it is wrong."""
    return read(opened(path, check).text, str(path), preset)


def opened(path: Path, check: Check | None = None) -> Opened:
    """Read a policy file; UsageError if it is not a regular file of text that can be read.

    It never blocks, and reads no more than a policy may have. ``check``: raises an error about the
    file that was opened, before it is read.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits until something writes to it.
        with open(path, "rb", opener=lambda name, _: os.open(name, FLAGS)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                what = f"{path} cannot be read: it is not a regular file"
                raise UsageError(what, "name a policy file")
            if check is not None:
                check(path, status)
            data = file.read(4 * LARGEST + 1)
        return Opened(data.decode("utf-8-sig"), status)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {reason(error)}", MISSING) from None
    except UnicodeDecodeError as error:
        line, hint = data[: error.start].count(b"\n") + 1, "save the file as UTF-8"
        raise UsageError(f"{path} is not UTF-8 text, line {line}", hint) from None


@cache
def preset(name: str) -> tuple[Rule, ...]:
    """The rules of a shipped preset."""
    rules = read(preset_text(name), f"preset {name}", None).rules
    return tuple(rule for rule in rules if rule.layer is Layer.PRESET)


def preset_text(name: str) -> str:
    """A shipped preset as it is written."""
    return files("policy").joinpath(f"presets/{name}.toml").read_text(encoding="utf-8")
