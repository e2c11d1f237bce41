"""What facts cost that no column holds: the shares of the people who have them (DESIGN.md 2.8)."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Spread = tuple[Floats, Floats]  # different rho, above 0 or certain to be 0, and their mass
BINS = 8  # of a histogram, for each bit of -log2 of a share
STEP = 2 ** (1 / BINS) - 1
LEAST = 1e-4  # nothing that is possible is taken to be rarer
KEPT = 2_000  # distributions of sets


def histogram(shares: Floats, mass: Floats) -> Floats:
    """The mass by -log2 of a share, in bins of 1/8 bit from 0 on, float64.

    Between two bins it is split so that the mean of 1/share stays what it is, also in products of
    independent shares: where many people are alike, a guess succeeds in proportion to that.
    """
    some = (shares > 0) & (mass > 0)
    low, upper = _places(shares[some])
    both = np.concatenate([mass[some] * (1 - upper), mass[some] * upper])
    return np.bincount(np.concatenate([low, low + 1]), both, 1).astype(np.float64, copy=False)


def _places(shares: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The lower of two bins for each share above 0, and the part of its mass in the upper one."""
    place = -np.log2(shares) * BINS
    low = np.floor(place)
    return low.astype(np.intp), (np.exp2((place - low) / BINS) - 1) / STEP


class Values(NamedTuple):
    """The values of a kind, code 1 first, among some people: float64, shape (v,).

    ``chances``: how probably somebody who has a fact of this kind has each; ``agreement``: how
    probably anybody else has it, too; ``masses``: the `histogram` of these.
    """

    chances: Floats
    agreement: Floats
    masses: Floats

    @classmethod
    def of(cls, shares: Floats) -> "Values":
        """The values by their shares; what has none is impossible, nothing else is very rare."""
        chances = shares / (shares.sum() or 1.0)
        agreement = np.where(shares > 0, np.maximum(shares, LEAST), 0.0)
        return cls(chances, agreement, histogram(agreement, chances))

    def one(self, code: int) -> tuple[float, float]:
        """The chance and the agreement of a code; 0, "unspecified", is as rare as the rarest."""
        rarest = np.argmin(np.where(self.agreement > 0, self.chances, np.inf))
        place = code - 1 if code else int(rarest)
        return float(self.chances[place]), float(self.agreement[place])


@dataclass(frozen=True, eq=False)
class KindShares:
    """How many people hold each value of a kind, as shares of all people.

    ``shares``: float64, shape (v,), of the listed values, code 1 first; they sum to 1, or are
    prevalences where ``several`` says that a person may hold several values.
    ``parent``: the place of the kind on which it depends, or ``column``: the column of the
    population; None and None where it depends on nothing.
    ``given``: float64, shape (codes of the parent, v), the shares among the people who have each of
    these; row 0, of "unspecified", as overall. A share of 0 there says that nobody can be both.
    """

    shares: Floats
    several: bool = False
    parent: int | None = None
    column: int | None = None
    given: Floats | None = None

    @cached_property
    def under(self) -> list[Values]:
        """The values under each code of the parent."""
        return [] if self.given is None else [Values.of(row) for row in self.given]

    @cached_property
    def overall(self) -> Values:
        """The values among all people."""
        return Values.of(self.shares)

    def values(self, code: int | None) -> Values:
        """The values under a code of the parent; None where it is not known."""
        return self.under[code] if self.under and code is not None else self.overall


@dataclass(frozen=True, eq=False)
class Shares:
    """The facts of persons that no column of a population holds; a forest of kinds.

    ``attributes``: for each attribute behind the columns, in their order, the place of its kind in
    ``kinds``. Those of a kind that may hold several facts are the first, second ... of these facts,
    each drawn by prevalence whatever the others are. Code 0, "unspecified", counts as the rarest of
    the listed values.
    """

    kinds: tuple[KindShares, ...]
    attributes: tuple[int, ...]


class Agreement:
    """Rho: how probably another person who is alike in the columns holds the same other facts.

    A slot is a place in ``Shares.attributes``. A value is drawn under the parent's where that is
    disclosed or in the set: that of its first slot, disclosed ones before others.
    """

    def __init__(
        self,
        shares: Shares,
        disclosed: Mapping[int, int],
        columns: Mapping[int, int],
        among: Callable[[int], Floats],
    ) -> None:
        """Take the shares, and what the recipient knows.

        ``disclosed``: codes by slot; ``columns``: codes by column, where d leaves but one;
        ``among``: of a column how many people, of those who agree with d, have each code.
        """
        self._shares, self._columns, self._among = shares, columns, among
        self._disclosed = dict(sorted(disclosed.items()))
        self._codes = dict[int, int]()  # disclosed, by kind
        for slot, code in self._disclosed.items():
            self._codes.setdefault(shares.attributes[slot], code)
        self._mixtures = dict[int, Values]()
        self._spreads = dict[tuple[object, ...], Spread]()
        self.by_column = dict[int, Floats]()
        """By column that d does not fix, how probably somebody with each code agrees in the
        disclosed facts that depend on it. No `Spread` counts these.
        """
        for slot, code in self._disclosed.items():
            if (column := self._column(slot)) is not None:
                agreement = np.array([each.one(code)[1] for each in self._kind(slot).under])
                self.by_column[column] = agreement * self.by_column.get(column, 1.0)

    def _kind(self, slot: int) -> KindShares:
        return self._shares.kinds[self._shares.attributes[slot]]

    def _column(self, slot: int) -> int | None:
        """The column on which a slot depends, if d does not fix it."""
        kind = self._kind(slot)
        return None if kind.given is None or kind.column in self._columns else kind.column

    def columns(self, slots: Sequence[int]) -> list[int]:
        """The columns on which the values of slots depend, and that d does not fix, ascending."""
        columns = {self._column(each) for each in slots if each not in self._disclosed}
        return sorted(each for each in columns if each is not None)

    def spread(self, slots: Sequence[int], columns: Mapping[int, int]) -> Spread:
        """Rho of the disclosed facts and those of a set, before its values are known.

        ``slots``: of the set, ascending; ``columns``: codes by column, more than d fixes.
        """
        some = [(each, columns[each]) for each in self.columns(slots) if each in columns]
        key = *slots, None, *some
        if key not in self._spreads:
            if len(self._spreads) >= KEPT:
                del self._spreads[next(iter(self._spreads))]
            new = [each for each in slots if each not in self._disclosed]
            self._spreads[key] = self._spread(new, columns)
        return self._spreads[key]

    def _spread(self, new: Sequence[int], columns: Mapping[int, int]) -> Spread:
        kinds, first, below = (
            self._shares.attributes,
            dict[int, int](),
            defaultdict[int, list[int]](list),
        )
        for each in new:
            if kinds[each] not in self._codes:
                first.setdefault(kinds[each], each)
        for each in (*new, *self._disclosed):
            parent = self._kind(each).parent
            if parent in first:
                below[first[parent]].append(each)
        inner = {*chain.from_iterable(below.values())}
        share = prod(
            self._values(each, {}).one(code)[1]
            for each, code in self._disclosed.items()
            if each not in inner and self._column(each) is None
        )
        trees = (self._tree(e, self._values(e, columns), below) for e in new if e not in inner)
        masses = reduce(np.convolve, trees, np.ones(1))
        used = np.flatnonzero(masses)
        if not share or not len(used):
            return np.zeros(1), np.ones(1)
        return share * np.exp2(used / -BINS), masses[used] / masses.sum()

    def _values(self, slot: int, columns: Mapping[int, int]) -> Values:
        """The values of a slot whose parent is not a new one of the set."""
        kind, place = self._kind(slot), self._shares.attributes[slot]
        if kind.parent is not None:
            return kind.values(self._codes.get(kind.parent))
        if kind.column is None or kind.given is None:
            return kind.overall
        code = self._columns.get(kind.column, columns.get(kind.column))
        if code is not None:
            return kind.values(code)
        if place not in self._mixtures:
            people = self._among(kind.column)[: len(kind.given)]
            self._mixtures[place] = Values.of(people / people.sum() @ kind.given)
        return self._mixtures[place]

    def _tree(self, slot: int, values: Values, below: Mapping[int, Sequence[int]]) -> Floats:
        """The histogram of a slot and of all that depends on it; what cannot be has no mass."""
        if slot in self._disclosed:
            chance, share = values.one(self._disclosed[slot])
            return histogram(np.array([share]), np.array([chance]))
        if slot not in below:
            return values.masses
        possible = np.flatnonzero(values.agreement)
        low, upper = _places(values.agreement[possible])
        parts = [
            reduce(
                np.convolve,
                (self._tree(each, self._kind(each).values(at + 1), below) for each in below[slot]),
                values.chances[at : at + 1],
            )
            for at in possible.tolist()
        ]
        masses = np.zeros(max(low + [len(each) for each in parts], default=0) + 1)
        for start, share, part in zip(low.tolist(), upper.tolist(), parts, strict=True):
            masses[start : start + len(part)] += (1 - share) * part
            masses[start + 1 : start + 1 + len(part)] += share * part
        return masses
