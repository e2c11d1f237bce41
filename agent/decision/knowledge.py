"""What a recipient knows: a fold over what it was sent, in the codes of a model. Pure."""

from bisect import bisect_right, insort
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from math import frexp, ldexp
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from agent.decision.cache import Cache
from agent.decision.own_facts import MARK, Held, placed
from agent.decision.values import Inferred
from agent.model.model import Concepts, Meaning, Model
from agent.model.reading import TextIndex
from agent.tradeoff.measures import FEWEST

WEEK, DAY = timedelta(days=7), timedelta(days=1)
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
    it learned within the last seven days, and ``today`` within one; ``queries``: (query, times)
    pairs, ascending: the model's queries, by index, that carried something to it, and how often,
    each time by the probability that it was meant; ``spent``: of its budget of violations, a sum of
    shares; ``inexpressible``: whether it holds a fact that the model cannot express; ``own``: of
    each place for a fact in own words that it holds the fact's id, in ascending order of the
    places' names.
    """

    codes: tuple[tuple[str, int], ...] = ()
    recent: int = 0
    queries: History = ()
    spent: float = 0.0
    inexpressible: bool = False
    own: Held = ()
    today: int = 0

    @property
    def names(self) -> frozenset[str]:
        """The names of the attributes the recipient holds."""
        return frozenset(name for name, _ in self.codes)

    def with_facts(self, codes: Mapping[str, int], own: Held = ()) -> "Knowledge":
        """Add facts that were disclosed; the latest value counts.

        Only person attributes belong here: request attributes are not knowledge (DESIGN.md 2.2).
        ``own``: places among them, each with the id of its fact.
        """
        codes, places = {**dict(self.codes), **codes}, {**dict(self.own), **dict(own)}
        return replace(self, codes=tuple(sorted(codes.items())), own=tuple(sorted(places.items())))


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

    def recent(self, now: datetime, span: timedelta = WEEK) -> int:
        """Count the facts that were new within a span before a time, forgotten or not.

        Those that a clock set back puts into the future count, too.
        """
        return len(self._learnt) - bisect_right(self._learnt, now - EPOCH - span)

    @property
    def times(self) -> dict[Value, float]:
        """The queries that carried something, and how often each did, by probability."""
        times = Counter[Value]()
        for query, share in chain.from_iterable(chain.from_iterable(self.queries.values())):
            times[query] += round(share * THOUSANDTHS)
        return {query: count / THOUSANDTHS for query, count in times.items()}


def roughly(history: History) -> History:
    """Round the times down to powers of two: one time more seldom makes another plan."""
    return tuple((query, ldexp(0.5, frexp(times)[1])) for query, times in history)


def people_left(knowledge: Knowledge, model: Model, cache: Cache | None = None) -> int:
    """Count the people who agree with what is known: nobody where a fact cannot be expressed."""
    cache = cache or Cache()
    pairs = [(model.index(name), code) for name, code in knowledge.codes]
    if knowledge.inexpressible:
        return 0
    key = people_left, knowledge.codes
    return cache.get(model, key, lambda: round(cache.anonymity_set(model, pairs).people))


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


def knowledge_in(
    holdings: Holdings[str],
    model: Model,
    now: datetime,
    concepts: Concepts | None = None,
    cache: Cache | None = None,
    *,
    with_queries: bool = False,
) -> Knowledge:
    """Express what a pool holds in the codes of a model.

    ``concepts``: the models that are installed, by default this one alone. What is told anyway
    need not be expressible; a query that the model does not know is left out. ``with_queries``:
    whether to look up the queries, which only a plan uses; else there are none. Facts in own words
    take their places in the order in which they were disclosed.
    """
    concepts, cache = concepts or Concepts((model,)), cache or Cache()
    facts = [Meaning(concept, fact.value) for concept, fact in holdings.held.items()]
    coded = {fact: concepts.code(fact, model) for fact in facts if MARK not in fact.concept}
    since = sorted((fact.since, concept, fact.value) for concept, fact in holdings.held.items())
    codes, own = placed((Meaning(*fact) for _, *fact in since), model)
    coded |= codes
    times = defaultdict[int, float](float)
    for text, count in (holdings.times if with_queries else {}).items():
        query = cache.get(model, (TextIndex.find, text), partial(model.texts.find, text))
        if query is not None and count:
            times[query] += count
    return Knowledge(
        codes=tuple(sorted(code for code in coded.values() if code is not None)),
        recent=holdings.recent(now),
        today=holdings.recent(now, DAY),
        queries=tuple(sorted(times.items())),
        spent=sum(holdings.spent.values()),
        inexpressible=any(e.concept not in TOLD_ANYWAY and coded[e] is None for e in facts),
        own=own,
    )
