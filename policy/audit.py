"""Which rules of a policy file do nothing: they never match, or others always win. Pure.

Every remark is true; a rule without one need not be of use.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from agent.errors import UsageError
from policy.match import Search
from policy.overlap import LESS, MORE, SAME, everywhere, names_meet, specific
from policy.read import EMPTY_POLICY, closest, is_empty_policy, keeps, near
from policy.rules import DEFAULT_RULE, EXACT, Groups, Layer, NamePattern, Path, Policy, Rule
from policy.sections import dotted, shown
from policy.settings import SETTINGS, stricter
from policy.toml_scan import Key, line_of, lines_of

_NOTHING_KEY = "nothing"
MOST_LOOKS = 50_000  # comparisons: about half a second
MEANT = "did you mean"


class Shadows:
    """The rules of a policy that hold on one day, made ready to find what shadows each."""

    def __init__(self, rules: Sequence[Rule], groups: Groups) -> None:
        """Take the rules that have not expired, in their order."""
        self._groups = groups
        self._looks = 0
        self._place = {rule: place for place, rule in enumerate(rules)}
        self._blocks = [rule for rule in rules if rule.blocks]
        self._by_text: dict[str, list[Rule]] = {}
        self._setting: dict[str, list[Rule]] = {key: [] for key in SETTINGS}
        for rule in rules:
            for key in rule.settings:
                self._setting[key].append(rule)
            for text in {*_texts(rule), *(each.text for each in rule.attributes)}:
                self._by_text.setdefault(text, []).append(rule)

    def over(self, rule: Rule) -> dict[str, tuple[Rule, bool]]:
        """Return the settings that never decide, each with the rule that does, and if it repeats.

        Taking all of these settings out of a policy changes no value of any request. Of rules
        without end, not all are compared: nothing is found then.
        """
        found: dict[str, tuple[Rule, bool]] = {}
        for other in self._near(rule):
            self._looks += 1
            if self._looks > MOST_LOOKS:
                return {}
            grade = specific(other, rule, self._groups)
            for key in rule.settings.keys() & other.settings.keys() - found.keys():
                if grade is not None and self._beats(other, rule, key, grade):
                    same = grade < MORE and other.settings[key] == rule.settings[key]
                    found[key] = other, same
        return {key: found[key] for key in rule.settings if key in found}

    def _near(self, rule: Rule) -> Iterator[Rule]:
        """Yield the rules that may be as specific wherever this one holds, or block all of it.

        Such a rule names the same domains, the same attributes where these are no patterns, and
        words of the same letters.
        """
        exact = [each.text for each in rule.attributes if each.rank == EXACT]
        texts = [*exact, *_texts(rule)]
        near: Collection[Rule] = self._place
        if rule.blocks:
            near = self._blocks
        elif texts:
            near = min((self._by_text[text] for text in texts), key=len)
        return (each for each in near if each is not rule)

    def _beats(self, other: Rule, rule: Rule, key: str, grade: int) -> bool:
        """Say whether another rule, which holds wherever this does, leaves a setting no effect."""
        if key == _NOTHING_KEY and rule.blocks:
            back = specific(rule, other, self._groups)
            return back is None or self._place[other] < self._place[rule]
        if grade == LESS or other.layer is Layer.DEFAULTS:  # to write one down is no mistake
            return False
        value, own = other.settings[key], rule.settings[key]
        if other.layer is Layer.PRESET:
            return grade == SAME and value == own and self._repeats(rule, other, key)
        if grade == MORE or stricter(SETTINGS[key], value, own):
            return True
        twins = specific(rule, other, self._groups) == SAME
        return value == own and (not twins or self._place[other] < self._place[rule])

    def _repeats(self, rule: Rule, preset: Rule, key: str) -> bool:
        """Say whether a rule of the file has no effect beside one of the preset with its value.

        It may, where a third rule meets both: those of the file win over those of a preset.
        """
        if specific(rule, preset, self._groups) != SAME:
            return False
        third = [each for each in self._setting[key] if each not in (rule, preset)]
        self._looks += len(third)
        return all(self._aside(each, rule, key) for each in third)

    def _aside(self, third: Rule, rule: Rule, key: str) -> bool:
        """Say whether it is all the same to a third rule of which layer a rule is."""
        if third.layer is Layer.PRESET:
            open_ = stricter(SETTINGS[key], rule.settings[key], third.settings[key])
            return not (third.attributes and open_)
        return third.layer is Layer.DEFAULTS or not names_meet(third, rule)


def _texts(rule: Rule) -> list[str]:
    """Return the domains of a rule, and the letters of its words."""
    letters = [each.text.replace("*", "").replace(" ", "") for each in rule.queries]
    return [*(each.text for each in rule.recipients), *letters]


class Remark(NamedTuple):
    """What a rule does not do: the line and the key, what is so, and what one may do about it.

    ``settings``: those of the rule that have no effect; all of them, where it has none at all.
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
    remarks = [each for rule in policy.rules for each in auditor.remarks(rule)]
    return tuple(sorted(remarks, key=lambda each: (each.line, each.key, each.what)))


def misspelt(policy: Policy, names: Sequence[str]) -> tuple[Remark, ...]:
    """Return a remark on each name in the file that is probably meant for one of ``names``."""
    auditor = _Auditor(policy, names, date.min)
    return tuple(
        remark
        for rule in policy.rules
        if rule.layer is Layer.FILE
        for remark in auditor.strangers(rule)
        if remark.hint.startswith(MEANT)
    )


def called(rule: Rule, lines: Mapping[Key, int], key: str = "") -> str:
    """Return what to call a rule, with the line of a setting in it if it is of the file.

    ``lines``: of that file, as `policy.toml_scan.lines_of` returns them.
    """
    if rule.layer is not Layer.FILE:
        return rule.name
    return f"{rule.name!r} (line {line_of(lines, (*rule.path, key))})"


class _Auditor:
    """A policy with what is asked again and again about its rules."""

    def __init__(self, policy: Policy, names: Sequence[str] | None, today: date) -> None:
        self._policy, self._groups = policy, policy.groups
        self._names, self._today = names, today
        self._lines: Mapping[Key, int] = lines_of(policy.text)
        valid = [rule for rule in policy.rules if not rule.is_over(today)]
        self._shadows = Shadows(valid, policy.groups)
        self._blocks = [rule for rule in valid if rule.blocks]
        self._guards = [rule for rule in valid if _guard(rule) > 0]
        self._unguarded = [rule for rule in valid if _guard(rule) == 0]

    def remarks(self, rule: Rule) -> Iterator[Remark]:
        """Yield what there is to say of one rule."""
        if rule.layer is not Layer.FILE:
            return
        if rule.is_over(self._today):
            yield self._expired(rule)
            return
        unknown = self.strangers(rule)
        yield from unknown
        if any(each.settings for each in unknown):
            return
        blocked = self._blocked(rule)
        yield from blocked or (*self._shadowed(rule), *self._guarded(rule))
        yield from self._unsearched(rule)
        yield from self._apart(rule)

    def _remark(
        self, rule: Rule, path: Path, settings: Sequence[str], what: str, hint: str
    ) -> Remark:
        line = line_of(self._lines, path)
        return Remark(line, dotted(path), what, hint, rule, tuple(settings))

    def _expired(self, rule: Rule) -> Remark:
        hint = "delete the rule, or give it a later day"
        what = f"expired on {rule.expires}"
        return self._remark(rule, (*rule.path, "expires"), [*rule.settings], what, hint)

    def strangers(self, rule: Rule) -> list[Remark]:
        """Return what there is to say of each attribute that the model does not have."""
        names = self._names
        if names is None or not rule.attributes:
            return []
        known = [each for each in rule.attributes if any(map(each.matches, names))]
        path = rule.path if rule.path[0] == "attributes" else (*rule.path, "attribute")
        settings = () if known else tuple(rule.settings)
        return [
            self._remark(rule, path, settings, *self._no_attribute(rule, each, names))
            for each in rule.attributes
            if each not in known
        ]

    def _no_attribute(
        self, rule: Rule, pattern: NamePattern, names: Sequence[str]
    ) -> tuple[str, str]:
        what = f"no attribute of the model is {shown(pattern.text)}"
        if meant := near(pattern, names):
            until = " until you correct it, it is not sent" if keeps(rule, self._policy) else ""
            return what, f"{MEANT} {meant!r}?{until}"
        found = closest(pattern.text.replace("*", ""), tuple(names))
        if found is None:
            return what, "`reticent model info` lists its attributes"
        return what, f"the nearest is {found!r}"

    def _blocked(self, rule: Rule) -> list[Remark]:
        """Return what there is to say of a rule for requests that are all blocked."""
        if not rule.queries or rule.blocks:
            return []
        blocks = everywhere(self._blocks, rule, self._groups)
        if not blocks:
            return []
        what = f"has no effect: {self._listed(blocks)} blocks all of its queries"
        hint = "delete the rule, or block fewer queries"
        return [self._remark(rule, rule.path, [*rule.settings], what, hint)]

    def _shadowed(self, rule: Rule) -> Iterator[Remark]:
        """Yield what there is to say of settings that never decide."""
        found = self._shadows.over(rule)
        if len({*found.values()}) == 1 and len(found) == len(rule.settings) and rule.path:
            (other, same), *_ = found.values()
            yield self._remark(rule, rule.path, [*found], *self._beaten(other, "", same=same))
            return
        for key, (other, same) in found.items():
            path = (*rule.path, key)
            yield self._remark(rule, path, [key], *self._beaten(other, key, same=same))

    def _beaten(self, other: Rule, key: str, *, same: bool) -> tuple[str, str]:
        place = self._place(other, key)
        if not same:
            what = f"never decides: {place} wins wherever this matches"
            return what, "delete it, or make it more specific"
        if other.layer is Layer.PRESET:
            hint = "leave it out, unless it is to stay whatever the preset becomes"
            return f"repeats {place}", hint
        return f"repeats {place}", "delete one of the two"

    def _guarded(self, rule: Rule) -> Iterator[Remark]:
        """Yield what there is to say of a rule that lets out what never leaves, for its guard."""
        disclose = rule.settings.get("disclose", "never")
        if disclose == "never" or any(names_meet(each, rule) for each in self._unguarded):
            return
        guards = (each for each in self._guards if specific(each, rule, self._groups) is not None)
        guard = next(guards, None)
        if guard is None:
            return
        where = "this rule" if guard is rule else self._place(guard, "guard")
        what = f"{shown(disclose)} has no effect: {where} guards it, so that it never leaves"
        preset = guard.layer is Layer.PRESET
        hint = "set guard = 0 as well, if it may leave" if preset else "leave out one of the two"
        path = rule.path if self._is_short(rule) else (*rule.path, "disclose")
        yield self._remark(rule, path, ["disclose"], what, hint)

    def _unsearched(self, rule: Rule) -> Iterator[Remark]:
        """Yield what there is to say of an address in which no browser can tell the words."""
        text = rule.settings.get("search")
        if isinstance(text, str):
            try:
                Search.parse(text)
            except UsageError as error:
                yield self._remark(rule, (*rule.path, "search"), (), error.what, error.hint)

    def _apart(self, rule: Rule) -> Iterator[Remark]:
        """Yield what there is to say of settings that look meant for all, and are this rule's."""
        if rule.path[:1] != ("rule",) or not rule.conditions:
            return
        lines = self._policy.text.split("\n")  # as TOML has them
        for key in rule.settings:
            path = (*rule.path, key)
            line = self._lines.get(path, 0)
            if line > 1 and not lines[line - 2].strip():
                whom = ", ".join(f"{part} {text}" for part, text in rule.conditions.items())
                what = f"holds for {shown(whom)} alone: a table goes on until the next [header]"
                hint = "move it above the first [header] if it is meant for all, else close the gap"
                yield self._remark(rule, path, (), what, hint)
                return

    def _is_short(self, rule: Rule) -> bool:
        """Say whether a rule is an attribute with a text, and so has no key for its setting."""
        return rule.path[:1] == ("attributes",) and (*rule.path, "disclose") not in self._lines

    def _listed(self, rules: Sequence[Rule]) -> str:
        return " with ".join(self._place(rule) for rule in rules)

    def _place(self, rule: Rule, key: str = "") -> str:
        return called(rule, self._lines, key)


def _guard(rule: Rule) -> float:
    """Return the guard that a rule sets; less than any where it sets none."""
    return float(rule.settings.get("guard", -1))
