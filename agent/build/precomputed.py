"""Which sets decisions come to, and their figures: stored in a model, they need no counting.

The sets are those that searches and answers look at, by default and by each preset, for a recipient
that knows nothing, and for one that was asked everything before: with the model alone, and in one
world with the shipped model of everyday life. What is stored is what would be computed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial

import numpy as np

from agent.build.fitting import Advance, in_parts, passing
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
PAIRS = 10  # of a query, at the least; with more of them no decision was sooner
STAGE, STAGES = "storing what decisions look at, {} of {}", 4
SETS = 256  # of a query, 8 bytes for each attribute
ANY_HOST, ANY_DAY = "recipient.example", date.min


class AskedFigures(dict[int, Floats]):
    """Rows of figures; those that are not stored are computed when they are asked for."""

    def __init__(
        self, stored: Rows, count: int, extensions: Callable[[int, Sequence[int]], Sequence[float]]
    ) -> None:
        super().__init__(stored)
        self._count, self._extensions = count, extensions
        self.asked: dict[int, Floats] = {}
        """Those that were computed."""

    def learn(self, found: Rows) -> None:
        """Keep what was computed elsewhere."""
        self.asked |= {mask: row for mask, row in found.items() if mask not in self}
        self.update(found)

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


ByQuery = Mapping[int, AskedFigures]
Trial = tuple[Sequence[Context], Member, ByQuery]
"""Under which terms one member of a world is asked, and the figures of its queries."""


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

    costs = {
        each: AskedFigures(stored.get(each, {}), count, partial(losses, each)) for each in measures
    }
    uses = {query: uses_of(query, model, cache) for query in chosen}
    by_query = {
        query: AskedFigures(each.stored, count, partial(_counted, each))
        for query, each in uses.items()
    }
    stages = (partial(progress, STAGE.format(each, STAGES)) for each in range(1, 1 + STAGES))
    near = _tried(model, Member(model, 0, tuple(range(count))), by_query, costs, stages)
    # The worth of a bit in the world follows from what is stored.
    model = replace(model, tables=replace(model.tables, near=near))
    world = world_of([read(shipped_model()), model])
    return _tried(world, world.members[-1], by_query, costs, stages)


def _tried(
    world: Model,
    member: Member,
    by_query: ByQuery,
    costs: Mapping[Measure, AskedFigures],
    stages: Iterator[Advance],
) -> Near:
    """The figures that decisions in a world ask for; the model alone is its own member.

    Several processes decide, and what each of them has computed is kept here.
    """
    cache, figures = Cache(), (*by_query.values(), *costs.values())
    cache.anonymity_set(member.model).learn(costs)
    for query, each in by_query.items():
        uses_of(query, member.model, cache).stored = each
        if world is not member.model:  # each of its sets counts as stored, as it will
            uses = uses_of(member.first + query, world, cache)
            uses.stored = AskedFigures(uses.stored, len(world.attributes), partial(_counted, uses))
    every = [Context(Request(""), e, Knowledge(), world, cache=cache) for e in _terms(world)]
    trial = every, member, by_query
    rows = [member.model.queries[each].rows for each in by_query]

    def asked(
        on: Callable[[Trial, Sequence[int], Advance], None], part: Sequence[int], advance: Advance
    ) -> list[dict[int, Floats]]:
        on(trial, part, advance)
        return [each.asked for each in figures]

    for on, sizes in (_fresh, rows), (_later, [sum(rows)] * len(every)):
        for others in in_parts(partial(asked, on), sizes, next(stages))[1:]:
            for each, found in zip(figures, others, strict=True):
                each.learn(found)
    return _near(by_query, costs, len(member.model.attributes))


def _near(by_query: ByQuery, costs: Mapping[Measure, AskedFigures], count: int) -> Near:
    """The figures that were asked for; where they are many, those of the smaller sets."""
    every = [
        (mask, query, row)
        for query in sorted(by_query)
        for _, mask, row in sorted(
            (mask.bit_count(), mask, row) for mask, row in by_query[query].asked.items()
        )[:SETS]
    ]
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


def _fresh(trial: Trial, part: Sequence[int], advance: Advance) -> None:
    """Decide on some of the queries for recipients that know nothing, and were asked nothing."""
    every, member, by_query = trial
    queries = [*by_query]
    for at in passing(part, [member.model.queries[each].rows for each in queries], advance):
        for context in every:
            _decided(context, member.first + queries[at], Knowledge())
        for pair in _pairs(by_query[queries[at]], len(member.model.attributes)):
            by_query[queries[at]].get(pair)


def _later(trial: Trial, part: Sequence[int], advance: Advance) -> None:
    """Decide on some terms for recipients that were asked of the largest queries.

    They were asked all of these, and hold what the last answer carried.
    """
    every, member, by_query = trial
    queries, world, model = [*by_query][:PLANNED], every[0].model, member.model
    nothing = Knowledge(queries=tuple((member.first + each, 1.0) for each in sorted(queries)))
    people, concepts, held = model.population, Concepts((world,)), dict.fromkeys(part, nothing)
    for at in passing(range(len(queries)), [0] * len(queries), advance):
        [codes] = people.codes_of(np.array([queries[at] % people.rows])).tolist()
        own = zip(model.attributes, codes, strict=False)  # of attributes of the person
        facts = (model.meanings[each.name, each.values[code]] for each, code in own)
        values = dict(filter(None, (concepts.code(each, world) for each in facts)))
        for place, before in held.items():
            decided = partial(_decided, every[place], member.first + queries[at])
            decision = decided(nothing)
            if before.codes:
                decided(before)
            sent = {name: values[name] for name in decision.disclosed if name in values}
            held[place] = nothing.with_facts(sent)


def _decided(context: Context, query: int, knowledge: Knowledge) -> Decision:
    request, reading = Request(context.model.queries[query].text), Interpretation.exact(query)
    context = replace(context, request=request, knowledge=knowledge, reading=reading)
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
