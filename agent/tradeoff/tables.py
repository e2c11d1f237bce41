"""Sets of attributes as integers, the tables of people and requests, and figures of sets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

EMPTY = 0
ROWS_KEPT, VALUES_KEPT = 2_000, 50_000  # of a figure; 8 bytes for each attribute of a row


def singleton(attribute: int) -> int:
    """Return the set of this attribute alone."""
    return 1 << attribute


def union(attributes: Iterable[int]) -> int:
    """Return the set of these attributes."""
    mask = EMPTY
    for attribute in attributes:
        mask |= 1 << attribute
    return mask


def members(mask: int) -> Iterator[int]:
    """Yield the attributes of a set in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def mask_array(mask: int, count: int) -> NDArray[np.bool_]:
    """Return which of ``count`` attributes are in a set, bool, shape (count,)."""
    found: NDArray[np.bool_] = mask_arrays([mask], count)[0]
    return found


def mask_arrays(masks: Iterable[int], count: int) -> NDArray[np.bool_]:
    """Return which of ``count`` attributes are in each of these sets, bool, shape (sets, count)."""
    size, every = (count + 7) // 8, (1 << count) - 1
    data = b"".join([(mask & every).to_bytes(size, "little") for mask in masks])
    bits = np.frombuffer(data, np.uint8).reshape(-1, size)
    return np.unpackbits(bits, axis=1, count=count, bitorder="little").view(bool)


def pairs(count: int) -> list[int]:
    """Return the sets of two of ``count`` attributes: {0, 1}, {0, 2}, ..., {1, 2} and so on."""
    return [1 << one | 1 << other for one in range(count) for other in range(one + 1, count)]


def subsets(mask: int) -> Iterator[int]:
    """Yield every subset of a set, the empty one first, in ascending order."""
    subset = EMPTY
    while True:
        yield subset
        if subset == mask:
            return
        subset = (subset - mask) & mask


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

    def possible_codes(self, values: Iterable[tuple[int, int]]) -> dict[int, frozenset[int]]:
        """Codes, by attribute, of the people who agree with these (attribute, code) pairs.

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

    def agreeing(self, possible: Mapping[int, frozenset[int]]) -> NDArray[np.bool_]:
        """Whether a row has one of the possible codes of each attribute, bool, shape (N,)."""
        agree = np.ones(self.rows, dtype=bool)
        for attribute, codes in possible.items():
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


class Stored:
    """A figure of some sets, such as U in bits, at hand without a count."""

    def __init__(
        self,
        singles: Floats | None = None,
        both: Floats | None = None,
        rows: Mapping[int, Floats] | None = None,
    ) -> None:
        """Take the figure of each attribute, of two, and of sets with each attribute added.

        ``singles``: float64, shape (n,); ``both``: float64, shape (n(n-1)/2,), in the order of
        ``sets.pairs``; ``rows``: by set A, float64, shape (n,), the figure of A u {V} for each V,
        that of A where V is in A. None for what is not known.
        """
        self.singles, self.both = singles, both
        self.rows = dict(rows or {})
        """By set, what is known beside pairs."""

    @cached_property
    def matrix(self) -> Floats | None:
        """The figure of two attributes, symmetric, that of one on the diagonal; None if unknown."""
        if self.singles is None or self.both is None:
            return None
        return square(self.singles, self.both)

    def row(self, mask: int) -> Floats | None:
        """Return the figure of A u {V} for each V, float64, shape (n,); None where it is not known.

        It is not to be written to.
        """
        if not mask and self.singles is not None:
            return self.singles
        if mask and not mask & (mask - 1) and self.matrix is not None:
            found: Floats = self.matrix[mask.bit_length() - 1]
            return found
        return self.rows.get(mask)

    def get(self, mask: int) -> float | None:
        """Return the figure of a set that is not empty, None where it is not known."""
        if mask in self.rows:
            return float(self.rows[mask][mask.bit_length() - 1])
        for each in members(mask):
            row = Stored.row(self, mask ^ singleton(each))  # one that is known already
            if row is not None:
                return float(row[each])
        return None


class SetFigures:
    """A figure of sets that is stored, or computed once when it is asked for.

    The oldest that were computed are forgotten first.
    """

    def __init__(
        self,
        count: int,
        one: Callable[[int], float],
        beside: Callable[[int, Sequence[int]], Sequence[float]],
        stored: Stored | None = None,
    ) -> None:
        """Take what computes the figure of a set, and of a set with each of some attributes added.

        ``count``: how many attributes there are.
        """
        self.stored = Stored() if stored is None else stored
        self._one, self._beside = one, beside
        self._nothing = np.full(count, np.nan)
        self._values: dict[int, float] = {}
        self._rows: dict[int, Floats] = {}
        self._done: dict[int, int] = {}

    def value(self, mask: int) -> float:
        """Return the figure of a set."""
        found = self._values.get(mask)
        if found is None:
            found = self._elsewhere(mask)
        if found is None:
            if len(self._values) >= VALUES_KEPT:
                del self._values[next(iter(self._values))]
            found = self._values[mask] = self._one(mask)
        return found

    def beside(self, mask: int, wanted: int) -> Floats:
        """Return the figure of A u {V} by V, float64, shape (n,), at least where V is ``wanted``.

        It is not to be written to.
        """
        found = self.stored.row(mask)
        if found is not None:
            return found
        missing = [*members(wanted & ~self._done.get(mask, 0))]
        if missing:
            self.add(mask, missing, self._beside(mask, missing))
        return self._rows.get(mask, self._nothing)

    def ahead(self, mask: int) -> tuple[Floats, bool]:
        """Return the same as far as it is known, NaN where it is not, and whether it is stored."""
        found = self.stored.row(mask)
        return (self._rows.get(mask, self._nothing), False) if found is None else (found, True)

    def done(self, mask: int) -> int:
        """Return the attributes beside which the figure was computed, a mask."""
        return self._done.get(mask, 0)

    def add(self, mask: int, attributes: Sequence[int], figures: Sequence[float]) -> None:
        """Take the figure of A u {V} for each V in ``attributes``."""
        if mask not in self._rows:
            if len(self._rows) >= ROWS_KEPT:
                oldest = next(iter(self._rows))
                del self._rows[oldest], self._done[oldest]
            self._rows[mask], self._done[mask] = self._nothing.copy(), 0
        self._rows[mask][[*attributes]] = figures
        self._done[mask] |= union(attributes)

    def _elsewhere(self, mask: int) -> float | None:
        """Return the figure of a set where it is stored, or in a row; None elsewhere."""
        found = self.stored.get(mask) if mask else None
        if found is None:
            for each in members(mask):
                if self._done.get(mask ^ singleton(each), 0) >> each & 1:
                    return float(self._rows[mask ^ singleton(each)][each])
        return found


@cache
def above_diagonal(count: int) -> tuple[Indexes, Indexes]:
    """Return where in a matrix two of ``count`` attributes are, in the order of ``sets.pairs``."""
    rows, columns = np.triu_indices(count, 1)
    return rows, columns


def square(singles: Floats, both: Floats) -> Floats:
    """Return figures of one and two attributes as a symmetric matrix, shape (n, n)."""
    return np.concatenate([singles, both]).take(places(len(singles)))


@cache
def places(count: int) -> Indexes:
    """Return where figures of one and two of ``count`` attributes are in their matrix."""
    matrix = np.diag(np.arange(count))
    upper = above_diagonal(count)
    matrix[upper] = matrix.T[upper] = count + np.arange(len(upper[0]))
    return matrix


def weighted(parts: Sequence[Stored], weights: Sequence[float]) -> Stored:
    """Return the weighted sum of figures of the sets that all of these know."""

    def total(figures: Sequence[Floats | None]) -> Floats | None:
        known = [each for each in figures if each is not None]
        if len(known) < len(figures):
            return None
        whole = known[0] * weights[0]
        for each, weight in zip(known[1:], weights[1:], strict=True):
            whole += each * weight
        return whole

    found = Stored(total([each.singles for each in parts]), total([each.both for each in parts]))
    for mask in set[int].intersection(*({*each.rows} for each in parts)):
        row = total([each.rows[mask] for each in parts])
        if row is not None:
            found.rows[mask] = row
    return found
