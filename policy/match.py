"""Which rules hold for one request, and which of them decides what (FORMAT.md). Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from agent.errors import UsageError
from policy.groups import SIGN, Pools
from policy.hosts import host_of
from policy.queries import Queries
from policy.reached import Reached
from policy.ruled import Held, Ruled
from policy.rules import ANY, Policy, Rule
from policy.verdicts import Verdict, Verdicts
from policy.words import spoken

__all__ = ["Rulebook", "Ruling", "Verdict", "Verdicts"]

KEPT = 4096  # recipients, and combinations of rules


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a policy says of one request.

    ``host``: the recipient; ``pool``: who remembers what it is told, its registered domain or
    ``@`` and its group; ``settings``: of the request, by key, where any rule or default has one;
    ``attributes``: for each name asked about, the same of ``disclose``, ``sensitivity``, ``guard``.
    """

    host: str
    pool: str
    settings: Verdicts
    attributes: Mapping[str, Verdicts]


class _Recipient(NamedTuple):
    """A host, who it pools with, and the rules for it, each with how specific it is there."""

    host: str
    pool: str
    reached: tuple[tuple[Rule, int], ...]


class Rulebook:
    """A policy made ready to be asked often, about the same attributes.

    Rules that hold for every request are compared once; those that hold for one join them.
    """

    def __init__(self, policy: Policy, names: Sequence[str]) -> None:
        """Take the policy, and the names of the model's attributes."""
        self.policy = policy
        self._pools = Pools(policy.groups)
        self._places = {rule: place for place, rule in enumerate(policy.rules)}
        self._ruled = Ruled(policy.rules, names)
        some = [rule for rule in policy.rules if not rule.lasting]
        self._queries = Queries(some)
        self._anywhere = {rule for rule in some if rule.queries and rule.anywhere}
        self._reached = Reached(rule for rule in some if rule not in self._anywhere)
        self._recipients: dict[str, _Recipient] = {}
        self._rulings: dict[tuple[Held, ...], tuple[Verdicts, Mapping[str, Verdicts]]] = {}

    def match(self, recipient: str, query: str, today: date) -> Ruling:
        """Return the ruling for a request.

        ``recipient``: a host or an address; ``today``: for rules that expire. UsageError where
        the recipient is no host.
        """
        known = self._recipients.get(recipient)
        if known is None:
            known = self._met(recipient)
        holding = tuple(sorted(self._holding(known, spoken(query), today)))
        found = self._rulings.get(holding)
        if found is None:
            if len(self._rulings) >= KEPT:
                self._rulings.clear()
            found = self._rulings[holding] = self._ruled.by(holding)
        return Ruling(known.host, known.pool, *found)

    def refusing(self, recipient: str, today: date) -> Rule | None:
        """Return the rule by which a recipient gets nothing, whatever the query; None for none.

        UsageError where the recipient is no host.
        """
        ruled = self.match(recipient, "", today).settings["nothing"]
        return ruled.rule if ruled.value is True else None

    def _met(self, recipient: str) -> _Recipient:
        """Return what is known of a recipient from now on."""
        if recipient in self.policy.groups:
            raise UsageError(f"{recipient!r} is a group", "name one of its members")
        host = host_of(recipient)
        pool = self._pools.of(host)
        group = pool.removeprefix(SIGN) if pool.startswith(SIGN) else None
        if len(self._recipients) >= KEPT:
            self._recipients.clear()
        met = _Recipient(host, pool, tuple(self._reached.by(host, group)))
        self._recipients[recipient] = met
        return met

    def _holding(self, recipient: _Recipient, query: str, today: date) -> Iterator[Held]:
        """Yield the rules that hold now and need not always."""
        asked = self._queries.find(query)
        for rule, rank in recipient.reached:
            if rule.expires is None or today <= rule.expires:
                if not rule.queries:
                    yield self._places[rule], rank, ANY
                elif rule in asked:
                    yield self._places[rule], rank, asked[rule]
        for rule, words in asked.items():
            if rule in self._anywhere and (rule.expires is None or today <= rule.expires):
                yield self._places[rule], ANY, words
