"""A big table as the whole population, and models of samples of it (the extra `build`)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, NamedTuple

import ibis
import numpy as np

from agent import Model
from agent.build.build import model_of
from agent.build.observe import Observations, observe
from agent.build.options import AttributeNote, BuildOptions, TableFiles
from agent.build.tables import USER, Source, clean, open_tables
from agent.lab import Progress
from agent.lab.attack.heldout import Codes, Floats, Indexes
from agent.tradeoff import Population
from agent.tradeoff.study import plogp

BOUND = 0.25  # of the entropy of an attribute
PEOPLE = "people_per_row"  # the column of the weights of a sample
Draw = Literal["uniformly", "by weight"]


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A table whose rows are all the people there are.

    ``seen``: all of it, with the weights of the table itself, which only say who is drawn into
    a sample; ``options``: how models of it are built; ``shared``: attributes that other models are
    likely to have too, as their concepts say, the first two where none has one.
    """

    source: Source
    options: BuildOptions
    seen: Observations
    shared: frozenset[str]

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
    shared = [name for name, note in options.description.attributes.items() if note.concept]
    return World(bare, plain, seen, frozenset(shared or bare.persons[:2]))


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


def model_of_sample(
    world: World, sample: Sample, name: str, progress: Progress, without: Collection[str] = ()
) -> Model:
    """Return the model of a sample of a population; ``without``: attributes that it lacks."""
    ids = [world.seen.users[row] for row in sample.rows.tolist()]
    people = ibis.memtable(
        {USER: ids, PEOPLE: [repr(each) for each in sample.weights.tolist()]},
        schema={USER: "string", PEOPLE: "string"},
    )
    users = world.source.users.inner_join(people, USER)
    source = replace(world.source, users=users).without([*without])
    notes = {
        each: note
        for each, note in world.options.description.attributes.items()
        if each not in without
    }
    return model_of(source, world.options.described(id=name, attributes=notes), progress)


def bound(population: Population, names: Sequence[str]) -> list[frozenset[str]]:
    """Return the attributes in groups that hang together, in order of the first of each.

    Two do where one tells `BOUND` of the entropy of the other, whichever way: the state and its
    region, having work and its hours. Nobody would call them independent.
    """
    group = [*range(len(names))]
    entropy = [_entropy(population.codes[:, [each]]) for each in group]
    for one, other in combinations(range(len(names)), 2):
        both = entropy[one] + entropy[other] - _entropy(population.codes[:, [one, other]])
        if both >= BOUND * min(entropy[one], entropy[other]):
            group = [group[one] if each == group[other] else each for each in group]
    return [
        frozenset(names[at] for at, mine in enumerate(group) if mine == each)
        for each in dict.fromkeys(group)
    ]


def _entropy(codes: Codes) -> float:
    cells = codes.astype(np.intp) @ (256 ** np.arange(codes.shape[1]))
    shares = np.bincount(cells) / len(codes)
    return float(-plogp(shares).sum())


def parts(
    groups: Sequence[frozenset[str]], count: int, shared: frozenset[str], seed: int
) -> list[frozenset[str]]:
    """Return the attributes of ``count`` models: those ``shared``, and groups dealt at random."""
    order = np.random.default_rng(seed).permutation(len(groups)).tolist()
    dealt = [[groups[each] for each in order[at::count]] for at in range(count)]
    return [shared.union(*each) for each in dealt]
