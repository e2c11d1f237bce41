"""A block of the log: as many people as the paper had, drawn together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.lab.synth.addresses import places
from agent.lab.synth.clicks import Moment, targets
from agent.lab.synth.marginals import PEOPLE
from agent.lab.synth.networks import suffixes
from agent.lab.synth.pages import Pages, pages
from agent.lab.synth.population import People, people
from agent.lab.synth.queries import Queries, queries
from agent.lab.synth.times import times
from agent.lab.synth.world import World, world

if TYPE_CHECKING:
    from agent.lab.synth.draws import Ints

_WORLD = 0  # the key of its generator; blocks count from 1


class Block(NamedTuple):
    """People, what they asked, with which moment, the host of each query, and all pages."""

    people: People
    queries: Queries
    moment: Moment
    target: Ints
    pages: Pages


def world_of(seed: int) -> World:
    """Return the world of a seed: its sites are for people as its first block has them."""
    generator = np.random.default_rng((seed, _WORLD))
    liked = people(2_000, generator).interests.mean(axis=0)
    return world(liked, generator)


def block(seed: int, number: int, of: World) -> Block:
    """Return block ``number``, from 1; the same arguments, the same block."""
    generator = np.random.default_rng((seed, number))
    crowd = people(PEOPLE, generator)
    asked = queries(crowd.interests, of, generator)
    when = times(crowd, asked.person, generator)
    moment = Moment(
        when,
        places(crowd.region, asked.person, generator),
        suffixes(crowd, asked.person, when, generator),
    )
    target = targets(crowd, asked, moment, of, generator)
    return Block(crowd, asked, moment, target, pages(crowd.taste, asked, target, of, generator))
