"""Which rule decides a setting, and why the others lost (FORMAT.md, "Which rule decides"). Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from policy.rules import ANY, GROUP, SIGN, NamePattern, Reach, Rule
from policy.settings import SETTINGS, Value, stricter

GUARDED = "guarded"
PER_ATTRIBUTE = tuple(key for key, each in SETTINGS.items() if each.about == "attribute")
WHOLE = tuple(key for key in SETTINGS if key not in PER_ATTRIBUTE)
NOTHING = "nothing"
Matched = tuple[int, int, int]  # a rule's place, and how specific it is in recipient and query
Why = Literal["block", "more specific", "later layer", "stricter", "the same"]


class Verdict(NamedTuple):
    """A value, the rule that decided it, and the rules that lost to it."""

    value: Value
    rule: Rule
    lost: tuple[Rule, ...] = ()


Verdicts = Mapping[str, Verdict]


class Claim(NamedTuple):
    """A rule that holds, how specific it is here, what it sets, and how strict that is."""

    rule: Rule
    reach: Reach
    value: Value
    strictness: float


Claims = dict[str, list[Claim]]


class Decided(NamedTuple):
    """A verdict, the claims that no other beats, and the rules of those that one beats."""

    verdict: Verdict
    unbeaten: tuple[Claim, ...]
    beaten: tuple[Rule, ...]


def may(verdicts: Verdicts) -> str:
    """Return what may happen to an attribute: how it is disclosed, or that it is guarded."""
    guard = verdicts.get("guard")
    if guard is not None and float(guard.value) > 0:
        return GUARDED
    return str(verdicts["disclose"].value)


def decide(claims: Iterable[Claim], before: Decided | None = None) -> Decided:
    """Return what claims decide, together with those that were compared before.

    What these have beaten stays beaten: whatever beats the rule that beat it beats it as well.
    """
    beaten = () if before is None else before.beaten
    together = (*claims,) if before is None else (*before.unbeaten, *claims)
    unbeaten = together
    for rule, reach, *_ in together:
        unbeaten = tuple(each for each in unbeaten if not _outranks(rule, reach, each[0], each[1]))
    best = max(unbeaten, key=attrgetter("strictness"))  # the first of equals
    lost = (*beaten, *(each.rule for each in together if each is not best))
    beaten += tuple(each.rule for each in together if each not in unbeaten)
    return Decided(Verdict(best.value, best.rule, lost), unbeaten, beaten)


def _outranks(rule: Rule, own: Reach, other: Rule, its: Reach) -> Why | None:
    """Say why a rule wins whatever its value; None where it does not.

    In one file, if it is more specific; over a preset, if it is at least as specific. What beats
    the winner beats the loser too.
    """
    layer, its_layer = rule.layer, other.layer
    if layer < its_layer or own[0] < its[0] or own[1] < its[1] or own[2] < its[2]:
        return None
    if own != its:
        return "more specific"
    return "later layer" if layer > its_layer else None


class Precedence:
    """The rules of a policy, those that always hold compared once."""

    def __init__(self, rules: Sequence[Rule], names: Sequence[str]) -> None:
        """Take the rules, and the names of the attributes that are asked about."""
        self._rules = rules
        self._ranks = _ranks(rules, names)
        lasting = [rule for rule in rules if rule.lasting]
        general = Claims()
        for rule in lasting:
            if not rule.attributes:
                _add(general, rule, Reach(ANY, ANY, ANY))
        self._always = {key: decide(general[key]) for key in WHOLE if key in general}
        named = [rule for rule in lasting if rule.attributes]
        alike: dict[tuple[int | None, ...], Mapping[str, Decided]] = {}
        self._attributes: dict[str, Mapping[str, Decided]] = {}
        for name in names:
            key = tuple(self._ranks[rule].get(name) for rule in named)
            if key not in alike:
                claims = {each: [*general[each]] for each in PER_ATTRIBUTE if each in general}
                for rule, rank in zip(named, key, strict=True):
                    if rank is not None:
                        _add(claims, rule, Reach(ANY, rank, ANY))
                alike[key] = {each: decide(claims[each]) for each in claims}
            self._attributes[name] = alike[key]

    def verdicts(self, matched: Iterable[Matched]) -> tuple[Verdicts, Mapping[str, Verdicts]]:
        """Return what is decided of the request, and of each attribute.

        ``matched``: the rules that hold now and need not always.
        """
        general, about, block = Claims(), list[tuple[Rule, Matched]](), None
        for each in matched:
            rule = self._rules[each[0]]
            if not rule.attributes:
                _add(general, rule, Reach(each[1], ANY, each[2]))
                block = block or (rule if rule.blocks else None)
            if any(key in rule.settings for key in PER_ATTRIBUTE):
                about.append((rule, each))
        settings: dict[str, Verdict] = {}
        for key in WHOLE:
            always = self._always.get(key)
            decided = decide(general[key], always) if key in general else always
            if decided is not None:
                settings[key] = decided.verdict
        if block is not None:  # it wins over everything
            rule, lost = settings[NOTHING].rule, settings[NOTHING].lost
            others = tuple(each for each in (rule, *lost) if each is not block)
            settings[NOTHING] = Verdict(value=True, rule=block, lost=others)
        return settings, _Attributes(self._attributes, self._ranks, about)


class _Attributes(Mapping[str, Verdicts]):
    """What is decided of each attribute, found out when it is asked for."""

    def __init__(
        self,
        always: Mapping[str, Mapping[str, Decided]],
        ranks: Mapping[Rule, Mapping[str, int]],
        about: Sequence[tuple[Rule, Matched]],
    ) -> None:
        self._always, self._ranks, self._about = always, ranks, about
        self._found: dict[str, Verdicts] = {}
        self._alike: dict[tuple[object, ...], Verdicts] = {}

    def __getitem__(self, name: str) -> Verdicts:
        if name in self._found:
            return self._found[name]
        always = self._always[name]
        ranks = tuple(
            self._ranks[rule].get(name) if rule.attributes else ANY for rule, _ in self._about
        )
        alike = (id(always), *ranks)
        if alike not in self._alike:
            claims = Claims()
            for (rule, (_, recipient, query)), rank in zip(self._about, ranks, strict=True):
                if rank is not None:
                    _add(claims, rule, Reach(recipient, rank, query))
            verdicts = {key: each.verdict for key, each in always.items()}
            for key in PER_ATTRIBUTE:
                if key in claims:
                    verdicts[key] = decide(claims[key], always.get(key)).verdict
            self._alike[alike] = verdicts
        self._found[name] = self._alike[alike]
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._always)

    def __len__(self) -> int:
        return len(self._always)


def _ranks(rules: Iterable[Rule], names: Sequence[str]) -> Mapping[Rule, Mapping[str, int]]:
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


def _add(claims: Claims, rule: Rule, reach: Reach) -> None:
    """Add what a rule claims."""
    for key, value in rule.settings.items():
        claim = Claim(rule, reach, value, SETTINGS[key].strictness(value))
        claims.setdefault(key, []).append(claim)


class Place(NamedTuple):
    """What rules are compared for: a host and its pool, a query, and an attribute if it is of one.

    ``query``: as `policy.rules.spoken` returns it.
    """

    host: str
    pool: str
    query: str
    attribute: str | None = None


class Loss(NamedTuple):
    """A rule that lost, its value, the rule that it lost to, and why."""

    rule: Rule
    value: Value
    winner: Rule
    why: Why


def losses(key: str, verdict: Verdict, place: Place) -> tuple[Loss, ...]:
    """Return why each rule lost that has the setting too, in the order of the verdict."""
    found = []
    rules = (verdict.rule, *verdict.lost)
    reaches = {rule: reach for rule in rules if (reach := reach_of(rule, place)) is not None}
    for rule in verdict.lost:
        value, winner = rule.settings[key], verdict.rule
        why: Why | None = None
        if key == NOTHING and winner.blocks:
            why = "the same" if rule.blocks else "block"
        elif rule in reaches:
            for each, reach in reaches.items():
                if beaten := _outranks(each, reach, rule, reaches[rule]):
                    winner, why = each, beaten
                    break
        if why is None:
            why = "stricter" if stricter(SETTINGS[key], verdict.value, value) else "the same"
        found.append(Loss(rule, value, winner, why))
    return tuple(found)


def reach_of(rule: Rule, place: Place) -> Reach | None:
    """Return how specific a rule is at a place, None where it does not match; whatever the day."""
    ranks: list[list[int]] = [
        [each.rank for each in rule.recipients if each.matches(place.host)]
        + [GROUP for name in rule.groups if place.pool == SIGN + name],
        [
            each.rank
            for each in rule.attributes
            if place.attribute and each.matches(place.attribute)
        ],
        [each.rank for each in rule.queries if each.matches(place.query)],
    ]
    listed = (rule.recipients or rule.groups, rule.attributes, rule.queries)
    if any(part and not found for part, found in zip(listed, ranks, strict=True)):
        return None
    return Reach(*(max(found, default=ANY) for found in ranks))
