"""What in a policy file has no effect, or not the one that was meant. Pure.

Every remark is true; a rule without one need not be of use.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from agent.errors import UsageError
from policy.read import EMPTY_POLICY, closest, is_empty_policy, keeps, near
from policy.rules import DEFAULT_RULE, Layer, Path, Policy, Rule
from policy.sections import dotted, shown
from policy.services import Search, engine_at, engines
from policy.toml_text import Key, line_of, lines_of

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


def audit(policy: Policy, names: Sequence[str] | None, today: date) -> tuple[Remark, ...]:
    """Return remarks on the rules of the file, in its order.

    ``names``: the attributes of the model, None to leave out what depends on it.
    """
    if is_empty_policy(policy.text):
        what = f"{EMPTY_POLICY.what}, so the daemon does not use it"
        return (Remark(EMPTY_POLICY.line, "", what, EMPTY_POLICY.hint, DEFAULT_RULE),)
    auditor = _Auditor(policy, names, today)
    remarks = [each for rule in auditor.rules for each in auditor.remarks(rule)]
    return tuple(sorted(remarks, key=lambda each: (each.line, each.key, each.what)))


def misspelt(policy: Policy, names: Sequence[str]) -> tuple[Remark, ...]:
    """Return a remark on each name in the file that is probably meant for one of ``names``."""
    auditor = _Auditor(policy, names, date.min)
    remarks = [each for rule in auditor.rules for each in auditor.strangers(rule)]
    return tuple(each for each in remarks if each.hint.startswith(MEANT))


def called(rule: Rule, lines: Mapping[Key, int], key: str = "") -> str:
    """Return what to call a rule, with the line of a setting in it if it is of the file.

    ``lines``: of that file, as `policy.toml_text.lines_of` returns them.
    """
    if rule.layer is not Layer.FILE:
        return rule.name
    return f"{rule.name!r} (line {line_of(lines, (*rule.path, key))})"


class _Auditor:
    """A policy with what is asked again and again about its rules; ``rules``: those of the file."""

    def __init__(self, policy: Policy, names: Sequence[str] | None, today: date) -> None:
        self._policy, self._names, self._today = policy, names, today
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
        yield from self._apart(rule)

    def strangers(self, rule: Rule) -> list[Remark]:
        """Return a remark on each attribute that the model lacks."""
        names, remarks = self._names, list[Remark]()
        if names is None:
            return remarks
        known = [each for each in rule.attributes if any(map(each.matches, names))]
        for pattern in [each for each in rule.attributes if each not in known]:
            hint = "`reticent model info` lists its attributes"
            if meant := near(pattern, names):
                until = " until you correct it, it is not sent" if keeps(rule, self._policy) else ""
                hint = f"{MEANT} {meant!r}?{until}"
            elif meant := closest(pattern.text.replace("*", ""), tuple(names)):
                hint = f"the nearest is {meant!r}"
            what = f"the model has no attribute {shown(pattern.text)}"
            key = () if rule.path[0] == "attributes" else ("attribute",)
            remarks.append(self._remark(rule, key, what, hint, () if known else rule.settings))
        return remarks

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

    def _apart(self, rule: Rule) -> Iterator[Remark]:
        """Yield a remark on a setting that looks meant for all, and is this rule's."""
        if rule.path[:1] != ("rule",) or not rule.conditions:
            return
        lines = self._policy.text.split("\n")  # as TOML has them
        for key in rule.settings:
            line = self._lines.get((*rule.path, key), 0)
            if line > 1 and not lines[line - 2].strip():
                whom = ", ".join(f"{part} {text}" for part, text in rule.conditions.items())
                what = f"holds for {shown(whom)} alone: a table goes on until the next [header]"
                hint = "move it above the first [header] if it is meant for all, else close the gap"
                yield self._remark(rule, (key,), what, hint)
                return

    def _remark(
        self, rule: Rule, key: Path, what: str, hint: str, settings: Iterable[str] = ()
    ) -> Remark:
        path = (*rule.path, *key)
        return Remark(line_of(self._lines, path), dotted(path), what, hint, rule, (*settings,))


def _guards_all(guard: Rule, rule: Rule) -> bool:
    """Say whether a guard always holds, for all that a rule is about."""
    covered = all(any(own.covers(its) for own in guard.attributes) for its in rule.attributes)
    return guard.lasting and (not guard.attributes or (bool(rule.attributes) and covered))


def _names_meet(one: Rule, other: Rule) -> bool:
    """Say whether two rules may be about the same attribute."""
    if not (one.attributes and other.attributes):
        return True
    return any(
        ("*" in own.text and "*" in its.text) or own.matches(its.text) or its.matches(own.text)
        for own in one.attributes
        for its in other.attributes
    )
