"""What is ruled by the rules that always hold, and by those that join them for one request."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from policy.names import NamePattern
from policy.rules import ANY, Reach, Rule
from policy.settings import SETTINGS
from policy.verdicts import Claim, Standing, Verdict, Verdicts, joined, standing

PER_ATTRIBUTE = tuple(key for key, each in SETTINGS.items() if each.about == "attribute")
WHOLE = tuple(key for key in SETTINGS if key not in PER_ATTRIBUTE)
NOTHING = "nothing"

Held = tuple[int, int, int]  # the place of a rule, and how specific it is in recipient and query
Claims = dict[str, list[Claim]]
Ranks = Mapping[Rule, Mapping[str, int]]  # the names that a rule is about, and how specifically


class _Kind(NamedTuple):
    """What the rules that always hold decide about some attributes: the same of all of them."""

    settled: Mapping[str, Standing]
    verdicts: Verdicts


class Ruled:
    """The rules of a policy, those that always hold compared once."""

    def __init__(self, rules: Sequence[Rule], names: Iterable[str]) -> None:
        """Take the rules, and the names of the attributes that are asked about."""
        self._rules, self._names = rules, tuple(names)
        self._ranks = _ranks(rules, self._names)
        lasting = [rule for rule in rules if rule.lasting]
        general = Claims()
        for rule in lasting:
            if not rule.attributes:
                _add(general, rule, Reach(ANY, ANY, ANY))
        about = {key: general[key] for key in PER_ATTRIBUTE if key in general}
        self._settled = {key: standing(general[key]) for key in WHOLE if key in general}
        self._kinds = _kinds(self._names, about, self._ranks, lasting)

    def by(self, holding: Iterable[Held]) -> tuple[Verdicts, Mapping[str, Verdicts]]:
        """Return what is ruled of the request, and of each attribute."""
        general, about, blocks = Claims(), list[tuple[Rule, Held]](), list[Rule]()
        for held in holding:
            rule = self._rules[held[0]]
            if not rule.attributes:
                _add(general, rule, Reach(held[1], ANY, held[2]))
                if rule.blocks:
                    blocks.append(rule)
            if any(key in rule.settings for key in PER_ATTRIBUTE):
                about.append((rule, held))
        settings = {}
        for key in WHOLE:
            settled = self._settled.get(key)
            if key in general:
                settings[key] = joined(settled, general[key])
            elif settled is not None:
                settings[key] = settled.verdict
        if blocks:
            settings[NOTHING] = _blocked(settings[NOTHING], blocks[0])
        return settings, _Attributes(self._kinds, self._ranks, about)


class _Attributes(Mapping[str, Verdicts]):
    """What is ruled of each attribute, decided when it is asked for."""

    def __init__(
        self, kinds: Mapping[str, _Kind], ranks: Ranks, about: Sequence[tuple[Rule, Held]]
    ) -> None:
        self._kinds, self._ranks, self._about = kinds, ranks, about
        self._found: dict[str, Verdicts] = {}
        self._alike: dict[tuple[object, ...], Verdicts] = {}

    def __getitem__(self, name: str) -> Verdicts:
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._verdicts(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def _verdicts(self, name: str) -> Verdicts:
        kind = self._kinds[name]
        ranks = tuple(
            self._ranks[rule].get(name) if rule.attributes else ANY for rule, _ in self._about
        )
        alike = (id(kind), *ranks)
        found = self._alike.get(alike)
        if found is None:
            claims = Claims()
            for (rule, (_, recipient, query)), rank in zip(self._about, ranks, strict=True):
                if rank is not None:
                    _add(claims, rule, Reach(recipient, rank, query))
            verdicts = {
                key: joined(kind.settled.get(key), claims[key])
                for key in PER_ATTRIBUTE
                if key in claims
            }
            found = self._alike[alike] = {**kind.verdicts, **verdicts}
        return found


def _kinds(
    names: Iterable[str], general: Claims, ranks: Ranks, lasting: Iterable[Rule]
) -> Mapping[str, _Kind]:
    """Return for each name what is ruled of it by the rules that always hold."""
    named = [rule for rule in lasting if rule.attributes]
    made: dict[tuple[int | None, ...], _Kind] = {}
    found = {}
    for name in names:
        key = tuple(ranks[rule].get(name) for rule in named)
        if key not in made:
            claims = {setting: [*each] for setting, each in general.items()}
            for rule, rank in zip(named, key, strict=True):
                if rank is not None:
                    _add(claims, rule, Reach(ANY, rank, ANY))
            settled = {setting: standing(each) for setting, each in claims.items()}
            made[key] = _Kind(settled, {each: of.verdict for each, of in settled.items()})
        found[name] = made[key]
    return found


def _add(claims: Claims, rule: Rule, reach: Reach) -> None:
    """Add what a rule claims."""
    for key, value in rule.settings.items():
        rank = SETTINGS[key].rank
        claim = Claim(rule, reach, value, 0.0 if rank is None else rank(value))
        claims.setdefault(key, []).append(claim)


def _blocked(ruled: Verdict, block: Rule) -> Verdict:
    """Return the verdict of a query block, which wins over everything."""
    others = (ruled.rule, *ruled.lost)
    return Verdict(value=True, rule=block, lost=tuple(each for each in others if each is not block))


def _ranks(rules: Iterable[Rule], names: Sequence[str]) -> Ranks:
    """Return the names that each rule with attributes is about, with how specific it is."""
    found: dict[Rule, dict[str, int]] = {}
    matching: dict[NamePattern, list[str]] = {}
    for rule in rules:
        for pattern in rule.attributes:
            if pattern not in matching:
                matching[pattern] = [name for name in names if pattern.matches(name)]
            ranks = found.setdefault(rule, {})
            for name in matching[pattern]:
                ranks[name] = max(ranks.get(name, ANY), pattern.rank)
    return found
