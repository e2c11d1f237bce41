"""What an adversary makes of what recipients hold: who it may be, and what else is true of them.

It knows the model, the policy and the algorithm, and a list of people with all their values, the
one it looks for among them. A decision says nothing beside the values that it discloses (DESIGN.md
2.6), so that it takes the person for anyone who agrees with those.
"""

from __future__ import annotations

from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.tradeoff.grouping import plogp
from agent.tradeoff.sets import members
from agent.tradeoff.tables import UNSPECIFIED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from agent.lab.attack.streams import Person
    from agent.lab.attack.walk import Trace

    Codes = NDArray[np.unsignedinteger]
    Counts = NDArray[np.intp]
    Floats = NDArray[np.float64]


class Learned(NamedTuple):
    """Bits learned of an attribute after each request; float64, shape (T,) each.

    ``true``: log2 of how much likelier its true value became; ``doubt``: how much entropy of it
    went, over all values.
    """

    true: Floats
    doubt: Floats


def left(trace: Trace, person: Person, people: Codes) -> Counts:
    """Return how many people of a list agree with what is held after each request.

    ``people``: unsigned, shape (N, P), codes by person attribute; intp, shape (T,) comes back.
    """
    return np.array([len(rows) for rows in consistent(trace.held, person, people)], dtype=np.intp)


def consistent(masks: Sequence[int], person: Person, people: Codes) -> Iterator[Counts]:
    """Yield for each mask the rows of a list that agree with a person on it, ascending.

    The same array where it is the same mask as before.
    """
    rows, before = np.arange(len(people)), 0
    for mask in masks:
        if before & ~mask:
            rows, before = np.arange(len(people)), 0
        for each in members(mask & ~before):
            rows = rows[people[rows, each] == person.codes[each]]
        before = mask
        yield rows


def knowing(trace: Trace, mask: int) -> Trace:
    """Return the trace for an adversary who knew these attributes of the person beforehand."""
    return trace._replace(held=tuple(held | mask for held in trace.held))


def pooled(trace: Trace) -> Trace:
    """Return the trace for an adversary with whom all recipients share what they hold."""
    return trace._replace(held=tuple(accumulate(trace.held, or_)))


def guarded(trace: Trace, person: Person, people: Codes, attribute: int) -> Learned | None:
    """Return what is learned of an attribute, from those of a list who have it specified.

    None for a person who has not.
    """
    own = person.codes[attribute]
    if own == UNSPECIFIED:
        return None
    said = people[people[:, attribute] != UNSPECIFIED]
    prior = np.bincount(said[:, attribute], minlength=own + 1)
    found: list[tuple[float, float]] = []
    before = None
    for rows in consistent(trace.held, person, said):
        if rows is not before:
            before, after = rows, np.bincount(said[rows, attribute], minlength=len(prior))
            learned = _learned(prior, after, own)
        found.append(learned)
    true, doubt = np.array(found, dtype=np.float64).reshape(-1, 2).T
    return Learned(true, doubt)


def _learned(prior: Counts, after: Counts, own: int) -> tuple[float, float]:
    before, now = prior / prior.sum(), after / after.sum()
    true = float(np.log2(now[own] / before[own]))
    return true, float(plogp(now).sum() - plogp(before).sum())
