"""People whom the model has not seen, and the requests that each of them sends."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.model.model import Model
from agent.tradeoff import members

Codes = NDArray[np.unsignedinteger]
Indexes = NDArray[np.intp]
Floats = NDArray[np.float64]
Received = Indexes
Table = NDArray[np.bool_]

SILENT = 0  # where nothing was said of an attribute; a code is received as one more


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """The people of the other half, and their events that a model of the first can rank.

    ``codes``: unsigned, shape (N, P), of the person attributes; the events, in order of person:
    ``starts``: intp, shape (N + 1,), where each person's begin; ``query``, ``intent``: intp,
    shape (E,), indexes of the model; ``request``: unsigned, shape (E, R), of the request
    attributes. ``unranked``: how many events the model has no result for.
    """

    codes: Codes
    starts: Indexes
    query: Indexes
    intent: Indexes
    request: Codes
    unranked: int

    def events_of(self, person: int) -> slice:
        """Return which events are a person's."""
        return slice(int(self.starts[person]), int(self.starts[person + 1]))

    @property
    def askers(self) -> Indexes:
        """The people with at least one event, ascending."""
        return np.flatnonzero(np.diff(self.starts))


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """A model of one half of the people, the other half, and a sentence on where both are from."""

    model: Model
    others: HeldOut
    source: str

    @property
    def everybody(self) -> bool:
        """Whether the model's rows stand for all people of the tables, who are all listed."""
        return self.model.population.weights is not None

    @property
    def listed(self) -> str:
        """Whom the adversary's list has, in words."""
        return f"{'all' if self.everybody else 'that half,'} {len(self.others.codes):,} people"


class HeldOutRequest(NamedTuple):
    """One request: the query and what was chosen, indexes of the model; codes of the request."""

    query: int
    intent: int
    request: tuple[int, ...]


class Person(NamedTuple):
    """Somebody whom the model has not seen.

    ``place``: among the held-out people; ``codes``: of the person attributes; ``requests``: sent.
    """

    place: int
    codes: tuple[int, ...]
    requests: tuple[HeldOutRequest, ...]


def drawn(held: HeldOut, people: int, requests: int, seed: int) -> tuple[Person, ...]:
    """Return so many different people, all if there are fewer, with so many requests each.

    Requests are drawn from the person's own events, with replacement. Who is drawn, and what a
    person asks first, does not depend on how many requests there are.
    """
    askers = held.askers
    chosen = np.random.default_rng(seed).permutation(askers)[:people]
    people_drawn = []
    for person in chosen.tolist():
        events = held.events_of(person)
        # A draw a request, and no array of them: a longer stream then begins as a shorter one.
        generator = np.random.default_rng((seed, person))
        places = [int(generator.integers(events.start, events.stop)) for _ in range(requests)]
        asked = (
            HeldOutRequest(int(held.query[e]), int(held.intent[e]), tuple(held.request[e].tolist()))
            for e in places
        )
        people_drawn.append(Person(person, tuple(held.codes[person].tolist()), tuple(asked)))
    return tuple(people_drawn)


def received(codes: Codes, masks: Sequence[int]) -> Received:
    """Return what each of n requests says: SILENT, or the code and one.

    ``codes``: unsigned, shape (n, attributes), of who asks, and of the request; ``masks``: the
    set attached to each. What comes back is intp, shape (n, attributes).
    """
    return (codes.astype(np.intp) + 1) * as_table(masks, codes.shape[1])


def as_table(masks: Sequence[int], attributes: int) -> Table:
    """Return sets as a table, bool, shape (n, attributes)."""
    known = {mask: np.isin(np.arange(attributes), [*members(mask)]) for mask in {*masks}}
    return np.array([known[mask] for mask in masks], dtype=bool).reshape(-1, attributes)
