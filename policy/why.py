"""Why a rule decided, and why the others lost to it (FORMAT.md, "Which rule decides"). Pure."""

from typing import Literal, NamedTuple

from policy.groups import SIGN
from policy.match import Verdict
from policy.rules import ANY, GROUP, Reach, Rule
from policy.settings import SETTINGS, Value, stricter

Why = Literal["block", "more specific", "later layer", "stricter", "the same"]


class Place(NamedTuple):
    """What rules are compared for: a host and its pool, a query, and an attribute if it is of one.

    ``query``: as `policy.words.spoken` returns it.
    """

    host: str
    pool: str
    query: str
    attribute: str | None = None


class Loss(NamedTuple):
    """A rule that lost, its value, the rule that it lost to, and why."""

    rule: Rule
    value: Value
    winner: Rule
    why: Why


def losses(key: str, verdict: Verdict, place: Place) -> tuple[Loss, ...]:
    """Return why each rule lost that has the setting too, in the order of the verdict."""
    return tuple(_loss(key, verdict, place, rule) for rule in verdict.lost)


def reach_of(rule: Rule, place: Place) -> Reach | None:
    """Return how specific a rule is at a place, None where it does not match; whatever the day."""
    hosts = [each.rank for each in rule.recipients if each.matches(place.host)]
    hosts += [GROUP for name in rule.groups if place.pool == SIGN + name]
    name = place.attribute
    names = [each.rank for each in rule.attributes if name is not None and each.matches(name)]
    words = [each.rank for each in rule.queries if each.matches(place.query)]
    found = (hosts, names, words)
    listed = (rule.recipients or rule.groups, rule.attributes, rule.queries)
    if any(part and not ranks for part, ranks in zip(listed, found, strict=True)):
        return None
    return Reach(*(max(ranks, default=ANY) for ranks in found))


def _loss(key: str, verdict: Verdict, place: Place, rule: Rule) -> Loss:
    value = rule.settings[key]
    if key == "nothing" and verdict.rule.blocks:
        return Loss(rule, value, verdict.rule, "the same" if rule.blocks else "block")
    for winner in (verdict.rule, *verdict.lost):
        why = _beats(winner, rule, place)
        if why is not None:
            return Loss(rule, value, winner, why)
    strict = stricter(SETTINGS[key], verdict.value, value)
    return Loss(rule, value, verdict.rule, "stricter" if strict else "the same")


def _beats(one: Rule, other: Rule, place: Place) -> Why | None:
    """Say why a rule wins whatever its value, None where it does not."""
    own, its = reach_of(one, place), reach_of(other, place)
    if own is None or its is None:
        return None
    if one.layer >= other.layer and own.within(its):
        return "more specific"
    return "later layer" if one.layer > other.layer and own == its else None
