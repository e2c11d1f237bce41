"""Where rules overlap: one holds wherever another does, or two meet and neither wins."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import chain, combinations, product
from typing import TypeVar

from agent.errors import UsageError
from policy.hosts import HostPattern
from policy.match import QueryIndex, Ranked, RecipientIndex
from policy.rules import ANY, GROUP, Groups, NamePattern, Pools, Reach, Rule, Words
from policy.sections import Reader, shown
from policy.settings import SETTINGS

LESS, SAME, MORE = -1, 0, 1  # how specific a rule is, at least, wherever the other holds
UNORDERED = tuple(key for key, each in SETTINGS.items() if not each.order)
MOST_STEPS = 100_000  # of comparing: about half a second
Found = Mapping[Rule, int]
Pattern = TypeVar("Pattern", HostPattern, NamePattern, Words)
RankedPatterns = Sequence[tuple[Pattern, int]]  # each with how specific it is


def specific(one: Rule, other: Rule, groups: Groups) -> int | None:
    """Return how specific a rule is wherever the other holds, at least; None if it may not hold.

    LESS: in some part perhaps less; SAME: in every part as much; MORE: and surely more in one.
    """
    parts = [
        _part(_recipients(one, groups), _recipients(other, groups)),
        _part(_ranked(one.attributes), _ranked(other.attributes)),
        _part(_ranked(one.queries), _ranked(other.queries)),
    ]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not _lasts(one, other):
        return None
    return LESS if LESS in known else max(known)


def everywhere(rules: Sequence[Rule], other: Rule, groups: Groups) -> tuple[Rule, ...]:
    """Return one of the rules for each query of another, which holds where that does; or none.

    Both the rules and the other have queries, and no attributes matter.
    """
    recipients = _recipients(other, groups)
    there = [
        rule
        for rule in rules
        if _lasts(rule, other) and _part(_recipients(rule, groups), recipients) is not None
    ]
    found: dict[Rule, None] = {}
    for words in other.queries:
        covering = (rule for rule in there if any(each.covers(words) for each in rule.queries))
        rule = next(covering, None)
        if rule is None:
            return ()
        found[rule] = None
    return tuple(found)


def names_meet(one: Rule, other: Rule) -> bool:
    """Say whether two rules may be about the same attribute."""
    if not (one.attributes and other.attributes):
        return True
    return any(
        ("*" in own.text and "*" in its.text) or own.matches(its.text) or its.matches(own.text)
        for own, its in product(one.attributes, other.attributes)
    )


def _lasts(one: Rule, other: Rule) -> bool:
    """Say whether a rule holds as long as the other."""
    return one.expires is None or (other.expires is not None and one.expires >= other.expires)


def _recipients(rule: Rule, groups: Groups) -> RankedPatterns[HostPattern]:
    """Return the recipients of a rule; a group is all of its members."""
    return [
        *_ranked(rule.recipients),
        *((each, GROUP) for name in rule.groups for each in groups[name]),
    ]


def _ranked(patterns: Iterable[Pattern]) -> RankedPatterns[Pattern]:
    return [(pattern, pattern.rank) for pattern in patterns]


def _part(own: RankedPatterns[Pattern], its: RankedPatterns[Pattern]) -> int | None:
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
        best = max((each_rank for each, each_rank in own if each.covers(pattern)), default=None)
        if best is None:
            return None
        least = min(least, (best > rank) - (best < rank))
    return least


def note_conflicts(reader: Reader, rules: Sequence[Rule], groups: Groups) -> None:
    """Note each rule that sets something without order, and an earlier one that sets it otherwise.

    Where both match, neither is more specific, and no third rule is more specific than both. Where
    finding all would take too long, that is noted too.
    """
    steps = MOST_STEPS
    for key in UNORDERED:
        setters = [rule for rule in rules if key in rule.settings]
        if len({rule.settings[key] for rule in setters}) < 2:  # noqa: PLR2004  (values)
            continue
        meetings = _Meetings(key, setters, steps)
        try:
            meetings.look(groups)
        except UsageError as error:
            reader.add((), error.what, error.hint)
        for rule, rival in meetings.clashing.items():
            theirs = f"{rival.name!r} sets {shown(rival.settings[key])}"
            what = f"{theirs} for requests that this rule matches too, and neither wins"
            hint = "set the same, make one more specific, or add a rule for both at once"
            reader.add((*rule.path, key), what, hint)
        steps = meetings.steps
        if steps < 0:
            return


class _Meetings:
    """The rules that set one thing, made ready to find those that meet.

    ``steps``: how much may still be compared; ``clashing``: those that clash with an earlier one,
    each with the first that was found.
    """

    def __init__(self, key: str, setters: Sequence[Rule], steps: int) -> None:
        self._key, self.steps = key, steps
        self._places = {rule: place for place, rule in enumerate(setters)}
        self._anywhere = [(rule, ANY) for rule in setters if rule.anywhere]
        self._reached = RecipientIndex(rule for rule in setters if not rule.anywhere)
        self._queries = QueryIndex(setters)
        self._patterns = sum(len(rule.queries) for rule in setters)
        self._asked: dict[Words, Found] = {}
        self.clashing: dict[Rule, Rule] = {}

    def look(self, groups: Groups) -> None:
        """Find the rules that clash for some host; UsageError where that takes too long."""
        pools = Pools(groups)
        # Rules for everybody that clash somewhere do so where no rule names the host.
        self._compare(combinations(self._anywhere, 2), dict(self._anywhere))
        domains = {each.key for rule in self._places for each in rule.recipients}
        named_groups = {name for rule in self._places for name in rule.groups}
        domains |= {each.key for name in named_groups for each in groups.get(name, ())}
        # Each, and a host below it that no pattern names.
        for host in chain.from_iterable((each, f"*.{each}") for each in sorted(domains)):
            self._spend(1)
            named = sorted(self._reached.by(host, pools.group(host)), key=self._place)
            pairs = chain(combinations(named, 2), product(named, self._anywhere))
            self._compare(pairs, dict([*self._anywhere, *named]))

    def _compare(self, pairs: Iterable[tuple[Ranked, Ranked]], here: Found) -> None:
        """Find the pairs that clash, all of them for one host; ``here``: every rule for it."""
        for pair in pairs:
            self._spend(1)
            one, other = sorted(pair, key=self._place)
            different = one[0].settings[self._key] != other[0].settings[self._key]
            new = different and other[0] not in self.clashing
            if new and self._undecided(one, other, here):
                self.clashing[other[0]] = one[0]

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
            words = {rule for each in asked for rule in each if rule in here}
            self._spend(len(words or here))
            thirds = (
                _reach(each, here[each], asked) for each in words or here if not each.is_over(day)
            )
            if not any(third and third.within(reach) and third.within(its) for third in thirds):
                return True
        return False

    def _find(self, words: Words) -> Found:
        """Return the rules whose words are in every query with these, with how specific it is."""
        if words not in self._asked:
            self._spend(self._patterns)
            self._asked[words] = self._queries.find(words.sample)
        return self._asked[words]

    def _place(self, ranked: Ranked) -> int:
        return self._places[ranked[0]]

    def _spend(self, steps: int) -> None:
        """Take note of steps; UsageError where there were too many."""
        self.steps -= steps
        if self.steps < 0:
            what = "too many rules overlap to find out which of them decides"
            raise UsageError(what, f"write fewer rules that set {', '.join(UNORDERED)}")


def _reach(rule: Rule, rank: int, asked: Sequence[Found]) -> Reach | None:
    """Return how specific a rule is where just these words stand in a query; None: it is not."""
    if not rule.queries:
        return Reach(rank, ANY, ANY)
    words = max((each[rule] for each in asked if rule in each), default=None)
    return None if words is None else Reach(rank, ANY, words)
