"""Which sets decisions come to, and their figures: stored in a model, they need no counting.

The sets are those that searches and answers look at, by default and by each preset, for a recipient
that knows nothing, and for one that was asked everything before: with the model alone, and in one
world with the shipped model of everyday life. What is stored is what would be computed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial

import numpy as np

from agent.build.fitting import Advance, passing
from agent.decision.cache import Cache
from agent.decision.choice import QUERIES as PLANNED
from agent.decision.choice import uses_of
from agent.decision.context import Context, Terms, rulebook, terms_under
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from agent.model.file import read, shipped_model
from agent.model.model import Concepts, Member, Model
from agent.model.reading import Interpretation
from agent.model.world import world_of
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.measures import Measure
from agent.tradeoff.plan import QueryPlanner
from agent.tradeoff.tables import Floats, Rows, by_pair, mask_arrays, matrix_of
from agent.tradeoff.utility import NEAR_MEASURES, Near
from policy.read import preset
from policy.read import read as read_policy
from policy.sections import PRESETS

FEWEST = 2_000  # rows of a query; those of fewer are soon counted
QUERIES = 100  # the most: those with the most rows
PAIRS = 40  # of a query, at the least
PASSES = 2  # the worth of a bit in the world follows from what the first has stored
STAGE, STAGES = "storing what decisions look at, {} of {}", 4 * PASSES  # two of each model
SETS = 256  # of a query, 8 bytes for each attribute
ANY_HOST, ANY_DAY = "recipient.example", date.min


def precomputed(
    model: Model, progress: Callable[[str, float], None] = lambda _what, _share: None
) -> Near | None:
    """The figures near the sets of a model's decisions; None where all are soon counted.

    A model with attributes of the request has none: their costs are not kept by rows. ``progress``
    is called as by `build_model`: how long each part takes says nothing of the next one.
    """
    large = [at for at, query in enumerate(model.queries) if query.rows >= FEWEST]
    chosen = sorted(large, key=lambda at: (-model.queries[at].rows, at))[:QUERIES]
    if not chosen or model.persons < len(model.attributes):
        return None
    count, stored = len(model.attributes), model.tables.costs()
    cache, plain = Cache(), AnonymitySet(model.population, model.cards)
    measures = NEAR_MEASURES if plain.sampled else NEAR_MEASURES[:1]

    def losses(measure: Measure, mask: int, attributes: Sequence[int]) -> Sequence[float]:
        row: list[float] = plain.row(mask, measure, 1)[attributes].tolist()
        return row

    costs = {each: _Asked(stored.get(each, {}), count, partial(losses, each)) for each in measures}
    uses = {query: uses_of(query, model, cache) for query in sorted(chosen)}
    by_query = {
        query: _Asked(each.stored, count, partial(_counted, each)) for query, each in uses.items()
    }
    own, near, rows = tuple(range(count)), None, [model.queries[each].rows for each in by_query]
    stages = (partial(progress, STAGE.format(each, STAGES)) for each in range(1, 1 + STAGES))
    for _ in range(PASSES):
        model = replace(model, tables=replace(model.tables, near=near))
        world = world_of([read(shipped_model()), model])
        for whole, member in (model, Member(model, 0, own)), (world, world.members[-1]):
            cache, every = Cache(), _terms(whole)
            cache.anonymity_set(model).learn(costs)
            for query, figures in by_query.items():
                uses_of(query, model, cache).stored = figures
            for query in passing([*by_query], rows, next(stages)):
                for terms in every:  # of recipients that know nothing, and were asked nothing
                    _decided(whole, member.first + query, cache, terms, Knowledge())
                for pair in _pairs(by_query[query], count):
                    by_query[query].get(pair)
            _later(whole, member, cache, chosen[:PLANNED], next(stages))
            rows = [0] * len(rows)  # what grows with them has been counted
        near = _near(by_query, costs, count)
    return near


def _near(by_query: Mapping[int, "_Asked"], costs: Mapping[Measure, "_Asked"], count: int) -> Near:
    """The figures that were asked for."""
    some = {query: [*each.asked.items()][:SETS] for query, each in by_query.items()}
    every = [(mask, query, row) for query, each in some.items() for mask, row in each]
    sets = [mask for mask, _, _ in every]
    priced = sorted({*sets}.union(*(each.asked for each in costs.values())))
    # Set by set: what was counted for one measure serves the other.
    lines = np.array([[each[mask] for each in costs.values()] for mask in priced])
    lines = lines.reshape(len(priced), len(costs), count)
    return Near(
        sets=np.packbits(mask_arrays(sets, count), axis=1, bitorder="little"),
        queries=np.array([query for _, query, _ in every], dtype=np.intp),
        utilities=np.array([row for _, _, row in every]).reshape(-1, count),
        priced=np.packbits(mask_arrays(priced, count), axis=1, bitorder="little"),
        costs=np.ascontiguousarray(lines.swapaxes(0, 1)),
    )


def _later(
    world: Model, member: Member, cache: Cache, queries: Sequence[int], advance: Advance
) -> None:
    """Decide for recipients that were asked all these, and hold what the last one carried."""
    history = tuple((member.first + query, 1.0) for query in sorted(queries))
    model, concepts, every = member.model, Concepts((world,)), _terms(world)
    people, held = model.population, [Knowledge(queries=history)] * len(every)
    for query in passing(queries, [0] * len(queries), advance):
        at = member.first + query
        [codes] = people.codes_of(np.array([query % people.rows])).tolist()
        own = zip(model.attributes, codes, strict=False)  # of attributes of the person
        facts = (model.meanings[each.name, each.values[code]] for each, code in own)
        values = dict(filter(None, (concepts.code(each, world) for each in facts)))
        for place, terms in enumerate(every):
            decision = _decided(world, at, cache, terms, Knowledge(queries=history))
            if held[place].codes:
                _decided(world, at, cache, terms, held[place])
            sent = {name: values[name] for name in decision.disclosed if name in values}
            held[place] = replace(Knowledge().with_facts(sent), queries=history)


def _decided(
    world: Model, query: int, cache: Cache, terms: Terms, knowledge: Knowledge
) -> Decision:
    request, reading = Request(world.queries[query].text), Interpretation.exact(query)
    context = Context(request, terms, knowledge, world, reading=reading, cache=cache)
    return decide(context, brief=True)


def _counted(uses: QueryPlanner, mask: int, attributes: Sequence[int]) -> Sequence[float]:
    """U of a query, in bits, of a set with each of some attributes added."""
    return uses.utility().extensions(mask, attributes)


def _pairs(stored: Rows, count: int) -> list[int]:
    """The pairs that help most, which are best where others are not set, or not allowed."""
    matrix = matrix_of(stored, count)
    if matrix is None:
        return []
    sets, bits = by_pair(matrix)
    return [sets[each] for each in np.argsort(-bits, kind="stable")[:PAIRS].tolist()]


def _terms(model: Model) -> tuple[Terms, ...]:
    """The terms that people are likely to have: by default, and by each preset."""
    rules = (read_policy(f'preset = "{name}"', name, preset) for name in PRESETS)
    rulings = (rulebook(each, model, ()).match(ANY_HOST, "", ANY_DAY) for each in rules)
    return (Terms(), Terms(mode="planned"), *(terms_under(each, model) for each in rulings))


class _Asked(dict[int, Floats]):
    """Rows of figures; those that are not stored are computed when they are asked for."""

    def __init__(
        self, stored: Rows, count: int, extensions: Callable[[int, Sequence[int]], Sequence[float]]
    ) -> None:
        super().__init__(stored)
        self._count, self._extensions = count, extensions
        self.asked: dict[int, Floats] = {}
        """Those that were computed."""

    def get(self, mask: int, default: object = None) -> Floats:
        """The figure of A u {V} for each V, that of A for those in A."""
        del default
        return self[mask]

    def __missing__(self, mask: int) -> Floats:
        [inside] = mask_arrays([mask], self._count)
        outside, last = np.flatnonzero(~inside).tolist(), mask.bit_length() - 1
        row = self[mask] = self.asked[mask] = np.zeros(self._count)
        row[outside] = self._extensions(mask, outside)
        if mask:
            row[inside] = self._extensions(mask & ~(1 << last), [last])[0]
        return row
