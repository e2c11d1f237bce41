"""The policy in use, with what is made of it once, and when each of its rules last decided."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property, lru_cache
from operator import itemgetter

from agent.decision.terms import Terms, terms_under
from agent.errors import UsageError
from agent.model.model import Model
from policy.audit import misspelt
from policy.hosts import host_of
from policy.match import Rulebook, Ruling
from policy.precedence import Verdicts
from policy.read import with_typo_guard
from policy.rules import SIGN, Policy, Pools, Rule

KEPT_RULINGS = 256  # combinations of rules that are not looked into yet
MOST = 50_000  # rules, of the policy and of those before it
_Answered = tuple[datetime, Verdicts, Mapping[str, Verdicts]]
Known = tuple[object, ...]
KEPT = 4096  # recipients, and terms of one


class RuleUsage:
    """When each rule last decided something about a request that was answered.

    A rule that says the same after the policy was read again is the same. ``since``: when it was
    begun to note that, None before.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.since: datetime | None = None
        self._answered: dict[int, _Answered] = {}  # by the id of its settings, which it keeps
        self._times: dict[Known, datetime] = {}

    def begin(self, now: datetime) -> None:
        """Begin anew."""
        self.clear()
        self.since = now

    def clear(self) -> None:
        """Forget all that decided."""
        self._answered.clear()
        self._times.clear()

    def note(self, ruling: Ruling, at: datetime) -> None:
        """Note that a request was answered under a ruling; nothing else of it is kept."""
        self._answered[id(ruling.settings)] = (at, ruling.settings, ruling.attributes)
        if len(self._answered) > KEPT_RULINGS:
            self._sort_in()

    def at(self, rule: Rule) -> datetime | None:
        """Return when a rule last decided something, None where it has not yet."""
        self._sort_in()
        return self._times.get(_known(rule))

    def _sort_in(self) -> None:
        """Take down the time of each rule that decided something, the latest as the last."""
        for at, settings, attributes in sorted(self._answered.values(), key=itemgetter(0)):
            verdicts = [settings, *attributes.values()]
            for rule in {verdict.rule for each in verdicts for verdict in each.values()}:
                known = _known(rule)
                self._times.pop(known, None)
                self._times[known] = at
        self._answered.clear()
        for known in [*self._times][: max(len(self._times) - MOST, 0)]:
            del self._times[known]


def _known(rule: Rule) -> Known:
    """Return by what a rule is known again; its place may change as others come and go."""
    parts = (*rule.settings.items(), *rule.conditions.items())
    return (rule.source, rule.path[:1], rule.name, *parts)


class ActivePolicy:
    """A policy, or none; it never changes, but caches what was asked."""

    def __init__(self, policy: Policy | None) -> None:
        self.policy = policy
        groups = {} if policy is None else policy.groups
        self.pool_of: Callable[[str], str] = lru_cache(KEPT)(Pools(groups).of)
        self._books: dict[tuple[str, str], Rulebook] = {}
        self._terms: dict[tuple[int, str], Terms] = {}
        self._remarks: dict[tuple[str, ...], tuple[str, ...]] = {}
        rules = () if policy is None else policy.rules
        self._chooses = any("model" in rule.settings for rule in rules)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of makers whose models may be used, none for any."""
        return () if self.policy is None else self.policy.trusted_keys

    @cached_property
    def recipients(self) -> Rulebook | None:
        """The rules, ready to be asked about recipients, of no attributes; None without rules."""
        return None if self.policy is None else Rulebook(self.policy, ())

    def book(self, model: Model) -> Rulebook | None:
        """Return the rules, ready for the attributes of a model; None where there are no rules."""
        key = (model.id, model.digest)
        book = self._books.get(key)
        if book is None and self.policy is not None:
            names = [attribute.name for attribute in model.attributes]
            book = self._books[key] = Rulebook(with_typo_guard(self.policy, names), names)
        return book

    def model(self, recipient: str, query: str, today: date) -> str | None:
        """Return the name of the model that a request is decided with, None for the shipped one.

        UsageError if the recipient is not a host.
        """
        if self.recipients is None or not self._chooses:
            return None
        verdict = self.recipients.match(recipient, query, today).settings.get("model")
        return None if verdict is None else str(verdict.value)

    def terms(self, model: Model, recipient: str, query: str, today: date) -> Terms | None:
        """Return the terms for a request, with the ruling they are of; None without rules.

        UsageError if the recipient is not a host.
        """
        book = self.book(model)
        if book is None:
            return None
        ruling = book.match(recipient, query, today)
        key = (id(ruling.settings), ruling.host)  # one object for the same rules; its terms keep it
        if key not in self._terms:
            if len(self._terms) >= KEPT:
                self._terms.clear()
            self._terms[key] = terms_under(ruling, model)
        return self._terms[key]

    def pool(self, recipient: str) -> str:
        """Return the pool of a host or address, or of @ and the name of a group.

        UsageError where it is neither.
        """
        if not recipient.startswith(SIGN):
            return self.pool_of(host_of(recipient))
        groups = {} if self.policy is None else self.policy.groups
        if recipient.removeprefix(SIGN) not in groups:
            raise UsageError.unknown("group", recipient, [SIGN + name for name in groups])
        return recipient

    def hosts_of(self, pool: str) -> list[str]:
        """Return hosts of a pool, for the rules about it: its domain, or one of each member."""
        if self.policy is None or not pool.startswith(SIGN):
            return [pool]
        return [member.host for member in self.policy.groups[pool.removeprefix(SIGN)]]

    def misspelt(self, models: Sequence[Model]) -> tuple[str, ...]:
        """Return a remark on each name in the rules that is probably meant for an attribute's."""
        names = tuple(sorted({each.name for model in models for each in model.attributes}))
        if names not in self._remarks:
            found = () if self.policy is None else misspelt(self.policy, names)
            said = tuple(f"line {each.line}: {each.what} ({each.hint})" for each in found)
            self._remarks = {names: said}
        return self._remarks[names]
