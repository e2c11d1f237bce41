"""Decisions by the shipped models: how long one takes, and what is saved."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from agent.decision.cache import Cache
from agent.decision.context import Context, Terms
from agent.decision.decide import decide as decide_context
from agent.decision.knowledge import Knowledge
from agent.decision.values import Request
from agent.model.file import read, shipped_model, shipped_models
from agent.model.model import Model
from agent.model.reading import Candidate, Interpretation
from agent.model.world import world_of
from tests.bench import at, timed
from tests.decision.made import decide

TERMS = Terms()
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
    yield f"copying {TOUCHED / 1e6:.0f} MB: p50 {at(copying, 50)} ms; multiples (x) are of this"
    bus = float(np.median(copying))
    yield from _fresh(model, bus)
    yield from _off_the_path("so2017", bus)
    yield from _planned(model)
    yield from _in_one_world()


def _fresh(model: Model, bus: float) -> Iterator[str]:
    """Time decisions that nobody has asked for yet, by an agent that has just started or not.

    As a request gets them, with the reasons of what leaves alone.
    """
    queries = [query.text for query in model.queries]
    first = [timed(partial(_decide, text, read(shipped_model("so2017")))) for text in queries]
    yield (f"the first decision of a new process: {_against(first, bus)} (bar: p50 4)")
    fresh, again = list[float](), list[float]()
    for text in queries:
        warm = Cache()
        for other in queries:
            if other != text:
                _decide(other, model, cache=warm)
        warm.utility(model, model.texts.find(text) or 0)
        fresh.append(timed(partial(_decide, text, model, cache=warm)))
        again.append(timed(partial(_decide, text, model, cache=warm)))
    yield (
        f"one fresh decision, the other queries asked before: {_against(fresh, bus)} "
        f"(bars: 1 and 10)"
    )
    yield f"the same request again: p50 {at(again, 50)} ms, p99 {at(again, 99)} (bar: 0.1)"


def _in_one_world() -> Iterator[str]:
    """Time decisions as the daemon makes them, in the one world of the shipped models.

    One after the other, as one process gets them, by nobody asked before.
    """
    world, cache = world_of([*map(read, shipped_models())]), Cache()
    texts = [query.text for query in world.queries[::TOPICS]]
    first = [timed(partial(_decide, texts[0], world))]
    yield f"one world, the first decision of a new process: {at(first, 50)} ms"
    fresh, again = (
        [timed(partial(_decide, text, world, cache=cache)) for text in texts] for _ in range(2)
    )
    yield f"one world, one fresh decision: p50 {at(fresh, 50)} ms, p99 {at(fresh, 99)}"
    yield f"the same request again: p50 {at(again, 50)} ms, p99 {at(again, 99)}"


def _off_the_path(name: str, bus: float) -> Iterator[str]:
    """Time fresh decisions of which less is stored, the other queries asked before in like manner.

    The recipient knows what a decision for the query before would send.
    """
    model = read(shipped_model(name))
    every, queries = [each.name for each in model.attributes], range(len(model.queries))
    ways: dict[str, Callable[[int], tuple[Terms, Knowledge, Interpretation]]] = {
        "half of the attributes unset": lambda query: (
            replace(TERMS, available=frozenset(every[::2])),
            Knowledge(),
            Interpretation.exact(query),
        ),
        f"{RULED} facts ruled always": lambda query: (
            replace(TERMS, always=frozenset(every[:RULED])),
            Knowledge(),
            Interpretation.exact(query),
        ),
        "the answer before known": lambda query: (
            TERMS,
            _sent(model, query - 1),
            Interpretation.exact(query),
        ),
        "three readings": lambda query: (TERMS, Knowledge(), _three(query, len(queries))),
    }
    for what, way in ways.items():
        times = []
        for query in queries:
            warm, context = Cache(), _context(model, query, *way(query))
            for other in queries:
                if other != query:
                    _brief(replace(_context(model, other, *way(other)), cache=warm))
            warm.utility(model, query)
            times.append(timed(partial(_brief, replace(context, cache=warm))))
        yield f"{name}, {what}: {_against(times, bus)} (bar: p50 3)"
    times = []
    for query in queries:
        before = tuple(
            (each, 1.0) for each in sorted({(query + i) % len(queries) for i in range(EARLIER)})
        )
        knowledge = replace(_sent(model, query), queries=before)
        terms, cold = replace(TERMS, mode="planned"), read(shipped_model(name))
        context = _context(cold, query, terms, knowledge, Interpretation.exact(query))
        times.append(timed(partial(_brief, context)))
    what = f"a plan on a cold model, {EARLIER} queries asked before"
    yield f"{name}, {what}: {_against(times, bus)} (bar: 50)"


def _context(
    model: Model, query: int, terms: Terms, knowledge: Knowledge, reading: Interpretation
) -> Context:
    return Context(Request(model.queries[query].text), terms, knowledge, model, reading=reading)


def _sent(model: Model, query: int) -> Knowledge:
    """Return what somebody's answer to a query leaves a recipient with."""
    names = decide(Request(model.queries[query].text), TERMS, Knowledge(), model).disclosed
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
    first, new, again = list[float](), list[float](), list[float]()
    for row in range(0, model.population.rows, model.population.rows // PLANNING):
        terms = Terms(mode="planned", trade_off=5.12 * (1 + row * 1e-9))  # nobody else's decision
        first.append(
            timed(partial(_decide, model.queries[0].text, read(shipped_model("so2017")), terms))
        )
        held, asked, cache = Knowledge(), Counter[int](), Cache()
        for place in range(2 * len(model.queries)):
            query = place % len(model.queries)
            request = Request(model.queries[query].text)
            context = Context(request, terms, held, model, cache=cache)
            time = timed(partial(decide_context, context, brief=True))
            names = decide_context(context, brief=True).disclosed
            told = {name: int(model.population.codes[row, model.index(name)]) for name in names}
            (again if told.keys() <= held.names else new).append(time)
            asked.update([query] if told else [])
            held = replace(held.with_facts(told), queries=tuple(sorted(asked.items())))
    yield f"the first plan of a new process: p50 {at(first, 50)} ms, p99 {at(first, 99)}"
    yield f"a plan by which something new leaves: p50 {at(new, 50)} ms, p99 {at(new, 99)}"
    yield f"a plan for one more request: p50 {at(again, 50)} ms, p99 {at(again, 99)} (bar: p50 0.5)"


def _against(times: list[float], bus: float) -> str:
    """Return percentiles, and the median as a multiple of what the memory bus takes."""
    multiple = float(np.median(times)) / bus
    return f"p50 {at(times, 50)} ms ({multiple:.1f}x), p99 {at(times, 99)}"


def _brief(context: Context) -> None:
    decide_context(context, brief=True)


def _decide(text: str, model: Model, terms: Terms = TERMS, cache: Cache | None = None) -> None:
    cache = cache or Cache()
    decide_context(Context(Request(text), terms, Knowledge(), model, cache=cache), brief=True)
