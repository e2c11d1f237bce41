"""From a policy file to a policy or to all that is wrong with it, and what in it has no effect."""

import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from agent.errors import PolicyError, Problem, UsageError, nearest, reason
from policy.families import revealed_by
from policy.hosts import ANYBODY, DOUBT, KINDS, odd_ending
from policy.match import GUARDED, Rulebook, known, may
from policy.rules import DEFAULT_RULE, Layer, NamePattern, Policy, Pools, Rule, topic_pattern
from policy.sections import TOP_KINDS, SectionReader, check_carry, dotted, shown
from policy.services import Search, engine_at, engines
from policy.settings import OF_HOSTS, SETTINGS, DaemonSettings
from policy.toml_text import Key, line_of, lines_of

LARGEST = 1 << 19  # characters
MOST_RULES = 2000  # entries of [attributes] among them, and different attributes in all
MOST_PARTS = 64  # of a dotted key: tomllib compares each with all before it
Preset = Callable[[str], tuple[Rule, ...]]
WAYS_OUT = {  # by what tomllib says
    "invalid value": 'write text in "quotes", and true or false in small letters',
    "expected newline": "write one value: 5.12 with a point, 0.05 for 5 %, 2027-03-01 for a day",
    "expected '='": 'write a key with *, dots or other signs in "quotes"',
    "invalid statement": 'write a key with *, dots or other signs in "quotes"',
    "cannot": "a key stands twice, or is a table as well: keep one of them",
}
_PART = r"""(?: [\w-]++ | "[^"\n]*+" | '[^'\n]*+' )"""
_DEEP = re.compile(rf"(?<![\w-]) (?: {_PART} [ \t]*+ \. [ \t]*+ ){{{MOST_PARTS}}}", re.VERBOSE)
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
EMPTY_POLICY = Problem(1, "", "the file sets nothing", 'write preset = "balanced" into it')
STRICT_IDLE = MappingProxyType({"lock_after_minutes": 15.0})  # with that preset, by default
_NEVER = MappingProxyType({"disclose": "never"})
Check = Callable[[Path, os.stat_result], None]


def read(text: str, source: str, preset: Preset | None) -> Policy:
    """The policy that a file's text describes.

    ``source``: what to call the file; ``preset``: returns the rules of a shipped preset by name,
    None where a file is a preset itself. PolicyError with all that is wrong, if anything is.
    Source: FORMAT.md.
    """
    document = _document(text, source)
    own = Layer.PRESET if preset is None else Layer.FILE
    reader = SectionReader(source, own)
    groups_first = sorted(document, key=lambda key: key != "groups")
    values = reader.table((), {key: document[key] for key in groups_first}, TOP_KINDS)
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
    started = preset(values["preset"]) if preset is not None and "preset" in values else ()
    everything = (DEFAULT_RULE, *started, *rules)
    idle = STRICT_IDLE if values.get("preset") == "strict" else {}
    daemon, judge = DaemonSettings(**{**idle, **values.get("daemon", {})}), values.get("judge", {})
    keys = values.get("trusted_keys", ())
    return Policy(source, everything, reader.groups, keys, daemon, judge, text)


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
    for rule in policy.rules:
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
    if rule.layer is not Layer.FILE:
        return False
    if any("population" in each.settings and not each.lasting for each in policy.rules):
        return False
    return rule.withholds


def near(pattern: NamePattern, names: Sequence[str]) -> str | None:
    """The attribute or topic that a name was probably meant to be, if it is the name of none."""
    if {*pattern.text} & {*"*@#"} or pattern.text in names:
        return None
    return closest(pattern.text, tuple(names))


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
        raise UsageError(f"{path} cannot be read: {reason(error)}", "name a policy file") from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        hint = "save the file as UTF-8"
        raise UsageError(f"{path} is not UTF-8 text, line {line}", hint) from None


@cache
def preset(name: str) -> tuple[Rule, ...]:
    """The rules of a shipped preset."""
    rules = read(preset_text(name), f"preset {name}", None).rules
    return tuple(rule for rule in rules if rule.layer is Layer.PRESET)


def preset_text(name: str) -> str:
    """A shipped preset as it is written."""
    return shipped_text(f"presets/{name}.toml")


def shipped_text(name: str) -> str:
    """A file that lies beside this module, as it is written."""
    return files("policy").joinpath(name).read_text(encoding="utf-8")


MEANT = "did you mean"


class Remark(NamedTuple):
    """A finding about a rule: its line and key, what is wrong, and how to fix it.

    ``settings``: those of the rule that have no effect; all of them if the rule has none at all.
    """

    line: int
    key: str
    what: str
    hint: str
    rule: Rule
    settings: tuple[str, ...] = ()


def audit(
    policy: Policy, names: Sequence[str] | None, today: date, topics: Sequence[str] = ()
) -> tuple[Remark, ...]:
    """Remarks on the rules of the file, in its order.

    ``names``: the attributes of the model, None to leave out what depends on it; ``topics``: all
    that its topics are called, none to leave that out.
    """
    if is_empty_policy(policy.text):
        what = f"{EMPTY_POLICY.what}, so the daemon does not use it"
        return (Remark(EMPTY_POLICY.line, "", what, EMPTY_POLICY.hint, DEFAULT_RULE),)
    auditor = _Auditor(policy, names, today, topics)
    remarks = [each for rule in auditor.rules for each in auditor.remarks(rule)]
    remarks += [*auditor.revealed(), *auditor.contradictions()]
    return tuple(sorted(remarks, key=lambda each: (each.line, each.key, each.what)))


def misspelt(policy: Policy, names: Sequence[str]) -> tuple[Remark, ...]:
    """A remark on each name in the file that is probably meant for one of ``names``."""
    auditor = _Auditor(policy, names, date.min, ())
    remarks = [each for rule in auditor.rules for each in auditor.strangers(rule)]
    return tuple(each for each in remarks if each.hint.startswith(MEANT))


def called(rule: Rule, lines: Mapping[Key, int], key: str = "") -> str:
    """Name a rule, with the line of a setting in it if it is of the file.

    ``lines``: of that file, as `policy.toml_text.lines_of` returns them.
    """
    if rule.layer is not Layer.FILE:
        return rule.name
    return f"{rule.name!r} (line {line_of(lines, (*rule.path, key))})"


class _Auditor:
    """A policy with what is asked again and again about its rules; ``rules``: those of the file."""

    def __init__(
        self, policy: Policy, names: Sequence[str] | None, today: date, topics: Sequence[str]
    ) -> None:
        self._policy, self._names, self._today, self._topics = policy, names, today, topics
        self.rules = [rule for rule in policy.rules if rule.layer is Layer.FILE]
        self._lines = lines_of(policy.text)
        valid = [rule for rule in policy.rules if not rule.is_over(today)]
        guarding = [rule for rule in valid if "guard" in rule.settings]
        self._guards = [rule for rule in guarding if float(rule.settings["guard"]) > 0]
        self._unguarded = [rule for rule in guarding if float(rule.settings["guard"]) == 0]

    def remarks(self, rule: Rule) -> Iterator[Remark]:
        """Yield the remarks on one rule."""
        if rule.is_over(self._today):
            what, hint = f"expired on {rule.expires}", "delete the rule, or give it a later day"
            yield self._remark(rule, ("expires",), what, hint, rule.settings)
            return
        unknown = self.strangers(rule)
        yield from unknown
        if any(each.settings for each in unknown):
            return
        yield from self._guarded(rule)
        yield from self._searched(rule)
        for each in rule.recipients:
            if ending := odd_ending(each.host):
                what, hint = DOUBT.format(ending), f"check how {each.text} is written"
                yield self._remark(rule, ("recipient",), what, hint)

    def strangers(self, rule: Rule) -> list[Remark]:
        """A remark on each attribute that the model lacks, and on each topic."""
        remarks = list[Remark]()
        parts: tuple[tuple[str, Sequence[NamePattern], Sequence[str], str], ...] = (
            ("attribute", rule.attributes, self._names or (), "it is not sent"),
            ("topic", rule.topics, self._topics, "that is meant"),
        )
        for part, patterns, names, until in parts:
            # The facts of a profile are not for this to know.
            matching = [e for e in patterns if e.text[0] == "#" or any(map(e.matches, names))]
            for pattern in [each for each in patterns if names and each not in matching]:
                hint = f"`reticent model info` lists its {part}s"
                if intended := near(pattern, names):
                    hint = f"{MEANT} {intended!r}?"
                    hint += f" until you correct it, {until}" if keeps(rule, self._policy) else ""
                what = f"the model has no {part} {shown(pattern.text)}"
                key = (part,) if rule.path[0] == "rule" else ()
                useless = () if matching else rule.settings
                remarks.append(self._remark(rule, key, what, hint, useless))
        return remarks

    def revealed(self) -> Iterator[Remark]:
        """Yield a remark on each fact that may be sent, and nearly tells one that never is."""
        names = self._names or ()
        ruled = Rulebook(self._policy, known(*names)).match(ANYBODY, "", self._today).attributes
        closed = {name for name in names if may(ruled[name]) in ("never", GUARDED)}
        for name in sorted(closed):
            key = "guard" if may(ruled[name]) == GUARDED else "disclose"
            rule = ruled[name][key].rule
            for each in revealed_by(name) if rule.layer is Layer.FILE else ():
                if each in names and each not in closed:
                    what = f"{each!r} nearly tells {name!r}, and may be sent"
                    hint = f"write {each} = 'never' as well, or accept that {name} can be guessed"
                    yield self._remark(rule, (), what, hint)

    def contradictions(self) -> Iterator[Remark]:
        """Yield a remark on each setting that is overridden by name of another part of its pool."""
        pools, rivals = Pools(self._policy.groups), dict[Any, list[tuple[str, Rule]]]()
        for rule in [each for each in self.rules if not each.is_over(self._today)]:
            of = {each.text: pools.named(each) for each in rule.recipients}
            of |= {each: pools.named(each) for each in rule.groups if each not in KINDS}
            for text, key in product(filter(of.get, of), rule.settings.keys() - OF_HOSTS):
                place = key, of[text], rule.attributes, rule.queries, rule.topics
                rivals.setdefault(place, []).append((text, rule))
        for (key, *_), some in rivals.items():
            strict = [SETTINGS[key].strictness(rule.settings[key]) for _, rule in some]
            whole, winner = some[max(range(len(some)), key=lambda at: (strict[at], at))]
            why = "stricter" if SETTINGS[key].order else "later"
            for part, rule in some:
                if part != whole and rule.settings[key] != winner.settings[key]:
                    by = f"{called(winner, self._lines, key)}, which is {why}, decides"
                    what = f"{part} and {whole} are one recipient, and {by}"
                    yield self._remark(rule, (key,), what, "write one rule for both")

    def _guarded(self, rule: Rule) -> Iterator[Remark]:
        """Yield a remark on a rule that lets out what is never sent, because it is guarded."""
        disclose = rule.settings.get("disclose", "never")
        if disclose == "never" or any(_names_meet(each, rule) for each in self._unguarded):
            return
        guards = (each for each in self._guards if each is rule or _guards_all(each, rule))
        guard = next(guards, None)
        if guard is None:
            return
        where = "this rule" if guard is rule else called(guard, self._lines, "guard")
        what = f"{shown(disclose)} has no effect: {where} guards it, so it is never sent"
        preset = guard.layer is Layer.PRESET
        hint = "set guard = 0 as well, if it may be sent" if preset else "leave out one of the two"
        key = () if rule.path[:1] == ("attributes",) else ("disclose",)
        yield self._remark(rule, key, what, hint, ("disclose",))

    def _searched(self, rule: Rule) -> Iterator[Remark]:
        """Yield a remark on a search that browsers cannot use, or that carries nothing."""
        if "search" not in rule.settings:
            return
        try:
            search = Search.parse(str(rule.settings["search"]))
        except UsageError as error:
            yield self._remark(rule, ("search",), error.what, error.hint)
            return
        nameless = "engine" not in rule.settings and engine_at(search.host) is None
        if rule.settings.get("carry") == "parameters" and nameless:
            what = f"no search engine is known at {search.host}, so it gets nothing"
            hint = f"write engine = 'searxng', or one of {', '.join(engines())}"
            yield self._remark(rule, ("carry",), what, hint)

    def _remark(
        self, rule: Rule, key: Key, what: str, hint: str, settings: Iterable[str] = ()
    ) -> Remark:
        path = (*rule.path, *key)
        return Remark(line_of(self._lines, path), dotted(path), what, hint, rule, (*settings,))


def _guards_all(guard: Rule, rule: Rule) -> bool:
    """Whether a guard always holds, for all that a rule is about."""
    # A * of the rule's own pattern fits under a * only.
    covered = all(any(own.matches(its.text) for own in guard.attributes) for its in rule.attributes)
    return guard.lasting and (not guard.attributes or (bool(rule.attributes) and covered))


def _names_meet(one: Rule, other: Rule) -> bool:
    """Whether two rules may be about the same attribute."""
    if not (one.attributes and other.attributes):
        return True
    return any(
        ("*" in own.text and "*" in its.text) or own.matches(its.text) or its.matches(own.text)
        for own in one.attributes
        for its in other.attributes
    )
