"""Rules that might meet, and of which neither wins although they cannot both hold."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from policy.fields import Findings, shown
from policy.groups import Groups
from policy.hosts import HostPattern
from policy.rules import ANY, GROUP, Reach, Rule
from policy.settings import SETTINGS
from policy.words import Words

UNORDERED = tuple(key for key, each in SETTINGS.items() if each.rank is None)


class _Part(NamedTuple):
    """One of the recipients of a rule: its patterns (None for any host) and how specific it is."""

    patterns: tuple[HostPattern, ...] | None
    rank: int

    def meets(self, other: "_Part") -> bool:
        if self.patterns is None or other.patterns is None:
            return True
        return any(one.meets(two) for one in self.patterns for two in other.patterns)

    def covers(self, other: "_Part") -> bool:
        if self.patterns is None or other.patterns is None:
            return self.patterns is None
        return all(any(own.covers(each) for own in self.patterns) for each in other.patterns)


def note_conflicts(found: Findings, rules: Sequence[Rule], groups: Groups) -> None:
    """Note every two rules that set something without order to different values, and might meet.

    Unless one of them is more specific, or a third rule settles it wherever both match.
    """
    for key in UNORDERED:
        setters = [rule for rule in rules if key in rule.settings]
        for one, other in combinations(setters, 2):
            if one.settings[key] != other.settings[key] and _clash(one, other, setters, groups):
                theirs = f"{one.name!r} sets {shown(one.settings[key])}"
                what = f"{theirs} for requests that this rule matches too, and neither wins"
                hint = "set the same, make one more specific, or add a rule for both at once"
                found.add((*other.path, key), what, hint)


def _clash(one: Rule, other: Rule, setters: Sequence[Rule], groups: Groups) -> bool:
    third = [rule for rule in setters if rule is not one and rule is not other]
    for own, its in product(_parts(one, groups), _parts(other, groups)):
        if own.meets(its):
            for query, its_query in product(_queries(one), _queries(other)):
                a, b = Reach(own.rank, ANY, _rank(query)), Reach(its.rank, ANY, _rank(its_query))
                settled = (_settles(rule, (own, query), (its, its_query), groups) for rule in third)
                if not (a.within(b) or b.within(a) or any(settled)):
                    return True
    return False


def _settles(
    rule: Rule,
    one: tuple[_Part, Words | None],
    other: tuple[_Part, Words | None],
    groups: Groups,
) -> bool:
    """Say whether a rule matches wherever both do, and is as specific as both together."""
    (part, words), (its_part, its_words) = one, other
    narrow = part if part.rank >= its_part.rank else its_part
    rank = max(_rank(words), _rank(its_words))
    return any(own.covers(narrow) and own.rank >= narrow.rank for own in _parts(rule, groups)) and (
        any(_rank(query) >= rank and query in (words, its_words) for query in _queries(rule))
    )


def _parts(rule: Rule, groups: Groups) -> Iterator[_Part]:
    if not (rule.recipients or rule.groups):
        yield _Part(None, ANY)
    for pattern in rule.recipients:
        yield _Part((pattern,), pattern.rank)
    for name in rule.groups:
        yield _Part(groups.get(name, ()), GROUP)


def _queries(rule: Rule) -> tuple[Words | None, ...]:
    return rule.queries or (None,)


def _rank(words: Words | None) -> int:
    return ANY if words is None else words.rank
