"""Rules that might meet, and of which neither wins although they cannot both hold."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import product

from agent.errors import UsageError
from policy.fields import Findings, shown
from policy.groups import Groups, Pools
from policy.queries import Queries
from policy.reached import Ranked, Reached, below
from policy.rules import ANY, Reach, Rule
from policy.settings import SETTINGS
from policy.words import Words

UNORDERED = tuple(key for key, each in SETTINGS.items() if each.rank is None)
ELSEWHERE = "*"  # a host that no rule names
MOST_STEPS = 100_000  # of comparing: about half a second

Found = Mapping[Rule, int]


def note_conflicts(found: Findings, rules: Sequence[Rule], groups: Groups) -> None:
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
        self._reached = Reached(rule for rule in setters if not rule.anywhere)
        self._queries = Queries(setters)
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
