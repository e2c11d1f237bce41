"""A portfolio: what a recipient is told once, to serve all that it is going to be asked.

A person attribute that was disclosed is known for good: it costs once, and helps with every later
query. So a set is weighed for all queries at once, each of which uses the subset that helps it
most. This goes beyond the paper (9.5.1 has one set for all queries, 9.5.2 one for each).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from agent.tradeoff.sets import members, singleton
from agent.tradeoff.uses import Scope, Uses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Priced(Protocol):
    """What a portfolio costs, and which ones may be had."""

    def cost(self, mask: int) -> float:
        """Return what telling these attributes costs, in bits."""
        ...

    def cost_floor(self, mask: int) -> float:
        """Return a bound, in bits, that the cost of no superset goes below."""
        ...

    def feasible(self, mask: int) -> bool:
        """Say whether a recipient may hold all of these."""
        ...

    def focus(self, mask: int) -> None:
        """Make the neighbours of ``mask`` quick to price; the answers stay the same."""
        ...


class Demand(NamedTuple):
    """A query, and the share of all requests that are expected to be this one."""

    uses: Uses
    weight: float


@dataclass(frozen=True, slots=True)
class Portfolio:
    """What a recipient is to hold in the end.

    ``mask``: the set, with what is held; ``order``: what was added, in the order chosen; ``uses``:
    by demand, the subset that it uses; ``refused``: what would be worth adding and breaks a limit,
    a mask; ``value``: mean bits of help less the cost; ``evaluations``: how many sets were priced.
    """

    mask: int
    order: tuple[int, ...]
    uses: tuple[int, ...]
    refused: int
    value: float
    evaluations: int


def plan(demands: Sequence[Demand], priced: Priced, scope: Scope) -> Portfolio:
    """Return a portfolio P with a large value: the mean of U_q over what q uses of P, less C(P).

    From what is held, the attribute that adds most is added while one adds enough (greedy). A
    query uses a new attribute beside what it used before, where that helps it enough and its
    answer is not full. P is feasible, if what is held and fixed is, and never worth less than that.
    """
    growth, evaluations = _Growth(demands, scope), 0
    while True:
        found, refused, tried = _step(growth, priced, scope)
        evaluations += tried
        if found is None:
            break
        if growth.known(found):
            growth.add(found)
    return Portfolio(
        mask=growth.mask,
        order=tuple(growth.order),
        uses=tuple(growth.uses),
        refused=refused,
        value=float(growth.weights @ growth.bits) - priced.cost(growth.mask),
        evaluations=evaluations,
    )


class _Growth:
    """A portfolio on its way up: what each demand uses of it, and the bits that this brings.

    The gain of an attribute for a demand is computed afresh only when it matters: until then what
    it gained beside less stands for it, as it would bound it if U were submodular. Which gains are
    at hand depends on this plan alone, never on what was computed for others.
    """

    def __init__(self, demands: Sequence[Demand], scope: Scope) -> None:
        self.mask, self.order = scope.held | scope.fixed, list[int]()
        self.weights = np.array([each.weight for each in demands], dtype=np.float64)
        self._demands, self._scope = demands, scope
        self.uses = [each.uses.first(scope) for each in demands]
        pairs = [*zip(demands, self.uses, strict=True)]
        self.bits = np.array([each.uses.value(use) for each, use in pairs])
        singles = [each.uses.beside(0, scope.free) for each in demands]
        self._gains = self._counted(np.nan_to_num(np.array(singles)))
        self._fresh = np.array([[not use] * self._gains.shape[-1] for use in self.uses])
        for place in range(len(demands)):
            self._close(place)

    def gains(self, options: list[int]) -> Floats:
        """Return the mean bits that each of these adds, float64, as far as is known."""
        gains: Floats = self.weights @ self._gains[:, options]
        return gains

    def known(self, attribute: int) -> bool:
        """Say whether the gain of an attribute is known; make it known for the next time."""
        stale = np.flatnonzero(~self._fresh[:, attribute] & (self._gains[:, attribute] > 0))
        for place in stale.tolist():
            row = self._demands[place].uses.beside(self.uses[place], singleton(attribute))
            self._gains[place, attribute] = self._counted(row[attribute] - self.bits[place])
            self._fresh[place, attribute] = True
        return not len(stale)

    def add(self, attribute: int) -> None:
        """Add an attribute, which every demand uses that it helps."""
        self.mask |= singleton(attribute)
        self.order.append(attribute)
        for place in np.flatnonzero(self._gains[:, attribute]).tolist():
            self.uses[place] |= singleton(attribute)
            self.bits[place] = self._demands[place].uses.value(self.uses[place])
            self._fresh[place] = False
            self._close(place)

    def _counted(self, gains: Floats) -> Floats:
        """Return the gains, 0 for those that are too small to be used."""
        return np.where(gains > self._scope.least, gains, 0.0)

    def _close(self, place: int) -> None:
        """Let a demand whose answer is full gain nothing more."""
        if not self._scope.has_room(self.uses[place] << 1 | 1):
            self._gains[place] = 0.0


def _step(growth: _Growth, priced: Priced, scope: Scope) -> tuple[int | None, int, int]:
    """Return the best attribute to add, None for none; what limits refuse; and how many priced.

    An attribute whose gain is below what another is worth is not priced: costs only grow.
    """
    options, base = [*members(scope.free & ~growth.mask)], priced.cost(growth.mask)
    if not options:
        return None, 0, 0
    priced.focus(growth.mask)
    gains = growth.gains(options)
    saving = base - priced.cost_floor(growth.mask)
    found, worth, refused, tried = None, scope.least, 0, 0
    for place in np.argsort(-gains, kind="stable").tolist():
        if gains[place] + saving < worth:
            break
        each, tried = options[place], tried + 1
        with_it = growth.mask | singleton(each)
        level = float(gains[place]) - (priced.cost(with_it) - base)
        if level < worth or (level == worth and (found is None or found < each)):
            continue
        if priced.feasible(with_it):
            found, worth = each, level
        else:
            refused |= singleton(each)
    return found, refused, tried
