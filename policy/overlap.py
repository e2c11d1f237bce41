"""Where rules overlap: one holds wherever another does, or two meet and neither wins."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from fnmatch import fnmatchcase
from itertools import product
from typing import TypeVar

from agent.errors import UsageError
from policy.hosts import HostPattern
from policy.match import QueryIndex, Ranked, RecipientIndex, below
from policy.rules import ANY, GROUP, Groups, NamePattern, Pools, Reach, Rule, Words
from policy.sections import Reader, shown
from policy.settings import SETTINGS

LESS, SAME, MORE = -1, 0, 1  # how specific a rule is, at least, wherever the other holds
UNORDERED = tuple(key for key, each in SETTINGS.items() if not each.order)
ELSEWHERE = "*"  # a host that no rule names
MOST_STEPS = 100_000  # of comparing: about half a second
Found = Mapping[Rule, int]


Pattern = TypeVar("Pattern")


RankedPatterns = Sequence[
    tuple[Pattern, int]
]  # what a part of a rule lists, each with how specific it is


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
    return _part(_recipients(one, groups), _recipients(other, groups), HostPattern.covers)


def _recipients(rule: Rule, groups: Groups) -> RankedPatterns[HostPattern]:
    """Return the recipients of a rule; a group is all of its members."""
    members = [(each, GROUP) for name in rule.groups for each in groups[name]]
    return [*((pattern, pattern.rank) for pattern in rule.recipients), *members]


def _named(rule: Rule) -> RankedPatterns[NamePattern]:
    return [(pattern, pattern.rank) for pattern in rule.attributes]


def _worded(rule: Rule) -> RankedPatterns[Words]:
    return [(words, words.rank) for words in rule.queries]


def _part(
    own: RankedPatterns[Pattern],
    its: RankedPatterns[Pattern],
    covers: Callable[[Pattern, Pattern], bool],
) -> int | None:
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


def note_conflicts(found: Reader, rules: Sequence[Rule], groups: Groups) -> None:
    """Note each rule that sets something without order, and an earlier one that sets it otherwise.

    Where both match, neither is more specific, and no third rule is more specific than both. Where
    finding all would take too long, that is noted too.
    """
    pools, effort = Pools(groups), _Effort()
    for key in UNORDERED:
        setters = [rule for rule in rules if key in rule.settings]
        if len({rule.settings[key] for rule in setters}) > 1:
            meetings = _Meetings(key, setters, effort)
            try:
                meetings.look(_hosts(setters, groups), pools)
            except UsageError as error:
                found.add((), error.what, error.hint)
            for rule, rival in meetings.clashing.items():
                theirs = f"{rival.name!r} sets {shown(rival.settings[key])}"
                what = f"{theirs} for requests that this rule matches too, and neither wins"
                hint = "set the same, make one more specific, or add a rule for both at once"
                found.add((*rule.path, key), what, hint)
            if effort.spent:
                return


class _Effort:
    """How much may still be compared."""

    def __init__(self) -> None:
        self._left = MOST_STEPS

    @property
    def spent(self) -> bool:
        """Whether nothing more is to be compared."""
        return self._left < 0

    def spend(self, steps: int) -> None:
        """Take note of steps; UsageError where there were too many."""
        self._left -= steps
        if self._left < 0:
            what = "too many rules may meet, so it cannot be said which of them decides"
            raise UsageError(what, f"write fewer rules that set {', '.join(UNORDERED)}")


class _Meetings:
    """The rules that set one thing, made ready to find those that meet.

    ``clashing``: those that clash with an earlier one, each with the first that was found.
    """

    def __init__(self, key: str, setters: Sequence[Rule], effort: _Effort) -> None:
        self._key = key
        self._spend = effort.spend
        self._places = {rule: place for place, rule in enumerate(setters)}
        self._anywhere = [(rule, ANY) for rule in setters if rule.anywhere]
        self._reached = RecipientIndex(rule for rule in setters if not rule.anywhere)
        self._queries = QueryIndex(setters)
        self._patterns = sum(len(rule.queries) for rule in setters)
        self._asked: dict[Words, Found] = {}
        self.clashing: dict[Rule, Rule] = {}

    def look(self, hosts: Iterable[str], pools: Pools) -> None:
        """Find the rules that clash for one of the hosts; UsageError where that takes too long."""
        for host in hosts:
            named = [*self._reached.by(host, pools.group(host))]
            # Rules for everybody that clash somewhere do so where no rule names the host.
            pairs = self._pairs(named) if host != ELSEWHERE else self._all(self._anywhere)
            here = {**dict(self._anywhere), **dict(named)}
            self._spend(1)
            for one, other in pairs:
                self._spend(1)
                different = one[0].settings[self._key] != other[0].settings[self._key]
                new = different and other[0] not in self.clashing
                if new and self._undecided(one, other, here):
                    self.clashing[other[0]] = one[0]

    def _pairs(self, named: Sequence[Ranked]) -> Iterator[tuple[Ranked, Ranked]]:
        """Yield every two rules for a host of which one names it, the earlier one first."""
        yield from self._all(named)
        for each in named:
            for other in self._anywhere:
                yield self._ordered(each, other)

    def _all(self, ranked: Sequence[Ranked]) -> Iterator[tuple[Ranked, Ranked]]:
        ordered = sorted(ranked, key=lambda each: self._places[each[0]])
        for place, other in enumerate(ordered):
            for one in ordered[:place]:
                if other[0] in self.clashing:
                    break
                yield one, other

    def _ordered(self, one: Ranked, other: Ranked) -> tuple[Ranked, Ranked]:
        return (one, other) if self._places[one[0]] < self._places[other[0]] else (other, one)

    def _undecided(self, one: Ranked, other: Ranked, here: Found) -> bool:
        """Say whether two rules, both for one host, meet in a query where nothing decides."""
        plain, worded = sorted((one, other), key=lambda each: bool(each[0].queries))
        if not plain[0].queries and worded[0].queries and worded[1] >= plain[1]:
            return False
        days = [rule.expires for rule, _ in (one, other) if rule.expires is not None]
        day = min(days, default=date.max)  # the last on which both hold, and the fewest others
        for queries in product(one[0].queries or (None,), other[0].queries or (None,)):
            self._spend(1)
            asked = [self._find(each) for each in queries if each is not None]
            reach, its = _reach(*one, asked), _reach(*other, asked)
            if reach is None or its is None or reach.within(its) or its.within(reach):
                continue
            if not any(
                third.within(reach) and third.within(its)
                for third in self._thirds(asked, here, day)
            ):
                return True
        return False

    def _thirds(self, asked: Sequence[Found], here: Found, day: date) -> Iterator[Reach]:
        """Yield how specific each rule is that holds for a host and its query on a day."""
        words = {rule for each in asked for rule in each if rule in here}
        for rule in words or here:
            self._spend(1)
            if rule.expires is None or rule.expires >= day:
                reach = _reach(rule, here[rule], asked)
                if reach is not None:
                    yield reach

    def _find(self, words: Words) -> Found:
        """Return the rules whose words are in every query with these, with how specific it is."""
        if words not in self._asked:
            self._spend(self._patterns)
            self._asked[words] = self._queries.find(words.sample)
        return self._asked[words]


def _hosts(rules: Iterable[Rule], groups: Groups) -> Iterator[str]:
    """Yield a host of every kind that the rules can tell apart."""
    patterns = {each.key for rule in rules for each in rule.recipients}
    named = {name for rule in rules for name in rule.groups}
    patterns |= {each.key for name in named for each in groups.get(name, ())}
    yield ELSEWHERE
    for domain in sorted(patterns):
        yield domain
        yield below(domain)


def _reach(rule: Rule, rank: int, asked: Sequence[Found]) -> Reach | None:
    """Return how specific a rule is where just these words stand in a query; None: it is not."""
    if not rule.queries:
        return Reach(rank, ANY, ANY)
    words = max((each[rule] for each in asked if rule in each), default=None)
    return None if words is None else Reach(rank, ANY, words)
