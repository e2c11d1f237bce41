"""The two tables that everything is computed from: the rows of a query, and the population."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Indexes = NDArray[np.intp]
Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger]
EXACT_BITS = 52  # of a sum of float64
LOG_BITS = 40  # binary places of a logarithm
PRIOR_ROWS = 5  # weight of the overall share in P_j(v|y), in rows
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


class Kinds(NamedTuple):
    """How often people had each value of a request attribute; the same for all of a kind.

    ``counts``: unsigned, shape (kinds, values): n_yv, of all queries; ``of_row``: unsigned, shape
    (N,), the kind of each row of the population.
    """

    counts: Codes
    of_row: Codes

    @classmethod
    def of(cls, counts: Codes) -> "Kinds":
        """Return the kinds of people, in ascending order; ``counts``: shape (N, values)."""
        found, of_row = np.unique(counts, axis=0, return_inverse=True)
        return cls(found, of_row.ravel().astype(np.min_scalar_type(max(len(found) - 1, 0))))

    @property
    def by_row(self) -> Codes:
        """n_yv of each row of the population, shape (N, values)."""
        return self.counts[self.of_row]


@dataclass(frozen=True, eq=False)
class Population:
    """The people a recipient might take the user for (DESIGN.md 2.2, 2.7).

    ``codes``: unsigned, shape (N, P), codes of the person attributes.
    ``weights``: float64, shape (N,), >= 1, how many people each row stands for; or None where
    each row is one person.
    ``requests``: one for each request attribute.
    ``hanging``: for an attribute that hangs on another one, that one, and its codes by which
    nothing follows for the first.
    """

    codes: Codes
    weights: Floats | None = None
    requests: tuple[Kinds, ...] = field(default=())
    hanging: Mapping[int, tuple[int, frozenset[int]]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """N, the number of rows."""
        return int(self.codes.shape[0])

    @cached_property
    def summable(self) -> Floats | None:
        """The weights, rounded so that sums of them are exact, in whatever order they are added."""
        if self.weights is None:
            return None
        step = 2.0 ** (np.ceil(np.log2(self.weights.sum())) - EXACT_BITS)
        rounded: Floats = np.round(self.weights / step) * step
        return rounded

    @cached_property
    def people(self) -> float:
        """How many people the rows stand for: the sum of the weights, or their number."""
        return float(self.rows if self.summable is None else self.summable.sum())

    @property
    def people_bits(self) -> float:
        """Its logarithm, log2, as exact as `share_bits`."""
        return float(round(log2(self.people) * 2**LOG_BITS)) * 2.0**-LOG_BITS

    @property
    def persons(self) -> int:
        """P, the number of person attributes."""
        return int(self.codes.shape[1])

    @cached_property
    def columns(self) -> Codes:
        """The codes with one contiguous row per attribute, shape (P, N)."""
        return np.ascontiguousarray(self.codes.T)

    def share_bits(self, attribute: int) -> Floats:
        """Return log2 of the share of the people who have each value of a person attribute.

        Float64, shape (256,), minus infinity for codes that nobody has; rounded to LOG_BITS
        binary places, so that sums of them are exact.
        """
        found = self._share_bits.get(attribute)
        if found is None:
            people = np.bincount(self.columns[attribute], self.summable, 256)
            with np.errstate(divide="ignore"):
                bits = np.log2(people / self.people)
            found = self._share_bits[attribute] = np.round(bits * 2**LOG_BITS) / 2**LOG_BITS
        return found

    def told(self, values: Iterable[tuple[int, int]]) -> dict[int, frozenset[int]]:
        """Return which codes people may have, by attribute, who agree with (attribute, code) pairs.

        Where every row specifies an attribute that hangs on another one, "unspecified" is what it
        is set to where nothing follows for it: it tells that of the other one.
        """
        found: dict[int, frozenset[int]] = {}
        for attribute, code in values:
            place, codes = attribute, frozenset([code])
            if not code and attribute in self.hanging and not self._has_unspecified(attribute):
                place, codes = self.hanging[attribute]
            found[place] = codes & found.get(place, codes)
        return found

    def agreeing(self, told: Mapping[int, frozenset[int]]) -> NDArray[np.bool_]:
        """Return which rows have one of the codes of each attribute, bool, shape (N,)."""
        agree = np.ones(self.rows, dtype=bool)
        for attribute, codes in told.items():
            column = self.columns[attribute]
            agree &= column == next(iter(codes)) if len(codes) == 1 else np.isin(column, [*codes])
        return agree

    def bits_of(self, attribute: int, codes: frozenset[int]) -> float:
        """Return log2 of the share of the people who have one of these, as `share_bits` does."""
        bits = self.share_bits(attribute)[[*codes]]
        if len(codes) == 1:
            return float(bits[0])
        with np.errstate(divide="ignore"):
            return float(np.round(np.log2(np.exp2(bits).sum()) * 2**LOG_BITS) / 2**LOG_BITS)

    def _has_unspecified(self, attribute: int) -> bool:
        """Say whether somebody in the data has not said it."""
        return bool(self.share_bits(attribute)[UNSPECIFIED] > -np.inf)

    def likely(self, request: int) -> Floats:
        """Return P_j(v|y) for each value of request attribute j, and for each kind of people.

        (n_yv + 5 P_j(v)) / (n_y + 5), float64, shape (values, kinds).
        """
        found = self._likely.get(request)
        if found is None:
            kinds = self.requests[request]
            found = np.ascontiguousarray(kinds.counts.T, dtype=np.float64)
            people = np.bincount(kinds.of_row, minlength=found.shape[1])
            rows, overall = found.sum(axis=0), found @ people
            found += (PRIOR_ROWS * overall / overall.sum())[:, None]
            found /= rows + PRIOR_ROWS
            self._likely[request] = found
        return found

    @cached_property
    def _likely(self) -> dict[int, Floats]:
        return {}

    @cached_property
    def _share_bits(self) -> dict[int, Floats]:
        return {}
