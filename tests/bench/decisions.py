"""The rows of DESIGN.md 6 on decisions, plans and building; and how decisions grow.

By the shipped models: of people drawn by lot, who set a random half of the facts and ask about
random topics, one after the other, as one process gets them, by the one world of a daemon, and by
the model so2017 alone. Then by models built of events drawn by lot.
"""

import gc
import resource
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import which
from time import monotonic

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import agent
from agent.build.build import build_model
from agent.build.options import BuildOptions, Description
from agent.cli.interrupt import Progress
from agent.decision.cache import Cache
from agent.decision.choice import objective_of, utility_of
from agent.decision.context import PRICE, Context, Terms, prepare
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.own_facts import OwnFacts, extended
from agent.decision.values import CROWD, Disclose, Request
from agent.model.file import encode, read, shipped_model, shipped_models
from agent.model.model import Model
from agent.model.reading import Candidate, Interpretation
from agent.model.world import world_of
from agent.tradeoff.local_search import eager_pass, lazy_pass
from agent.tradeoff.objective import Objective
from agent.tradeoff.search import greedy_order, maximise
from agent.tradeoff.tables import Indexes, members, union
from tests.bench import Timing, apart, at, row, timed, timing
from tests.bench.reading import PROFILES

COUNT, ROUND = 125, 25  # decisions of a row, and of a process by the model so2017
PROCESSES, PLANNING, ASKED = 9, 60, 6  # people who plan, and their requests, which come twice
KNOWN, RULED, OWN = 3, 5, 2  # facts that are known, that leave always, and of these in own words
SURE, SHARES = (1.0,), (0.6, 0.25, 0.15)  # of a reading, and of three
ALWAYS: Disclose = "always"
Parts = Sequence[float]
SEED, KINDS, INTENTS = 20100101, 12, 40  # of tables; kinds of people
LOYALTY = 0.3  # probability that an attribute, or an intent, is the one typical of the kind
UNWEIGHTED = Description(without=("weight",))
SURVEY = {"people": 66_000, "attributes": 42, "queries": 25, "rows": 80_000}  # rows of each
SMALL = {"people": 20_000, "attributes": 30, "queries": 25, "rows": 2_000}
GROWING = {"people": (10_000, 100_000, 1_000_000), "queries": (25, 150, 600)}
GROWING |= {"attributes": (30, 60, 120)}


def decisions() -> Iterator[str]:
    """Yield the rows."""
    world, model = world_of([*map(read, shipped_models())]), read(shipped_model("so2017"))
    gc.freeze()  # as the daemon does once it has begun
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
    counts = Counter[str]()
    for context in requests(model, ROUND, unset=0):
        for algorithm in ("ls", "lls"):
            function = _unstored(context, context.reading)
            counts[algorithm] += maximise(function, algorithm, again=False).evaluations
    eager, lazy = (greedy_order(_unstored(context, None), e)[1] for e in (eager_pass, lazy_pass))
    more = f"{eager} and {lazy}; {counts['ls']} and {counts['lls']} for all {ROUND} requests"
    yield row("a-priori greedy order, eager by lazy evaluations", (2.3,), (eager / lazy,), "", more)
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


def _always(world: Model) -> Iterator[Timing]:
    """Time decisions with facts that always leave, some in own words, of five people."""
    for seed, each in enumerate(PROFILES()):
        own = OwnFacts.of(agent.Facts.of(each.facts), world)
        model, times = extended(world, own, (), Cache()), list[Timing]()
        for context in requests(model, ROUND, seed):
            always = frozenset(sorted(context.terms.available or ())[: RULED - OWN])
            rules = tuple((each.id, ALWAYS) for each in own.facts[:OWN])
            terms = replace(context.terms, always=always, facts=rules)
            ruled = replace(context, terms=terms, own=own)
            assert replace(ruled, cache=Cache()).filled.facts  # the text is read before
            times.append(_time(ruled))
        yield from times[1:]


def _first() -> Timing:
    return _time(next(requests(world_of([*map(read, shipped_models())]), 1)))


def _planned(world: Model) -> tuple[list[Timing], list[Timing]]:
    """Time plans by which something new leaves, and others; people ask some topics twice."""
    new, again = list[Timing](), list[Timing]()
    for seed in range(PLANNING):
        held, asked, contexts = Knowledge(), Counter[int](), [*requests(world, ASKED, seed)]
        terms = replace(contexts[0].terms, mode="planned")
        codes = world.population.codes_of(np.array([seed]))[0]
        for each in contexts * 2:
            context = replace(each, terms=terms, knowledge=held)
            (*_, decision) = time = _time(context)
            told = {name: int(codes[world.index(name)]) for name in decision.disclosed}
            (again if told.keys() <= held.names else new).append(time)
            asked.update([context.meaning.certain or 0] if told else [])
            held = replace(held.with_facts(told), queries=tuple(sorted(asked.items())))
    return new, again


def whole(model: Model) -> str:
    """A row of the same search of plain F: with people, whom only plain NumPy can count."""
    found = list[tuple[float, ...]]()
    for context in requests(model, ROUND, unset=0):
        (_, quick, decision), query = _time(context), context.meaning.certain or 0
        value, utility = plain(model, query), context.cache.utility(model, query)
        function = Objective(value, lambda _: 0.0, len(model.attributes))
        _, slow, result = timed(partial(maximise, function))
        cost = objective_of(prepare(context), context.reading).cost(result.mask)
        assert abs(result.value - utility.value(result.mask) + cost) < 1e-9
        chosen = value(union(map(model.index, decision.disclosed)))
        found.append((slow / quick, quick, slow, chosen, result.value))
    ratios, *times, ours, theirs = zip(*found, strict=True)
    more = f"F {sum(ours):.4f} and {sum(theirs):.4f} bits"
    more += "".join(f", CPU {at(each, 50, 99)} ms" for each in times)
    return row("the same search of plain F, times as long", (20,), (min(ratios),), "", more)


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


def _time(context: Context) -> Timing:
    return timed(partial(decide, context, brief=True))


def tables(folder: Path, people: int, attributes: int, queries: int, rows: int) -> BuildOptions:
    """Write two tables, the same each time; they are the options of a build of them.

    Attributes, of two values to eight, and intents depend on the kind of person. Of other intents,
    the i-th has the weight 1/(i + 5) (Zipf and Mandelbrot).
    """
    rng, tail = np.random.default_rng(SEED), 1 / np.arange(6, INTENTS + 6)
    kind = rng.integers(KINDS, size=people)
    users = {"user": np.arange(people), "weight": rng.integers(1, 99, people)}
    for place in range(attributes):
        others = rng.integers(card := 2 + place % 7, size=people)
        typical = rng.integers(card, size=KINDS)[kind]
        users[f"p{place}"] = np.where(rng.random(people) < LOYALTY, typical, others)
    query = np.repeat(np.arange(queries), rows)
    sender = rng.integers(people, size=len(query))
    others = rng.choice(INTENTS, len(query), p=tail / tail.sum())
    typical = (query * 31 + kind[sender] * 7) % INTENTS
    intent = np.where(rng.random(len(query)) < LOYALTY, typical, others)
    events = {"user": sender, "query": query, "intent": intent}
    for name, table in {"users": pa.table(users), "events": pa.table(events)}.items():
        pq.write_table(table, folder / f"{name}.parquet")
    return BuildOptions(users=folder / "users.parquet", events=folder / "events.parquet")


def building() -> Iterator[str]:
    """Yield how long builds of many events take, and of their stages the worst time left."""
    what, taken = f"building from {SURVEY['rows'] * SURVEY['queries']:,} events", list[float]()
    for spark in (None, "local")[: 2 if which("java") else 1]:
        with tempfile.TemporaryDirectory() as folder:
            options = replace(tables(Path(folder), **SURVEY), spark=spark, description=UNWEIGHTED)
            seconds, _, ratios = timed(partial(apart, partial(_built, options)))
        taken.append(seconds / 1e3)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        more = f"by {spark or 'DuckDB'}, and of the largest of its processes"
        yield row(what, (20, 2048), (taken[-1], peak), "s, MiB", more)
        for stage, each in ratios.items():
            yield row(f"time left, {stage}", (1.5,), (max(each, 1 / each),), "times", f"{each:.2f}")
    if taken[1:]:
        yield row("Spark's time by DuckDB's", (1.5,), (taken[1] / taken[0],), "times")


def _built(options: BuildOptions) -> dict[str, float]:
    """Build a model; of stages, the worst time left by what it took, a tenth to 1 s to the end."""
    notes, worst = defaultdict[str, list[tuple[float, float]]](list), dict[str, float]()
    with Progress() as progress:

        def note(what: str, share: float) -> None:
            progress(what, share)
            notes[what].append((monotonic(), progress.left))

        path = options.files[0].with_suffix(".safetensors")
        path.write_bytes(encode(build_model(options, note)))
    for what, each in notes.items():
        (begun, _), (end, _) = each[0], each[-1]
        some = [left / (end - at) for at, left in each if 1 <= end - at <= 0.9 * (end - begun)]
        if any(some):
            worst[what] = max(filter(None, some), key=lambda each: abs(np.log(each)))
    return worst


def growth() -> Iterator[str]:
    """Yield how a fresh decision, by a process of its own, grows with what a model holds."""
    for what, sizes in GROWING.items():
        found = [_grown(SMALL | {what: each}) for each in sizes]
        for size, (*both, seconds) in zip(sizes, found, strict=True):
            title, more = f"a fresh decision, {size:,} {what}", f"built in {seconds:.1f} s"
            yield row(title, (10, 150), both, "ms, MiB more", more)
        slopes = np.polyfit(np.log(sizes), np.log(np.array(found)[:, :2]), 1)[0]
        yield f"by {what}, exponents of time and memory: {slopes[0]:.2f} and {slopes[1]:.2f}"
    seconds = _grown(SMALL | {"attributes": 120, "queries": 600})[2]
    yield row("building 120 attributes by 600 queries", (60,), (seconds,), "s")


def _grown(extent: dict[str, int]) -> tuple[float, float, float]:
    """Time decisions by a model of an extent, p50 in ms; the MiB they need; and s to build it."""
    with tempfile.TemporaryDirectory() as folder:
        options = replace(tables(Path(folder), **extent), validation=False, shrinkage=20.0)
        options = replace(options, description=Description(weights="weight"))
        seconds = timed(partial(_built, options))[0] / 1e3
        return *apart(partial(_decided, Path(folder) / "users.safetensors")), seconds


def _decided(path: Path) -> tuple[float, float]:
    """Time decisions of this process by a model, p50 in ms, and measure the MiB that it takes."""
    before = np.loadtxt("/proc/self/statm")[1]  # pages, of which the second are resident
    times = [_time(each)[1] for each in requests(read(path), COUNT)]
    pages = np.loadtxt("/proc/self/statm")[1] - before
    return float(np.median(times[1:])), pages * resource.getpagesize() / 2**20
