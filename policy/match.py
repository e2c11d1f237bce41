"""Which rules hold for one request, and which of them decides what (FORMAT.md). Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from operator import attrgetter, lt
from types import MappingProxyType
from typing import Literal, NamedTuple

from agent.errors import UsageError
from policy.conditions import Contexts, Named, holds, ranks_in
from policy.families import TopicProbabilities
from policy.hosts import OTHER, HostIndex, HostPattern, host_of
from policy.rules import ANY, KIND, NAMELESS, POOL, NamePattern, Policy, Pools, Reach, Rule, spoken
from policy.services import Search, SearchEngine, engine_at, engines, home_of, usable
from policy.settings import OF_HOSTS, SETTINGS, Carry, Value

GUARDED = "guarded"
PER_ATTRIBUTE = tuple(key for key, each in SETTINGS.items() if each.about == "attribute")
WHOLE = tuple(key for key in SETTINGS if key not in PER_ATTRIBUTE)
NOTHING = "nothing"
NEVER, NOWHERE = SETTINGS["disclose"].strictness("never"), Reach(ANY, ANY, ANY)
KEPT = 4096  # recipients, and combinations of rules
NO_TOPICS: TopicProbabilities = MappingProxyType({})
Earlier = Mapping[str, TopicProbabilities] | None  # texts, each with what it may be about
NO_TEXTS: Earlier = MappingProxyType({})
Ranks = Mapping[Rule, Mapping[Named, int]]
Why = Literal["block", "more specific", "later layer", "stricter", "later", "the same"]


class Known(NamedTuple):
    """An attribute as models know it, one or several.

    ``concepts``: what it is called across models, more than one where they call several facts
    alike; ``names``: all that any model calls these, so all by which a rule can mean it; ``tells``:
    the facts that it gives away, as `families.told_by` has them, each with all of its names.
    """

    concepts: frozenset[str]
    names: frozenset[str]
    tells: Mapping[str, frozenset[str]] = MappingProxyType({})


Attributes = Mapping[str, Known]  # by the name that is asked about


def known(*names: str) -> dict[str, Known]:
    """Attributes that every model calls by the same name."""
    return {name: Known(frozenset({name}), frozenset({name})) for name in names}


class Matched(NamedTuple):
    """A rule that holds, with its place, and how specific it is in each part but attributes.

    ``host``: in the recipient as a host, for OF_HOSTS; None where it is for others of the pool.
    """

    place: int
    rule: Rule
    recipient: int
    host: int | None
    query: int
    topic: int


class Contender(NamedTuple):
    """A rule that holds, how specific it is here, what it sets, and how strict that is.

    ``strictness``: of a setting that knows no stricter, the place of the rule: the later wins.
    """

    rule: Rule
    reach: Reach
    value: Value
    strictness: float


class Verdict(NamedTuple):
    """A value, the rule that decided it, and what all rules claim that might have.

    ``tells``: where that rule is on another fact, which this one tells, what that is called.
    """

    value: Value
    rule: Rule
    claims: tuple[Contender, ...] = ()
    tells: str = ""

    @property
    def because(self) -> str:
        """The name of the rule, and why it decides about a fact that it does not name."""
        return f"{self.rule.name}{self.telling}"

    @property
    def telling(self) -> str:
        """The latter alone, after a comma; empty where the rule is on the fact itself."""
        return f", because it tells {self.tells}" if self.tells else ""


Verdicts = Mapping[str, Verdict]
Reached = tuple[Rule, int, int | None]  # how specific in the recipient, and as `Matched.host`


def may(verdicts: Verdicts) -> str:
    """Whether an attribute may be disclosed: its `disclose`, or that it is guarded."""
    guard = verdicts.get("guard")
    if guard is not None and float(guard.value) > 0:
        return GUARDED
    return str(verdicts["disclose"].value)


def decide(claims: Sequence[Contender]) -> Verdict:
    """Find the claim that no other outranks, of several the strictest, of equals the first."""
    unbeaten = [*claims]
    for other in claims:
        unbeaten = [claim for claim in unbeaten if not _outranks(other, claim)]
    best = max(unbeaten, key=attrgetter("strictness"))
    return Verdict(best.value, best.rule, tuple(claims))


def _outranks(one: Contender, other: Contender) -> Why | None:
    """Why a rule wins whatever its value; None where it does not.

    In one file, if it is more specific; over a preset, if it is at least as specific. What beats
    the winner beats the loser too.
    """
    own, its = one[1], other[1]
    layer, its_layer = one[0].layer, other[0].layer
    if layer < its_layer or any(map(lt, own, its)):
        return None
    if own != its:
        return "more specific"
    return "later layer" if layer > its_layer else None


class _Attributes(Mapping[str, Verdicts]):
    """What is decided about each attribute, computed when it is asked for."""

    def __init__(
        self, rules: Sequence[Matched], ranks: Ranks, known: Attributes, contexts: Contexts
    ) -> None:
        """Take the rules that hold, the attributes that each is about, and the contexts."""
        self._contexts = contexts
        self._rules = [e for e in rules if not e.rule.settings.keys().isdisjoint(PER_ATTRIBUTE)]
        self._ranks, self._known = ranks, known
        self._decided: dict[str, Verdicts] = {}
        self._alike: dict[object, Verdicts] = {}

    def __getitem__(self, name: str) -> Verdicts:
        if name not in self._decided:
            verdicts, known = self._by_name(name), self._known[name]
            for concept, names in known.tells.items():
                verdicts = _as_strict(verdicts, self._by_name(names), concept)
            self._decided[name] = verdicts
        return self._decided[name]

    def _by_name(self, name: Named) -> Verdicts:
        """What the rules decide that name a fact, whatever others it tells."""
        several = name if isinstance(name, str) and len(self._known[name].names) > 1 else ""
        rules = [each.rule for each in self._rules]
        ranks = [self._ranks[rule].get(name) if rule.attributes else ANY for rule in rules]
        alike = (several, *ranks)
        if alike not in self._alike:
            holding = [*zip(self._rules, ranks, strict=True)]
            if several:  # of equals the rule decides that has the name that is asked about
                holding.sort(
                    key=lambda pair: not any(p.matches(several) for p in pair[0].rule.attributes)
                )
            self._alike[alike] = _verdicts(PER_ATTRIBUTE, holding)
        verdicts = self._alike[alike]
        if self._contexts.every and (context := self._contexts.closing(name)):
            claims = *verdicts["disclose"].claims, Contender(context, NOWHERE, "never", NEVER)
            verdicts = {**verdicts, "disclose": Verdict("never", context, claims)}
        return verdicts

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _as_strict(own: Verdicts, told: Verdicts, concept: str) -> Verdicts:
    """The verdicts on a fact, its ``disclose`` no laxer than that on one which it tells.

    An ``ask`` gives way to a rule of the file that names the fact itself, or is on it where the
    other is on all facts: the user was asked.
    """
    before, key = own["disclose"], "guard" if may(told) == GUARDED else "disclose"
    value = "never" if key == "guard" else told[key].value
    strictness = SETTINGS["disclose"].strictness(value)
    claims = [each for each in before.claims if each.rule is not told[key].rule]
    laxer = SETTINGS["disclose"].strictness(before.value) < strictness and may(own) != GUARDED
    if value not in ("ask", "never") or not laxer:
        return own
    least = min(each.reach.attribute for each in told[key].claims if each.rule is told[key].rule)
    opening = (each for each in claims if each.rule.is_own and each.value == before.value)
    exact = any(e.reach.is_exact or e.reach.attribute > ANY == least for e in opening)
    if value == "ask" and exact:
        return own
    claims.append(Contender(told[key].rule, Reach(ANY, ANY, ANY), value, strictness))
    name = concept.rpartition(".")[2]
    return {**own, "disclose": Verdict(value, told[key].rule, tuple(claims), name)}


def _ranks(rules: Iterable[Rule], known: Mapping[Named, Collection[str]]) -> Ranks:
    """The attributes that each rule is about by any name, with how specific it is."""
    matching: dict[NamePattern, list[Named]] = {}
    by_rule: dict[Rule, dict[Named, int]] = {}
    for rule in rules:
        ranks = by_rule.setdefault(rule, {})
        for pattern in rule.attributes:
            if pattern not in matching:
                matching[pattern] = [
                    each for each, names in known.items() if any(map(pattern.matches, names))
                ]
            for name in matching[pattern]:
                ranks[name] = max(ranks.get(name, ANY), pattern.rank)
    return by_rule


def _verdicts(
    keys: Iterable[str], holding: Iterable[tuple[Matched, int | None]]
) -> dict[str, Verdict]:
    """Decide each setting between the rules that have it.

    ``holding``: the rules that hold, with how specific each is in the attribute, None where it is
    about others.
    """
    claims: dict[str, list[Contender]] = {}
    for (place, rule, recipient, host, query, topic), rank in holding:
        for key, value in rule.settings.items() if rank is not None else ():
            at = host if key in OF_HOSTS else recipient
            if at is None:
                continue
            setting, reach = SETTINGS[key], Reach(at, rank or ANY, query, topic)
            strictness = setting.strictness(value) if setting.order else float(place)
            claims.setdefault(key, []).append(Contender(rule, reach, value, strictness))
    return {key: decide(claims[key]) for key in keys if key in claims}


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


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a policy decides about one request.

    ``host``: the recipient; ``pool``: who shares what it learns: its registered domain, or
    ``@`` and its group; ``kind``: one of KINDS; ``settings``: of the request, by key, where any
    rule or default has one; ``attributes``: for each name asked about, the same of ``disclose``,
    ``sensitivity``, ``guard``; ``carry``: how facts reach the recipient; ``known``: what each of
    the names goes by; ``together``: what costs more together, as the policy has it.
    """

    host: str
    pool: str
    kind: str
    settings: Verdicts
    attributes: Mapping[str, Verdicts]
    carry: Carry
    known: Attributes
    together: tuple[Rule, ...] = ()

    @property
    def engine(self) -> SearchEngine | None:
        """The search engine that the recipient is, None where nothing says so."""
        verdict = self.settings.get("engine")
        name = engine_at(self.host) if verdict is None else str(verdict.value)
        return None if name is None else engines()[name]

    def open_families(self, names: Iterable[str]) -> list[str]:
        """The families of these attributes of which only a preset says that they wait."""
        verdicts = (self.attributes[each]["disclose"] for each in names if each in self.known)
        families = (each.rule.family for each in verdicts if each.value == "ask")
        return [*filter(None, dict.fromkeys(families))]


class Rulebook:
    """A policy made ready to be asked often, about the same attributes."""

    def __init__(self, policy: Policy, attributes: Attributes) -> None:
        """Take the policy, and the attributes that it is asked about."""
        self.policy, self._known = policy, attributes
        self._pools = Pools(policy.groups)
        told = (names for each in attributes.values() for names in each.tells.values())
        names: dict[Named, frozenset[str]] = {name: e.names for name, e in attributes.items()}
        names |= {each: each for each in told}
        self._ranks = _ranks((*policy.rules, *policy.contexts), names)
        self._places = {rule: place for place, rule in enumerate((*policy.rules, NAMELESS))}
        self._kinds = policy.kinds()
        self._hosts = HostIndex((each, rule) for rule in policy.rules for each in rule.recipients)
        self._named: dict[str, list[Rule]] = {}  # by pool or kind
        for rule in policy.rules:
            named = {*map(self._pools.named, rule.recipients), *map(self._pools.named, rule.groups)}
            for each in filter(None, named):
                self._named.setdefault(each, []).append(rule)
        self._anywhere = [rule for rule in policy.rules if rule.anywhere and not rule.lasting]
        self._lasting = [  # rules about attributes follow, as what they claim is compared in order
            Matched(self._places[rule], rule, ANY, ANY, ANY, ANY)
            for rule in sorted(policy.rules, key=lambda rule: bool(rule.attributes))
            if rule.lasting
        ]
        self._recipient = lru_cache(KEPT)(self._reached)
        self._verdicts = lru_cache(KEPT)(self._decided)

    def match(
        self,
        recipient: str,
        query: str,
        at: date,
        topics: TopicProbabilities = NO_TOPICS,
        door: str = "",
        earlier: Earlier = NO_TEXTS,
    ) -> Ruling:
        """Decide about a request.

        ``recipient``: a host or an address; ``at``: the user's own time, or a day alone, on which
        no rule for some hours or days holds; ``topics``: what the query may be about; ``door``: one
        of `Door`, "" for none; ``earlier``: what else the user says in the request, which what
        withholds something looks at too, None where that is unknown, so that all such rules hold.
        UsageError where the recipient is not a host.
        """
        host, pool, kind, reached, inside = self._recipient(recipient)
        texts = (query, *(earlier or ())) if any(rule.queries for rule, *_ in reached) else ()
        words, every = [*map(spoken, texts)], dict(topics)
        for each in (earlier or {}).values():
            every |= {topic: max(share, every.get(topic, 0.0)) for topic, share in each.items()}
        matched = []
        for rule, rank, there in reached:
            if not holds(rule, at, door):
                continue
            said = (words, every) if rule.withholds else (words[:1], topics)
            specific = ranks_in(rule, *said, unseen=rule.withholds and earlier is None)
            if specific is not None:
                matched.append(Matched(self._places[rule], rule, rank, there, *specific))
        settings, attributes = self._verdicts(tuple(sorted(matched)), inside)
        carry: Carry = settings["carry"].value  # type: ignore[assignment]  # as it was read
        known, together = self._known, self.policy.together
        return Ruling(host, pool, kind, settings, attributes, carry, known, together)

    def _decided(
        self, matched: tuple[Matched, ...], inside: tuple[Rule, ...]
    ) -> tuple[Verdicts, Mapping[str, Verdicts]]:
        """Decide about the request and each attribute.

        ``matched``: what need not always hold; ``inside``: the contexts of the recipient.
        """
        rules = (*self._lasting, *matched)
        whole = [(each, ANY) for each in rules if not each.rule.attributes]
        settings = _verdicts(WHOLE, whole)
        block = next((each.rule for each, _ in whole if each.rule.blocks), None)
        if block is not None:  # it wins over everything
            settings[NOTHING] = settings[NOTHING]._replace(value=True, rule=block)
        contexts = Contexts(self.policy.contexts, inside, self._ranks)
        return settings, _Attributes(rules, self._ranks, self._known, contexts)

    def refusing(self, recipient: str, today: date) -> Rule | None:
        """The rule by which a recipient gets nothing, whatever the query; None for none.

        UsageError where the recipient is not a host.
        """
        nothing = self.match(recipient, "", today).settings["nothing"]
        return nothing.rule if nothing.value is True else None

    def _reached(
        self, recipient: str
    ) -> tuple[str, str, str, tuple[Reached, ...], tuple[Rule, ...]]:
        """Find its host, pool and kind, rules for it that need not always hold, and contexts."""
        if recipient in self.policy.groups:
            raise UsageError(f"{recipient!r} is a group", "name one of its members")
        host = host_of(recipient)
        pool = self._pools.of(host)
        kind = next((each for each, _ in self._kinds.find(host)), OTHER)
        ranks = dict.fromkeys(self._named.get(kind, ()), KIND)
        domains = self._pools.domains(host)
        for domain in domains:
            for rule, rank in self._hosts.find(domain):
                ranks[rule] = max(ranks.get(rule, ANY), rank)
        ranks |= dict.fromkeys(self._named.get(pool, ()), POOL)
        grouped = {kind, self._pools.group(host)}
        own = {rule: KIND for rule in ranks if not grouped.isdisjoint(rule.groups)}
        own |= reversed([*self._hosts.find(host)])  # of several patterns the most specific

        def excepted(rule: Rule) -> bool:
            listed = [each for each in rule.excepted if isinstance(each, HostPattern)]
            named = {pool, kind}.intersection(map(self._pools.named, rule.excepted))
            return bool(named) or any(each.matches(one) for each in listed for one in domains)

        reached = [(rule, rank, own.get(rule)) for rule, rank in ranks.items()]
        reached += [(rule, ANY, ANY) for rule in self._anywhere]
        some = [each for each in reached if not (each[0].excepted and excepted(each[0]))]
        if self._pools.lacks(host):
            some.append((NAMELESS, POOL, ANY))
        return host, pool, kind, (*some,), tuple(filter(excepted, self.policy.contexts))

    def searches(self, today: date) -> Iterator[Search]:
        """Yield the searches that browsers can use, of recipients that get anything.

        Each is of the rule that decides about its own host on that day; some may come twice.
        """
        for text in self._texts("search", today):
            search = usable(text)
            if search is not None and self._in_use("search", text, search.host, today):
                yield search

    def assistants(self, today: date) -> Iterator[tuple[str, str]]:
        """Yield the host and the origin of each assistant, of those that get anything.

        The origin as browsers write it: scheme, host, and a port that is not the usual one.
        """
        for text in self._texts("address", today):
            with suppress(UsageError):  # a port that is none: browsers go nowhere
                host, origin = home_of(text)
                marked = self.match(host, "", today).settings.get("assistant")
                if self._in_use("address", text, host, today) and marked and marked.value is True:
                    yield host, origin

    def _texts(self, key: str, today: date) -> list[str]:
        rules = (rule for rule in self.policy.rules if not rule.is_over(today))
        return [str(rule.settings[key]) for rule in rules if key in rule.settings]

    def _in_use(self, key: str, text: str, host: str, today: date) -> bool:
        value = self.match(host, "", today).settings[key].value
        return value == text and self.refusing(host, today) is None
