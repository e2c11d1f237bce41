"""The pages of each query: what is soon left, what was meant, and where that leads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.synth.draws import Arrays, drawn, within

if TYPE_CHECKING:
    from agent.lab.synth.draws import Floats, Ints
    from agent.lab.synth.queries import Queries
    from agent.lab.synth.world import World

LONG = 30.0  # seconds; a shorter stay is no intent
_EARLY, _LATE = 0.3, 2.0  # pages before and after the one that was meant, on average
_MOST = 3  # of each
_STAYS = 0.5  # of the later pages hold them for LONG
_SHORT = (3.0, 29.0)
_STAY, _SPREAD, _LONGEST = 4.4, 0.9, 300.0  # of the logarithm of seconds; seconds
_CLICK = (4.0, 20.0)  # seconds until the first page


@dataclass(frozen=True, slots=True, eq=False)
class Pages(Arrays):
    """A row per page, in order of its query and of time.

    ``row``: the place of the query; ``host``: its code; ``after``: seconds since it was asked,
    int64; ``dwell``: seconds, float64.
    """

    row: Ints
    host: Ints
    after: Ints
    dwell: Floats


def pages(
    taste: Floats, asked: Queries, target: Ints, of: World, generator: np.random.Generator
) -> Pages:
    """Return the pages of a block's queries.

    Before the one that was meant they look at other answers, for less than LONG; after it at
    sites of topics that they like. ``taste``: as `People` has it.
    """
    count = len(target)
    early = np.minimum(generator.poisson(_EARLY, count), _MOST)
    late = np.minimum(generator.poisson(_LATE, count), _MOST)
    each = early + 1 + late
    row = np.repeat(np.arange(count), each)
    place = np.arange(len(row)) - np.repeat(np.cumsum(each) - each, each)
    before, meant = place < early[row], place == early[row]
    liked = drawn(taste[asked.person[row]], generator)
    host = within(of.visited, of.topic, liked, generator)
    host = np.where(before, _answers(asked.text[row], of, generator), host)
    host = np.where(meant, target[row], host)
    stays = meant | (~before & (generator.random(len(row)) < _STAYS))
    short = generator.uniform(*_SHORT, len(row))
    long = np.clip(generator.lognormal(_STAY, _SPREAD, len(row)), LONG, _LONGEST)
    dwell: Floats = np.round(np.where(stays, long, short), 1).astype(np.float64)
    opened = np.repeat(generator.uniform(*_CLICK, count), each)
    sums = np.concatenate([[0.0], dwell.cumsum()])[:-1]
    opened += sums - sums[np.flatnonzero(place == 0)][row]
    return Pages(row, host, np.ceil(opened).astype(np.int64) + place, dwell)


def _answers(text: Ints, of: World, generator: np.random.Generator) -> Ints:
    """Return an answer to the query of each row, the first ones more often."""
    size = of.starts[text + 1] - of.starts[text]
    place = (generator.random(len(text)) ** 2 * size).astype(np.int64)
    hosts: Ints = of.answers[of.starts[text] + place]
    return hosts
