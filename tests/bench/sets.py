"""How good the sets are that decisions and plans choose, beside the best that is found.

Random requests to the shipped models, as people might have them: half of the facts are set, a
recipient holds up to three, and metrics, prices, limits, caps and guards are drawn by lot, too.
"""

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
from agent.decision.cache import Cache
from agent.decision.context import Context, Limits, Prepared, Terms, prepare
from agent.decision.knowledge import Knowledge
from agent.decision.values import Request
from agent.model.file import read, shipped_model, shipped_models
from agent.model.model import Model
from agent.model.reading import Candidate, Interpretation
from agent.model.world import world_of
from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.measures import METRICS
from agent.tradeoff.objective import forced
from agent.tradeoff.plan import plan
from agent.tradeoff.tables import members, subsets, union
from policy.settings import Mode
from tests.bench import at

T = TypeVar("T")
PROBLEMS, PLANS = 200, 30  # of each model
FEW = 8  # facts, all of whose sets are looked at
STARTS, LARGEST = 12, 6  # sets by lot that the better search of more starts from, and their facts
WORTH = 1e-6  # bits: below, there is nothing to find
REACHED = 1 - 1e-6  # of the best
SHARES = (0.6, 0.25, 0.15)  # of three readings
SLOPES = dict(zip(METRICS, ((0.5, 2e3), (0.5, 2e3), (0.1, 10.0), (1e-3, 0.1)), strict=True))
CAPS = (1, 2, 3, 4, 6)  # on facts


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    for model in (read(shipped_model("so2017")), world_of([*map(read, shipped_models())])):
        yield _line(f"{model.id}, decisions", map(_decided, _problems(model, PROBLEMS, "dynamic")))
        yield _line(f"{model.id}, plans", map(_planned, _problems(model, PLANS, "planned")))


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
        return self._bits(mask) - float(self._prices.cost(mask))

    def helps(self, mask: int, attributes: Sequence[int], **_: bool) -> list[float]:
        """The bits of help to all requests with each attribute more."""
        return [self._bits(mask | 1 << each) for each in attributes]

    def _bits(self, mask: int) -> float:
        scope, total = self._scope, 0.0
        for query, number in zip(self._queries, self._numbers, strict=True):
            more = query.best(scope.fixed, mask & ~scope.fixed, scope.has_room, scope.sent)
            total += number * query.value(scope.fixed | union(more))
        return total

    def feasible(self, mask: int, *, larger: bool = False) -> bool:
        """Whether a recipient may hold that."""
        sets = () if mask == self.given else (mask, mask | self._needed)
        return all(self._prices.feasible(each, larger=larger) for each in sets)


def _share(function: SetFunction, base: int, free: int, found: int) -> float | None:
    """The share of the best set's value that one has: of all of ``base`` and some of ``free``."""
    free, random, starts = free & ~base, np.random.default_rng(0), [base, found]

    @once
    def value(mask: int) -> float:
        return function.value(mask) if function.feasible(mask) else -inf

    @once
    def bounded(mask: int) -> list[tuple[float, int]]:  # the sets with one more, and their bounds
        more = [*members(free & ~mask)]
        bits = np.array(function.helps(mask, more)) - function.costs_beside(mask, np.array(more))
        return [*zip(bits.tolist(), (mask | 1 << each for each in more), strict=True)]

    @once
    def climbed(mask: int) -> float:  # what the best moves and exchanges lead to
        rests = [mask ^ 1 << each for each in members(mask & ~base)]
        best = max([mask, *rests], key=value)
        for bound, each in sorted(chain(*map(bounded, [mask, *rests])), reverse=True):
            if bound <= value(best):
                break
            best = max(best, each, key=value)
        return value(mask) if best == mask else climbed(best)

    if free.bit_count() <= FEW:
        best = max(value(base | each) for each in subsets(free))
    else:
        for _ in range(STARTS):
            mask, most = base, random.integers(1, LARGEST + 1)
            for each in random.permutation([*members(free)])[:most].tolist():
                mask |= 1 << each if function.feasible(mask | 1 << each) else 0
            starts.append(mask)
        best = max(map(climbed, starts))
    return value(found) / max(best, value(found)) if best > WORTH else None


def _problems(model: Model, count: int, mode: Mode) -> Iterator[Prepared]:
    """Yield random requests, the same every time, to recipients that may learn something."""
    random, cache, queries = np.random.default_rng(0), Cache(), len(model.queries)
    names, tabled = [each.name for each in model.attributes], model.population.tabled

    def some(of: Sequence[str], most: int) -> list[str]:
        chosen: list[str] = random.choice(of, random.integers(most + 1), replace=False).tolist()
        return chosen

    def maybe(chance: float, *values: T) -> T | None:
        value = values[random.integers(len(values))]
        return value if random.random() < chance else None

    def bits(low: float, high: float) -> float:
        return float(np.exp(random.uniform(log(low), log(high))))

    for _ in range(count):
        query, metric = int(random.integers(queries)), METRICS[random.integers(len(METRICS))]
        shares = maybe(0.3, SHARES) or (1.0,)
        parts = tuple(Candidate((query + i) % queries, share) for i, share in enumerate(shares))
        [row] = model.population.codes_of(random.integers(model.population.rows, size=1)).tolist()
        held = [model.index(name) for name in some(names[: model.persons], 3)]
        codes = ((e < tabled and row[e]) or int(random.integers(model.cards[e])) for e in held)
        known = Knowledge().with_facts(dict(zip((names[e] for e in held), codes, strict=True)))
        limits = Limits(
            k=maybe(0.5, 20, 100, 1000),
            violations=maybe(0.5, 0.001, 0.05) or 0.0,
            risk=maybe(0.3, 0.001, 0.01, 0.1),
            attributes_per_request=maybe(0.3, *CAPS),
            new_facts_per_week=maybe(0.3, *CAPS),
        )
        terms = Terms(
            available=frozenset(random.permutation(names)[: len(names) // 2].tolist()),
            always=frozenset(some(names, 2) if maybe(0.2, True) else ()),
            trade_off=bits(*SLOPES[metric]),
            metric=metric,
            limits=limits,
            sensitivity=tuple((name, bits(0.001, 0.1)) for name in sorted(some(names, len(names)))),
            guards=tuple((name, bits(0.1, 10.0)) for name in some(names[:tabled], 1)),
            mode=mode,
        )
        before = random.choice(queries, random.integers(6), replace=False).tolist()
        known = replace(known, queries=tuple((each, 1.0) for each in sorted(before)))
        reading, request = Interpretation(parts, shares[0]), Request(model.queries[query].text)
        prepared = prepare(Context(request, terms, known, model, reading=reading, cache=cache))
        if not prepared.anonymity_set.closed:
            yield prepared


def _line(what: str, found: Iterator[tuple[float, float | None]]) -> str:
    every = [*found]
    times = [took for took, _ in every]
    some = np.array([share for _, share in every if share is not None])
    return (
        f"{what}: {(some >= REACHED).mean():.1%} of {len(some)} reach the best found, worst "
        f"{some.min():.3f}, mean {some.mean():.4f}; CPU p50 {at(times, 50)} ms, p99 {at(times, 99)}"
    )
