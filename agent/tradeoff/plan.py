"""Plans: what a recipient is to hold, chosen once for all that it is going to be asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import NamedTuple

import numpy as np

from agent.tradeoff.local_search import ROUNDING, SetFunction
from agent.tradeoff.tables import Floats, Indexes, Rows, SetFigures, members, union
from agent.tradeoff.utility import Utility

KEPT = 2_000  # scopes of a query; then the memory starts afresh


class Pairwise(Utility):
    """A utility as far as singles and pairs tell it, in bits: exact for those, cheap for all.

    From the largest single to the smallest (of equals the first before), an attribute adds what it
    adds beside that one of those before it which leaves it the least. Of a submodular U this is an
    upper bound; of one that falls again, as leave-one-user-out does, it is too high for many
    attributes. Sums are rounded once: a set has the same value however it is reached.
    """

    def __init__(self, stored: Rows) -> None:
        """Take U of each attribute and of every two, as `rows_of` has them."""
        self._singles = singles = stored[0]
        self._rank = np.argsort(np.argsort(-singles, kind="stable"))
        # What each attribute (row) adds beside each other one, infinite beside itself.
        self._beside = np.array([stored[1 << each] for each in range(len(singles))]) - singles
        np.fill_diagonal(self._beside, np.inf)
        most = np.where(np.isfinite(self._beside), self._beside, 0.0).max(axis=1, initial=0.0)
        self.limit = float(np.maximum(singles, most).sum())

    def value(self, mask: int) -> float:
        """U(A) in bits."""
        inside, least = self._inside(mask)
        return fsum(self._added(inside, least).tolist())

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        (inside, least), new = self._inside(mask), np.array(attributes, dtype=np.intp)
        before = self._rank[new] < self._rank[inside][:, None]
        beside_new = np.where(before, self._beside[inside][:, new], np.inf)
        beside_old = np.where(before, np.inf, self._beside[new][:, inside].T)
        rest = self._added(inside[:, None], np.minimum(least[:, None], beside_new))
        own = self._added(new, beside_old.min(axis=0, initial=np.inf))
        return [fsum(each) for each in np.vstack([rest, own]).T.tolist()]

    def _inside(self, mask: int) -> tuple[Indexes, Floats]:
        """The attributes of a set in the order in which they count, intp.

        And what those before leave of each, infinite where there is none.
        """
        inside = np.array([*members(mask)], dtype=np.intp)
        inside = inside[np.argsort(self._rank[inside])]
        before = np.tri(len(inside), k=-1, dtype=bool)
        beside = np.where(before, self._beside[inside][:, inside], np.inf)
        return inside, beside.min(axis=1, initial=np.inf)

    def _added(self, attributes: Indexes, least: Floats) -> Floats:
        """What attributes add: all that they have where nothing before leaves them less."""
        return np.where(np.isfinite(least), least, self._singles[attributes])


class Scope(NamedTuple):
    """What there is to plan with, as masks.

    ``sent``: sent before, and free to use again; ``free``: may be sent; ``fixed``: in every
    answer; ``most``: how many attributes an answer may have, None for any number; ``least``: more
    bits than that an attribute has to add to an answer to be used, and to the plan to be in it.
    """

    sent: int
    free: int
    fixed: int = 0
    most: int | None = None
    least: float = ROUNDING

    def has_room(self, mask: int) -> bool:
        """Whether an answer may have all of these."""
        return self.most is None or mask.bit_count() <= self.most


class QueryPlanner(SetFigures, Utility):
    """The utility of one query, computed once for a set; it is made only to count with.

    What is counted is near the sets that plans came to.
    """

    def __init__(
        self,
        utility: Callable[[], Utility],
        attributes: int,
        stored: Rows | None = None,
        limit: float | None = None,
    ) -> None:
        """Take the utility, how many attributes there are, and U of sets that need no computing.

        ``limit``: the utility's, None for what it says itself.
        """
        super().__init__(
            attributes,
            lambda mask: self._counting().value(mask) if mask else 0.0,
            lambda mask, new: self._counting().extensions(mask, new),
            stored,
        )
        self.utility, self._limit = utility, limit
        self._focus, self._prepared = 0, -1  # the set whose neighbours are counted next, and last
        self._firsts: dict[Scope, int] = {}

    @property
    def limit(self) -> float:  # type: ignore[override]  # computed when it is asked for
        """No set has more, in bits."""
        return self.utility().limit if self._limit is None else self._limit

    @property
    def submodular(self) -> bool:
        """Whether the utility is, which is made to tell."""
        return self.utility().submodular

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        self._focus = mask
        row = self.beside(mask, union(attributes))
        return [float(row[each]) for each in attributes]

    def potentials(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """For each V in ``attributes`` a bound, in bits, on U of every set with A u {V}."""
        return self._counting().potentials(mask, attributes)

    def best(
        self, start: int, options: int, allowed: Callable[[int], bool], least: float = ROUNDING
    ) -> tuple[int, ...]:
        """What to add to a set, the best first, until nothing allowed adds much.

        What added no more than ``least`` bits beside less is tried again only where nothing else
        adds more, as U need not be submodular.
        """
        mask, level, order, hopeful = start, self.value(start), list[int](), options
        while True:
            rest = hopeful & ~mask
            row = self.beside(mask, rest)
            better = [(-row[each], each) for each in members(rest) if row[each] > level + least]
            chosen = next((each for _, each in sorted(better) if allowed(mask | 1 << each)), None)
            if chosen is not None:
                order.append(chosen)
                mask, level = mask | 1 << chosen, float(row[chosen])
                hopeful = union(each for _, each in better)
            elif hopeful != options:
                hopeful = options
            else:
                return tuple(order)

    def first(self, scope: Scope) -> int:
        """What is used where nothing is added: the fixed, and what helps of what was sent."""
        fixed, sent = scope.fixed, scope.sent & ~scope.fixed
        key = scope._replace(sent=sent, free=0)
        if key not in self._firsts:
            if len(self._firsts) >= KEPT:
                self._firsts.clear()
            self._firsts[key] = fixed | union(self.best(fixed, sent, scope.has_room, scope.least))
        return self._firsts[key]

    def _counting(self) -> Utility:
        """The utility, to count with."""
        utility = self.utility()
        if self._prepared != self._focus:
            utility.extensions(self._focus, ())
            self._prepared = self._focus
        return utility


@dataclass(frozen=True, slots=True)
class Portfolio:
    """What a recipient is to hold in the end.

    ``mask``: the set, with what was sent; ``order``: what was added, in the order chosen; ``uses``:
    by query, the subset that it uses; ``refused``: what would be worth adding and breaks a limit,
    a mask; ``value``: mean bits of help less the cost; ``evaluations``: how many sets were priced.
    """

    mask: int
    order: tuple[int, ...]
    uses: tuple[int, ...]
    refused: int
    value: float
    evaluations: int


def plan(
    queries: Sequence[QueryPlanner],
    weights: Sequence[float],
    prices: SetFunction,
    scope: Scope,
    starts: Sequence[int] = (),
) -> Portfolio:
    """A portfolio P with a large value: the mean of U_q over what q uses of P, less C(P).

    ``weights``: of each query, the share of all requests that are expected to be this one;
    ``prices``: what a portfolio costs, and its limits.
    It is grown from what was sent, and from each of ``starts``, sets of what is free, where that is
    feasible. Of the best, the new attribute that adds least is taken out and the rest grown again,
    as long as that is better. P is feasible, if what was sent and fixed is, and never worth less
    than that; nor less than a start that is feasible, but for ``least`` bits for each attribute
    that is left out.
    """
    given = scope.sent | scope.fixed

    def grown(new: int, left_out: int = 0) -> Portfolio:
        within = scope._replace(sent=scope.sent | new, free=scope.free & ~left_out)
        return _grown(_Growth(queries, within), np.array(weights), prices, tuple(members(new)))

    def worth(portfolio: Portfolio) -> float:
        return portfolio.value - scope.least * len(portfolio.order)

    new = (each & scope.free & ~given for each in starts)
    some = [0, *(each for each in new if each and prices.feasible(given | each))]
    sets = [grown(each) for each in some]
    evaluations, best = sum(each.evaluations for each in sets), max(sets, key=worth)
    while best.order:
        less = [best.mask & ~(1 << each) for each in best.order]
        without = [grown(rest & ~given, scope.free) for rest in less if prices.feasible(rest)]
        if not without:
            break
        least = max(without, key=worth)
        again = grown(least.mask & ~given, best.mask & ~least.mask)
        evaluations += again.evaluations
        other = max(least, again, key=worth)
        if worth(other) <= worth(best) + ROUNDING:
            break
        best = other
    return replace(best, evaluations=evaluations)


def _grown(
    growth: "_Growth", weights: Floats, prices: SetFunction, start: tuple[int, ...]
) -> Portfolio:
    """Grow a portfolio from what was sent, of which ``start`` is new.

    The attribute that adds most is added while one adds enough (greedy). A query uses a new
    attribute beside what it used before, where that helps it enough and its answer is not full.
    """
    scope, order, evaluations, refused = growth.scope, [*start], 0, 0
    mask = scope.sent | scope.fixed
    while open_ := scope.free & ~mask:
        options = np.array([*members(open_)], dtype=np.intp)
        evaluations += len(options)
        floors = prices.costs_beside(mask, options) - prices.cost(mask)
        while True:
            gains = weights @ growth.gains[:, options]
            best, refused = _worthiest(mask, options, gains, floors, prices, scope.least)
            if best < 0 or growth.refresh(best):
                break
        if best < 0:
            break
        mask |= 1 << best
        order.append(best)
        for place in np.flatnonzero(growth.gains[:, best]).tolist():  # of every query that it helps
            growth.use(place, growth.uses[place] | 1 << best)
    value = float(weights @ growth.bits) - prices.cost(mask)
    return Portfolio(mask, tuple(order), tuple(growth.uses), refused, value, evaluations)


def _worthiest(
    mask: int, options: Indexes, gains: Floats, floors: Floats, prices: SetFunction, least: float
) -> tuple[int, int]:
    """The option that is worth most, above ``least``, and may be added; of equals the smaller.

    -1 where there is none. And as a mask, what would be worth more and breaks a limit. ``floors``:
    what each option costs at the least, in bits.
    """
    worthiest, worth, refused, base = -1, least, 0, prices.cost(mask)
    bounds = gains - floors
    for place in np.argsort(-bounds, kind="stable").tolist():
        if bounds[place] <= worth:
            break
        each = int(options[place])
        level = float(gains[place]) - (prices.cost(mask | 1 << each) - base)
        if level <= worth:
            continue
        if prices.feasible(mask | 1 << each):
            worthiest, worth = each, level + ROUNDING
        else:
            refused |= 1 << each
    return worthiest, refused


class _Growth:
    """A portfolio on its way up: what each query uses of it, and the bits that this brings.

    By query and attribute: ``gains``, 0 where one is too small to be used; ``fresh``, whether the
    gain is one beside what is used. A gain is computed afresh only when it matters, unless it is
    stored: until then what it gained beside less stands for it, as it would bound it if U were
    submodular. Which gains are fresh depends on this plan alone, never on what was computed for
    others.
    """

    def __init__(self, queries: Sequence[QueryPlanner], scope: Scope) -> None:
        self.queries, self.scope = queries, scope
        self.uses = [each.first(scope) for each in queries]
        self.bits = np.zeros(len(queries))
        self.gains = np.nan_to_num(np.array([each.beside(0, scope.free) for each in queries]))
        self.gains[self.gains <= scope.least] = 0.0
        self.fresh = np.ones(self.gains.shape, dtype=bool)  # beside nothing, gains are their bits
        for place, use in enumerate(self.uses):
            if use or not scope.has_room(1):
                self.use(place, use)

    def refresh(self, attribute: int) -> bool:
        """Compute the gains of an attribute that are out of date; say whether none were."""
        stale = np.flatnonzero(~self.fresh[:, attribute] & (self.gains[:, attribute] > 0)).tolist()
        for place in stale:
            row = self.queries[place].beside(self.uses[place], 1 << attribute)
            gain = row[attribute] - self.bits[place]
            self.gains[place, attribute] = gain if gain > self.scope.least else 0.0
            self.fresh[place, attribute] = True
        return not stale

    def use(self, place: int, use: int) -> None:
        """Have a query use a set, and take what is stored of its next step; none if it is full."""
        row = self.queries[place].stored.get(use)
        self.uses[place], self.bits[place] = use, self.queries[place].value(use)
        self.fresh[place] = row is not None or not use
        if row is not None:
            gains = row - self.bits[place]
            self.gains[place] = np.where(gains > self.scope.least, gains, 0.0)
        if not self.scope.has_room(use << 1 | 1):
            self.gains[place] = 0.0
