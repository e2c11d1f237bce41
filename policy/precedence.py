"""Which rule decides a setting, and why the others lost (FORMAT.md, "Which rule decides"). Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from policy.rules import ANY, NamePattern, Reach, Rule
from policy.settings import SETTINGS, Value

GUARDED = "guarded"
PER_ATTRIBUTE = tuple(key for key, each in SETTINGS.items() if each.about == "attribute")
WHOLE = tuple(key for key in SETTINGS if key not in PER_ATTRIBUTE)
NOTHING = "nothing"
Matched = tuple[int, int, int]  # a rule's place, and how specific it is in recipient and query
Why = Literal["block", "more specific", "later layer", "stricter", "later", "the same"]


class Known(NamedTuple):
    """An attribute as models know it, one or several.

    ``concepts``: what it is called across models, more than one where they call several facts
    alike; ``names``: all that any model calls these, so all by which a rule can mean it.
    """

    concepts: frozenset[str]
    names: frozenset[str]


Attributes = Mapping[str, Known]  # by the name that is asked about


def known(*names: str) -> dict[str, Known]:
    """Return attributes that every model calls by the same name."""
    return {name: Known(frozenset({name}), frozenset({name})) for name in names}


class Claim(NamedTuple):
    """A rule that holds, how specific it is here, what it sets, and how strict that is.

    ``strictness``: of a setting that knows no stricter, the place of the rule: the later wins.
    """

    rule: Rule
    reach: Reach
    value: Value
    strictness: float


class Verdict(NamedTuple):
    """A value, the rule that decided it, and what all rules claim that might have."""

    value: Value
    rule: Rule
    claims: tuple[Claim, ...] = ()

    @property
    def lost(self) -> tuple[Rule, ...]:
        """The rules that lost to the one that decided."""
        return tuple(claim.rule for claim in self.claims if claim.rule is not self.rule)


Verdicts = Mapping[str, Verdict]
Claims = dict[str, list[Claim]]


class Decided(NamedTuple):
    """A verdict, and those of its claims that no other beats."""

    verdict: Verdict
    unbeaten: tuple[Claim, ...]


def may(verdicts: Verdicts) -> str:
    """Return what may happen to an attribute: how it is disclosed, or that it is guarded."""
    guard = verdicts.get("guard")
    if guard is not None and float(guard.value) > 0:
        return GUARDED
    return str(verdicts["disclose"].value)


def decide(claims: Sequence[Claim], before: Decided | None = None) -> Decided:
    """Return what claims decide, together with those that were compared before.

    What these have beaten stays beaten: whatever beats the rule that beat it beats it as well.
    """
    settled = () if before is None else before.verdict.claims
    together = (*(() if before is None else before.unbeaten), *claims)
    unbeaten = together
    for other in together:
        unbeaten = tuple(claim for claim in unbeaten if not _outranks(other, claim))
    best = max(unbeaten, key=attrgetter("strictness"))  # the first of equals
    return Decided(Verdict(best.value, best.rule, (*settled, *claims)), unbeaten)


def _outranks(one: Claim, other: Claim) -> Why | None:
    """Say why a rule wins whatever its value; None where it does not.

    In one file, if it is more specific; over a preset, if it is at least as specific. What beats
    the winner beats the loser too.
    """
    own, its = one[1], other[1]
    layer, its_layer = one[0].layer, other[0].layer
    if layer < its_layer or own[0] < its[0] or own[1] < its[1] or own[2] < its[2]:
        return None
    if own != its:
        return "more specific"
    return "later layer" if layer > its_layer else None


class Precedence:
    """The rules of a policy, those that always hold compared once."""

    def __init__(self, rules: Sequence[Rule], names: Attributes) -> None:
        """Take the rules, and the attributes that are asked about."""
        self._rules = rules
        self._ranks = _ranks(rules, names)
        general = Claims()
        for place, rule in enumerate(rules):
            if rule.lasting and not rule.attributes:
                _add(general, rule, Reach(ANY, ANY, ANY), place)
        self._always = {key: decide(general[key]) for key in WHOLE if key in general}
        named = [rule for rule in rules if rule.lasting and rule.attributes]
        alike: dict[tuple[str, tuple[int | None, ...]], Mapping[str, Decided]] = {}
        self._attributes: dict[str, Mapping[str, Decided]] = {}
        for name in names:
            several = len(names[name].names) > 1
            ranks = tuple(self._ranks[rule].get(name) for rule in named)
            key = (name if several else "", ranks)
            if key not in alike:
                claims = {each: [*general[each]] for each in PER_ATTRIBUTE if each in general}
                ranked = [*zip(named, ranks, strict=True)]
                if several:  # of equals the rule decides that has the name that is asked about
                    own = {
                        rule for rule, _ in ranked if any(p.matches(name) for p in rule.attributes)
                    }
                    ranked.sort(key=lambda each: each[0] not in own)
                for rule, rank in ranked:
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
                _add(general, rule, Reach(each[1], ANY, each[2]), each[0])
                block = block or (rule if rule.blocks else None)
            if any(key in rule.settings for key in PER_ATTRIBUTE):
                about.append((rule, each))
        settings = _joined(WHOLE, self._always, general)
        if block is not None:  # it wins over everything
            settings[NOTHING] = settings[NOTHING]._replace(value=True, rule=block)
        return settings, _Attributes(self._attributes, self._ranks, about)


class _Attributes(Mapping[str, Verdicts]):
    """What is decided about each attribute, computed when it is asked for."""

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
            self._alike[alike] = _joined(PER_ATTRIBUTE, always, claims)
        self._found[name] = self._alike[alike]
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._always)

    def __len__(self) -> int:
        return len(self._always)


def _ranks(rules: Iterable[Rule], names: Attributes) -> Mapping[Rule, Mapping[str, int]]:
    """Return the attributes that each rule is about by any name, with how specific it is."""
    found: dict[Rule, dict[str, int]] = {}
    matching: dict[NamePattern, list[str]] = {}
    for rule in rules:
        for pattern in rule.attributes:
            if pattern not in matching:
                matching[pattern] = [
                    name for name, each in names.items() if any(map(pattern.matches, each.names))
                ]
            ranks = found.setdefault(rule, {})
            for name in matching[pattern]:
                ranks[name] = max(ranks.get(name, ANY), pattern.rank)
    return found


def _joined(
    keys: Iterable[str], always: Mapping[str, Decided], claims: Claims
) -> dict[str, Verdict]:
    """Return what is decided when claims join those that always hold."""
    found = {}
    for key in keys:
        decided = always.get(key)
        if key in claims:
            decided = decide(claims[key], decided)
        if decided is not None:
            found[key] = decided.verdict
    return found


def _add(claims: Claims, rule: Rule, reach: Reach, place: int = 0) -> None:
    """Add what a rule claims; ``place``: its place, which decides where there is no order."""
    for key, value in rule.settings.items():
        setting = SETTINGS[key]
        strictness = setting.strictness(value) if setting.order else float(place)
        claims.setdefault(key, []).append(Claim(rule, reach, value, strictness))


class Loss(NamedTuple):
    """A rule that lost, its value, the rule that it lost to, and why."""

    rule: Rule
    value: Value
    winner: Rule
    why: Why


def losses(key: str, verdict: Verdict) -> Iterator[Loss]:
    """Yield why each rule lost that has the setting too, in the order of the verdict."""
    best_first = sorted(verdict.claims, key=lambda claim: claim.rule is not verdict.rule)
    for claim in best_first[1:]:
        reasons = [(each.rule, _outranks(each, claim)) for each in best_first]
        winner, why = next((each for each in reasons if each[1]), (verdict.rule, None))
        if key == NOTHING and verdict.rule.blocks:
            winner, why = verdict.rule, "the same" if claim.rule.blocks else "block"
        if why is None and verdict.value == claim.value:
            why = "the same"
        elif why is None:
            why = "stricter" if SETTINGS[key].order else "later"
        yield Loss(claim.rule, claim.value, winner, why)
