"""When, where and for what words a rule holds, and which facts stay in which contexts. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from policy.families import TopicProbabilities, families
from policy.hosts import KINDS
from policy.rules import ANY, SIGN, Policy, Rule
from policy.settings import DAYS, HOSTED

WHOEVER = dict(reversed(KINDS.items()))  # a host of each kind, of any other site first
# How probably a query is about the topics of a rule for it to hold, and for one that withholds
# something: of 101 requests of strangers about a family that finds 82, and takes 3 of 100 others.
LIKELY, POSSIBLE = 0.5, 0.1
Named = str | frozenset[str]  # an attribute that is asked about, or all names of another


def holds(rule: Rule, at: date, door: str) -> bool:
    """Whether a rule holds at a time of the user's, for what asks at a door.

    A rule for some hours or days does not hold where ``at`` is a day alone. Hours that end no later
    than they begin go on after midnight, and are of the day on which they began.
    """
    doors = {door, "mcp"} if door in HOSTED else {door}
    if rule.doors and doors.isdisjoint(rule.doors):
        return False
    if not isinstance(at, datetime) or not (rule.hours or rule.days):
        today = at.date() if isinstance(at, datetime) else at
        return not (rule.hours or rule.days or rule.is_over(today))
    begin, _, end = (rule.hours or "00:00-24:00").partition("-")
    clock, night, day = f"{at:%H:%M}", end <= begin, at.date()
    if night and clock < end:
        clock, day = "24:00", day - timedelta(days=1)
    within = begin <= clock and (night or clock < end)
    return within and not rule.is_over(day) and (not rule.days or DAYS[day.weekday()] in rule.days)


def times_of(rule: Rule, today: date) -> list[date]:
    """The first and the last minute of a rule's hours, on each of its days of the next seven."""
    if not (rule.hours or rule.days):
        return [today]
    ends = (rule.hours or "00:00-24:00").split("-")
    begin, end = (60 * int(each[:2]) + int(each[3:]) for each in ends)
    week = (datetime.combine(today + timedelta(days=each), time()) for each in range(7))
    some = [day for day in week if not rule.days or DAYS[day.weekday()] in rule.days]
    minutes = begin, begin + (end - begin - 1) % 1440
    return [day + timedelta(minutes=each) for day in some for each in minutes]


def request_of(rule: Rule, policy: Policy, today: date) -> tuple[Any, ...]:
    """A request that a rule is for, as `Rulebook.match` takes it."""
    words = next((each.text.replace("*", "") for each in rule.queries), "")
    texts = [each.text.removeprefix(SIGN) for each in rule.topics[:1]]
    topics = {families().get(each, frozenset({each})): 1.0 for each in texts}
    host, door = policy.host_for(rule), next(iter(rule.doors), "")
    if rule.anywhere:
        host = next((each for kind, each in WHOEVER.items() if kind not in rule.excepted), host)
    return host, words, times_of(rule, today)[0], topics, door


def ranks_in(
    rule: Rule, said: Sequence[str], topics: TopicProbabilities, *, unseen: bool
) -> tuple[int, int] | None:
    """How specific a rule is for what the user says, by words and by topics; None where it is not.

    ``said``: texts, as `spoken` returns them; ``unseen``: there are more, which may say anything.
    """
    queries = [each for each in rule.queries if unseen or any(map(each.matches, said))]
    found = [(e, topic) for e in rule.topics for topic in topics if any(map(e.matches, topic))]
    likely = sum(topics[each] for each in {topic for _, topic in found})
    is_about = unseen or likely >= (POSSIBLE if rule.withholds else LIKELY)
    if (rule.queries and not queries) or (rule.topics and not is_about):
        return None
    meant = rule.topics if unseen else [each for each, _ in found]
    return max((e.rank for e in queries), default=ANY), max((e.rank for e in meant), default=ANY)


@dataclass(frozen=True, slots=True)
class Contexts:
    """All contexts of a policy, and those that a recipient is in; ``about``: what each rule is on.

    Each is the rule that withholds its attributes from all but its recipients.
    """

    every: tuple[Rule, ...]
    inside: tuple[Rule, ...]
    about: Mapping[Rule, Mapping[Named, int]]

    def closing(self, name: str | frozenset[str]) -> Rule | None:
        """The context that keeps an attribute, or one that another tells, from the recipient.

        None for none. A recipient in contexts gets only what is in one of these, and what is in
        contexts, or tells it, goes only to those that are in one of them.
        """
        own = [each for each in self.every if name in self.about[each]]
        shared = any(each in self.inside for each in own)
        others = self.inside if isinstance(name, str) else ()
        return None if shared else next(iter((*own, *others)), None)
