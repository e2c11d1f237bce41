"""A big table as the whole population, and models of samples of it (the extra `build`)."""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import ibis
import numpy as np

from agent import Model
from agent.build.build import model_of
from agent.build.observe import Observations, observe
from agent.build.options import AttributeNote, BuildOptions, TableFiles
from agent.build.tables import USER, Source, clean, open_tables
from agent.lab import Progress
from agent.lab.attack.heldout import Floats, Indexes
from agent.tradeoff import Population

PEOPLE = "people_per_row"  # the column of the weights of a sample
Draw = Literal["uniformly", "by weight"]


@dataclass(frozen=True, slots=True, eq=False)
class World:
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


def world_of(options: BuildOptions) -> World:
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
    return World(bare, plain, seen)


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


def model_of_sample(world: World, sample: Sample, name: str, progress: Progress) -> Model:
    """Build the model of a sample of a population."""
    ids = [world.seen.users[row] for row in sample.rows.tolist()]
    people = ibis.memtable(
        {USER: ids, PEOPLE: [repr(each) for each in sample.weights.tolist()]},
        schema={USER: "string", PEOPLE: "string"},
    )
    source = replace(world.source, users=world.source.users.inner_join(people, USER))
    return model_of(source, world.options.described(id=name), progress)
