"""Which sets decisions come to, and their figures: stored in a model, they need no counting.

The sets are those that searches and plans look at, by default and by each preset, for a recipient
that knows nothing, and for one that was asked everything before. What is stored is what would be
computed. For a query with many rows, a search looks further where that costs no counting: so what
is stored makes sets better, and never worse.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial

import numpy as np
from numpy.typing import NDArray

from agent.decision.cache import Cache
from agent.decision.choice import QUERIES as PLANNED
from agent.decision.choice import uses_of
from agent.decision.context import Context
from agent.decision.decide import decide_context
from agent.decision.knowledge import Knowledge
from agent.decision.terms import Terms, rulebook, terms_under
from agent.decision.values import Decision, Request
from agent.model.model import Model
from agent.model.tables import NEAR_MEASURES, Near
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.measures import Measure
from agent.tradeoff.tables import Floats, Stored, mask_array, pairs
from policy.read import preset, read
from policy.sections import PRESETS

FEWEST = 2_000  # rows of a query; those of fewer are soon counted
QUERIES = 100  # the most: those with the most rows
PAIRS = 40  # of a query, at the least
SETS = 100  # of a query, 8 bytes for each attribute
ANY_HOST, ANY_DAY = "recipient.example", date.min


def precomputed(model: Model) -> Near | None:
    """The figures near the sets of a model's decisions; None where all are soon counted.

    A model with attributes of the request has none: their costs are not kept by rows.
    """
    large = [at for at, query in enumerate(model.queries) if query.rows >= FEWEST]
    chosen = sorted(large, key=lambda at: (-model.queries[at].rows, at))[:QUERIES]
    if not chosen or model.persons < len(model.attributes):
        return None
    count, stored = len(model.attributes), model.tables.costs()
    cache = Cache()
    crowd, plain = cache.anonymity_set(model), AnonymitySet(model.population, model.cards)
    measures = NEAR_MEASURES if crowd.sampled else NEAR_MEASURES[:1]

    def losses(measure: Measure, mask: int, attributes: Sequence[int]) -> Sequence[float]:
        plain.survey(mask, plain.persons, [(each, 1) for each in measures])
        row: list[float] = plain.row(mask, measure, 1)[attributes].tolist()
        return row

    costs = {each: _Asked(stored.get(each), count, partial(losses, each)) for each in measures}
    crowd.learn(costs)
    asked = {
        query: _Asked(uses_of(query, model, cache).stored, count, _counting(query, model, cache))
        for query in sorted(chosen)
    }
    for query, figures in asked.items():
        uses_of(query, model, cache).stored = figures
        for terms in _terms(model):
            _decided(model, cache, query, terms, Knowledge())
        for pair in _pairs(figures, count):
            figures.row(pair)
        uses_of(query, model, cache).forget()
    _later(model, cache, asked, chosen[:PLANNED])
    sets, queries, utilities = list[int](), list[int](), list[Floats]()
    for query, figures in asked.items():
        some = [*figures.rows.items()][:SETS]
        sets += [mask for mask, _ in some]
        queries += [query] * len(some)
        utilities += [row for _, row in some]
    priced = sorted({*sets}.union(*(each.rows for each in costs.values())))
    return Near(
        sets=_in_bits(sets, count),
        queries=np.array(queries, dtype=np.intp),
        utilities=np.array(utilities).reshape(-1, count),
        priced=_in_bits(priced, count),
        costs=np.array([[each.row(mask) for mask in priced] for each in costs.values()]),
    )


def _later(model: Model, cache: Cache, asked: Mapping[int, "_Asked"], heard: Sequence[int]) -> None:
    """Decide for recipients that were asked all these, and hold what the last one carried."""
    history = tuple((query, 1.0) for query in sorted(heard))
    for query in heard:
        uses_of(query, model, cache).stored = asked[query]
    for terms in _terms(model):
        knowledge = Knowledge(queries=history)
        for query in heard:
            found = _decided(model, cache, query, terms, Knowledge(queries=history))
            if knowledge.codes:
                _decided(model, cache, query, terms, knowledge)
            persons = (name for name in found.disclosed if model.index(name) < model.persons)
            codes = model.population.codes[query % model.population.rows]
            held = Knowledge().with_facts({each: int(codes[model.index(each)]) for each in persons})
            knowledge = replace(held, queries=history)
    for query in heard:
        uses_of(query, model, cache).forget()


def _decided(
    model: Model, cache: Cache, query: int, terms: Terms, knowledge: Knowledge
) -> Decision:
    request = Request(model.queries[query].text)
    return decide_context(Context(request, terms, knowledge, model, cache=cache), brief=True)


def _counting(
    query: int, model: Model, cache: Cache
) -> Callable[[int, Sequence[int]], Sequence[float]]:
    """U of a query, in bits, of a set with each of some attributes added."""
    return lambda mask, attributes: (
        uses_of(query, model, cache).utility().extensions(mask, attributes)
    )


def _pairs(stored: Stored, count: int) -> list[int]:
    """The pairs that help most, which are best where others are not set, or not allowed."""
    if stored.both is None:
        return []
    every = pairs(count)
    return [every[each] for each in np.argsort(-stored.both, kind="stable")[:PAIRS].tolist()]


def _in_bits(sets: Sequence[int], count: int) -> NDArray[np.uint8]:
    size = -(-count // 8)
    data = b"".join(each.to_bytes(size, "little") for each in sets)
    return np.frombuffer(data, np.uint8).reshape(-1, size)


def _terms(model: Model) -> Iterable[Terms]:
    """The terms that people are likely to have: by default, and by each preset."""
    rules = (read(f'preset = "{name}"', name, preset) for name in PRESETS)
    rulings = (rulebook(each, model, ()).match(ANY_HOST, "", ANY_DAY) for each in rules)
    presets = (terms_under(each, model) for each in rulings)
    return (Terms(), Terms(mode="planned"), *presets)


class _Asked(Stored):
    """Figures that are computed when a row of them is asked for, and kept."""

    def __init__(
        self,
        stored: Stored | None,
        count: int,
        extensions: Callable[[int, Sequence[int]], Sequence[float]],
    ) -> None:
        super().__init__(*((None, None) if stored is None else (stored.singles, stored.both)))
        self._count, self._extensions = count, extensions

    def get(self, mask: int) -> float:
        """The figure of a set that is not empty."""
        found = super().get(mask)
        return float(self.row(mask)[mask.bit_length() - 1]) if found is None else found

    def row(self, mask: int) -> Floats:
        """The figure of A u {V} for each V, that of A for those in A."""
        found = super().row(mask)
        if found is None:
            inside = mask_array(mask, self._count)
            outside, last = np.flatnonzero(~inside).tolist(), mask.bit_length() - 1
            found = self.rows[mask] = np.zeros(self._count)
            found[outside] = self._extensions(mask, outside)
            if mask:
                found[inside] = self._extensions(mask & ~(1 << last), [last])[0]
        return found
