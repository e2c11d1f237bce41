"""What people got for what they told: the service's word on what they turned out to want."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.lab.attack.services.hearing import heard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.lab.attack.service import Service
    from agent.lab.attack.services.hearing import Heard
    from agent.lab.attack.streams import Person
    from agent.lab.attack.walk import Trace

    Floats = NDArray[np.float64]
    Counts = NDArray[np.intp]


class Realised(NamedTuple):
    """What each of T requests of N people brought, shape (N, T) each.

    ``bits``: float64, log2 P(x|.) - log2 p0(x) of what was wanted; ``reciprocal``: float64, 1 over
    its place among the results; ``told``: intp, how many attributes the request carried.
    """

    bits: Floats
    reciprocal: Floats
    told: Counts


def realised(service: Service, people: Sequence[Person], traces: Sequence[Trace]) -> Realised:
    """Return what the traces of people brought them.

    All have as many requests. Of equal results the first in the model stands first.
    """
    masks = [mask for trace in traces for mask in trace.sent]
    query, intent = (
        np.array([getattr(each, name) for person in people for each in person.requests], np.intp)
        for name in ("query", "intent")
    )
    bits, reciprocal = np.zeros(len(query)), np.zeros(len(query))
    for each in np.unique(query).tolist():
        places = np.flatnonzero(query == each)
        said = _said(people, places, [masks[place] for place in places.tolist()])
        bits[places], reciprocal[places] = _served(service, each, said, intent[places])
    told = np.array([mask.bit_count() for mask in masks], dtype=np.intp)
    shape = (len(people), -1)
    return Realised(bits.reshape(shape), reciprocal.reshape(shape), told.reshape(shape))


def _said(people: Sequence[Person], places: Counts, masks: Sequence[int]) -> Heard:
    """Return what is heard of these requests, numbered through from the first person's first."""
    of_each = len(people[0].requests)
    asking = [divmod(place, of_each) for place in places.tolist()]
    codes = [(*people[one].codes, *people[one].requests[number].request) for one, number in asking]
    return heard(np.array(codes, dtype=np.uint8), masks)


def _served(service: Service, query: int, said: Heard, intent: Counts) -> tuple[Floats, Floats]:
    """Return the bits and the reciprocal ranks of what was wanted with one query."""
    different, places = np.unique(said, axis=0, return_inverse=True)
    scores = service.scores(query, different)
    order = np.argsort(-(scores + np.log2(service.chances(query))), axis=1, kind="stable")
    ranks = np.argsort(order, axis=1) + 1
    wanted = places.reshape(-1), intent
    return scores[wanted], 1 / ranks[wanted]
