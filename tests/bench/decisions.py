"""Decisions by the shipped models: how long one takes."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from agent.decision.cache import Cache
from agent.decision.context import Context, Terms
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.values import Request
from agent.model.file import read, shipped_model, shipped_models
from agent.model.model import Model
from agent.model.reading import Candidate, Interpretation
from agent.model.world import world_of
from tests.bench import at, timed

PLANNING = 20  # people who plan
TOUCHED = 9_000_000  # bytes that a decision used to go through: what the memory bus allows
EARLIER = 10  # queries that a recipient was asked before
RULED = 5  # facts that always leave
TOPICS = 5  # one of so many is asked in the one world


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    times = [timed(partial(read, shipped_model("so2017"))) for _ in range(9)]
    yield f"opening the shipped model: p50 {at(times, 50)} ms, worst {at(times, 100)} (bar: 50)"
    model, some = read(shipped_model("so2017")), np.zeros(TOUCHED, np.uint8)
    copying = [timed(some.copy) for _ in range(99)]
    yield f"copying {TOUCHED / 1e6:.0f} MB: {_shown(copying)}; multiples (x) are of this"
    yield from _one_by_one(model, float(np.median(copying)))
    yield from _planned(model)
    yield from _in_one_world()


def _one_by_one(model: Model, bus: float) -> Iterator[str]:
    """Time decisions that nobody has asked for yet: the first, and after those of other queries.

    With the reasons of what leaves alone. Where something is known to the recipient, it is what a
    decision for the query before, or for this one, would send.
    """
    every, queries = [each.name for each in model.attributes], range(len(model.queries))
    half, some = frozenset(every[::2]), frozenset(every[:RULED])
    ways: dict[str, Callable[[int], dict[str, Any]]] = {
        "nothing known (bars: first 4, fresh 1, again 0.1)": lambda _: {},
        "half of the attributes unset (bar: 3)": lambda _: {"terms": Terms(available=half)},
        f"{RULED} facts ruled always (bar: 3)": lambda _: {"terms": Terms(always=some)},
        "the answer before known (bar: 3)": lambda each: {"knowledge": _sent(model, each - 1)},
        "three readings (bar: 3)": lambda each: {"reading": _three(each, len(queries))},
        f"a plan, {EARLIER} queries asked before (bar: first 50)": lambda each: {
            "terms": Terms(mode="planned"),
            "knowledge": replace(
                _sent(model, each),
                queries=tuple(sorted(((each + i) % len(queries), 1.0) for i in range(EARLIER))),
            ),
        },
    }
    for what, way in ways.items():
        first, fresh, again = list[float](), list[float](), list[float]()
        for query in queries:
            first.append(_time(_context(read(shipped_model("so2017")), query, **way(query))))
            warm = Cache()
            contexts = [_context(model, each, cache=warm, **way(each)) for each in queries]
            for context in contexts[:query] + contexts[query + 1 :]:
                decide(context, brief=True)
            warm.utility(model, query)
            fresh.append(_time(contexts[query]))
            again.append(_time(contexts[query]))
        multiple = f"{_shown(fresh)} ({float(np.median(fresh)) / bus:.1f}x); again {_shown(again)}"
        yield f"a decision, {what}: the first of a new process {_shown(first)}; fresh {multiple}"


def _in_one_world() -> Iterator[str]:
    """Time decisions as the daemon makes them, in the one world of the shipped models.

    One after the other, as one process gets them, by nobody asked before.
    """
    world, cache = world_of([*map(read, shipped_models())]), Cache()
    contexts = [_context(world, each, cache=cache) for each in range(0, len(world.queries), TOPICS)]
    first, *fresh = map(_time, contexts)
    yield f"one world, the first decision of a new process: {first:.3g} ms"
    yield f"one world, one fresh decision: {_shown(fresh)}"
    yield f"the same request again: {_shown([*map(_time, contexts)])}"


def _context(model: Model, query: int, **changes: Any) -> Context:  # noqa: ANN401  (of any field)
    """Return what a query's name asks for a stranger; ``changes``: other fields."""
    request = Request(model.queries[query].text)
    return replace(Context(request, Terms(), Knowledge(), model), **changes)


def _sent(model: Model, query: int) -> Knowledge:
    """Return what somebody's answer to a query leaves a recipient with."""
    names = decide(_context(model, query), brief=True).disclosed
    person = [name for name in names if model.index(name) < model.persons]
    codes = model.population.codes[query]
    return Knowledge().with_facts({name: int(codes[model.index(name)]) for name in person})


def _three(query: int, queries: int) -> Interpretation:
    """Return a text that means this query most likely, and else the next two."""
    shares = (0.6, 0.25, 0.15)
    some = tuple(Candidate((query + i) % queries, share) for i, share in enumerate(shares))
    return Interpretation(some, shares[0])


def _planned(model: Model) -> Iterator[str]:
    """Time the decisions of people who ask one recipient, by a plan that each renews."""
    new, again, queries = list[float](), list[float](), range(len(model.queries))
    for row in range(0, model.population.rows, model.population.rows // PLANNING):
        terms = Terms(mode="planned", trade_off=5.12 * (1 + row * 1e-9))  # nobody else's decision
        held, asked, cache = Knowledge(), Counter[int](), Cache()
        for query in (*queries, *queries):
            context = _context(model, query, terms=terms, knowledge=held, cache=cache)
            time, names = _time(context), decide(context, brief=True).disclosed
            told = {name: int(model.population.codes[row, model.index(name)]) for name in names}
            (again if told.keys() <= held.names else new).append(time)
            asked.update([query] if told else [])
            held = replace(held.with_facts(told), queries=tuple(sorted(asked.items())))
    yield f"a plan by which something new leaves: {_shown(new)}"
    yield f"a plan for one more request: {_shown(again)} (bar: p50 0.5)"


def _time(context: Context) -> float:
    return timed(partial(decide, context, brief=True))


def _shown(times: list[float]) -> str:
    return f"p50 {at(times, 50)} ms, p99 {at(times, 99)}"
