"""Sets of attributes as integers, the tables of people and requests, and figures of sets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, combinations
from math import isnan, log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.shares import Shares

PRICE_STEP = 2.0**-36  # bits; a thousand prices sum up exactly
SOME = 16  # attributes: of so many, each is sooner taken by itself than all at once
EVERYTHING = -1  # as a mask
ROWS_KEPT, VALUES_KEPT = 2_000, 50_000  # of a figure; 8 bytes for each attribute of a row


def union(attributes: Iterable[int]) -> int:
    """The set of these attributes."""
    mask = 0
    for attribute in attributes:
        mask |= 1 << attribute
    return mask


def flagged(flags: NDArray[np.bool_]) -> int:
    """The set of the attributes with a flag, bool, shape (n,)."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def members(mask: int) -> Iterator[int]:
    """The attributes of a set in ascending order."""
    if mask.bit_count() > SOME:
        data = np.frombuffer(mask.to_bytes((mask.bit_length() + 7) // 8, "little"), np.uint8)
        return iter(np.unpackbits(data, bitorder="little").nonzero()[0].tolist())
    some = list[int]()
    while mask > 0:
        lowest = mask & -mask
        some.append(lowest.bit_length() - 1)
        mask ^= lowest
    return iter(some)


def mask_arrays(masks: Iterable[int], count: int) -> NDArray[np.bool_]:
    """Which of ``count`` attributes are in each of these sets, bool, shape (sets, count)."""
    size, every = (count + 7) // 8, (1 << count) - 1
    data = b"".join([(mask & every).to_bytes(size, "little") for mask in masks])
    bits = np.frombuffer(data, np.uint8).reshape(-1, size)
    return np.unpackbits(bits, axis=1, count=count, bitorder="little").view(bool)


@cache
def pairs(count: int) -> tuple[int, ...]:
    """The sets of two of ``count`` attributes: {0, 1}, {0, 2}, ..., {1, 2} and so on."""
    return tuple(1 << one | 1 << other for one, other in combinations(range(count), 2))


def subsets(mask: int) -> Iterator[int]:
    """Yield every subset of a set, the empty one first, in ascending order."""
    subset = 0
    while True:
        yield subset
        if subset == mask:
            return
        subset = (subset - mask) & mask


Indexes = NDArray[np.intp]
Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger]
Numbers = NDArray[np.integer]
EXACT_BITS = 52  # of a sum of float64
LOG_BITS = 40  # binary places of a logarithm
PRIOR_ROWS = 5  # weight of the overall share in P_j(v|y), in rows
UNSPECIFIED = 0  # the code of "not specified" in every attribute


def summable(figures: Floats) -> Floats:
    """Figures above 0, float64, rounded so that sums of them are exact in any order."""
    step = 2.0 ** (np.ceil(np.log2(figures.sum())) - EXACT_BITS)
    return np.asarray(np.maximum(np.round(figures / step), 1.0) * step)


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
        """The kinds of people, in ascending order; ``counts``: shape (N, values)."""
        kinds, of_row = np.unique(counts, axis=0, return_inverse=True)
        return cls(kinds, of_row.ravel().astype(np.min_scalar_type(max(len(kinds) - 1, 0))))


@dataclass(frozen=True, eq=False)
class Population:
    """The people a recipient might take the user for (DESIGN.md 2.2, 2.7).

    ``codes``: unsigned, shape (N, C), codes of the first C person attributes, the columns.
    ``weights``: float64, shape (N,), >= 1, how many people each row stands for; or None where
    each row is one person.
    ``requests``: one for each request attribute.
    ``hanging``: for an attribute that hangs on another one, that one, and its codes by which
    nothing follows for the first.
    ``shares``: of the person attributes behind the columns; None where there are none.
    ``respondents``: integers from 0 on, shape (N,), who each row is a copy of; None where no two
    are of one. ``donors``: the same, shape (B, N), of each block of columns drawn from another
    survey, whose each row has; None without any. ``blocks``: its attributes, a mask for each.
    ``pairs``: how many people have each two values, as `pair_people` counts them, and how many
    values each column has; None where that is counted when it is needed. ``residents``: how many
    people live where the user does, where the rows are no sample of them, but only say how common
    facts are; None where they are.
    """

    codes: Codes
    weights: Floats | None = None
    requests: tuple[Kinds, ...] = field(default=())
    hanging: Mapping[int, tuple[int, frozenset[int]]] = field(default_factory=dict)
    shares: Shares | None = None
    respondents: Numbers | None = None
    donors: Numbers | None = None
    blocks: tuple[int, ...] = ()
    pairs: tuple[Floats, tuple[int, ...]] | None = field(default=None, repr=False)
    residents: float | None = None
    memo: dict[object, Any] = field(default_factory=dict, init=False, repr=False)
    """What was computed from these people, and is not computed again."""

    @cached_property
    def rows(self) -> int:
        """N, the number of rows."""
        return int(self.codes.shape[0])

    @cached_property
    def summable(self) -> Floats:
        """The weights, 1 where there are none, rounded: sums of them are exact in any order."""
        return np.ones(self.rows) if self.weights is None else summable(self.weights)

    @cached_property
    def people(self) -> float:
        """How many people the rows stand for: the sum of the weights, or their number."""
        return float(self.summable.sum())

    @property
    def drawn(self) -> float:
        """Which share of the people are rows: p, 0 to 1."""
        return min(1.0, self.rows / max(self.people, 1.0))

    @cached_property
    def people_bits(self) -> float:
        """Its logarithm, log2, as exact as `share_bits`."""
        return float(round(log2(self.people) * 2**LOG_BITS)) * 2.0**-LOG_BITS

    @cached_property
    def persons(self) -> int:
        """P, the number of person attributes: of the columns, and of those held by shares."""
        return self.tabled + (0 if self.shares is None else len(self.shares.attributes))

    @cached_property
    def tabled(self) -> int:
        """C, the number of person attributes that are columns: those with an index below it."""
        return int(self.codes.shape[1])

    def codes_of(self, rows: Indexes) -> Codes:
        """Codes of all person attributes of some rows: shares say nothing of a single person."""
        return np.pad(self.codes[rows], ((0, 0), (0, self.persons - self.tabled)))

    @cached_property
    def columns(self) -> Codes:
        """The codes with one contiguous row per attribute, shape (P, N)."""
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def people_by_code(self) -> Floats:
        """How many people have each value of each column, float64, shape (C, 256)."""
        if self.pairs is not None and self.tabled > 1:  # those of the first column tell it sooner
            people, (first, *rest) = self.pairs
            tables = np.split(people[: first * sum(rest)], first * np.cumsum(rest)[:-1])
            tables = [each.reshape(first, -1) for each in tables]
            alone = tables[0].sum(axis=1), *(each.sum(axis=0) for each in tables)
            return np.array([np.pad(each, (0, 256 - len(each))) for each in alone])
        return np.array([np.bincount(each, self.summable, 256) for each in self.columns], float)

    @cached_property
    def share_bits(self) -> Floats:
        """Log2 of the share of the people who have each value of each column.

        Float64, shape (C, 256), minus infinity for codes that nobody has; rounded to LOG_BITS
        binary places, so that sums of them are exact.
        """
        with np.errstate(divide="ignore"):
            bits = np.log2(self.people_by_code / self.people)
        return np.asarray(np.round(bits * 2**LOG_BITS) / 2**LOG_BITS)

    def possible_codes(self, values: Iterable[tuple[int, int]]) -> dict[int, frozenset[int]]:
        """Codes, by column, of the people who agree with these (attribute, code) pairs.

        Where every row specifies an attribute that hangs on another one, "unspecified" is what it
        is set to where nothing follows for it: it tells that of the other one.
        """
        possible: dict[int, frozenset[int]] = {}
        for attribute, code in (each for each in values if each[0] < self.tabled):
            place, codes = attribute, frozenset([code])
            hanging = self.hanging.get(attribute, (self.tabled,))[0] < self.tabled
            unspecified = code == UNSPECIFIED and hanging
            if unspecified and self.share_bits[attribute, UNSPECIFIED] == -np.inf:
                place, codes = self.hanging[attribute]
            possible[place] = codes & possible.get(place, codes)
        return possible

    def agreeing(self, possible: Mapping[int, frozenset[int]]) -> NDArray[np.bool_]:
        """Whether a row has one of the possible codes of each attribute, bool, shape (N,)."""
        agree = np.ones(self.rows, dtype=bool)
        for attribute, codes in possible.items():
            column = self.columns[attribute]
            agree &= column == next(iter(codes)) if len(codes) == 1 else np.isin(column, [*codes])
        return agree

    def nearest(self, possible: Mapping[int, frozenset[int]]) -> NDArray[np.bool_]:
        """Where no row agrees: which agree with as much as some do, bool, shape (N,).

        Their other values stand in for those of people who agree with all.
        """
        agree = np.ones(self.rows, dtype=bool)
        for attribute, codes in sorted(possible.items()):
            both = agree & self.agreeing({attribute: codes})
            agree = both if both.any() else agree
        return agree

    def bits_of(self, attribute: int, codes: frozenset[int]) -> float:
        """Log2 of the share of the people who have one of these, as `share_bits` does."""
        bits = self.share_bits[attribute, [*codes]]
        if len(codes) == 1:
            return float(bits[0])
        with np.errstate(divide="ignore"):
            return float(np.round(np.log2(np.exp2(bits).sum()) * 2**LOG_BITS) / 2**LOG_BITS)

    @cached_property
    def behind(self) -> dict[int, Numbers]:
        """Who stands behind the rows, shape (N,), where fewer than there are rows.

        The respondents, where rows are copies, for every set, -1 as a mask; and the donors of each
        block of columns, for sets that have a part of it.
        """
        behind = {} if self.respondents is None else {-1: self.respondents}
        if self.donors is not None:
            behind |= dict(zip(self.blocks, self.donors, strict=True))
        return behind

    @cached_property
    def orders(self) -> dict[int, Indexes]:
        """The rows in the order of who stands ``behind`` them, intp, shape (N,)."""
        return {block: stable_order(numbers) for block, numbers in self.behind.items()}

    @cached_property
    def likely(self) -> list[Floats]:
        """P_j(v|y) of each request attribute j, by value and by kind of people.

        (n_yv + 5 P_j(v)) / (n_y + 5), float64, each of shape (values, kinds).
        """
        tables = []
        for counts, of_row in self.requests:
            chances = np.ascontiguousarray(counts.T, dtype=np.float64)
            people = np.bincount(of_row, minlength=len(counts))
            rows, overall = chances.sum(axis=0), chances @ people
            chances += (PRIOR_ROWS * overall / overall.sum())[:, None]
            chances /= rows + PRIOR_ROWS
            tables.append(chances)
        return tables


def stable_order(numbers: NDArray[Any]) -> Indexes:
    """The stable order of integers from 0 on, by 16 bits at a time, for which NumPy is linear."""
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    for more in range(16, int(numbers.max(initial=0)).bit_length(), 16):
        order = order[np.argsort((numbers[order] >> more).astype(np.uint16), kind="stable")]
    return order


def exact(prices: Floats) -> Floats:
    """Prices in bits, rounded so that the sum of any of them is exact in any order."""
    return np.asarray(np.rint(prices / PRICE_STEP) * PRICE_STEP)


@cache
def above_diagonal(count: int) -> tuple[Indexes, Indexes]:
    """Where in a matrix two of ``count`` attributes are, in the order of `pairs`."""
    return np.triu_indices(count, 1)


def by_pair(matrix: Floats) -> tuple[tuple[int, ...], Floats]:
    """The sets of two attributes in order, and the figure of each in a symmetric matrix."""
    return pairs(len(matrix)), matrix[above_diagonal(len(matrix))]


@cache
def _places(count: int) -> Indexes:
    matrix, upper = np.diag(np.arange(count)), above_diagonal(count)
    matrix[upper] = matrix.T[upper] = count + np.arange(len(upper[0]))
    return matrix


Rows = Mapping[int, Floats]
"""By set A, a figure of A u {V} for each attribute V, float64, shape (n,); of A where V is in A."""


def rows_of(singles: Floats, both: Floats | None) -> dict[int, Floats]:
    """The rows of the empty set, and of each attribute where those of two are given.

    ``both``: float64, shape (n(n-1)/2,), in the order of `pairs`.
    """
    matrix = () if both is None else np.concatenate([singles, both]).take(_places(len(singles)))
    return {0: singles, **{1 << at: row for at, row in enumerate(matrix)}}


def matrix_of(rows: Rows, count: int) -> Floats | None:
    """The figures of every two attributes, symmetric; None where a row of one is missing."""
    sets = [1 << each for each in range(count)]
    return np.array([rows[each] for each in sets]) if all(each in rows for each in sets) else None


def weighted(parts: Sequence[Rows], weights: Sequence[float]) -> dict[int, Floats]:
    """The weighted sums of the rows that all of these have."""
    sets = [mask for mask in parts[0] if all(mask in each for each in parts)]
    both = zip(parts, weights, strict=True)
    whole = sum(weight * np.array([part[mask] for mask in sets]) for part, weight in both)
    return dict(zip(sets, np.array(whole), strict=True))


class SetFigures:
    """A figure of sets that is stored, or computed once it is needed.

    Of those that were computed, the oldest are forgotten first.
    """

    def __init__(
        self,
        count: int,
        one: Callable[[int], float],
        beside: Callable[[int, Sequence[int]], Sequence[float]] | None = None,
        stored: Rows | None = None,
        whole: Callable[[int], Floats] | None = None,
    ) -> None:
        """Take what computes the figure of a set, and of a set with each of some attributes added.

        ``count``: how many attributes there are; ``beside``: by default one set after the other;
        ``whole``: where it takes no longer, the figures with each of all attributes, of the set
        itself for those in it.
        """
        self.stored: Rows = {} if stored is None else stored
        self._one, self._beside, self._whole = one, beside, whole
        self._nothing = np.full(count, np.nan)
        self._values: dict[int, float] = {}
        self._rows: dict[int, Floats] = {}
        self._computed: dict[int, int] = {}  # of each row, beside which attributes, a mask

    def value(self, mask: int) -> float:
        """The figure of a set: from a row, or else computed."""
        if mask not in self._values:
            both, inside = (self.stored, self._rows), [*members(mask)]
            beside = ((rows.get(mask ^ 1 << each), each) for rows in both for each in inside)
            own = ((self.stored.get(mask), each) for each in inside[-1:])
            figures = (float(row[at]) for row, at in chain(beside, own) if row is not None)
            figure = next((each for each in figures if not isnan(each)), None)
            if len(self._values) >= VALUES_KEPT:
                del self._values[next(iter(self._values))]
            self._values[mask] = self._one(mask) if figure is None else figure
        return self._values[mask]

    def beside(self, mask: int, wanted: int) -> Floats:
        """The figure of A u {V} by V, float64, shape (n,), at least where V is ``wanted``.

        It is not to be written to.
        """
        missing = self.missing(mask, wanted)
        if missing and self._whole:
            self.add(mask, EVERYTHING, self._whole(mask))
        elif missing:
            new = [*members(missing)]
            one_by_one = (self.value(mask | 1 << each) for each in new)
            self.add(mask, missing, self._beside(mask, new) if self._beside else [*one_by_one])
        return self.stored.get(mask, self._rows.get(mask, self._nothing))

    def missing(self, mask: int, wanted: int) -> int:
        """The attributes of ``wanted``, a mask, beside which the figure is not at hand."""
        return 0 if mask in self.stored else wanted & ~self._computed.get(mask, 0)

    def add(self, mask: int, attributes: int, figures: Sequence[float] | Floats) -> None:
        """Take the figure of A u {V} for each V in ``attributes``, a mask, in ascending order."""
        if mask not in self._rows:
            if len(self._rows) >= ROWS_KEPT:
                oldest = next(iter(self._rows))
                del self._rows[oldest], self._computed[oldest]
            self._rows[mask], self._computed[mask] = self._nothing.copy(), 0
        some = slice(None) if attributes == EVERYTHING else [*members(attributes)]
        self._rows[mask][some] = figures
        self._computed[mask] |= attributes


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view of an array."""
    view = array.view()
    view.setflags(write=False)
    return view


def smallest(tensor: NDArray[Any]) -> NDArray[Any]:
    """A tensor in C order, its integers of the smallest unsigned type that holds them.

    Raises ValueError for an integer below 0.
    """
    # safetensors copies memory from the first number on, whatever the strides are.
    if tensor.dtype.kind == "f":
        return np.ascontiguousarray(tensor)
    if tensor.min(initial=0) < 0:
        raise ValueError("a code or count is below 0")
    return np.ascontiguousarray(tensor, np.min_scalar_type(int(tensor.max(initial=0))))
