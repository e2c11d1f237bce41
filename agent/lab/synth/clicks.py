"""What people want with a query: the site that they then stay on.

A person who asks a query has one site that they mostly want with it, drawn by who they are: their
walk of life, age, gender, region and tastes. Asking again they mostly return to it; else they pick
anew, by who they are and by the moment too. All weights are random, the same for all people: some
sites are for the young, some for the office.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.build.log.schema import AGE_GROUPS
from agent.lab.synth.circles import CIRCLES
from agent.lab.synth.draws import drawn
from agent.lab.synth.networks import SUFFIXES, UNKNOWN
from agent.lab.synth.population import TRUE_REGIONS

if TYPE_CHECKING:
    from agent.lab.synth.addresses import Places
    from agent.lab.synth.draws import Flags, Floats, Ints
    from agent.lab.synth.population import People
    from agent.lab.synth.queries import Queries
    from agent.lab.synth.times import Times
    from agent.lab.synth.world import World

_STEEP, _FLATTER = 1.3, 0.9  # fall of a site's share with its rank: as a habit, picked anew
# Spread, in logits, of how much each trait of a person or a moment speaks for a site.
_OF_PERSON = {"circle": 1.6, "age": 1.3, "region": 0.4, "woman": 0.5, "moves": 0.6}
_OF_MOMENT = {"network": 1.2, "working": 0.8, "workday": 0.4}
_TASTE = 0.5  # of how much somebody likes a topic, for sites of that topic
_RETURNS = (0.28, 0.28)  # to the site that they mostly want: the first time, and later


class Moment(NamedTuple):
    """What goes with each query of a block: times, places, and the codes of networks."""

    times: Times
    places: Places
    suffixes: Ints


def targets(
    crowd: People, asked: Queries, moment: Moment, of: World, generator: np.random.Generator
) -> Ints:
    """Return the host of each query of a block, a code in ``of.hosts``."""
    first = np.zeros(len(asked.pair), dtype=np.bool_)
    first[np.unique(asked.pair, return_index=True)[1]] = True
    returns = generator.random(len(first)) < np.where(first, *_RETURNS)
    person, now = _traits(crowd, moment.places.moves), _moments(moment)
    found = np.empty(len(first), dtype=np.int64)
    place = np.empty(len(asked.pair_text), dtype=np.int64)  # of a pair, among those of its text
    every = zip(
        *(_groups(each, len(of.texts)) for each in (asked.text, asked.pair_text)), strict=True
    )
    for text, (rows, pairs) in enumerate(every):
        hosts, leans = of.answer(text)
        place[pairs] = np.arange(len(pairs))
        people = asked.pair_person[pairs]
        liked = person[people] @ leans[: person.shape[1]]
        liked += _TASTE * crowd.taste[people][:, of.topic[hosts]]
        ranks = np.log(np.arange(len(hosts)) + 1)
        wanted = drawn(liked - _STEEP * ranks, generator)
        which = place[asked.pair[rows]]
        anew = liked[which] + now[rows] @ leans[person.shape[1] :] - _FLATTER * ranks
        choice = np.where(returns[rows], wanted[which], drawn(anew, generator))
        found[rows] = hosts[choice]
    return found


def _traits(crowd: People, moves: Flags) -> Floats:
    """Return who people are, (people, traits): as much as each trait can speak for a site."""
    codes = {
        "circle": (crowd.circle, len(CIRCLES)),
        "age": (crowd.age, len(AGE_GROUPS)),
        "region": (crowd.region, TRUE_REGIONS),
        "woman": (crowd.woman, 2),
        "moves": (moves.astype(np.int64), 2),
    }
    return np.concatenate(
        [_OF_PERSON[name] * np.eye(many)[code] for name, (code, many) in codes.items()], axis=1
    )


def _moments(moment: Moment) -> Floats:
    """Return the same of moments, (queries, traits)."""
    codes = {
        "network": (moment.suffixes - UNKNOWN, len(SUFFIXES) + 1),
        "working": (moment.times.working.astype(np.int64), 2),
        "workday": (moment.times.workday.astype(np.int64), 2),
    }
    return np.concatenate(
        [_OF_MOMENT[name] * np.eye(many)[code] for name, (code, many) in codes.items()], axis=1
    )


def _groups(codes: Ints, count: int) -> list[Ints]:
    """Return where each code from 0 to ``count`` stands."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, count)))
