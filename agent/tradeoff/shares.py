"""What facts cost that no column holds: the shares of the people who have them (DESIGN.md 2.8)."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BINS = 8  # of a histogram, for each bit of -log2 of a share
LEAST = 1e-4  # nothing that is possible is taken to be rarer
OWN_SHARES = tuple(1 / many for ten in (1, 10, 100, 1000) for many in (2 * ten, 5 * ten, 10 * ten))
"""Of all people, who would say the same as a fact in its user's own words (DESIGN.md 2.12)."""


def histogram(shares: Floats, mass: Floats) -> Floats:
    """The mass by -log2 of a share, in bins of 1/8 bit from 0 on, float64.

    Between two bins it is split so that the mean of 1/share stays what it is, also in products of
    independent shares: where many people are alike, a guess succeeds in proportion to that.
    """
    some = shares > 0
    place, mass = -np.log2(shares[some]) * BINS, mass[some]
    low = place.astype(np.intp)
    upper = mass * (np.exp2((place - low) / BINS) - 1) / (2 ** (1 / BINS) - 1)
    bins, parts = np.concatenate([low, low + 1]), np.concatenate([mass - upper, upper])
    return np.bincount(bins, parts, 1).astype(np.float64, copy=False)


class Values(NamedTuple):
    """The values of a kind, code 1 first, among some people: float64, shape (v,).

    ``chances``: how probably somebody who has a fact of this kind has each; ``agreement``: how
    probably anybody else has it, too; ``masses``: the `histogram` of these. ``by_code``: the chance
    and the agreement of each code; 0, "unspecified", is as rare as the rarest. The codes behind the
    values are those of OWN_SHARES: what is in own words has none of the values, and what it costs
    is not known before it is disclosed, so that no chance of the kind's is theirs.
    """

    chances: Floats
    agreement: Floats
    masses: Callable[[], Floats]
    by_code: list[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class KindShares:
    """How many people hold each value of a kind, as shares of all people.

    ``shares``: float64, shape (v,), of the listed values, code 1 first; they sum to 1, or are
    prevalences where ``several`` says that a person may hold several values.
    ``parent``: the place of the kind on which it depends, or ``column``: the column of the
    population; None and None where it depends on nothing.
    ``given``: float64, shape (codes of the parent, v), the shares among the people who have each of
    these; row 0, of "unspecified", as overall. A share of 0 there says that nobody can be both.
    ``holders``: the place of a kind, of whose holders alone the shares are, whatever they hold.
    ``vague``: whether a value says many things, as "other" does, bool, shape (v,); False: none.
    """

    shares: Floats
    several: bool = False
    parent: int | None = None
    column: int | None = None
    given: Floats | None = None
    holders: int | None = None
    vague: NDArray[np.bool_] | bool = False

    def values(self, shares: Floats, *, coded: bool = False) -> Values:
        """The values by their shares among some people, float64, shape (v,); ``coded``: by code.

        What has none is impossible, nothing else is very rare. A vague one counts as rare as the
        rarest: two who hold it seldom mean the same. Source: DESIGN.md 2.8.
        """
        least = np.min(self.shares, where=self.shares > 0, initial=1.0)
        likeness = np.where(self.vague, least / np.maximum(self.shares, least), 1.0)
        chances = shares / (shares.sum() or 1.0)
        agreement = np.where(shares > 0, np.maximum(shares * likeness, LEAST), 0.0)
        masses, codes = cache(lambda: histogram(agreement, chances)), list[tuple[float, float]]()
        if coded:
            codes += zip(chances.tolist(), agreement.tolist(), strict=True)
            rarest = codes[int(np.argmin(np.where(agreement > 0, chances, np.inf)))]
            codes = [rarest, *codes, *((1.0, share) for share in OWN_SHARES)]  # whatever the parent
        return Values(chances, agreement, masses, codes)

    @cached_property
    def codes(self) -> range:
        """The codes of the parent; 0, "unspecified", alone where there is none."""
        return range(1 if self.given is None else len(self.given))

    @cached_property
    def holding(self) -> float:
        """How probably anybody has some fact of the kind: no less than the commonest."""
        return float(self.under(0).agreement.max())

    @cached_property
    def under(self) -> Callable[[int], Values]:
        """The values under a code of the parent; where that is not known, under 0."""
        given = [self.shares] if self.given is None else self.given
        return cache(lambda code: self.values(given[code], coded=True))


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

    @cached_property
    def leaves(self) -> int:
        """The places in ``attributes`` of those on which no other depends, a mask."""
        parents = {place for each in self.kinds for place in (each.parent, each.holders)}
        places = enumerate(self.attributes)
        return sum(1 << place for place, kind in places if kind not in parents)

    @cached_property
    def columns(self) -> list[int]:
        """The columns on which kinds depend, those of most kinds first."""
        every = Counter(each.column for each in self.kinds if each.column is not None)
        return [column for column, _ in every.most_common()]
