"""What models of samples predict of people, beside what is so in the whole population."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NamedTuple

import ibis
import numpy as np
from numpy.typing import NDArray

from agent.build.build import model_of
from agent.build.observe import Observations, observe
from agent.build.options import AttributeNote, BuildOptions, TableFiles
from agent.build.tables import USER, Source, clean, open_tables
from agent.decision.cache import Cache
from agent.errors import UsageError
from agent.lab import Progress, StudyOptions
from agent.lab.attack.criteria import chance
from agent.lab.attack.halves import held_out
from agent.lab.attack.heldout import Floats, Indexes, Person
from agent.lab.attack.heldout import drawn as people_drawn
from agent.lab.attack.simulation import Scene, Trace
from agent.lab.attack.strategies import ANSWERED, LEDGER, Strategy
from agent.lab.attack.study import Run, traces
from agent.lab.charts import Chart, Criterion, Panel, Series, StudyFinding, criteria_table, table
from agent.model.model import Model
from agent.tradeoff import Population, members
from agent.tradeoff.study import AnonymitySet

PEOPLE = "people_per_row"  # the column of the weights of a sample
Draw = Literal["uniformly", "by weight"]


@dataclass(frozen=True, slots=True, eq=False)
class WholeTable:
    """A table whose rows are all the people there are.

    ``seen``: all of it, with the weights of the table itself, which only say who is drawn into
    a sample; ``options``: how models of it are built.
    """

    source: Source
    options: BuildOptions
    seen: Observations

    @property
    def population(self) -> Population:
        """All people, one a row, as codes of the models."""
        return Population(self.seen.population.codes)


def world_of(options: BuildOptions) -> WholeTable:
    """Return the population in two tables; errors as `build_model`."""
    files = options.files
    source = clean(open_tables(*TableFiles(*files[:2])))
    seen = observe(source, replace(options, min_users=1))
    # A ladder would bind attributes together that a study may give to different models.
    notes = {
        each.name: AttributeNote(
            each.title,
            concept=f"table.{each.name}",
            sensitivity=each.sensitivity,
            values=each.values[1:],
        )
        for each in seen.attributes
    }
    unused = (options.description.weights,) if options.description.weights else ()
    bare = source.without((*options.description.without, *unused))
    plain = replace(options, validation=False)
    plain = plain.described(weights=PEOPLE, without=(), attributes=notes)
    return WholeTable(bare, plain, seen)


class Sample(NamedTuple):
    """Who was drawn: intp, positions in the population, ascending; float64, 1 / the chance of it.

    So every row stands for that many people.
    """

    rows: Indexes
    weights: Floats


def drawn(population: Population, share: float, draw: Draw, seed: int) -> Sample:
    """Return a share of the people, 0 to 1, each with a chance that is known beforehand.

    "by weight": the chance is in proportion to the weight, and at most 1. The size is fixed, to
    one person (systematic sampling of a shuffled list).
    """
    size, weights = share * population.rows, population.weights
    even = np.ones(population.rows)
    chances = _chances(even if draw == "uniformly" or weights is None else weights, size)
    generator = np.random.default_rng(seed)
    order = generator.permutation(population.rows)
    ends = np.floor(np.cumsum(chances[order]) + generator.random())
    rows = np.sort(order[np.diff(ends, prepend=0.0) >= 1])
    return Sample(rows, 1 / chances[rows])


def _chances(weights: Floats, size: float) -> Floats:
    """Return chances in proportion to weights, at most 1, whose sum is ``size``."""
    chances: Floats = np.minimum(1.0, weights * (size / weights.sum()))
    while (short := size - chances.sum()) > 1e-9 * size and (open_ := chances < 1).any():
        chances[open_] = np.minimum(1.0, chances[open_] * (1 + short / chances[open_].sum()))
    return chances


def model_of_sample(world: WholeTable, sample: Sample, name: str, progress: Progress) -> Model:
    """Build the model of a sample of a population."""
    ids = [world.seen.users[row] for row in sample.rows.tolist()]
    people = ibis.memtable(
        {USER: ids, PEOPLE: [repr(each) for each in sample.weights.tolist()]},
        schema={USER: "string", PEOPLE: "string"},
    )
    source = replace(world.source, users=world.source.users.inner_join(people, USER))
    return model_of(source, world.options.described(id=name), progress)


TITLE = "What the model of a sample predicts of people, and what is so"
# The last has no limits: its sets go far beyond what the presets allow.
STRATEGIES: tuple[Strategy, ...] = (*ANSWERED, LEDGER[0])
DRAWS: tuple[Draw, ...] = ("uniformly", "by weight")
SHARES = (0.01, 0.05, 0.2)
JUDGED = SHARES[1:]  # the criteria speak of these
FEWEST = 100  # people in a sample
COVERED = 0.01  # predicted risk up to which the criteria speak
ABOVE, MOST, BELOW = 1.35, 0.95, 0.5  # times the prediction; of the sets; of it on average
POINTS = 0.05  # of the share of people below k
KINDS = ("held, over everybody", "added, given what was held")
HEAD = (
    *("sample", "sets", "how many", "risk predicted", "realised"),
    *("realised over predicted", "at worst", "people left predicted", "realised"),
)
CHARTS = (
    ("people-risk", "How surely one guess is right", "expected success of one guess"),
    ("people-below-k", "How many people are below k", "share of people below k = {k}"),
    ("people-left", "Who is left", "people left"),
)

Facts = tuple[tuple[int, int], ...]  # attribute and code, ascending


class Disclosed(NamedTuple):
    """A decision that added something: what was held before it, and the set held after it.

    Everybody who agrees with ``before`` is decided alike (DESIGN.md 2.6).
    """

    before: Facts
    after: int


def disclosures(people: Sequence[Person], traces: Iterable[Trace]) -> Counter[Disclosed]:
    """Count the different decisions of people that added something."""
    found: Counter[Disclosed] = Counter()
    for person, trace in zip(people, traces, strict=True):
        before = 0
        for held in trace.held:
            if held != before:
                facts = tuple((each, person.codes[each]) for each in members(before))
                found[Disclosed(facts, held)] += 1
            before = held
    return found


def holdings(found: Counter[Disclosed]) -> Counter[Disclosed]:
    """Count the sets held after disclosures, each as if everybody disclosed it at once."""
    held: Counter[Disclosed] = Counter()
    for (_, after), times in found.items():
        held[Disclosed((), after)] += times
    return held


class Expected(NamedTuple):
    """What a disclosure leaves, over those who looked alike before it.

    ``risk``: the expected success of one guess; ``below``: the share of people below k;
    ``people``: how many agree with the answer.
    """

    risk: float
    below: float
    people: float


def expected(crowd: AnonymitySet, after: int, k: int) -> Expected:
    """Compute it by the figures of an anonymity set."""
    risk, below = (crowd.identifiability(after, each, k) for each in ("maxprob", "k-anonymity"))
    return Expected(risk, below, crowd.people_left(after))


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Different disclosures; float64, shape (n, 3) as `Expected`, and how often each was made."""

    predicted: Floats
    realised: Floats
    times: Indexes

    def _chosen(self, rows: NDArray[np.bool_]) -> "Predictions":
        return Predictions(self.predicted[rows], self.realised[rows], self.times[rows])

    @property
    def covered(self) -> "Predictions":
        """Those whose predicted risk is low enough for the criteria."""
        return self._chosen(self.predicted[:, 0] <= COVERED)

    @property
    def beyond(self) -> "Predictions":
        """The others."""
        return self._chosen(self.predicted[:, 0] > COVERED)

    @property
    def ratio(self) -> Floats:
        """Realised over predicted risk, float64, shape (n,)."""
        found: Floats = self.realised[:, 0] / self.predicted[:, 0]
        return found


def compared(found: Counter[Disclosed], model: Model, world: Population, k: int) -> Predictions:
    """Set what a model of a sample predicts for disclosures beside ``world``, all people."""
    predicted, realised, cache = [], [], Cache()
    for before, after in found:
        truth = AnonymitySet(world, model.cards, before)
        predicted.append(expected(cache.anonymity_set(model, before), after, k))
        realised.append(expected(truth, after, k))
    shape = (-1, len(Expected._fields))
    return Predictions(
        np.array(predicted, np.float64).reshape(shape),
        np.array(realised, np.float64).reshape(shape),
        np.array([*found.values()], np.intp),
    )


def criteria_of(name: str, found: Predictions, k: int) -> tuple[Criterion, ...]:
    """Judge one sample; each different disclosure counts once."""
    covered = found.covered
    if not len(covered.times):
        what = f"{name}: predicted risk at most {COVERED:.0%}"
        return (Criterion(what, "some disclosures", "none", None, ""),)
    ratio, (predicted, realised) = (
        covered.ratio,
        (each.mean(axis=0) for each in (covered.predicted, covered.realised)),
    )
    within = float((ratio <= ABOVE).mean())
    often = float(np.average(ratio <= ABOVE, weights=covered.times))
    share = float(realised[0] / predicted[0])
    low = covered.realised[:, 1] - covered.predicted[:, 1]
    near = float((low <= POINTS).mean())
    return (
        Criterion(
            f"{name}: realised risk at most {ABOVE:g} times the predicted",
            f"for {MOST:.0%} of the sets",
            f"{within:.1%} of {len(ratio):,}; {often:.1%} of decisions; at worst {ratio.max():.2f}",
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
        Criterion(
            f"{name}: share below k = {k}, at most {100 * POINTS:g} points above the predicted",
            f"for {MOST:.0%} of the sets",
            f"{near:.1%}; {100 * low.mean():+.1f} on average, {100 * low.max():+.1f} at most",
            near >= MOST,
            f"{100 * (near - MOST):+.1f} points",
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """What came of one sample; ``rows``: how many people are in it.

    ``held``: the sets that recipients held, over everybody; ``added``: what was added to them, over
    those who looked alike before.
    """

    share: float
    draw: Draw
    rows: int
    held: Predictions
    added: Predictions

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{100 * self.share:g} % drawn {self.draw}"

    def criteria(self, k: int) -> Iterator[Criterion]:
        """Yield its criteria."""
        yield from criteria_of(f"{self.name}, what is held, over everybody", self.held, k)
        yield from criteria_of(f"{self.name}, what is added, given what was held", self.added, k)


@dataclass(frozen=True, slots=True, eq=False)
class SampleStudy:
    """What was found of each sample; ``people``: how many there are in all."""

    options: StudyOptions
    people: int
    samples: tuple[Sampled, ...]

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Every criterion."""
        judged = [each for each in self.samples if each.share in JUDGED]
        return (*chain.from_iterable(each.criteria(self.options.k) for each in judged),)


def study(world: WholeTable, options: StudyOptions, progress: Progress) -> SampleStudy:
    """Study samples of at least `FEWEST` people.

    UsageError where all of them have fewer; BuildError where one cannot make a model.
    """
    run, people = Run(options.processes, progress), world.population.rows
    cases = [(share, draw) for share in SHARES for draw in DRAWS if share * people >= FEWEST]
    if not cases:
        hint = f"give a table of at least {FEWEST / SHARES[-1]:,.0f} people"
        raise UsageError(f"{people:,} people are too few to draw samples from", hint)
    samples = tuple(_sampled(world, *case, options, run) for case in cases)
    return SampleStudy(options, people, samples)


def _sampled(
    world: WholeTable, share: float, draw: Draw, options: StudyOptions, run: Run
) -> Sampled:
    sample = drawn(world.seen.population, share, draw, options.seed)
    model = model_of_sample(world, sample, "sample", run.progress)
    held_out_people = held_out(world.seen, model)
    people = people_drawn(held_out_people, options.people, options.requests, options.seed)
    every = traces(model, Scene(), STRATEGIES, people, run).values()
    found = sum((disclosures(people, each) for each in every), Counter[Disclosed]())
    held, added = (
        compared(each, model, world.population, options.k) for each in (holdings(found), found)
    )
    return Sampled(share, draw, len(sample.rows), held, added)


def page(study: SampleStudy, source: str) -> tuple[list[str], list[StudyFinding]]:
    """Write the beginning of the page, and the figures; ``source``: where the table is from."""
    options = study.options
    note = (
        f"Data: {source}. The {study.people:,} rows of the table are all the people there are; a "
        f"model knows a sample of them. {options.people:,} people send {options.requests:,} "
        f"requests each, decided by {len(STRATEGIES)} strategies. Seed {options.seed}."
    )
    charts = [
        Chart(
            name,
            title,
            note,
            tuple(_panel(each, at, label.format(k=options.k)) for each in study.samples),
        )
        for at, (name, title, label) in enumerate(CHARTS)
    ]
    rows = [row for each in study.samples for row in _rows(each)]
    beside = (
        f"Each different set counts once. Where the predicted risk is above {COVERED:.0%} no "
        "criterion speaks: few rows are left there, and the presets' limits do not let an agent "
        "come near."
    )
    met = sum(each.met is True for each in study.criteria)
    intro = f"Of {len(study.criteria)} criteria, {met} are met.\n\n{criteria_table(study.criteria)}"
    first = StudyFinding(charts[0], text=(beside, table(HEAD, rows)))
    return [intro], [first, *(StudyFinding(each) for each in charts[1:])]


def _rows(sample: Sampled) -> list[tuple[str, ...]]:
    """Make a row for what is held and what is added, within and beyond what criteria speak of."""
    rows: list[tuple[str, ...]] = []
    for kind, found in zip(KINDS, (sample.held, sample.added), strict=True):
        for where, part in (("", found.covered), (f", risk above {COVERED:.0%}", found.beyond)):
            if not len(part.times):
                continue
            said, so = part.predicted.mean(axis=0), part.realised.mean(axis=0)
            rows.append(
                (
                    *(sample.name, kind + where, f"{len(part.times):,}"),
                    *(chance(said[0]), chance(so[0]), f"{so[0] / said[0]:.2f}"),
                    *(f"{part.ratio.max():.2f}", f"{said[2]:,.0f}", f"{so[2]:,.0f}"),
                )
            )
    return rows


def _panel(sample: Sampled, figure: int, label: str) -> Panel:
    """Draw what was predicted and what is so; ``figure``: the place in `Expected`."""
    points = []
    for kind, found in zip(KINDS, (sample.held, sample.added), strict=True):
        x, y = (tuple(each[:, figure].tolist()) for each in (found.predicted, found.realised))
        points.append(Series(kind, x, y, "points"))
    ends = [0.0, 1.0] if figure == 1 else [f([*points[0].x, *points[1].x]) for f in (min, max)]
    lines = [Series("as predicted", tuple(ends), tuple(ends))]
    if figure == 0:
        above = tuple(ABOVE * each for each in ends)
        lines.append(Series(f"{ABOVE:g} times as much", tuple(ends), above))
    return Panel(
        f"{sample.name}: {sample.rows:,} people",
        f"{label}, predicted",
        "realised",
        (*points, *lines),
        log_x=figure != 1,
        log_y=figure != 1,
    )
