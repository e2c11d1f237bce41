"""Facts in the user's own words: which of them a request may carry, and how surely each helps.

They fill the places that a model has for them (`world.with_own_facts`), so that thousands of facts
are few attributes. Their words are never seen here. Source: DESIGN.md 2.6, 2.11, 2.12.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from agent.decision.cache import Cache
from agent.decision.topics import Judgements
from agent.decision.values import Disclose, Fact, FactTerms
from agent.model.attributes import SLOTS
from agent.model.model import Meaning, Model
from agent.model.reading import LEAST_CHANCE, NOTHING, Interpretation
from agent.model.relevance import SIZE, Vectors, vectors_of
from agent.model.unwrapping import unwrapped
from agent.model.world import RARITIES, with_own_facts
from agent.tradeoff.coverage import GRADES, Coverage, resolved
from agent.tradeoff.shares import OWN_SHARES
from agent.tradeoff.tables import Floats, Indexes

# The least cosine of two facts that say nearly the same; of two allergies it is 0.5 to 0.7.
SAME = 0.75
MARK = "#"  # between a kind and the id of a fact, in the ledger's name for what was disclosed
ONLY_HELPS, DECISIVE = GRADES[2:]
Held = tuple[tuple[str, str], ...]
"""Places, each with the id of the fact of it that a recipient holds."""
Flags = NDArray[np.bool_]
Slots = defaultdict[int, list[int]]
Chances = tuple[tuple[str, float, float], ...]
"""Facts by id, with the chances that each helps a text, and that it is decisive."""
_NO_TERMS = FactTerms()


def level_of(fact: Fact) -> str:
    """The value of a fact in its place: the first of RARITIES that is no commoner, or the last."""
    share, levels = (fact.terms or _NO_TERMS).share or 0.0, zip(RARITIES, OWN_SHARES, strict=True)
    return next((name for name, least in levels if least <= share), RARITIES[-1])


def meaning_of(fact: Fact) -> Meaning:
    """What a fact without a listed value means to the ledger: never its words."""
    return Meaning(f"{fact.kind}{MARK}{fact.id}", level_of(fact))


def stored_terms(facts: Sequence[Fact], topics: Sequence[str]) -> tuple[Vectors, Vectors]:
    """What was stored of F facts when they were written: vectors, and where the facts help.

    Both float32: the vectors of shape (F, SIZE), of length 1, or 0 without one; how probably each
    helps with each of T topics, by their texts, of shape (F, T).
    """
    some = [each.terms or _NO_TERMS for each in facts]
    chances = [[each.relevance.get(topic, 0.0) for topic in topics] for each in some]
    vectors = np.zeros((len(some), SIZE), np.float32)
    for row, each in zip(vectors, some, strict=True):
        if len(stored := np.frombuffer(each.vector, "<f2")) == SIZE:
            row[:] = stored
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-6)
    return vectors, np.array(chances, np.float32).reshape(len(some), len(topics))


Codes = dict[Meaning, tuple[str, int] | None]


def placed(disclosed: Iterable[Meaning], model: Model) -> tuple[Codes, Held]:
    """The place and the code of each fact in own words that was disclosed, in that order.

    And the places with the ids of their facts. None where the model has no place for it; other
    facts are left out.
    """
    codes, free = Codes(), defaultdict[str, list[str]](list)
    for at, of in sorted(model.own.items(), reverse=True):
        free[model.attributes[of].concept].append(model.attributes[at].name)
    for fact in disclosed:
        kind, mark, _ = fact.concept.rpartition(MARK)
        if mark and free[kind] and fact.value in RARITIES:
            place = free[kind].pop()
            codes[fact] = place, model.person_codes[place][fact.value]
        elif mark:
            codes[fact] = None
    held = ((code[0], fact.concept.rpartition(MARK)[2]) for fact, code in codes.items() if code)
    return codes, tuple(sorted(held))


def groups_of(facts: Sequence[Fact]) -> Indexes:
    """The group of each of F facts in own words, of which a paraphrase adds nothing to another.

    intp, shape (F,): a number that those of a group share, below F. By the user's word, and else
    what says nearly the same, directly or by way of others, is one. Source: DESIGN.md 2.11.
    """
    vectors, labels = stored_terms(facts, ())[0], np.array([e.group or e.id for e in facts], str)
    free = np.array([e.group is None for e in facts], bool)
    same = (vectors @ vectors.T >= SAME) & free & free[:, None] | (labels == labels[:, None])
    groups = np.arange(len(facts))
    for one, other in np.argwhere(np.triu(same, 1)):
        groups[groups == groups[other]] = groups[one]
    return groups


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OwnFacts:
    """The facts in own words that decisions by a model may choose from; a cache knows the object.

    ``facts``: F of them, in the order in which they were written; ``attributes``: of each, by
    index, that of its kind, or the one of which it has a listed value; ``valued``: bool, shape
    (F,), whether it has one. The closed terms: ``vectors``: float32, shape (F, D), of length 1, or
    0 without one; ``topics``: float32, shape (F, T), how probably it helps with each topic.
    """

    facts: tuple[Fact, ...]
    attributes: tuple[int, ...]
    valued: Flags
    vectors: Vectors
    topics: Vectors

    @classmethod
    def of(cls, facts: Iterable[Fact], model: Model) -> "OwnFacts":
        """Those of some facts that have words, and a kind that the model's topics judge.

        Only the first fact with a value of an attribute counts as that; any other fills a place.
        """
        judged, some, valued = model.tables.judged, dict[str, tuple[int, Fact]](), set[str]()
        every = model.attributes[: judged.weights.shape[1]] if judged else ()
        named = {name: at for at, e in enumerate(every) for name in (e.name, e.concept)}
        for fact in sorted(facts, key=lambda each: (each.set_at, each.id)):
            at = named.get(fact.kind, -1) if fact.words else -1
            if at >= 0 and fact.value and at not in (some[each][0] for each in valued):
                valued.add(fact.id)
            elif at >= 0:
                at = named[every[at].shared or every[at].name]
            if at >= 0:
                some[fact.id] = at, replace(fact, kind=every[at].concept)
        attributes, kept = zip(*some.values(), strict=True) if some else ((), ())
        topics = model.queries[: len(judged.totals)] if judged else ()
        terms = stored_terms(kept, [each.text for each in topics])
        return cls(kept, attributes, np.array([each in valued for each in some], bool), *terms)


def extended(model: Model, own: OwnFacts, disclosed: Collection[str], cache: Cache) -> Model:
    """The model with the places that facts in own words need: up to SLOTS, and all that are held.

    ``disclosed``: the ledger's names for what the recipient holds.
    """
    kinds = (at for at, has in zip(own.attributes, own.valued, strict=True) if not has)
    new = Counter(model.attributes[at].concept for at in kinds)
    held = Counter(each.rpartition(MARK)[0] for each in disclosed if MARK in each)
    counts = {kind: max(min(new[kind], SLOTS), held[kind]) for kind in sorted({*new, *held})}
    key = with_own_facts, *counts.items()
    return cache.get(model, key, lambda: with_own_facts(model, counts)) if counts else model


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """The facts in own words that take part in one decision: m attributes, each with its fact.

    ``facts``: their ids, by the index of the attribute, ascending; ``kinds``: intp, shape (m,), of
    one that counts as its kind does the attribute of that, else -1; ``carried``: bool, shape (m,),
    whether the request may carry it; ``weights``: float64, shape (m,), g_f for the request;
    ``topics``: float32, shape (m, T), how probably it helps with each topic; ``groups``: of all n
    attributes; ``prices``: in bits, by attribute, where the fact has a sensitivity of its own;
    ``chance``: that anything personal helps the request.
    """

    facts: Mapping[int, str]
    kinds: Indexes
    carried: Flags
    weights: Floats
    topics: Vectors
    groups: tuple[int, ...]
    prices: Mapping[int, float]
    chance: float

    @property
    def carries(self) -> bool:
        """Whether the request may carry any of them by what it says, whatever it is about."""
        return bool((self.carried & (self.kinds < 0)).any())

    def ruled(self, disclose: Disclose, mask: int, facts: Mapping[str, Disclose]) -> int:
        """What is ruled so, a mask; ``facts``: what is ruled on single ones, by id, comes first."""
        for at, each in self.facts.items():
            if each in facts:
                mask = mask | 1 << at if facts[each] == disclose else mask & ~(1 << at)
        return mask

    def parts(self, topics: Sequence[int], judged: Judgements, *, later: bool) -> Floats:
        """The part of the bits of each topic that each fact resolves, x_tf, float64, (topics, m).

        0 where it may not be carried. ``later``: of other requests on these topics, by what was
        stored of the facts when they were written.
        """
        if not self.facts:
            return np.zeros((len(topics), 0))
        likely, by_kind = self.topics[:, topics].T.astype(np.float64), self.kinds >= 0
        weights, carried = ONLY_HELPS * likely, likely >= judged.least[[*self.facts]]
        if not later:
            weights, carried = np.tile(self.weights, (len(topics), 1)), self.carried[None]
        parts, kinds = resolved(weights, judged.totals[topics]), self.kinds[by_kind]
        parts[:, by_kind] = judged.parts[topics][:, kinds]
        if later:
            carried[:, by_kind] = (judged.likely[topics] >= judged.least)[:, kinds]
        return np.where(carried, parts, 0.0)

    def coverage(
        self, shares: Mapping[int, float], judged: Judgements, helpful: Flags | None, *, later: bool
    ) -> Coverage:
        """The judged utility of topics, and of something else, with what these facts bring.

        ``shares``, ``helpful``: as of `Judgements.coverage`; ``later``: as of `parts`. Source:
        DESIGN.md 2.11, 2.12.
        """
        if not self.facts:
            return judged.coverage(shares, helpful)
        topics, attributes = [*shares], [*self.facts]
        bits, parts = judged.bits[topics] * [*shares.values()], judged.parts[topics]
        parts = parts if helpful is None else np.where(helpful, parts, 0.0)
        own = self.parts(topics, judged, later=later)
        parts[:, attributes] = np.maximum(parts[:, attributes], own)
        rest = 0.0 if later else self.chance * max(0.0, 1 - sum(shares.values()))
        if rest:
            some = judged.totals > 0  # topics for which anything was judged
            mean, whole = judged.bits[some].mean(), judged.totals[some].mean()
            weights = np.where(self.carried & (self.kinds < 0), self.weights, 0.0)
            alone = np.zeros((1, parts.shape[1]))
            alone[:, attributes] = resolved(weights[None], np.array([whole]))
            bits, parts = np.append(bits, rest * mean), np.vstack([parts, alone])
        return Coverage(bits, parts, self.groups)


def _behind(
    own: OwnFacts, model: Model, held: Held, by_kind: Collection[int], likely: Floats
) -> dict[int, int]:
    """The fact behind each attribute, both by index, as `fill` has it; attributes ascending.

    ``by_kind``: attributes; ``likely``: float64, shape (F,), how probably each fact helps.
    """
    numbers = {each.id: at for at, each in enumerate(own.facts)}
    of_place = {model.index(place): numbers.get(fact) for place, fact in held}
    behind, free, of_kind = dict[int, int](), Slots(list), Slots(list)
    for place, kind in model.own.items():
        at = of_place.get(place)
        if place not in of_place:
            free[kind].append(place)
        elif at is not None and own.attributes[at] == kind and not own.valued[at]:
            behind[place] = at
    for at, (kind, has) in enumerate(zip(own.attributes, own.valued, strict=True)):
        if has:
            behind[kind] = at
        elif at not in of_place.values():
            of_kind[kind].append(at)
    for kind, places in free.items():
        if places[0] not in by_kind:
            of_kind[kind].sort(key=lambda at: -likely[at])
        behind |= zip(places, of_kind[kind], strict=False)
    return dict(sorted(behind.items()))


def fill(
    own: OwnFacts,
    model: Model,
    cache: Cache,
    helps: Callable[[], Floats],
    reading: Interpretation,
    held: Held,
    by_kind: frozenset[str],
) -> Filled:
    """Which fact is in each place of a model, and which are values that it lists.

    ``helps``: returns how probably each fact helps the request, and decisively, float64, shape
    (F, 2); ``held``: what the recipient holds, which keeps its place; ``by_kind``: the names of
    attributes whose facts are taken in the order in which they were written, and count as their
    kind does: for these nothing depends on a closed term (DESIGN.md 2.6). In other places is what
    helps most, of equals what was written first.
    """
    judged, names = cache.judgements(model), [each.name for each in model.attributes]
    compared = any(names[each] not in by_kind for each in (*model.own, *own.attributes))
    chances = helps() if compared else np.zeros((len(own.facts), 2))
    behind = _behind(own, model, held, {names.index(e) for e in by_kind & {*names}}, chances[:, 0])
    attributes, some = np.array([*behind.items()], int).reshape(-1, 2).T
    kinds = np.array([model.own.get(e, e) if names[e] in by_kind else -1 for e in behind], int)
    likely, decisive = chances[some].T
    enough = np.where(kinds < 0, likely, judged.probable(reading)[kinds])
    carried = (enough >= judged.least[attributes]) & (reading.chance >= LEAST_CHANCE)
    groups, by_fact = np.arange(len(names)), np.flatnonzero(carried & (kinds < 0))
    own_kind = (kinds >= 0) & (kinds != attributes)
    groups[attributes[own_kind]] = len(names) + kinds[own_kind]
    groups[attributes[by_fact]] = groups_of([own.facts[e] for e in some[by_fact]]) - len(names)
    bits = {at: (own.facts[each].terms or _NO_TERMS).sensitivity for at, each in behind.items()}
    return Filled(
        facts={at: own.facts[each].id for at, each in behind.items()},
        kinds=kinds,
        carried=carried,
        weights=DECISIVE * decisive + ONLY_HELPS * (likely - decisive),
        topics=own.topics[some],
        groups=(*groups.tolist(),),
        prices={at: each for at, each in bits.items() if each is not None},
        chance=reading.chance,
    )


_NO, _NO_SIZE, _NO_NUMBERS = np.zeros(0, bool), np.zeros((0, 0), np.float32), np.zeros(0, int)
NONE = OwnFacts((), (), _NO, _NO_SIZE, _NO_SIZE)
EMPTY = Filled({}, _NO_NUMBERS, _NO, np.zeros(0), _NO_SIZE, (), {}, 0.0)


def chances_of(
    own: OwnFacts, text: str, reading: Interpretation, model: Model, judged: Chances
) -> Floats:
    """How probably each fact helps a text, and is decisive, float64, shape (F, 2).

    0 for a text that was not read, or that nothing personal helps. ``judged``: of some facts, what
    a local judge says in place of the model.
    """
    relevance = model.tables.relevance
    if relevance is None or not text.strip() or reading == NOTHING or reading.chance < LEAST_CHANCE:
        return np.zeros((len(own.facts), 2))
    vectors = vectors_of([unwrapped(text)], question=True)
    chances = relevance.helps(reading, vectors, own.vectors, own.topics)
    by_judge = {fact: both for fact, *both in judged}
    rows = (by_judge.get(e.id, row) for e, row in zip(own.facts, chances, strict=True))
    return np.array([*rows]).reshape(-1, 2)
