"""Whether one rule holds wherever another does, and is as specific there. False may be doubt."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TypeVar

from policy.groups import Groups
from policy.hosts import HostPattern
from policy.names import NamePattern
from policy.rules import GROUP, Rule
from policy.words import Words

P = TypeVar("P")
Ranked = Sequence[tuple[P, int]]  # what a part of a rule lists, each with how specific it is

LESS, SAME, MORE = -1, 0, 1  # how specific a rule is, at least, wherever the other holds


def specific(one: Rule, other: Rule, groups: Groups) -> int | None:
    """Return how specific a rule is wherever the other holds, at least; None if it may not hold.

    LESS: in some part perhaps less; SAME: in every part as much; MORE: and surely more in one.
    """
    attributes = _part(_named(one), _named(other), names_cover)
    queries = _part(_worded(one), _worded(other), Words.covers)
    parts = (_reaching(one, other, groups), attributes, queries)
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not _lasts(one, other):
        return None
    return LESS if LESS in known else max(known)


def everywhere(rules: Sequence[Rule], other: Rule, groups: Groups) -> tuple[Rule, ...]:
    """Return one of the rules for each query of another, which holds where that does; or none.

    Both the rules and the other have queries, and no attributes matter.
    """
    there = [
        rule for rule in rules if _lasts(rule, other) and _reaching(rule, other, groups) is not None
    ]
    found: dict[Rule, None] = {}
    for words in other.queries:
        covering = (rule for rule in there if any(each.covers(words) for each in rule.queries))
        rule = next(covering, None)
        if rule is None:
            return ()
        found[rule] = None
    return tuple(found)


def names_cover(one: NamePattern, other: NamePattern) -> bool:
    """Say whether a pattern matches whatever the other matches."""
    return fnmatchcase(other.text, one.text)  # a * of the other fits under a * only


def names_meet(one: Rule, other: Rule) -> bool:
    """Say whether two rules may be about the same attribute."""
    if not (one.attributes and other.attributes):
        return True
    return any(_meet(own, its) for own in one.attributes for its in other.attributes)


def _meet(one: NamePattern, other: NamePattern) -> bool:
    if "*" in one.text and "*" in other.text:
        return True
    return one.matches(other.text) or other.matches(one.text)


def _lasts(one: Rule, other: Rule) -> bool:
    """Say whether a rule holds as long as the other."""
    return one.expires is None or (other.expires is not None and one.expires >= other.expires)


def _reaching(one: Rule, other: Rule, groups: Groups) -> int | None:
    return _part(_hosts(one, groups), _hosts(other, groups), HostPattern.covers)


def _hosts(rule: Rule, groups: Groups) -> Ranked[HostPattern]:
    """Return the recipients of a rule; a group is all of its members."""
    members = [(each, GROUP) for name in rule.groups for each in groups[name]]
    return [*((pattern, pattern.rank) for pattern in rule.recipients), *members]


def _named(rule: Rule) -> Ranked[NamePattern]:
    return [(pattern, pattern.rank) for pattern in rule.attributes]


def _worded(rule: Rule) -> Ranked[Words]:
    return [(words, words.rank) for words in rule.queries]


def _part(own: Ranked[P], its: Ranked[P], covers: Callable[[P, P], bool]) -> int | None:
    """Return how specific a part is at least, wherever the other's matches; None if it may not."""
    if not its:
        if not own:
            return SAME
        whole = any(isinstance(each, NamePattern) and not each.text.strip("*") for each, _ in own)
        return MORE if whole else None
    if not own:
        return LESS
    least = MORE
    for pattern, rank in its:
        ranks = [its_rank for each, its_rank in own if covers(each, pattern)]
        if not ranks:
            return None
        least = min(least, (max(ranks) > rank) - (max(ranks) < rank))
    return least
