"""Which rules decided something about a request lately: of requests themselves nothing is kept.

And nothing while the vault is locked: a rule may name whom it is for, and what was asked.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from policy.match import Ruling
from policy.precedence import Verdicts
from policy.rules import Rule

KEPT = 256  # combinations of rules that are not looked into yet
MOST = 50_000  # rules, of the policy and of those before it

Known = tuple[object, ...]


class _Held(NamedTuple):
    """What was ruled, by the rules that held together, and when it last was."""

    settings: Verdicts
    attributes: Mapping[str, Verdicts]
    at: datetime


class Fired:
    """When each rule last decided something about a request that was answered.

    A rule that says the same after the policy was read again is the same. ``since``: when it was
    begun to note that, None before.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.since: datetime | None = None
        self._held: dict[int, _Held] = {}  # by what a rulebook shares: what is held stays itself
        self._times: dict[Known, datetime] = {}

    def begin(self, now: datetime) -> None:
        """Begin anew."""
        self.clear()
        self.since = now

    def clear(self) -> None:
        """Forget all that decided."""
        self._held.clear()
        self._times.clear()

    def note(self, ruling: Ruling, at: datetime) -> None:
        """Note that a request was answered under a ruling; nothing else of it is kept."""
        self._held[id(ruling.settings)] = _Held(ruling.settings, ruling.attributes, at)
        if len(self._held) > KEPT:
            self._sort_in()

    def at(self, rule: Rule) -> datetime | None:
        """Return when a rule last decided something, None where it has not yet."""
        self._sort_in()
        return self._times.get(_known(rule))

    def _sort_in(self) -> None:
        """Take down the time of each rule that decided something, the latest as the last."""
        for held in sorted(self._held.values(), key=lambda each: each.at):
            verdicts = [held.settings, *held.attributes.values()]
            for rule in {verdict.rule for each in verdicts for verdict in each.values()}:
                known = _known(rule)
                self._times.pop(known, None)
                self._times[known] = held.at
        self._held.clear()
        for known in [*self._times][: max(len(self._times) - MOST, 0)]:
            del self._times[known]


def _known(rule: Rule) -> Known:
    """Return by what a rule is known again; its place may change as others come and go."""
    parts = (*rule.settings.items(), *rule.conditions.items())
    return (rule.source, rule.path[:1], rule.name, *parts)
