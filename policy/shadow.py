"""Which settings of a rule never decide, because another rule always wins or says the same."""

from collections.abc import Collection, Iterator, Sequence

from policy.cover import LESS, MORE, SAME, names_meet, specific
from policy.groups import Groups
from policy.names import EXACT
from policy.rules import Layer, Rule
from policy.settings import SETTINGS, stricter

NOTHING = "nothing"
MOST_LOOKS = 50_000  # comparisons: about half a second


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
        if key == NOTHING and rule.blocks:
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
