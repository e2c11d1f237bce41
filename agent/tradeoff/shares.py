"""What facts cost that no column holds: the shares of the people who have them (DESIGN.md 2.8)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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

    shares: NDArray[np.float64]
    several: bool = False
    parent: int | None = None
    column: int | None = None
    given: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Shares:
    """The facts of persons that no column of a population holds; a forest of kinds.

    ``attributes``: for each attribute behind the columns, in their order, the place of its kind in
    ``kinds``. The attributes of a kind that may hold several facts are alike: the first, second ...
    of these facts. Code 0, "unspecified", counts as the rarest of the listed values.
    """

    kinds: tuple[KindShares, ...]
    attributes: tuple[int, ...]
