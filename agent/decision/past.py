"""Requests of the past, and the values of the person who made them. Pure."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from agent.model.model import Model
from agent.tradeoff.tables import UNSPECIFIED

MOST_PEOPLE = 20  # who stand for a person of whom values are not known

Codes = Mapping[str, int]
Said = Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Past:
    """One request that was made, and what it carried.

    ``at``: when, with a time zone; ``recipient``: a host or an address; ``asked``: the names the
    recipient could use, None where it did not say; ``disclosed``: (name, code) pairs.
    """

    at: datetime
    recipient: str
    query: str
    asked: frozenset[str] | None
    disclosed: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Worlds:
    """All that is known of a person's values, and people to take the others from.

    ``said``: by name, the places in the history where it was disclosed, ascending, and the codes;
    ``profile``: the person's own codes, where a missing name is not set, or None; ``rows``:
    for each world the codes of its person, by person attribute; ``alike``: whether those people
    agree with all that is known.
    """

    said: Said
    profile: Codes | None
    rows: tuple[Codes, ...]
    alike: bool

    def known(self, place: int, name: str) -> int | None:
        """Return the code that an attribute had at one request, None where nothing says so.

        It is what this request carried; else the profile's; else what the nearest request before
        carried, or if there is none the nearest after.
        """
        places, codes = self.said.get(name, ((), ()))
        until = bisect_right(places, place)
        if until and places[until - 1] == place:
            return codes[until - 1]
        if self.profile is not None:
            return self.profile.get(name, UNSPECIFIED)
        return codes[max(until - 1, 0)] if codes else None

    def available(self, past: Past, model: Model) -> frozenset[str] | None:
        """Return which attributes had a value at a request: None, for all, without a profile.

        Those that the profile or the request itself had, and what is set for each request.
        """
        if self.profile is None:
            return None
        carried = {name for name, code in past.disclosed if code != UNSPECIFIED}
        of_requests = {each.name for each in model.attributes[model.persons :]}
        return frozenset(carried | of_requests | self.profile.keys())


def worlds_of(history: Sequence[Past], model: Model, profile: Codes | None = None) -> Worlds:
    """Return the worlds in which to replay a history: one, where there is a profile.

    Else one for each of up to MOST_PEOPLE people, evenly spaced among the model's who agree with
    the latest values in the history; among all of them where nobody does.
    """
    held: dict[str, list[tuple[int, int]]] = {}
    for place, past in enumerate(history):
        for name, code in past.disclosed:
            held.setdefault(name, []).append((place, code))
    said: Said = {name: _columns(pairs) for name, pairs in held.items()}
    if profile is not None:
        return Worlds(said, profile, ({},), alike=True)
    rows, alike = _people(said, model)
    return Worlds(said, None, rows, alike)


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(place for place, _ in pairs), tuple(code for _, code in pairs)


def _people(said: Said, model: Model) -> tuple[tuple[Codes, ...], bool]:
    """Return the codes of people like the one who said this, and whether there are any."""
    population = model.population
    names = [attribute.name for attribute in model.attributes[: model.persons]]
    agree = np.ones(population.people, dtype=bool)
    for index, name in enumerate(names):
        if name in said:
            agree &= population.columns[index] == said[name][1][-1]
    alike = bool(agree.any())
    rows = np.flatnonzero(agree) if alike else np.arange(population.people)
    count = min(len(rows), MOST_PEOPLE)
    chosen = rows[[place * len(rows) // count for place in range(count)]]
    people = (dict(zip(names, population.codes[row].tolist(), strict=True)) for row in chosen)
    return tuple(people), alike
