"""How good the sets are that decisions and plans choose for random requests, half of facts set."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache as once
from itertools import chain
from math import inf, log
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np

from agent.decision import choice
from agent.decision.context import Limits, Prepared, prepare
from agent.decision.knowledge import Knowledge
from agent.model.file import read, shipped_model, shipped_models
from agent.model.model import Model
from agent.model.world import world_of
from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.measures import METRICS
from agent.tradeoff.objective import forced
from agent.tradeoff.plan import QueryPlanner, plan
from agent.tradeoff.tables import members, subsets, union
from policy.settings import Mode
from tests.bench import at, row
from tests.bench.decisions import SHARES, SURE, requests

T = TypeVar("T")
DECISIONS, PLANS = (200, (0.99, 0.97, 0.0)), (30, (0.0, 0.97, 0.998))  # of each model; and bars
PROBLEMS: dict[Mode, Any] = {"dynamic": DECISIONS, "planned": PLANS}
FEW = 8  # facts, all of whose sets are looked at
STARTS, LARGEST = 12, 6  # sets by lot that the better search of more starts from, and their facts
PRICED = 400  # sets, after which no start is added: all is dear where sets are large
WORTH = 1e-6  # bits: below, there is nothing to find
REACHED = 1 - 1e-6  # of the best
SLOPES = dict(zip(METRICS, ((0.5, 2e3), (0.5, 2e3), (0.1, 10.0), (1e-3, 0.1)), strict=True))
CAPS = (1, 2, 3, 4, 6)  # on facts


def sets() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    for model in (read(shipped_model("so2017")), world_of([*map(read, shipped_models())])):
        for mode, (count, bars) in PROBLEMS.items():
            run = _planned if mode == "planned" else _decided
            times, shares = zip(*map(run, _problems(model, count, mode)), strict=True)
            some = np.array([each for each in shares if each is not None])
            found = (some >= REACHED).mean(), some.min(), some.mean()
            more = f"{len(some)} problems, CPU {at(times, 50, 99)} ms"
            yield row(f"{model.id}, {mode}: the best, worst, mean", bars, found, "", more)


def _decided(prepared: Prepared) -> tuple[float, float | None]:
    """Choose a set: how long it took in ms, and its share of the best, None where that is nothing.

    Of facts that are no part of the query, none is in the best set.
    """
    start = time.process_time()
    found = choice.choice_of(prepared)
    took = time.process_time() - start
    objective, base = found.objective, forced(found.objective, members(prepared.forced))
    some = (each for each in members(prepared.free & ~base) if objective.utility(1 << each))
    return took * 1e3, _share(objective, base, union(some), found.result.mask)


def _planned(prepared: Prepared) -> tuple[float, float | None]:
    """The same of a plan."""
    base = forced(choice.objective_of(prepared, prepared.reading), members(prepared.forced))
    start = time.process_time()
    with patch.object(choice, "plan", wraps=plan) as call:
        found = choice.planned(prepared, base).portfolio
    took = time.process_time() - start
    worth = _Worth(*call.call_args.args)
    return took * 1e3, _share(worth, worth.given, worth.candidates, found.mask)


class _Worth(SetFunction):
    """What a recipient is to hold, for all that it is going to be asked (DESIGN.md 2.10)."""

    def __init__(self, *parts: Any) -> None:  # noqa: ANN401  (of `plan`)
        """Take what `plan` does; no limit may keep out what the request at hand pays for."""
        self._queries, self._numbers, self._prices, self._scope, free, _ = parts
        self.costs_beside = self._prices.costs_beside  # type: ignore[method-assign]
        self.given = self._scope.sent | self._scope.fixed
        self._needed = plan(self._queries[:1], self._numbers[:1], *parts[2:]).mask
        helpful = (np.flatnonzero(each.beside(0, free) > 0).tolist() for each in self._queries)
        self.candidates = free & union(chain(*helpful))

    def value(self, mask: int) -> float:
        """The bits of help to all requests, less the cost."""
        bits = [self._used(each, mask) for each in self._queries]
        return float(np.dot(self._numbers, bits) - self._prices.cost(mask))

    def helps(self, mask: int, attributes: Sequence[int], **_: bool) -> list[float]:
        """The bits of help with each attribute more, at most: what is submodular never falls."""
        bits, new = np.zeros(len(attributes)), np.array(attributes, np.intp)
        for query, number in zip(self._queries, self._numbers, strict=True):
            if query.submodular:
                bits += number * query.beside(mask, union(attributes))[new]
            else:
                bits += [number * self._used(query, mask | 1 << each) for each in attributes]
        levels: list[float] = bits.tolist()
        return levels

    def _used(self, query: QueryPlanner, mask: int) -> float:
        scope = self._scope
        more = query.best_in(scope, scope.fixed, mask & ~scope.fixed)
        return query.value(scope.fixed | union(more))

    def feasible(self, mask: int, *, larger: bool = False) -> bool:
        """Whether a recipient may hold that."""
        sets = () if mask == self.given else (mask, mask | self._needed)
        return all(self._prices.feasible(each, larger=larger) for each in sets)


def _share(function: SetFunction, base: int, free: int, found: int) -> float | None:
    """The share of the best set's value that one has: of all of ``base`` and some of ``free``."""
    free &= ~base

    @once
    def value(mask: int) -> float:
        return function.value(mask) if function.feasible(mask) else -inf

    @once
    def bounded(mask: int) -> list[tuple[float, int]]:  # sets with one more, and their bounds
        more = np.array([*members(free & ~mask)], np.intp)
        bits = np.array(function.helps(mask, more.tolist())) - function.costs_beside(mask, more)
        return [*zip(bits.tolist(), (mask | 1 << each for each in more.tolist()), strict=True)]

    @once
    def climbed(mask: int) -> float:  # additions lead to, and where none is good other moves
        best = mask
        for rests in ([mask], [mask ^ 1 << each for each in members(mask & ~base)]):
            options = chain([(inf, each) for each in rests], *map(bounded, rests))
            for bound, each in sorted(options, reverse=True) if best == mask else ():
                best = max(best, each, key=value) if bound > value(best) else best
        return value(mask) if best == mask else climbed(best)

    if free.bit_count() <= FEW:
        best = max(value(base | each) for each in subsets(free))
    else:
        best = max(climbed(base), climbed(found))
        for start in _starts(function, base, [*members(free)]):
            best = max(best, climbed(start)) if value.cache_info().currsize < PRICED else best
    return value(found) / max(best, value(found)) if best > WORTH else None


def _starts(function: SetFunction, base: int, free: list[int]) -> Iterator[int]:
    random = np.random.default_rng(0)
    for _ in range(STARTS):
        mask, most = base, random.integers(1, LARGEST + 1)
        for each in random.permutation(free)[:most].tolist():
            mask |= 1 << each if function.feasible(mask | 1 << each) else 0
        yield mask


def _problems(model: Model, count: int, mode: Mode) -> Iterator[Prepared]:
    """Yield random requests, the same every time, to recipients that may learn something."""
    random, names = np.random.default_rng(0), [each.name for each in model.attributes]
    sure, unsure = (requests(model, count, known=3, parts=each) for each in (SURE, SHARES))

    def some(of: Sequence[T], most: int) -> list[T]:
        return [of[each] for each in random.permutation(len(of))[: random.integers(most + 1)]]

    def maybe(chance: float, *values: T) -> T | None:
        value = values[random.integers(len(values))]
        return value if random.random() < chance else None

    def bits(low: float, high: float) -> float:
        return float(np.exp(random.uniform(log(low), log(high))))

    for each in zip(sure, unsure, strict=True):
        context, metric = maybe(0.3, each[1]) or each[0], METRICS[random.integers(len(METRICS))]
        limits = Limits(
            k=maybe(0.5, 20, 100, 1000),
            violations=maybe(0.5, 0.001, 0.05) or 0.0,
            risk=maybe(0.3, 0.001, 0.01, 0.1),
            attributes_per_request=maybe(0.3, *CAPS),
            new_facts_per_week=maybe(0.3, *CAPS),
        )
        terms = replace(
            context.terms,
            always=frozenset(some(names, 2) if maybe(0.2, True) else ()),
            trade_off=bits(*SLOPES[metric]),
            metric=metric,
            limits=limits,
            sensitivity=tuple((e, bits(0.001, 0.1)) for e in sorted(some(names, len(names)))),
            guards=tuple((e, bits(0.1, 10.0)) for e in some(names[: model.population.tabled], 1)),
            mode=mode,
        )
        before = sorted(some(range(len(model.queries)), 5))
        known = Knowledge().with_facts(dict(some(context.knowledge.codes, 3)))
        known = replace(known, queries=tuple((each, 1.0) for each in before))
        prepared = prepare(replace(context, terms=terms, knowledge=known))
        if not prepared.anonymity_set.closed:
            yield prepared
