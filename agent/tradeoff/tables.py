"""The two tables that everything is computed from: the rows of a query, and the population."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Indexes = NDArray[np.intp]
Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger]
UNSPECIFIED = 0  # the code of "not specified" in every attribute


@dataclass(frozen=True, eq=False)
class QueryRows:
    """The observed requests for one query (DESIGN.md 2.1).

    ``user``: intp, shape (M,), who sent row r, numbered 0..users-1 within this query only.
    ``intent``: intp, shape (M,), what row r turned out to want, 0..intents-1.
    ``person``: unsigned, shape (users, P), codes of each user's person attributes.
    ``request``: unsigned, shape (M, R), codes of each row's request attributes.
    ``intents``: K, the number of distinct intents of the query.
    Attribute ``i`` is column i of ``person`` for i < P, else column i - P of ``request``.
    """

    user: Indexes
    intent: Indexes
    person: Codes
    request: Codes
    intents: int

    @property
    def persons(self) -> int:
        """P, the number of person attributes."""
        return int(self.person.shape[1])


@dataclass(frozen=True, eq=False)
class Population:
    """The people a recipient might take the user for (DESIGN.md 2.2).

    ``codes``: unsigned, shape (N, P), codes of the person attributes.
    ``weights``: float64, shape (N,), relative probability that a request comes from each; or
    None where all are equal.
    ``request_counts``: one array per request attribute j, unsigned, shape (N, values of j):
    n_yv, how many of person y's rows of all queries had value v.
    """

    codes: Codes
    weights: Floats | None = None
    request_counts: tuple[Codes, ...] = field(default=())

    @property
    def people(self) -> int:
        """N, the number of people."""
        return int(self.codes.shape[0])

    @property
    def persons(self) -> int:
        """P, the number of person attributes."""
        return int(self.codes.shape[1])

    @cached_property
    def columns(self) -> Codes:
        """The codes with one contiguous row per attribute, shape (P, N)."""
        return np.ascontiguousarray(self.codes.T)
