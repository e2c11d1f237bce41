"""The people: their codes and request counts, in an order that says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.tradeoff.tables import Population

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.uint8]
    Indexes = NDArray[np.intp]


class People(NamedTuple):
    """The population, and where each user went.

    ``place``: intp, shape (N,), the position in the population of the user at each position of
    the table; ``profile``: intp, shape (N,), for each position of the population, the rank of
    its codes among those that occur.
    """

    population: Population
    place: Indexes
    profile: Indexes


def counts_table(
    people: int, card: int, cells: tuple[Indexes, Indexes, Indexes]
) -> NDArray[np.uint32]:
    """Return n_yv, uint32, shape (people, card), from (person, value, rows) of what occurs."""
    person, value, rows = cells
    table = np.zeros((people, card), dtype=np.uint32)
    table[person, value] = rows
    return table


def arranged(codes: Codes, counts: Sequence[NDArray[np.uint32]]) -> People:
    """Return the people in the order of their codes and counts.

    So the order is a function of what the model holds of each anyway, and of nothing else: a
    shuffle whose seed can be computed could be undone.
    """
    wide = [np.ascontiguousarray(table).astype(">u4").view(np.uint8) for table in counts]
    order = np.argsort(_as_bytes(np.hstack([codes, *wide])), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    codes = np.ascontiguousarray(codes[order])
    changes = (codes[1:] != codes[:-1]).any(axis=1)
    profile = np.concatenate([[0], np.cumsum(changes)])
    tables = tuple(table[order] for table in counts)
    return People(Population(codes, None, tables), place, profile)


def part(population: Population, chosen: NDArray[np.bool_]) -> Population:
    """Return the population of some of its people; ``chosen``: bool, shape (N,)."""
    counts = tuple(table[chosen] for table in population.request_counts)
    return Population(population.codes[chosen], None, counts)


def _as_bytes(codes: Codes) -> NDArray[np.void]:
    """Return each row as one value that compares byte by byte."""
    codes = np.ascontiguousarray(codes)
    return codes.view(np.dtype((np.void, codes.shape[1]))).ravel()
