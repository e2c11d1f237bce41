"""What a recipient knows: a fold over what it was sent, in the codes of a model. Pure.

Facts that the deciding model lacks are counted among the people of others, by statistical matching:
given the facts that two models share, those that only one of them has are taken to be independent
of the rest (DESIGN.md 2.8).
"""

from bisect import bisect_right, insort
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain, permutations
from math import prod
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from agent.decision.cache import Cache
from agent.decision.values import Inferred
from agent.model.model import ANY_PEOPLE, Concepts, Meaning, Model
from agent.model.reading import TextIndex
from agent.tradeoff.measures import FEWEST

WEEK = timedelta(days=7)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TOLD_ANYWAY = frozenset({"language", "country"})  # by the browser, and the network address
LATEST = 200  # requests of a site that count; earlier ones say little about what comes next
THOUSANDTHS = 1000  # in which probabilities are counted, so that their sums are exact
Value = TypeVar("Value")
History = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a recipient holds: person attributes with the value codes disclosed to it so far.

    ``codes``: (name, code) pairs, each name once, in ascending order; ``recent``: how many facts
    it learned within the last seven days; ``queries``: (query, times) pairs, ascending: the model's
    queries, by index, that carried something to it, and how often, each time by the probability
    that it was meant; ``share``: 0 to 1, rho of DESIGN.md 2.8, of those who agree with ``codes``,
    who agree with what else it holds; ``spent``: of its budget of violations, a sum of shares.
    """

    codes: tuple[tuple[str, int], ...] = ()
    recent: int = 0
    queries: History = ()
    share: float = 1.0
    spent: float = 0.0

    @property
    def names(self) -> frozenset[str]:
        """The names of the attributes the recipient holds."""
        return frozenset(name for name, _ in self.codes)

    def with_facts(self, codes: Mapping[str, int]) -> "Knowledge":
        """Add facts that were disclosed; the latest value counts.

        Only person attributes belong here: request attributes are not knowledge (DESIGN.md 2.2).
        """
        return replace(self, codes=tuple(sorted({**dict(self.codes), **codes}.items())))


class HeldValue(NamedTuple, Generic[Value]):
    """A value that is held, and since when."""

    value: Value
    since: datetime

    def __repr__(self) -> str:
        return f"HeldValue(***, since={self.since.isoformat()})"


class Holdings(Generic[Value]):
    """What one pool of recipients holds and was asked: a fold over what its sites received.

    The latest value of an attribute counts, of what was not forgotten since. The queries that
    count are the LATEST of each site that it did not forget. Attributes, values and queries are by
    the names that all models share, or by the names and codes of one.
    """

    def __init__(self, replaces: Callable[[str, Value, Value], bool] = lambda *_: True) -> None:
        """Hold nothing; ``replaces``: of an attribute, whether a value takes the place of another.

        If not, the one that is held says as much.
        """
        self._replaces = replaces
        # by attribute, with the site
        self._standing: dict[str, list[tuple[str, HeldValue[Value]]]] = {}
        self._held = dict[str, HeldValue[Value]]()
        self.held: Mapping[str, HeldValue[Value]] = MappingProxyType(self._held)
        """The facts by attribute: a view, which later events change."""
        self._learnt: list[timedelta] = []  # when each fact was new, ascending
        self.queries: dict[str, deque[Sequence[tuple[Value, float]]]] = {}
        """What texts may have meant, by each site that was sent something and did not forget it."""
        self.spent = defaultdict[str, float](float)
        """Of the budget of violations, by site, since it last forgot."""

    def add_facts(self, at: datetime, site: str, facts: Iterable[tuple[str, Value]]) -> None:
        """Note facts that one of its sites received; what is told anyway is never `recent`."""
        for name, value in facts:
            fact, standing = HeldValue(value, at), self._standing.setdefault(name, [])
            if standing and (standing[-1][0], standing[-1][1].value) == (site, value):
                continue  # repeating it changes nothing
            standing.append((site, fact))
            if self._learns(name, fact) and name not in TOLD_ANYWAY:
                insort(self._learnt, at - EPOCH)

    def add_query(self, site: str, meant: Sequence[tuple[Value, float]]) -> None:
        """Note the queries that a text which carried something to a site may have meant.

        With their probabilities; a text that means none takes no other's place.
        """
        latest = self.queries.setdefault(site, deque(maxlen=LATEST))
        if meant:
            latest.append(meant)

    def forget(self, sites: Collection[str]) -> None:
        """Keep only what other sites received, whichever sites pool by now."""
        self._held.clear()
        for name, standing in self._standing.items():
            standing[:] = [each for each in standing if each[0] not in sites]
            for _, fact in standing:
                self._learns(name, fact)
        for site in self.queries.keys() & sites:
            del self.queries[site]
        for site in sites:
            self.spent.pop(site, None)

    def _learns(self, name: str, fact: HeldValue[Value]) -> bool:
        """Hold a fact if it is new; return whether it is."""
        held = self._held.get(name)
        if held and (held.value == fact.value or not self._replaces(name, fact.value, held.value)):
            return False
        self._held[name] = fact
        return True

    def recent(self, now: datetime) -> int:
        """Count the facts that were new within seven days before a time, forgotten or not.

        Those that a clock set back puts into the future count, too.
        """
        return len(self._learnt) - bisect_right(self._learnt, now - EPOCH - WEEK)

    @property
    def times(self) -> dict[Value, float]:
        """The queries that carried something, and how often each did, by probability."""
        times = Counter[Value]()
        for query, share in chain.from_iterable(chain.from_iterable(self.queries.values())):
            times[query] += round(share * THOUSANDTHS)
        return {query: count / THOUSANDTHS for query, count in times.items()}


def people_left(knowledge: Knowledge, model: Model, cache: Cache | None = None) -> int:
    """Count the people who agree with what is known; estimated for facts of other models."""
    codes, share, cache = knowledge.codes, knowledge.share, cache or Cache()
    pairs = [(model.index(name), code) for name, code in codes]
    return cache.get(
        model,
        (people_left, codes, share),
        lambda: round(cache.anonymity_set(model, pairs, share).people) if share else 0,
    )


def inferred(
    guarded: Sequence[str], knowledge: Knowledge | None, model: Model, cache: Cache | None = None
) -> tuple[Inferred, ...]:
    """Say how much is revealed about each guarded attribute: the same for all who agree with d.

    ``guarded``: names of person attributes; ``knowledge``: None where it has a value that is
    absent from the model, so that nobody agrees. UsageError for a name absent from the model.
    Source: DESIGN.md 2.2.
    """
    cache, inferences = cache or Cache(), list[Inferred]()
    for name in guarded:
        index, bits, best_guess = model.index(name), 0.0, 0.0
        everybody = cache.anonymity_set(model).guard(index)
        if knowledge is not None:
            pairs = [(model.index(each), code) for each, code in knowledge.codes]
            guard = cache.anonymity_set(model, pairs).guard(index)
            if guard.people >= FEWEST:
                bits = everybody.entropy(0) - guard.entropy(0)
                best_guess = guard.best_guess(0)
        inference = Inferred(
            name=name,
            title=model.attributes[index].title,
            bits=bits,
            bits_in_all=everybody.entropy(0),
            best_guess=best_guess,
            by_chance=everybody.best_guess(0),
        )
        inferences.append(inference)
    return tuple(inferences)


MOST = 4  # models of which every order is tried


def weight_of(facts: Collection[Meaning], model: Model, concepts: Concepts, cache: Cache) -> float:
    """Count the people of a model who agree with facts that it can express."""
    codes = [code for code in (concepts.code(each, model) for each in facts) if code]
    pairs = frozenset((model.index(name), code) for name, code in codes)

    def count() -> float:
        population, weights = model.population, model.population.weights
        agree = population.agreeing(population.possible_codes(pairs))
        return float(np.count_nonzero(agree) if weights is None else weights[agree].sum())

    return cache.get(model, (weight_of, pairs), count)


def share_of(
    facts: Iterable[Meaning], model: Model, concepts: Concepts, cache: Cache | None = None
) -> float:
    """Rho: of the people who agree in a model, the share who agree with the other facts too.

    ``facts``: all that is held; 1 where the model has all of them, 0 where a fact fits nobody, or
    no model that is installed. Each other model counts the facts not counted yet, among its people
    who agree with those that are; of all orders the one counts that leaves fewest. Beyond `MOST`
    models it is a bound from below: each counts as if it were the only one. Source: DESIGN.md 2.8.
    """
    cache, every = cache or Cache(), [e for e in facts if e.concept not in TOLD_ANYWAY]
    expressed = {
        each.id: {fact for fact in every if concepts.code(fact, each) is not None}
        for each in (model, *concepts.models)
    }
    if {*every} - set().union(*expressed.values()):
        return 0.0

    def in_order(others: Sequence[Model]) -> float:
        share, counted = 1.0, expressed[model.id]
        for other in others:
            own = expressed[other.id]
            some = (own & counted, own)
            whole, agree = (weight_of(each, other, concepts, cache) for each in some)
            same = other.stands_for == model.stands_for != ANY_PEOPLE
            smaller = 1.0 if same else min(1.0, other.people / model.people)
            if not own <= counted:
                share *= smaller * agree / whole if agree else 0.0
            counted = counted | own
        return share

    others = [each for each in concepts.models if not expressed[each.id] <= expressed[model.id]]
    if len(others) > MOST:
        return prod(in_order([each]) for each in others)
    return min(map(in_order, permutations(others)))


def unmatched(facts: Iterable[Meaning], concepts: Concepts) -> list[Meaning]:
    """List the facts that no installed model can express: they make the share 0."""
    facts = (each for each in facts if each.concept not in TOLD_ANYWAY)
    return [f for f in facts if all(concepts.code(f, m) is None for m in concepts.models)]


def knowledge_in(
    holdings: Holdings[str],
    model: Model,
    now: datetime,
    concepts: Concepts | None = None,
    cache: Cache | None = None,
    *,
    with_queries: bool = False,
) -> Knowledge:
    """Express what a pool holds in the codes of a model, and how few share the rest of it.

    ``concepts``: the models that are installed, by default this one alone. A fact that the model
    cannot express counts in ``share``; a query that it does not know is left out. ``with_queries``:
    whether to look up the queries, which only a plan uses; else there are none.
    """
    concepts, cache = concepts or Concepts((model,)), cache or Cache()
    facts = [Meaning(concept, fact.value) for concept, fact in holdings.held.items()]
    coded = [concepts.code(fact, model) for fact in facts]
    times = defaultdict[int, float](float)
    for text, count in (holdings.times if with_queries else {}).items():
        query = cache.get(model, (TextIndex.find, text), partial(model.texts.find, text))
        if query is not None and count:
            times[query] += count
    return Knowledge(
        codes=tuple(sorted(code for code in coded if code is not None)),
        recent=holdings.recent(now),
        queries=tuple(sorted(times.items())),
        share=share_of(facts, model, concepts, cache) if None in coded else 1.0,
        spent=sum(holdings.spent.values()),
    )
