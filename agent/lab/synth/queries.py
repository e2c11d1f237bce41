"""Who asks what, and how often: as many queries, repeated as often, as in the paper (section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.synth.draws import Arrays, apportioned, within
from agent.lab.synth.marginals import MIN_USERS, PUBLISHED, QUERIES

if TYPE_CHECKING:
    from agent.lab.synth.draws import Flags, Floats, Ints
    from agent.lab.synth.world import World

_DIVERSE, _LOYAL = 0.8, 1.1  # spread, in logits, of how many queries somebody has, and repeats
_HABIT = 1.3  # spread of how often a person repeats each of theirs
_PLENTY = 2  # times MIN_USERS: a query with so many can lose one


@dataclass(frozen=True, slots=True, eq=False)
class Queries(Arrays):
    """What is asked in a block, a row per time, in order of person; any order within one.

    ``person``, ``text``: who asks which; ``pair``: which of the ``pair_person`` and ``pair_text``
    that is, the different queries of each person, also in order of person.
    """

    person: Ints
    text: Ints
    pair: Ints
    pair_person: Ints
    pair_text: Ints


def queries(interests: Floats, of: World, generator: np.random.Generator) -> Queries:
    """Return what people ask who like topics in these shares, float64 (people, topics).

    They are QUERIES, and MIN_USERS or more ask each text.
    """
    count, total = len(interests), QUERIES
    first = round(total * (1 - PUBLISHED["asked_before"]))
    diverse = generator.normal(scale=_DIVERSE, size=count)
    own = apportioned(np.exp(diverse), first, least=1)
    loyal = 0.5 * diverse + generator.normal(scale=_LOYAL, size=count)
    again = apportioned(np.exp(loyal), total - first)
    pair_person, pair_text = np.nonzero(_chosen(interests, of, own, generator))
    habits = np.exp(generator.normal(scale=_HABIT, size=first))
    repeated = within(habits, pair_person, np.repeat(np.arange(count), again), generator)
    pair = np.concatenate([np.arange(first), repeated])
    pair = pair[np.lexsort((generator.random(total), pair_person[pair]))]
    return Queries(pair_person[pair], pair_text[pair], pair, pair_person, pair_text)


def _chosen(interests: Floats, of: World, own: Ints, generator: np.random.Generator) -> Flags:
    """Return who ever asks what, (people, texts): ``own`` of them each, those that score most."""
    match = (interests @ of.meaning.T).astype(np.float32)
    scores = np.log(match / match.mean(axis=0) * of.asked.astype(np.float32))
    scores += generator.gumbel(size=scores.shape).astype(np.float32)
    ranks = np.argsort(-scores, axis=1, kind="stable")
    chosen = np.zeros(scores.shape, dtype=np.bool_)
    np.put_along_axis(chosen, ranks, np.arange(scores.shape[1]) < own[:, np.newaxis], axis=1)
    for text in np.flatnonzero(chosen.sum(axis=0) < MIN_USERS):
        _fill(chosen, scores[:, text], int(text))
    return chosen


def _fill(chosen: Flags, scores: Floats, text: int) -> None:
    """Have MIN_USERS ask ``text``: the keenest, each in place of a text that has plenty."""
    for person in np.argsort(-scores, kind="stable"):
        askers = chosen.sum(axis=0)
        if askers[text] >= MIN_USERS:
            return
        spare = np.flatnonzero(chosen[person] & (askers > _PLENTY * MIN_USERS))
        if len(spare) and not chosen[person, text]:
            chosen[person, [spare[0], text]] = False, True
