"""How good the sets are that decisions and plans choose for random requests, half of facts set.

And the search beside others: plain NumPy, apricot, submodlib, and HiGHS by way of SciPy. There,
facts cost what each of them costs alone: the others can express no more, and count no people.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache as once
from functools import partial
from importlib import import_module
from itertools import chain
from math import inf, log
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from agent.decision import choice
from agent.decision.context import Limits, Prepared, prepare
from agent.decision.knowledge import Knowledge
from agent.decision.topics import Judgements
from agent.model.file import read, shipped_model, shipped_models
from agent.model.model import Model
from agent.model.world import world_of
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.coverage import Coverage
from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.measures import METRICS
from agent.tradeoff.objective import DisclosureObjective, Settings, forced
from agent.tradeoff.plan import QueryPlanner, plan
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import Floats, Indexes, Population, members, subsets, union
from policy.settings import Mode
from tests.bench import T, at, row, timed
from tests.bench.decisions import SHARES, SURE, requests, whole

DECISIONS, PLANS = (200, (0.99, 0.97, 0.0)), (30, (0.0, 0.97, 0.998))  # of each model; and bars
PROBLEMS: dict[Mode, Any] = {"dynamic": DECISIONS, "planned": PLANS}
FEW = 8  # facts, all of whose sets are looked at
STARTS, LARGEST = 12, 6  # sets by lot that the better search of more starts from, and their facts
PRICED = 400  # sets, after which no start is added: all is dear where sets are large
WORTH, REACHED = 1e-6, 1 - 1e-6  # bits, below which there is nothing to find; of the best
SLOPES = dict(zip(METRICS, ((0.5, 2e3), (0.5, 2e3), (0.1, 10.0), (1e-3, 0.1)), strict=True))
CAPS = (1, 2, 3, 4, 6)  # on facts
COVERINGS, TOPICS, MOST = 20, 8, 12  # for all; topics of each; facts at most, as in balanced
TANGENTS = 33  # of a topic, for HiGHS


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
    _, took, found = timed(partial(choice.choice_of, prepared))
    objective, base = found.objective, forced(found.objective, members(prepared.forced))
    some = (each for each in members(prepared.free & ~base) if objective.utility(1 << each))
    return took, _share(objective, base, union(some), found.result.mask)


def _planned(prepared: Prepared) -> tuple[float, float | None]:
    """The same of a plan."""
    base = forced(choice.objective_of(prepared, prepared.reading), members(prepared.forced))
    with patch.object(choice, "plan", wraps=plan) as call:
        _, took, found = timed(partial(choice.planned, prepared, base))
    worth = _Worth(*call.call_args.args)
    return took, _share(worth, worth.given, worth.candidates, found.portfolio.mask)


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

    def helps(self, mask: int, attributes: Indexes, **_: bool) -> Floats:
        """The bits of help with each attribute more, at most: what is submodular never falls."""
        bits, some = np.zeros(len(attributes)), attributes.tolist()
        for query, number in zip(self._queries, self._numbers, strict=True):
            if query.submodular:
                bits += number * query.beside(mask, union(some))[attributes]
            else:
                bits += [number * self._used(query, mask | 1 << each) for each in some]
        return bits

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
        bits = np.array(function.helps(mask, more)) - function.costs_beside(mask, more)
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
        best, random = max(climbed(base), climbed(found)), np.random.default_rng(0)
        for _ in range(STARTS):
            start, most = base, random.integers(1, LARGEST + 1)
            for each in random.permutation([*members(free)])[:most].tolist():
                start |= 1 << each if function.feasible(start | 1 << each) else 0
            best = max(best, climbed(start)) if value.cache_info().currsize < PRICED else best
    return value(found) / max(best, value(found)) if best > WORTH else None


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


def reticent(bits: Floats, parts: Floats, costs: Floats, **way: Any) -> list[int]:  # noqa: ANN401
    """Search as a decision does, where there is nobody to be told from."""
    coverage, count = Coverage(bits, parts), len(costs)
    utility = QueryPlanner(lambda: coverage, count, quick=True)
    settings = Settings((1 << count) - 1, tuple(costs.tolist()), 0.0, most=MOST)
    two = AnonymitySet(Population(np.eye(2, dtype=np.uint8)[:, [0] * count]), [2] * count)
    return [*maximise(DisclosureObjective(utility, two, settings), **way).order]


def numpy(bits: Floats, parts: Floats, costs: Floats) -> list[int]:
    """Greedy, of all facts at once."""
    order = list[int]()
    for _ in range(MOST):
        gains = bits @ parts - costs
        gains[order] = -np.inf
        order.append(int(gains.argmax()))
        bits = bits * (1 - parts[:, order[-1]])
    return order


def apricot(bits: Floats, parts: Floats, costs: Floats) -> list[int]:
    """Lazy greedy of a function of one's own, for which facts are rows."""
    value = lambda some: bits @ (1 - some[:, 1:].prod(axis=0)) - some[:, 0].sum()  # noqa: E731
    search = import_module("apricot").CustomSelection(MOST, value, optimizer="lazy")
    return [*search.fit(np.c_[costs, 1 - parts.T]).ranking.tolist()]


def submodlib(bits: Floats, parts: Floats, costs: Floats) -> list[int]:
    """Lazy greedy of a probabilistic set cover; a cost is a topic of negative bits."""
    covered, whole = np.c_[parts.T, np.eye(len(costs))], [*bits, *-costs]
    function = import_module("submodlib").ProbabilisticSetCoverFunction
    cover = function(len(costs), covered.tolist(), len(whole), whole)
    return [each for each, _ in cover.maximize(MOST, "LazyGreedy", show_progress=False)]


def highs(bits: Floats, parts: Floats, costs: Floats) -> list[int]:
    """The best set, where a topic counts what the tangents of 1 - exp(-x) allow."""
    nats, each = -np.log1p(-parts), np.eye(len(bits))
    whole = np.repeat([1.0, 0.0], parts.shape[::-1])
    points = np.linspace(0, np.sort(nats)[:, -MOST:].sum(axis=1), TANGENTS)
    rows = [whole, *(np.c_[-np.exp(-x)[:, None] * nats, each] for x in points)]
    tops = np.r_[MOST, (1 - np.exp(-points) * (1 + points)).ravel()]
    limits, ends = LinearConstraint(np.vstack(rows), ub=tops), {"mip_rel_gap": 1e-9}
    goal = np.r_[costs, -bits]
    found = milp(goal, integrality=whole, bounds=Bounds(0, 1), constraints=limits, options=ends)
    return np.flatnonzero(found.x[: len(costs)] > 1 / 2).tolist()


def peers() -> Iterator[str]:
    """Yield a line for each: time, F of the best beginning of what it chose, and how often best."""
    problems, found = [*_coverings()], dict[str, tuple[str, Floats]]()
    solvers: dict[str, Callable[..., list[int]]] = {"plain NumPy": numpy, "apricot": apricot}
    solvers |= {"submodlib": submodlib, "HiGHS": highs, "reticent": reticent}
    solvers["its greedy alone"] = partial(reticent, algorithm="greedy")
    for name, solver in solvers.items():
        try:
            _, took, orders = zip(*(timed(partial(solver, *e)) for e in problems), strict=True)
        except ModuleNotFoundError as error:
            yield f"without {error.name}: pip install apricot-select submodlib-py"
        else:  # at first some load and compile
            reached = list[float]()
            for (bits, parts, costs), order in zip(problems, orders, strict=True):
                left = np.cumprod(1 - parts[:, order], axis=1)
                reached.append((bits @ (1 - left) - np.cumsum(costs[order])).max(initial=0.0))
            found[name] = at(took[1:], 50, 99), np.array(reached)
    best = np.max([values for _, values in found.values()], axis=0)
    for name, (times, values) in found.items():
        first = f"{(values > best - WORTH).sum()} of {len(best)}"
        yield f"| {name} | {times} ms | {values.sum():.4f} bits | {first} |"
    yield whole(read(shipped_model("so2017")))


def _coverings() -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield topics' bits, (T,), the parts of them that facts cover, (T, n), and costs in bits."""
    world, random = world_of([*map(read, shipped_models())]), np.random.default_rng(0)
    judged, costs = Judgements.of(world), np.array([e.sensitivity for e in world.attributes])
    some = judged.parts.any(axis=0)
    for _ in range(COVERINGS):
        few = random.choice(len(judged.bits), TOPICS, replace=False)
        shares = random.dirichlet(np.ones(TOPICS))
        yield judged.bits[few] * shares, judged.parts[few][:, some], costs[some]
    yield judged.bits * judged.weights, judged.parts[:, some], costs[some]
