"""Decisions on the shipped model: how long one takes, and what is saved."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from agent.decision.context import Context
from agent.decision.decide import decide, decide_context
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.search import EPSILON, maximise
from tests.bench.lazy import everything
from tests.bench.plain import PlainObjective
from tests.bench.timing import at, timed

TERMS = Terms()
PLANNING = 20  # people who plan


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    yield from _opening()
    model = read(shipped_model("so2017"))
    yield from _fresh(model)
    yield from _planned(model)
    yield from _plain(model)


def _opening() -> Iterator[str]:
    times = [timed(partial(read, shipped_model("so2017"))) for _ in range(9)]
    yield f"opening the shipped model: p50 {at(times, 50)} ms, worst {at(times, 100)} (bar: 50)"


def _fresh(model: Model) -> Iterator[str]:
    """Time decisions that nobody has asked for yet, by an agent that has just started or not.

    As a request gets them, with the reasons of what leaves alone.
    """
    queries = [query.text for query in model.queries]
    first = [timed(partial(_decide, text, read(shipped_model("so2017")))) for text in queries]
    yield f"the first decision of a new process: p50 {at(first, 50)} ms, p99 {at(first, 99)}"
    fresh, again, priced, whole = [], [], [], []
    # another epsilon is another request to the model's memory, and the same search
    other_terms = Terms(epsilon=EPSILON * (1 + 1e-9))
    for text in queries:
        warm = read(shipped_model("so2017"))
        for other in queries:
            if other != text:
                _decide(other, warm)
        warm.utility(warm.match(text) or 0)
        fresh.append(timed(partial(_decide, text, warm)))
        again.append(timed(partial(_decide, text, warm)))
        priced.append(timed(partial(_decide, text, warm, other_terms)))
        warm.utility(warm.match(text) or 0).forget()
        whole.append(timed(partial(decide, Request(text), TERMS, Knowledge(), warm)))
    yield (
        f"one fresh decision, the other queries asked before: p50 {at(fresh, 50)} ms, "
        f"p99 {at(fresh, 99)} (bars: 5 and 40)"
    )
    yield (
        f"the same, every cost remembered from earlier requests: p50 {at(priced, 50)} ms, "
        f"p99 {at(priced, 99)}"
    )
    yield f"the same with the reasons of all: p50 {at(whole, 50)} ms, p99 {at(whole, 99)}"
    yield f"the same request again: p50 {at(again, 50)} ms, p99 {at(again, 99)} (bar: 0.1)"


def _planned(model: Model) -> Iterator[str]:
    """Time the decisions of people who ask one recipient, by a plan that each renews."""
    first, new, again = list[float](), list[float](), list[float]()
    for row in range(0, model.population.rows, model.population.rows // PLANNING):
        terms = Terms(mode="planned", epsilon=EPSILON * (1 + row * 1e-9))  # nobody else's decision
        first.append(
            timed(partial(_decide, model.queries[0].text, read(shipped_model("so2017")), terms))
        )
        held, asked = Knowledge(), Counter[int]()
        for place in range(2 * len(model.queries)):
            query = place % len(model.queries)
            request = Request(model.queries[query].text)
            context = Context(request, terms, held, model)
            time = timed(partial(decide_context, context, brief=True))
            names = decide_context(context, brief=True).disclosed
            told = {name: int(model.population.codes[row, model.index(name)]) for name in names}
            (again if told.keys() <= held.names else new).append(time)
            asked.update([query] if told else [])
            held = replace(held.with_facts(told), queries=tuple(sorted(asked.items())))
    yield f"the first plan of a new process: p50 {at(first, 50)} ms, p99 {at(first, 99)}"
    yield f"a plan by which something new leaves: p50 {at(new, 50)} ms, p99 {at(new, 99)}"
    yield f"a plan for one more request: p50 {at(again, 50)} ms, p99 {at(again, 99)} (bar: 5)"


def _plain(model: Model) -> Iterator[str]:
    """Time the same search with an objective that evaluates every set from its columns."""
    people, settings = model.population, everything(model)
    quick, slow, same = [], [], 0
    for query in range(len(model.queries)):
        rows, shrinkage = model.rows(query), model.queries[query].shrinkage
        plain = PlainObjective(rows, shrinkage, people, settings)
        model.utility(query).forget()
        ours = DisclosureObjective(
            model.utility(query),
            model.anonymity_set(),
            settings,
            model.tables.singles.utilities_of(query),
        )
        search = partial(maximise, restarts=0)  # of which plain evaluation has no pairs for
        quick.append(timed(partial(search, ours)))
        slow.append(timed(partial(search, plain)))
        same += search(ours).mask == search(plain).mask
    ratio = float(np.median(np.array(slow) / np.array(quick)))
    yield (
        f"incremental against plain evaluation, the same search: {ratio:.0f} times faster "
        f"(median of {len(quick)} queries, bar: 20), the same set for {same} of them"
    )


def _decide(text: str, model: Model, terms: Terms = TERMS) -> None:
    decide_context(Context(Request(text), terms, Knowledge(), model), brief=True)
