"""Which rules of a policy file do nothing: they never match, or others always win. Pure.

Every remark is true; a rule without one need not be of use.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from agent.errors import UsageError
from policy.engines import engine_at, engines
from policy.match import Search
from policy.overlap import LESS, MORE, SAME, everywhere, names_meet, specific
from policy.precedence import NOTHING
from policy.read import EMPTY_POLICY, closest, is_empty_policy, keeps, near
from policy.rules import DEFAULT_RULE, EXACT, Layer, Path, Policy, Rule
from policy.sections import dotted, shown
from policy.settings import SETTINGS, stricter
from policy.toml_scan import Key, line_of, lines_of

MOST_LOOKS = 50_000  # comparisons: about half a second
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

    ``names``: the attributes of the model, None to leave out what depends on it. Without all that
    is remarked on, every request has the same outcome, on this day and after it, but for
    what is nearly named (`policy.read`).
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

    ``lines``: of that file, as `policy.toml_scan.lines_of` returns them.
    """
    if rule.layer is not Layer.FILE:
        return rule.name
    return f"{rule.name!r} (line {line_of(lines, (*rule.path, key))})"


class _Auditor:
    """A policy with what is asked again and again about its rules; ``rules``: those of the file."""

    def __init__(self, policy: Policy, names: Sequence[str] | None, today: date) -> None:
        self._policy, self._names, self._today = policy, names, today
        self.rules = [rule for rule in policy.rules if rule.layer is Layer.FILE]
        self._lines: Mapping[Key, int] = lines_of(policy.text)
        valid = [rule for rule in policy.rules if not rule.is_over(today)]
        self._looks = 0
        self._place = {rule: place for place, rule in enumerate(valid)}
        self._by_text: dict[str, list[Rule]] = {}
        for rule in valid:
            for text in {*_texts(rule), *(each.text for each in rule.attributes)}:
                self._by_text.setdefault(text, []).append(rule)
        self._blocks = [rule for rule in valid if rule.blocks]
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
        worded = rule.queries and not rule.blocks
        if worded and (blocks := everywhere(self._blocks, rule, self._policy.groups)):
            listed = " with ".join(called(each, self._lines) for each in blocks)
            what = f"has no effect: {listed} blocks all of its queries"
            hint = "delete the rule, or block fewer queries"
            yield self._remark(rule, (), what, hint, rule.settings)
        else:
            yield from self._shadowed(rule)
            yield from self._guarded(rule)
        if "search" in rule.settings:
            try:
                search = Search.parse(str(rule.settings["search"]))
            except UsageError as error:
                yield self._remark(rule, ("search",), error.what, error.hint)
            else:
                nameless = "engine" not in rule.settings and engine_at(search.host) is None
                if rule.settings.get("carry") == "parameters" and nameless:
                    what = f"no search engine is known at {search.host}, so it gets nothing"
                    hint = f"write engine = 'searxng', or one of {', '.join(engines())}"
                    yield self._remark(rule, ("carry",), what, hint)
        yield from self._apart(rule)

    def strangers(self, rule: Rule) -> list[Remark]:
        """Return a remark on each attribute that the model lacks."""
        names, found = self._names, list[Remark]()
        if names is None:
            return found
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
            found.append(self._remark(rule, key, what, hint, () if known else rule.settings))
        return found

    def _shadowed(self, rule: Rule) -> Iterator[Remark]:
        """Yield remarks on settings that never decide."""
        found = self._over(rule)
        whole = len({*found.values()}) == 1 and len(found) == len(rule.settings) and rule.path
        for key, (other, same) in found.items():
            place = called(other, self._lines, "" if whole else key)
            what = f"repeats {place}"
            hint = "delete one of the two"
            if not same:
                what = f"never decides: {place} wins wherever this matches"
                hint = "delete it, or make it more specific"
            elif other.layer is Layer.PRESET:
                hint = "leave it out, unless it is to stay whatever the preset becomes"
            if whole:
                yield self._remark(rule, (), what, hint, found)
                return
            yield self._remark(rule, (key,), what, hint, (key,))

    def _over(self, rule: Rule) -> dict[str, tuple[Rule, bool]]:
        """Return the settings that never decide, each with the rule that does, and if it repeats.

        Taking all of these settings out of a policy changes no value of any request. Of rules
        without end, not all are compared: nothing is found then.
        """
        # What may be as specific wherever this one holds, or block all of it, names the same
        # domains, the same attributes where these are no patterns, and words of the same letters.
        exact = [each.text for each in rule.attributes if each.rank == EXACT]
        alike = [self._by_text[text] for text in (*exact, *_texts(rule))]
        others: Collection[Rule] = min(alike, key=len) if alike else self._place
        found: dict[str, tuple[Rule, bool]] = {}
        for other in self._blocks if rule.blocks else others:
            if other is rule:
                continue
            self._looks += 1
            if self._looks > MOST_LOOKS:
                return {}
            grade = specific(other, rule, self._policy.groups)
            for key in rule.settings.keys() & other.settings.keys() - found.keys():
                if grade is not None and self._beats(other, rule, key, grade):
                    same = grade < MORE and other.settings[key] == rule.settings[key]
                    found[key] = other, same
        return {key: found[key] for key in rule.settings if key in found}

    def _beats(self, other: Rule, rule: Rule, key: str, grade: int) -> bool:
        """Say whether another rule, which holds wherever this does, leaves a setting no effect."""
        if key == NOTHING and rule.blocks:
            back = specific(rule, other, self._policy.groups)
            return back is None or self._place[other] < self._place[rule]
        if grade == LESS or other.layer is Layer.DEFAULTS:  # to write one down is no mistake
            return False
        value, own = other.settings[key], rule.settings[key]
        if other.layer is Layer.PRESET:
            return grade == SAME and value == own and self._repeats(rule, other, key)
        if grade == MORE or stricter(SETTINGS[key], value, own):
            return True
        twins = specific(rule, other, self._policy.groups) == SAME
        return value == own and (not twins or self._place[other] < self._place[rule])

    def _repeats(self, rule: Rule, preset: Rule, key: str) -> bool:
        """Say whether a rule of the file has no effect beside one of the preset with its value.

        It may, where a third rule meets both: those of the file win over those of a preset.
        """
        if specific(rule, preset, self._policy.groups) != SAME:
            return False
        for third in self._place:
            if key not in third.settings or third in (rule, preset):
                continue
            self._looks += 1
            opened = stricter(SETTINGS[key], rule.settings[key], third.settings[key])
            if third.layer is Layer.PRESET and third.attributes and opened:
                return False
            if third.layer is Layer.FILE and names_meet(third, rule):
                return False
        return True

    def _guarded(self, rule: Rule) -> Iterator[Remark]:
        """Yield a remark on a rule that lets out what is never sent, because it is guarded."""
        disclose = rule.settings.get("disclose", "never")
        if disclose == "never" or any(names_meet(each, rule) for each in self._unguarded):
            return
        groups = self._policy.groups
        guards = (each for each in self._guards if specific(each, rule, groups) is not None)
        guard = next(guards, None)
        if guard is None:
            return
        where = "this rule" if guard is rule else called(guard, self._lines, "guard")
        what = f"{shown(disclose)} has no effect: {where} guards it, so it is never sent"
        preset = guard.layer is Layer.PRESET
        hint = "set guard = 0 as well, if it may be sent" if preset else "leave out one of the two"
        # An attribute with a text has no key for its setting.
        short = rule.path[:1] == ("attributes",) and (*rule.path, "disclose") not in self._lines
        yield self._remark(rule, () if short else ("disclose",), what, hint, ("disclose",))

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


def _texts(rule: Rule) -> list[str]:
    """Return the domains of a rule, and the letters of its words."""
    letters = [each.text.replace("*", "").replace(" ", "") for each in rule.queries]
    return [*(each.text for each in rule.recipients), *letters]
