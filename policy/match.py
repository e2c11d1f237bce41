"""Which rules hold for one request, and which of them decides what (FORMAT.md). Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from policy.groups import SIGN, Pools
from policy.hosts import host_of, suffixes
from policy.rules import ANY, GROUP, Policy, Reach, Rule
from policy.settings import SETTINGS, Setting, Value, stricter
from policy.words import spoken

PER_ATTRIBUTE = tuple(key for key, each in SETTINGS.items() if each.about == "attribute")
NOTHING = "nothing"


class Verdict(NamedTuple):
    """A value, the rule that decided it, and the rules that lost to it."""

    value: Value
    rule: Rule
    lost: tuple[Rule, ...] = ()


Verdicts = Mapping[str, Verdict]
Holding = tuple[tuple[Rule, Reach], ...]  # the rules that hold, and how specific each is


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


class _Claim(NamedTuple):
    """A rule that holds, how specific it is here, and what it sets."""

    rule: Rule
    reach: Reach
    value: Value


class Rulebook:
    """A policy made ready to be asked often, about the same attributes."""

    def __init__(self, policy: Policy, names: Sequence[str]) -> None:
        """Take the policy, and the names of the model's attributes."""
        self.policy, self._names = policy, tuple(names)
        self._anywhere = [rule for rule in policy.rules if not (rule.recipients or rule.groups)]
        self._by_domain: dict[str, list[Rule]] = {}
        self._by_group: dict[str, list[Rule]] = {}
        for rule in policy.rules:
            for key in {pattern.key for pattern in rule.recipients}:
                self._by_domain.setdefault(key, []).append(rule)
            for group in rule.groups:
                self._by_group.setdefault(group, []).append(rule)
        self._ranks = {rule: _ranks(rule, self._names) for rule in policy.rules if rule.attributes}
        self._pools: dict[str, str] = {}
        self._of = Pools(policy.groups)
        self._rulings: dict[Holding, tuple[Verdicts, dict[str, Verdicts]]] = {}

    def match(self, recipient: str, query: str, today: date) -> Ruling:
        """Return the ruling for a request.

        ``recipient``: a host or an address; ``today``: for rules that expire. UsageError where
        the recipient is no host.
        """
        host = host_of(recipient)
        pool = self._pools.get(host)
        if pool is None:
            pool = self._pools[host] = self._of.of(host)
        holding = tuple(self._holding(host, pool, spoken(query), today))
        found = self._rulings.get(holding)
        if found is None:
            found = self._rulings[holding] = (_settings(holding), self._attributes(holding))
        return Ruling(host, pool, *found)

    def _holding(
        self, host: str, pool: str, query: str, today: date
    ) -> Iterator[tuple[Rule, Reach]]:
        """Yield the rules that hold, with how specific each is but for attributes."""
        for rule, recipient in self._reaching(host, pool):
            if rule.expires is not None and rule.expires < today:
                continue
            words = ANY
            if rule.queries:
                words = max((each.rank for each in rule.queries if each.matches(query)), default=-1)
                if words < 0:
                    continue
            yield rule, Reach(recipient, ANY, words)

    def _reaching(self, host: str, pool: str) -> Iterable[tuple[Rule, int]]:
        """Return the rules that match a host, each once, with how specific they are there."""
        found = dict.fromkeys(self._anywhere, ANY)
        if pool.startswith(SIGN):
            found.update(dict.fromkeys(self._by_group.get(pool[1:], ()), GROUP))
        for domain in suffixes(host):
            for rule in self._by_domain.get(domain, ()):
                ranks = [each.rank for each in rule.recipients if each.matches(host)]
                if ranks:
                    found[rule] = max(ranks)
        return found.items()

    def _attributes(self, holding: Sequence[tuple[Rule, Reach]]) -> dict[str, Verdicts]:
        """Return what is ruled of each attribute; those that no rule names share a verdict."""
        general: list[tuple[Rule, Reach]] = []
        named: dict[str, list[tuple[Rule, Reach]]] = {}
        for rule, reach in holding:
            if not any(key in rule.settings for key in PER_ATTRIBUTE):
                continue
            if not rule.attributes:
                general.append((rule, reach))
            for name, rank in self._ranks.get(rule, {}).items():
                named.setdefault(name, []).append((rule, reach._replace(attribute=rank)))
        shared = _verdicts(general, PER_ATTRIBUTE)
        return {
            name: _verdicts([*general, *named[name]], PER_ATTRIBUTE) if name in named else shared
            for name in self._names
        }


def _ranks(rule: Rule, names: Iterable[str]) -> dict[str, int]:
    """Return the names that a rule is about, with how specific it is for each."""
    found = {}
    for name in names:
        ranks = [pattern.rank for pattern in rule.attributes if pattern.matches(name)]
        if ranks:
            found[name] = max(ranks)
    return found


def _settings(holding: Sequence[tuple[Rule, Reach]]) -> Verdicts:
    """Return what is ruled of the request as a whole; a query block wins over everything."""
    whole = [each for each in holding if not each[0].attributes]
    keys = [key for key in SETTINGS if key not in PER_ATTRIBUTE]
    verdicts = dict(_verdicts(whole, keys))
    blocks = [rule for rule, _ in whole if rule.blocks]
    if blocks:
        others = [rule for rule, _ in whole if NOTHING in rule.settings and rule is not blocks[0]]
        verdicts[NOTHING] = Verdict(value=True, rule=blocks[0], lost=tuple(others))
    return verdicts


def _verdicts(holding: Sequence[tuple[Rule, Reach]], keys: Iterable[str]) -> Verdicts:
    claims: dict[str, list[_Claim]] = {}
    for rule, reach in holding:
        for key, value in rule.settings.items():
            claims.setdefault(key, []).append(_Claim(rule, reach, value))
    return {key: _decided(SETTINGS[key], claims[key]) for key in keys if key in claims}


def _decided(setting: Setting, claims: Sequence[_Claim]) -> Verdict:
    """Return the strictest of the claims that no other beats; of equal ones, the first."""
    best: _Claim | None = None
    for claim in claims:
        beaten = len(claims) > 1 and any(_beats(other, claim) for other in claims)
        if not beaten and (best is None or stricter(setting, claim.value, best.value)):
            best = claim
    if best is None:
        message = "every claim is beaten by another, though beating has no circles"
        raise AssertionError(message)
    lost = tuple(claim.rule for claim in claims if claim.rule is not best.rule)
    return Verdict(best.value, best.rule, lost)


def _beats(one: _Claim, other: _Claim) -> bool:
    """Say whether a claim wins whatever its value: more specific, or of a later layer."""
    if one.reach.within(other.reach):
        return True
    return one.rule.layer > other.rule.layer and not other.reach.within(one.reach)
