"""What people click: the site that they want with a query, and the pages before and after it."""

from dataclasses import dataclass

import numpy as np

from agent.build.log_schema import AGE_GROUPS
from agent.lab.synth.marginals import Arrays, Flags, Floats, Ints, Rng, drawn, invented, within
from agent.lab.synth.queries import SUFFIXES, UNKNOWN, Moment, Queries
from agent.lab.synth.world import CIRCLES, TRUE_REGIONS, People, World

_SET = invented("clicks")
LONG = 30.0  # seconds; a shorter stay is no intent


def targets(crowd: People, asked: Queries, moment: Moment, of: World, rng: Rng) -> Ints:
    """Return the host of each query of a block, a code in ``of.hosts``."""
    first = np.zeros(len(asked.pair), dtype=np.bool_)
    first[np.unique(asked.pair, return_index=True)[1]] = True
    returns = rng.random(len(first)) < np.where(first, *_SET.returns)
    person = _traits(
        ("circle", crowd.circle, len(CIRCLES)),
        ("age", crowd.age, len(AGE_GROUPS)),
        ("region", crowd.region, TRUE_REGIONS),
        ("woman", crowd.woman, 2),
        ("moves", moment.moves, 2),
    )
    now = _traits(
        ("network", moment.suffix - UNKNOWN, len(SUFFIXES) + 1),
        ("working", moment.working, 2),
        ("workday", moment.workday, 2),
    )
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
        liked += _SET.taste * crowd.taste[people][:, of.topic[hosts]]
        ranks = np.log(np.arange(len(hosts)) + 1)
        wanted = drawn(liked - _SET.steep * ranks, rng)
        which = place[asked.pair[rows]]
        anew = liked[which] + now[rows] @ leans[person.shape[1] :] - _SET.flatter * ranks
        choice = np.where(returns[rows], wanted[which], drawn(anew, rng))
        found[rows] = hosts[choice]
    return found


def _traits(*traits: tuple[str, Ints | Flags, int]) -> Floats:
    """Return as much as each value of each trait can speak for a site, (rows, values).

    ``traits``: a name, codes, and how many values there are.
    """
    columns = [
        _SET.speaks[name] * np.eye(many)[codes.astype(np.int64)] for name, codes, many in traits
    ]
    return np.concatenate(columns, axis=1)


def _groups(codes: Ints, count: int) -> list[Ints]:
    """Return where each code from 0 to ``count`` stands."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, count)))


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


def pages(taste: Floats, asked: Queries, target: Ints, of: World, rng: Rng) -> Pages:
    """Return the pages of a block's queries.

    Before the one that was meant they look at other answers, for less than LONG; after it at
    sites of topics that they like. ``taste``: as `People` has it.
    """
    count = len(target)
    early = np.minimum(rng.poisson(_SET.early, count), _SET.most)
    late = np.minimum(rng.poisson(_SET.late, count), _SET.most)
    each = early + 1 + late
    row = np.repeat(np.arange(count), each)
    place = np.arange(len(row)) - np.repeat(np.cumsum(each) - each, each)
    before, meant = place < early[row], place == early[row]
    liked = drawn(taste[asked.person[row]], rng)
    host = within(of.visited, of.topic, liked, rng)
    # An answer to the query, the first ones more often.
    start, end = of.starts[asked.text[row]], of.starts[asked.text[row] + 1]
    answer = start + (rng.random(len(row)) ** 2 * (end - start)).astype(np.int64)
    host = np.where(before, of.answers[answer], host)
    host = np.where(meant, target[row], host)
    stays = meant | (~before & (rng.random(len(row)) < _SET.stays))
    short = rng.uniform(_SET.short[0], _SET.short[1], len(row))
    long = np.clip(rng.lognormal(_SET.stay, _SET.spread, len(row)), LONG, _SET.longest)
    dwell: Floats = np.round(np.where(stays, long, short), 1).astype(np.float64)
    opened = np.repeat(rng.uniform(_SET.click[0], _SET.click[1], count), each)
    sums = np.concatenate([[0.0], dwell.cumsum()])[:-1]
    opened += sums - sums[np.flatnonzero(place == 0)][row]
    return Pages(row, host, np.ceil(opened).astype(np.int64) + place, dwell)
