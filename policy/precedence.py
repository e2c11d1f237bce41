"""Which rule decides a setting, and why the others lost (FORMAT.md, "Which rule decides"). Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from policy.rules import ANY, GROUP, SIGN, NamePattern, Reach, Rule
from policy.settings import SETTINGS, Value, stricter

GUARDED = "guarded"
PER_ATTRIBUTE = tuple(key for key, each in SETTINGS.items() if each.about == "attribute")
WHOLE = tuple(key for key in SETTINGS if key not in PER_ATTRIBUTE)
NOTHING = "nothing"
Held = tuple[int, int, int]  # the place of a rule, and how specific it is in recipient and query
Ranks = Mapping[Rule, Mapping[str, int]]  # the names that a rule is about, and how specifically
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


class Standing(NamedTuple):
    """What is decided among the rules that always hold, and which of these no other beats."""

    verdict: Verdict
    unbeaten: tuple[Claim, ...]


def may(verdicts: Verdicts) -> str:
    """Return what may happen to an attribute: how it is disclosed, or that it is guarded."""
    guard = verdicts.get("guard")
    if guard is not None and float(guard.value) > 0:
        return GUARDED
    return str(verdicts["disclose"].value)


def standing(claims: Sequence[Claim]) -> Standing:
    """Return what is decided by one claim or more."""
    unbeaten = [*claims]
    for other in claims:
        unbeaten = [claim for claim in unbeaten if not _outranks(other[:2], claim[:2])]
    best = max(unbeaten, key=lambda claim: claim.strictness)  # the first of equals
    lost = tuple(claim.rule for claim in claims if claim is not best)
    return Standing(Verdict(best.value, best.rule, lost), tuple(unbeaten))


def joined(before: Standing | None, claims: Sequence[Claim]) -> Verdict:
    """Return what is decided when claims join those that always hold.

    What these have beaten stays beaten: whatever beats the rule that beat it beats it as well.
    """
    if before is None:
        return standing(claims).verdict
    if len(claims) == len(before.unbeaten) == 1:  # as nearly always
        (best, (own,)), (claim,) = before, claims
        stricter = claim.strictness > own.strictness
        mine, its = claim[:2], own[:2]
        if _outranks(mine, its) or (stricter and not _outranks(its, mine)):
            return Verdict(claim.value, claim.rule, (best.rule, *best.lost))
        return Verdict(best.value, best.rule, (*best.lost, claim.rule))
    together = standing((*before.unbeaten, *claims)).verdict
    present = {claim.rule for claim in before.unbeaten}
    beaten = [rule for rule in (before.verdict.rule, *before.verdict.lost) if rule not in present]
    return together._replace(lost=(*beaten, *together.lost))


def _outranks(one: tuple[Rule, Reach], other: tuple[Rule, Reach]) -> Why | None:
    """Say why a rule wins whatever its value; None where it does not.

    In one file, if it is more specific; over a preset, if it is at least as specific. What beats
    the winner beats the loser too.
    """
    (rule, own), (its_rule, its) = one, other
    layer, its_layer = rule.layer, its_rule.layer
    if layer < its_layer or own[0] < its[0] or own[1] < its[1] or own[2] < its[2]:
        return None
    if own != its:
        return "more specific"
    return "later layer" if layer > its_layer else None


Claims = dict[str, list[Claim]]


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
        claim = Claim(rule, reach, value, SETTINGS[key].strictness(value))
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
            beaten = (
                (each, _outranks((each, reaches[each]), (rule, reaches[rule])))
                for each in rules
                if each in reaches
            )
            winner, why = next(((each, why) for each, why in beaten if why), (winner, None))
        if why is None:
            why = "stricter" if stricter(SETTINGS[key], verdict.value, value) else "the same"
        found.append(Loss(rule, value, winner, why))
    return tuple(found)


def reach_of(rule: Rule, place: Place) -> Reach | None:
    """Return how specific a rule is at a place, None where it does not match; whatever the day."""
    hosts = [each.rank for each in rule.recipients if each.matches(place.host)]
    hosts += [GROUP for name in rule.groups if place.pool == SIGN + name]
    name = place.attribute
    names = [each.rank for each in rule.attributes if name is not None and each.matches(name)]
    words = [each.rank for each in rule.queries if each.matches(place.query)]
    found = (hosts, names, words)
    listed = (rule.recipients or rule.groups, rule.attributes, rule.queries)
    if any(part and not ranks for part, ranks in zip(listed, found, strict=True)):
        return None
    return Reach(*(max(ranks, default=ANY) for ranks in found))
