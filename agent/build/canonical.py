"""People and the rows of queries as arrays, in an order that says nothing about who they were."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.tables import Indexes, Kinds, Population, QueryRows

Codes = NDArray[np.uint8]

MOST_ROWS = 30_000  # of a query: of more, those of some users are kept


class ArrangedPeople(NamedTuple):
    """The population, and the position of each user in it.

    ``place``: intp, shape (N,), the position in the population of the user at each position of
    the table; ``profile``: intp, shape (N,), for each position of the population, the rank of
    its codes among those that occur.
    """

    population: Population
    place: Indexes
    profile: Indexes


def arranged(
    codes: Codes, counts: Sequence[NDArray[np.uint32]], weights: NDArray[np.float64] | None
) -> ArrangedPeople:
    """Arrange the people in the order of their codes, counts and weights.

    So the order depends on nothing but what the model holds anyway: a shuffle whose seed can be
    computed could be undone.
    """
    wide = [np.ascontiguousarray(table).astype(">u4").view(np.uint8) for table in counts]
    if weights is not None:  # bytes of numbers above 0 are in order of the numbers
        wide.append(weights[:, None].astype(">f8").view(np.uint8))
    both = np.ascontiguousarray(np.hstack([codes, *wide]))
    # Each row as one value that compares byte by byte.
    order = np.argsort(both.view(np.dtype((np.void, both.shape[1]))).ravel(), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    codes = np.ascontiguousarray(codes[order])
    changes = (codes[1:] != codes[:-1]).any(axis=1)
    profile = np.concatenate([[0], np.cumsum(changes)])
    kinds = tuple(Kinds.of(table[order]) for table in counts)
    own = None if weights is None else weights[order]
    return ArrangedPeople(Population(codes, own, kinds), place, profile)


class Events(NamedTuple):
    """The rows of one query, in order of user.

    ``user``: intp, shape (M,), position in the table of users; ``intent``: intp, shape (M,);
    ``request``: uint8, shape (M, R), codes of the request attributes.
    """

    user: Indexes
    intent: Indexes
    request: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """One query as it was observed.

    ``people``: intp, shape (users,), position in the population of each user of ``rows``, for
    validation; it must not get into a model. ``events``: how many rows there were.
    """

    text: str
    intents: tuple[str, ...]
    rows: QueryRows
    people: Indexes
    events: int

    def capped(self, hashes: NDArray[np.uint64]) -> "Observed":
        """The query with at most MOST_ROWS rows, all those of some users, at least one.

        ``hashes``: uint64, shape (N,), of the population; the users with the smallest are kept.
        """
        if len(self.rows.user) <= MOST_ROWS:
            return self
        sizes = np.bincount(self.rows.user)
        order = np.argsort(hashes[self.people], kind="stable")
        fit = max(1, int(np.searchsorted(np.cumsum(sizes[order]), MOST_ROWS, "right")))
        chosen = np.zeros(len(hashes), dtype=bool)
        chosen[self.people[order[:fit]]] = True
        return self.part(chosen) or self

    def part(self, chosen: NDArray[np.bool_]) -> "Observed | None":
        """The query with the rows of some of the people, None if they have none.

        ``chosen``: bool, shape (N,). Users and intents are numbered anew, those left out gone.
        """
        inside = chosen[self.people]
        of_row = inside[self.rows.user]
        if not of_row.any():
            return None
        user, intent = self.rows.user[of_row], self.rows.intent[of_row]
        intents, intent = np.unique(intent, return_inverse=True)
        rows = QueryRows(
            user=(np.cumsum(inside) - 1)[user],
            intent=intent,
            person=self.rows.person[inside],
            request=self.rows.request[of_row],
            intents=len(intents),
        )
        names = tuple(self.intents[each] for each in intents)
        return Observed(self.text, names, rows, self.people[inside], self.events)


def observed(
    text: str, intents: tuple[str, ...], events: Events, people: ArrangedPeople
) -> Observed:
    """The rows of a query, with its users numbered in order of their codes and their rows.

    As in the population, the order is a function of what the model holds of each anyway. Users
    who agree in all of it cannot be told apart.
    """
    first = np.flatnonzero(np.diff(events.user, prepend=-1))
    person = people.place[events.user[first]]
    # 64 bits for each user that depend on the contents of the user's rows only.
    row_hashes = mixed(events.intent.astype(np.uint64))
    for column in events.request.T:
        row_hashes = mixed(row_hashes + column)
    order = np.lexsort((np.add.reduceat(row_hashes, first), people.profile[person]))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    user = np.repeat(number, np.diff(first, append=len(events.user)))
    by_user = np.argsort(user, kind="stable")
    rows = QueryRows(
        user=user[by_user],
        intent=events.intent[by_user],
        person=people.population.codes[person[order]],
        request=events.request[by_user],
        intents=len(intents),
    )
    return Observed(text, intents, rows, person[order], len(events.user))


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble values, uint64: the result looks unrelated to them, and differs where they do.

    Source: splitmix64 (Steele, Lea, Flood 2014, figure 16), with its odd constants and shifts.
    """
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
