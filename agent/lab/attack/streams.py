"""The requests that one person sends: drawn from what that person asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from agent.lab.attack.heldout import HeldOut


class Asked(NamedTuple):
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
    requests: tuple[Asked, ...]


def drawn(held: HeldOut, people: int, requests: int, seed: int) -> tuple[Person, ...]:
    """Return so many different people, all if there are fewer, with so many requests each.

    Requests are drawn from the person's own events, with replacement. Who is drawn, and what a
    person asks first, does not depend on how many requests there are.
    """
    askers = held.askers
    chosen = np.random.default_rng(seed).permutation(askers)[:people]
    return tuple(_person(held, int(each), requests, seed) for each in chosen)


def _person(held: HeldOut, person: int, requests: int, seed: int) -> Person:
    events = held.events_of(person)
    # A draw a request, and no array of them: a longer stream then begins as a shorter one.
    generator = np.random.default_rng((seed, person))
    places = [int(generator.integers(events.start, events.stop)) for _ in range(requests)]
    asked = (
        Asked(int(held.query[e]), int(held.intent[e]), tuple(held.request[e].tolist()))
        for e in places
    )
    return Person(person, tuple(held.codes[person].tolist()), tuple(asked))
