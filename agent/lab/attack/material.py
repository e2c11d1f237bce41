"""Models of one half of the people, and of samples, beside all others (the extra `build`)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import ibis
import numpy as np
import pyarrow as pa

from agent.build.build import model_of
from agent.build.log import open_log, source_of
from agent.build.observe import HALF_KEY, Observations, in_half_a, observe
from agent.build.options import (
    AttributeNote,
    BuildOptions,
    Description,
    TableFiles,
    read_description,
)
from agent.build.tables import USER, Source, clean, open_tables
from agent.decision.cache import Cache
from agent.errors import UsageError
from agent.lab import Progress, StudyOptions
from agent.lab.attack.simulation import (
    Floats,
    HeldOut,
    Material,
    Person,
    Scene,
    Table,
    Trace,
    people_of,
)
from agent.lab.attack.strategies import ANSWERED, LEDGER, Strategy
from agent.lab.attack.study import Run, traces
from agent.lab.charts import Chart, Criterion, Panel, Series, StudyFinding, criteria_table
from agent.lab.paper.log import files_of, stated_source, table_in
from agent.model.model import Model
from agent.tradeoff import Population, members
from agent.tradeoff.anonymity_set import AnonymitySet

DESCRIPTION = "model.toml"
EACH = "one_each"  # the column of weights where every row is one person
USUAL = Path(__file__).parents[3] / "examples" / "data" / "atus"
EVERYDAY = USUAL.parent / "everyday"


def tables(data: Path | None, usual: Path = USUAL) -> BuildOptions:
    """Read how models of two tables in a folder are built, by default of the time use survey.

    ``usual``: has the description where no folder is given. UsageError where one of the tables is
    missing, or the description cannot be read.
    """
    folder = data or USUAL
    describe = (data or usual) / DESCRIPTION
    description = read_description(describe) if describe.is_file() else Description()
    users, events = (table_in(folder, each) for each in ("users", "events"))
    return BuildOptions(users=users, events=events, description=description)


def stated(options: BuildOptions) -> str:
    """Look up what is said of the source of two tables."""
    return stated_source(options.files[0].parent)


def material_of(data: Path | None, progress: Progress, *, everybody: bool = False) -> Material:
    """Build the model of one half of the users in a folder, and take the people of the other.

    ``data``: has two tables, or a log; ``everybody``: see `whole`, also where the description says
    how many people a row stands for. UsageError where there is no such file; BuildError where the
    tables cannot make a model.
    """
    progress("reading", 0.0)
    if data is not None and any(data.glob("log.*")):
        options = BuildOptions(**files_of(data)._asdict())
        source = source_of(open_log(files_of(data)))
    else:
        options = tables(data)
        if everybody or options.description.weights:
            return whole(options, progress)
        source = open_tables(*TableFiles(*options.files[:2]))
    # Validation figures are dropped: they refer to the full model.
    one = replace(options, half="A", validation=False).described(id="half")
    model = model_of(source, one, progress)
    others = held_out(observe(source, replace(one, half="B", min_users=1)), model)
    return Material(model, others, stated(options))


def whole(options: BuildOptions, progress: Progress) -> Material:
    """Build the model of one half of the users, whose rows stand for all, and take everybody.

    The rows of the table are all the people there are. Only the other half asks anything. Errors
    as `material_of`.
    """
    source = open_tables(*TableFiles(*options.files[:2]))
    source = replace(source, users=source.users.mutate(**{EACH: ibis.literal("1")}))
    unused = (options.description.weights,) if options.description.weights else ()
    without = (*options.description.without, *unused)
    one = replace(options, half="A", validation=False).described(weights=EACH, without=without)
    model = model_of(source, one, progress)
    everybody = observe(source, replace(one, half=None, min_users=1))
    others = held_out(everybody, model, ~in_half_a(everybody.users, HALF_KEY))
    return Material(model, others, stated(options))


def held_out(observations: Observations, model: Model, asking: Table | None = None) -> HeldOut:
    """Take the people that were seen, with those of their events that the model can rank.

    ``observations``: of the same tables as the model, so that codes mean the same; ``asking``:
    bool, shape (N,), who of them has events, None for all.
    """
    asking = np.ones(observations.population.rows, bool) if asking is None else asking
    places = {query.text: place for place, query in enumerate(model.queries)}
    parts, total = [], 0
    for each in observations.queries:
        person = each.people[each.rows.user]
        total += int(asking[person].sum())
        if each.text in places:
            place = places[each.text]
            numbers = {name: number for number, name in enumerate(model.queries[place].intents)}
            intent = np.array([numbers.get(name, -1) for name in each.intents])[each.rows.intent]
            ranked = (intent >= 0) & asking[person]
            query = np.full(int(ranked.sum()), place)
            parts.append((person[ranked], query, intent[ranked], each.rows.request[ranked]))
    person, query, intent, codes = map(np.concatenate, zip(*parts, strict=True))
    # Which of several equal events comes first must not depend on the order of a database.
    order = np.lexsort((*codes.T[::-1], intent, query, person))
    return HeldOut(
        codes=observations.population.codes,
        starts=np.searchsorted(person[order], np.arange(observations.population.rows + 1)),
        query=query[order],
        intent=intent[order],
        request=codes[order],
        unranked=total - len(person),
    )


TITLE = "What the model of a sample predicts of people, and what is so"
PEOPLE = "people_per_row"  # the column of the weights of a sample
# The last has no limits: its sets go far beyond what the presets allow.
STRATEGIES: tuple[Strategy, ...] = (*ANSWERED, LEDGER[0])
SHARES = (0.01, 0.05, 0.2)
FEWEST = 100  # people in a sample
COVERED = 0.01  # predicted risk up to which the criteria speak
ABOVE, MOST, BELOW = 1.35, 0.95, 0.5  # times the prediction; of the sets; of it on average
KINDS = ("what is held, over everybody", "what is added, given what was held")

# A decision that added something: attribute and code of what was held before it, ascending, and
# the set held after it. Everybody who agrees with the first is decided alike (DESIGN.md 2.6).
Disclosed = tuple[tuple[tuple[int, int], ...], int]


@dataclass(frozen=True, slots=True, eq=False)
class WholeTable:
    """A table whose rows are all the people there are; ``options``: how models of it are built."""

    source: Source
    options: BuildOptions
    observations: Observations


def world_of(options: BuildOptions) -> WholeTable:
    """Read the population in two tables; errors as `build_model`."""
    described = options.description
    unused = (described.weights,) if described.weights else ()
    options = options.described(weights="", without=(*described.without, *unused))
    source = clean(open_tables(*TableFiles(*options.files[:2])))
    observations = observe(source, replace(options, min_users=1))
    notes = {
        each.name: AttributeNote(each.title, sensitivity=each.sensitivity, values=each.values[1:])
        for each in observations.attributes
    }
    plain = replace(options, validation=False)
    plain = plain.described(weights=PEOPLE, without=(), attributes=notes)
    return WholeTable(source.without(options.description.without), plain, observations)


def model_of_sample(world: WholeTable, share: float, seed: int, progress: Progress) -> Model:
    """Build the model of a share of a population, 0 to 1, drawn at random.

    Each row stands for 1 / its chance of being drawn.
    """
    people = world.observations.population.rows
    size = round(share * people)
    ids = [
        world.observations.users[row]
        for row in np.random.default_rng(seed).permutation(people)[:size]
    ]
    sample = ibis.memtable(pa.table({USER: ids, PEOPLE: [repr(people / size)] * size}))
    source = replace(world.source, users=world.source.users.inner_join(sample, USER))
    return model_of(source, world.options.described(id="sample"), progress)


def disclosures(people: Sequence[Person], traces: Iterable[Trace]) -> Counter[Disclosed]:
    """Count the different decisions of people that added something."""
    counts: Counter[Disclosed] = Counter()
    for person, trace in zip(people, traces, strict=True):
        for before, after in pairwise((0, *trace.disclosed)):
            if after != before:
                facts = tuple((each, person.codes[each]) for each in members(before))
                counts[facts, after] += 1
    return counts


def holdings(disclosed: Counter[Disclosed]) -> Counter[Disclosed]:
    """Count the sets held after disclosures, each as if everybody disclosed it at once."""
    counts: Counter[Disclosed] = Counter()
    for (_, after), times in disclosed.items():
        counts[(), after] += times
    return counts


def compared(disclosed: Counter[Disclosed], model: Model, world: Population) -> Floats:
    """Compute the success of a guess after disclosures, float64, shape (2, n).

    What a model of a sample predicts, and what is so of ``world``, all people: each over those who
    looked alike before.
    """
    cache, risks = Cache(), np.zeros((2, len(disclosed)))
    for column, (before, after) in enumerate(disclosed):
        people = cache.anonymity_set(model, before), AnonymitySet(world, model.cards, before)
        risks[:, column] = [each.identifiability(after, "maxprob", 1) for each in people]
    return risks


def criteria_of(name: str, risks: Floats, times: Sequence[int]) -> tuple[Criterion, ...]:
    """Judge one sample where risks are low; each different disclosure counts once.

    ``risks``: as of `compared`; ``times``: how often each disclosure was made.
    """
    low = risks[0] <= COVERED
    if not low.any():
        what = f"{name}: predicted risk at most {COVERED:.0%}"
        return (Criterion(what, "some disclosures", "none", None, ""),)
    predicted, realised = risks[:, low]
    good = realised / predicted <= ABOVE
    within, often = float(good.mean()), float(np.average(good, weights=np.array(times)[low]))
    share = float(realised.mean() / predicted.mean())
    words = f"{within:.1%} of {len(good):,}; {often:.1%} of decisions"
    return (
        Criterion(
            f"{name}: realised risk at most {ABOVE:g} times the predicted",
            f"for {MOST:.0%} of the sets",
            f"{words}; at worst {(realised / predicted).max():.2f}",
            within >= MOST,
            f"{100 * (within - MOST):+.1f} points",
        ),
        Criterion(
            f"{name}: realised risk over the predicted, on average",
            f"at least {BELOW:g}",
            f"{share:.2f}",
            share >= BELOW,
            f"{share - BELOW:+.2f}",
        ),
    )


def samples_of(
    world: WholeTable, options: StudyOptions, progress: Progress
) -> tuple[StudyFinding, list[Criterion]]:
    """Study samples of at least `FEWEST` people.

    UsageError where all of them have fewer; BuildError where one cannot make a model.
    """
    run, everybody = (
        Run(options.processes, progress),
        Population(world.observations.population.codes),
    )
    shares = [share for share in SHARES if share * everybody.rows >= FEWEST]
    if not shares:
        hint = f"give a table of at least {FEWEST / SHARES[-1]:,.0f} people"
        what = f"{everybody.rows:,} people are too few to draw samples from"
        raise UsageError(what, hint)
    panels, judged = list[Panel](), list[Criterion]()
    for share in shares:
        model = model_of_sample(world, share, options.seed, progress)
        others = held_out(world.observations, model)
        people = people_of(others, options.people, options.requests, options.seed)
        every = traces(model, Scene(), STRATEGIES, people, run).values()
        added = sum((disclosures(people, each) for each in every), Counter[Disclosed]())
        name, series = f"a sample of {100 * share:g} %", list[Series]()
        for kind, sets in zip(KINDS, (holdings(added), added), strict=True):
            risks = compared(sets, model, everybody)
            x, y = (tuple(each.tolist()) for each in risks)
            series.append(Series(kind, x, y, "points"))
            judged += criteria_of(f"{name}, {kind}", risks, [*sets.values()])
        ends = min(series[0].x), max(series[0].x)
        series.append(Series("as predicted", ends, ends))
        axes = ("expected success of one guess, predicted", "realised", tuple(series))
        panels.append(Panel(name, *axes, log_x=True, log_y=True))
    note = (
        f"Data: {stated(world.options)}. The {everybody.rows:,} rows of the table are all the "
        f"people there are; a model knows a sample of them. {options.people:,} people send "
        f"{options.requests:,} requests each, decided by {len(STRATEGIES)} strategies. Seed "
        f"{options.seed}."
    )
    text = (
        f"Each different set counts once. Where the predicted risk is above {COVERED:.0%} no "
        "criterion speaks: the presets' limits do not let an agent come near."
    )
    chart = Chart("people-risk", "How surely one guess is right", note, tuple(panels))
    return StudyFinding(chart, text=(criteria_table(judged), text)), judged
