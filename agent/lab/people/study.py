"""Real streams of requests, decided by models of samples: predicted against what is so."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from agent import Model
from agent.errors import UsageError
from agent.lab import Progress
from agent.lab.attack.bars import Bar
from agent.lab.attack.halves import held_out
from agent.lab.attack.heldout import Floats, Person
from agent.lab.attack.heldout import drawn as people_drawn
from agent.lab.attack.simulation import Scene
from agent.lab.attack.ways import ANSWERED, LEDGER, Way
from agent.lab.attack.workers import Run, traces
from agent.lab.people import Options
from agent.lab.people.predictions import (
    ESTIMATED,
    Compared,
    Disclosed,
    bars,
    compared,
    disclosures,
    estimated,
    holdings,
)
from agent.lab.people.samples import Draw, World, bound, drawn, model_of_sample, parts
from agent.model.concepts import Concepts
from agent.model.model import person_codes
from agent.tradeoff import members
from agent.tradeoff.study import AnonymitySet

# The last has no limits: its sets go far beyond what the presets allow.
WAYS: tuple[Way, ...] = (*ANSWERED, LEDGER[0])
DRAWS: tuple[Draw, ...] = ("uniformly", "by weight")
SHARES = (0.01, 0.05, 0.2)
JUDGED = SHARES[1:]  # the bars speak of these
FEWEST = 100  # people in a sample
SPLITS, MODELS = 3, (2, 3)  # of the table, and into how many models


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """What came of one sample; ``rows``: how many people are in it.

    ``held``: the sets that recipients held, over everybody; ``added``: what was added to them, over
    those who looked alike before.
    """

    share: float
    draw: Draw
    rows: int
    held: Compared
    added: Compared

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{100 * self.share:g} % drawn {self.draw}"

    def bars(self, k: int) -> Iterator[Bar]:
        """Yield its bars."""
        yield from bars(f"{self.name}, what is held, over everybody", self.held, k)
        yield from bars(f"{self.name}, what is added, given what was held", self.added, k)


class Case(NamedTuple):
    """The attributes dealt to so many models; ``share``: of the people whom each of them holds.

    ``whole``: whether attributes that hang together are in one of them.
    """

    models: int
    whole: bool
    share: float

    @property
    def name(self) -> str:
        """What tables call it."""
        dealt = "" if self.whole else ", attributes that hang together in different ones"
        people = "all people" if self.share == 1 else f"{100 * self.share:g} % drawn uniformly"
        return f"{self.models} models{dealt}, {people}"


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Facts told through several models: float64, shape (n,), over people and requests.

    ``estimated``: by one of the models; ``true``: 1 / people who agree with all of it.
    """

    case: Case
    estimated: Floats
    true: Floats

    @property
    def bar(self) -> Bar:
        """What was wanted of it, and what was found."""
        low, high = ESTIMATED
        what = f"{self.case.name}: estimated over true risk, on average"
        wanted = f"{low:g} to {high:g}"
        if not len(self.true):
            return Bar(what, wanted, "nothing was told through several", None, "")
        ratio = float(self.estimated.mean() / self.true.mean())
        out = max(low - ratio, ratio - high)
        found = f"{ratio:.2f} over {len(self.true):,} states"
        return Bar(what, wanted, found, out <= 0, f"{max(out, 0):.2f}")


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """What was found of each sample, and of facts told through several models."""

    options: Options
    people: int
    samples: tuple[Sampled, ...]
    matched: tuple[Matched, ...]

    @property
    def bars(self) -> tuple[Bar, ...]:
        """Every bar."""
        judged = [each for each in self.samples if each.share in JUDGED]
        of_samples = (each.bars(self.options.k) for each in judged)
        return (*chain.from_iterable(of_samples), *(each.bar for each in self.matched))


def study(world: World, options: Options, progress: Progress) -> Study:
    """Return what was found, without samples of fewer than `FEWEST` people.

    UsageError where all of them have fewer; BuildError where one cannot make a model.
    """
    run, people = Run(options.processes, progress), world.population.rows
    cases = [(share, draw) for share in SHARES for draw in DRAWS if share * people >= FEWEST]
    if not cases:
        hint = f"give a table of at least {FEWEST / SHARES[-1]:,.0f} people"
        raise UsageError(f"{people:,} people are too few to draw samples from", hint)
    return Study(
        options=options,
        people=people,
        samples=tuple(_sampled(world, *case, options, run) for case in cases),
        matched=tuple(
            _matched(world, Case(models, whole, share), options, run)
            for whole in (True, False)
            for models in MODELS
            for share in (1.0, JUDGED[-1])
        ),
    )


def _sampled(world: World, share: float, draw: Draw, options: Options, run: Run) -> Sampled:
    sample = drawn(world.seen.population, share, draw, options.seed)
    model = model_of_sample(world, sample, "sample", run.progress)
    people = _people(world, model, options)
    every = traces(model, Scene(), WAYS, people, run).values()
    found = sum((disclosures(people, each) for each in every), Counter[Disclosed]())
    held, added = (
        compared(each, model, world.population, options.k) for each in (holdings(found), found)
    )
    return Sampled(share, draw, len(sample.rows), held, added)


def _people(world: World, model: Model, options: Options) -> tuple[Person, ...]:
    held = held_out(world.seen, model)
    return people_drawn(held, options.people, options.requests, options.seed)


def _matched(world: World, case: Case, options: Options, run: Run) -> Matched:
    """Return what models of parts of the attributes estimate together."""
    names = [each.name for each in world.seen.attributes if each.scope == "person"]
    groups = bound(world.population, names) if case.whole else [frozenset({each}) for each in names]
    rest = [left for each in groups if (left := each - world.shared)]
    pairs: list[tuple[float, float]] = []
    for seed in range(options.seed, options.seed + SPLITS):
        sample = drawn(world.seen.population, case.share, "uniformly", seed)
        made = [
            model_of_sample(world, sample, f"part{at}", run.progress, {*names} - part)
            for at, part in enumerate(parts(rest, case.models, world.shared, seed))
        ]
        pairs += _together(world, made, options, run)
    both = np.array(pairs, np.float64).reshape(-1, 2)
    return Matched(case, both[:, 0], both[:, 1])


def _together(
    world: World, models: Sequence[Model], options: Options, run: Run
) -> Iterator[tuple[float, float]]:
    """Yield the estimated and the true risk of all that a recipient holds, as facts are added.

    Everybody asks the same of each model, under the preset balanced.
    """
    way, concepts, everybody = ANSWERED[1], Concepts(models), world.seen.attributes
    people = _people(world, models[0], options)  # the same queries and results are in all models
    places = {each.name: at for at, each in enumerate(everybody)}
    own = [[places[name] for name in person_codes(model)] for model in models]
    held = []
    for model, mine in zip(models, own, strict=True):
        few = [each._replace(codes=tuple(each.codes[at] for at in mine)) for each in people]
        held.append(traces(model, Scene(), [way], few, run)[way])
    for person, *lines in zip(people, *held, strict=True):
        steps = zip(*(line.held for line in lines), strict=True)
        for masks in dict.fromkeys(steps):
            told = {mine[at] for mine, mask in zip(own, masks, strict=True) for at in members(mask)}
            if any(told <= {*mine} for mine in own):
                continue  # one model knows all of it: nothing is matched
            codes = sorted((at, person.codes[at]) for at in told)
            facts = {everybody[at].name: everybody[at].values[code] for at, code in codes}
            true = AnonymitySet(world.population, world.seen.cards, codes).people
            for model in models:
                yield estimated(facts, model, concepts), 1 / true
