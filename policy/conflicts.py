"""Rules that might meet, and of which neither wins although they cannot both hold."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import product

from policy.fields import Findings, shown
from policy.groups import Groups, Pools
from policy.reached import Ranked, Reached, below
from policy.rules import ANY, Reach, Rule
from policy.settings import SETTINGS
from policy.words import Words

UNORDERED = tuple(key for key, each in SETTINGS.items() if each.rank is None)
ELSEWHERE = "*"  # a host that no rule names


def note_conflicts(found: Findings, rules: Sequence[Rule], groups: Groups) -> None:
    """Note each rule that sets something without order, and an earlier one that sets it otherwise.

    Where both match, neither is more specific, and no third rule is more specific than both.
    """
    pools = Pools(groups)
    for key in UNORDERED:
        setters = [rule for rule in rules if key in rule.settings]
        if len({rule.settings[key] for rule in setters}) > 1:
            for rule, rival in _clashing(key, setters, groups, pools).items():
                theirs = f"{rival.name!r} sets {shown(rival.settings[key])}"
                what = f"{theirs} for requests that this rule matches too, and neither wins"
                hint = "set the same, make one more specific, or add a rule for both at once"
                found.add((*rule.path, key), what, hint)


def _clashing(key: str, setters: Sequence[Rule], groups: Groups, pools: Pools) -> dict[Rule, Rule]:
    """Return the rules that clash with an earlier one, each with the first that is found."""
    places = {rule: place for place, rule in enumerate(setters)}
    reached, clashing = Reached(setters), dict[Rule, Rule]()
    for host in _hosts(setters, groups):
        here = sorted(reached.by(host, pools.group(host)), key=lambda each: places[each[0]])
        for place, other in enumerate(here):
            if other[0] not in clashing:
                value = other[0].settings[key]
                rivals = (one for one in here[:place] if one[0].settings[key] != value)
                rival = next((one for one in rivals if _undecided(one, other, here)), None)
                if rival is not None:
                    clashing[other[0]] = rival[0]
    return clashing


def _hosts(rules: Iterable[Rule], groups: Groups) -> Iterator[str]:
    """Yield a host of every kind that the rules can tell apart."""
    patterns = {each.key for rule in rules for each in rule.recipients}
    named = {name for rule in rules for name in rule.groups}
    patterns |= {each.key for name in named for each in groups.get(name, ())}
    for domain in sorted(patterns):
        yield domain
        yield below(domain)
    yield ELSEWHERE


def _undecided(one: Ranked, other: Ranked, here: Sequence[Ranked]) -> bool:
    """Say whether two rules, both for one host, meet in a query where nothing decides."""
    days = [rule.expires for rule, _ in (one, other) if rule.expires is not None]
    day = min(days, default=date.max)  # the last on which both hold, and the fewest others
    held = [each for each in here if each[0].expires is None or each[0].expires >= day]
    for queries in product(one[0].queries or (None,), other[0].queries or (None,)):
        present = [each for each in queries if each is not None]
        reach, its = _reach(one, present), _reach(other, present)
        if reach is None or its is None or reach.within(its) or its.within(reach):
            continue
        reaches = (_reach(each, present) for each in held)
        if not any(third and third.within(reach) and third.within(its) for third in reaches):
            return True
    return False


def _reach(ranked: Ranked, present: Sequence[Words]) -> Reach | None:
    """Return how specific a rule is where just these words stand in a query; None: it is not."""
    rule, rank = ranked
    if not rule.queries:
        return Reach(rank, ANY, ANY)
    found = (each.rank for each in rule.queries if any(map(each.covers, present)))
    words = max(found, default=None)
    return None if words is None else Reach(rank, ANY, words)
