"""The rows of DESIGN.md 6 on decisions and plans, by the shipped models.

Of people drawn by lot, who set a random half of the facts and ask about random topics: one after
the other, as one process gets them, by the one world of a daemon, and by the model so2017 alone.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

import agent
from agent.build.kinds import lines_of, read_file
from agent.build.relevance import Sheet
from agent.decision.cache import Cache
from agent.decision.choice import objective_of, utility_of
from agent.decision.context import PRICE, Context, Terms, prepare
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.own_facts import OwnFacts, extended
from agent.decision.values import CROWD, Disclose, Request
from agent.model.file import read, shipped_model, shipped_models
from agent.model.model import Model
from agent.model.reading import Candidate, Interpretation
from agent.model.world import world_of
from agent.tradeoff.local_search import eager_pass, lazy_pass
from agent.tradeoff.objective import Objective
from agent.tradeoff.search import greedy_order, maximise
from agent.tradeoff.tables import Indexes, members
from tests.bench import Pair, apart, row, timed, timing
from tests.bench.reading import DATA

COUNT, ROUND = 125, 25  # decisions of a row, and of a process by the model so2017
PROCESSES, PLANNING, ASKED = 9, 60, 6  # people who plan, and their requests, which come twice
KNOWN, RULED, OWN = 3, 5, 2  # facts that are known, that leave always, and of these in own words
SURE, SHARES = (1.0,), (0.6, 0.25, 0.15)  # of a reading, and of three
ALWAYS: Disclose = "always"
Parts = Sequence[float]


def decisions() -> Iterator[str]:
    """Yield the rows."""
    world, model = world_of([*map(read, shipped_models())]), read(shipped_model("so2017"))
    size = world.population.columns.nbytes + world.population.summable.nbytes
    fresh, known = (map(_time, requests(world, COUNT, known=each)) for each in (0, KNOWN))
    yield timing("everyday: a fresh decision, half of the kinds set", (2, 15), [*fresh][1:], size)
    yield timing(f"with {KNOWN} facts known", (3, 15), [*known][1:], size)
    yield timing(f"with {RULED} facts ruled always", (10, 30), _always(world), size)
    first = [apart(_first) for _ in range(PROCESSES)]
    yield timing("the first decision in a process, the model open", (15,), first, size)
    new, again = _planned(world)
    yield timing("a plan by which something new leaves", (5, 20), new, size)
    yield timing("a plan for one more request, by which nothing does", (0.5,), again, size)

    rows = sum(len(model.rows(each).user) for each in range(ROUND)) // ROUND
    size = model.population.columns.nbytes + rows * len(model.attributes)
    for what, bars, *way in (
        ("so2017: a fresh decision, nothing known", (1, 10), 0.0),
        ("half of the attributes unset", (2,), 0.5),
        (f"{KNOWN} facts known", (3,), 0.0, KNOWN),
        ("three readings", (3,), 0.0, 0, SHARES),
    ):
        rounds = (requests(model, ROUND, seed, *way) for seed in range(COUNT // ROUND))
        yield timing(what, bars, [pair for e in rounds for pair in [*map(_time, e)][1:]], size)
    every = [*requests(model, COUNT)]
    yield timing("the same request again", (0.1,), [[_time(e), _time(e)][1] for e in every])
    yield from _compared(model)
    opened = (timed(partial(read, shipped_model("so2017"))) for _ in range(PROCESSES))
    yield timing("opening the shipped model", (50,), opened, shipped_model("so2017").stat().st_size)


def requests(
    model: Model, count: int, seed: int = 0, unset: float = 0.5, known: int = 0, parts: Parts = SURE
) -> Iterator[Context]:
    """Yield requests on topics in random order, to recipients of whom each knows something else.

    ``unset``: the share of facts; ``known``: how many facts; ``parts``: the shares of readings.
    """
    random, cache, queries = np.random.default_rng(seed), Cache(), len(model.queries)
    places = {e.name: at for at, e in enumerate(model.attributes) if at not in model.own}
    for query in np.tile(random.permutation(queries), count)[:count].tolist():
        some = random.permutation([*places])[round(unset * len(places)) :].tolist()
        codes = random.integers(model.cards)  # of facts held by shares, which no row has
        codes[: model.population.tabled] = random.choice(model.population.codes)
        held = [name for name in some if places[name] < model.persons][:known]
        knowledge = Knowledge().with_facts({name: int(codes[places[name]]) for name in held})
        every = tuple(Candidate((query + i) % queries, share) for i, share in enumerate(parts))
        request, terms = Request(model.queries[query].text), Terms(available=frozenset(some))
        context = Context(request, terms, knowledge, model, cache=cache)
        yield replace(context, reading=Interpretation(every, parts[0]))


def _always(world: Model) -> Iterator[Pair]:
    """Time decisions with facts that always leave, some in own words, of five people."""
    profiles = read_file(DATA / "profiles.jsonl.gz", partial(lines_of, kind=Sheet))
    for seed, each in enumerate(profiles):
        own = OwnFacts.of(agent.Facts.of(each.facts), world)
        model, times = extended(world, own, (), Cache()), list[Pair]()
        for context in requests(model, COUNT // len(profiles), seed):
            always = frozenset(sorted(context.terms.available or ())[: RULED - OWN])
            rules = tuple((each.id, ALWAYS) for each in own.facts[:OWN])
            terms = replace(context.terms, always=always, facts=rules)
            times.append(_time(replace(context, terms=terms, own=own)))
        yield from times[1:]


def _first() -> Pair:
    return _time(next(requests(world_of([*map(read, shipped_models())]), 1)))


def _planned(world: Model) -> tuple[list[Pair], list[Pair]]:
    """Time plans by which something new leaves, and those by which nothing does.

    People ask one recipient about some topics, one after the other, and then about them again.
    """
    new, again = list[Pair](), list[Pair]()
    for seed in range(PLANNING):
        held, asked, contexts = Knowledge(), Counter[int](), [*requests(world, ASKED, seed)]
        terms = replace(contexts[0].terms, mode="planned")
        codes = world.population.codes_of(np.array([seed]))[0]
        for each in contexts * 2:
            context = replace(each, terms=terms, knowledge=held)
            time, names = _time(context), decide(context, brief=True).disclosed
            told = {name: int(codes[world.index(name)]) for name in names}
            (again if told.keys() <= held.names else new).append(time)
            asked.update([context.meaning.certain or 0] if told else [])
            held = replace(held.with_facts(told), queries=tuple(sorted(asked.items())))
    return new, again


def _compared(model: Model) -> Iterator[str]:
    """Compare with a search of plain F; and at how many sets lazy and eager passes evaluate F."""
    counts, ratios = Counter[str](), list[float]()
    for context in requests(model, ROUND, unset=0):
        quick, query = _time(context)[1], context.meaning.certain or 0
        ours = objective_of(prepare(context), context.reading)
        if len(ratios) < KNOWN:
            value, utility = plain(model, query), context.cache.utility(model, query)
            function = Objective(value, lambda _: 0.0, len(model.attributes))
            ratios.append(timed(partial(maximise, function))[1] / quick)
            mask = maximise(function).mask
            assert abs(value(mask) - utility.value(mask) + ours.cost(mask)) < 1e-9
        for algorithm in ("ls", "lls"):
            function = _unstored(context, context.reading)
            counts[algorithm] += maximise(function, algorithm, again=False).evaluations
    eager, lazy = (greedy_order(_unstored(context, None), e)[1] for e in (eager_pass, lazy_pass))
    more = f"{eager} and {lazy}; {counts['ls']} and {counts['lls']} for all {ROUND} requests"
    yield row("the same search of plain F, times as long", (20,), (min(ratios),), "")
    yield row("a-priori greedy order, eager by lazy evaluations", (2.3,), (eager / lazy,), "", more)


def plain(model: Model, query: int) -> Callable[[int], float]:
    """F of sets for a query of so2017 alone (DESIGN.md 2.1, 2.2, 2.4), all anew for each set.

    Of a stranger; all attributes are columns of people, and each row is one of them.
    """
    rows, shrinkage = model.rows(query), model.queries[query].shrinkage
    prices = np.array(model.tables.singles.prices)[query]
    prices += [each.sensitivity for each in model.attributes]

    def value(mask: int) -> float:
        some, people = [*members(mask)], model.population.codes
        if not some:
            return 0.0
        group = np.unique(rows.person[:, some], axis=0, return_inverse=True)[1].ravel()[rows.user]
        same, of_user = _alike(rows.user * rows.intents + rows.intent), _alike(rows.user)
        prior = (_alike(rows.intent) - same + 0.5) / (len(group) - of_user + rows.intents / 2)
        pair = _alike(group * rows.intents + rows.intent) - same + shrinkage * prior
        scores = np.log2(pair / ((_alike(group) - of_user + shrinkage) * prior))
        classes = len(np.unique(people[:, some], axis=0))
        return float(
            scores.mean() - prices[some].sum() - CROWD * PRICE * (classes - 1) / len(people)
        )

    return value


def _alike(keys: Indexes) -> Indexes:
    """How many have the same key as each."""
    _, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(counts[places])


def _unstored(context: Context, reading: Interpretation | None) -> Objective:
    """F of a request, of which all needs evaluating; None: of the mean query."""
    cost = objective_of(prepare(context), context.reading).cost
    utility = utility_of(reading, context.model, context.cache)
    return Objective(utility, cost, len(context.model.attributes))


def _time(context: Context) -> Pair:
    return timed(partial(decide, context, brief=True))
