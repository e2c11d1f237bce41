"""Plans: what a recipient is to hold, chosen once for all that it is going to be asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache as once
from functools import cached_property, lru_cache
from math import fsum, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.local_search import ROUNDING, SetFunction
from agent.tradeoff.tables import Floats, Indexes, Rows, SetFigures, flagged, members, union
from agent.tradeoff.utility import Embedded, Utility

# New attributes of a plan, those that add least, that are left out in turn. Of 30 plans for so2017
# (make bench PARTS=sets) the worst is 0.90 of the best that is found by leaving out 1, and 1.00 by
# 2, 3 or all; the time grows by a fifteenth from 1 to 2, and by as much again to all.
LEFT_OUT = 2
ORDERS_KEPT = ROWS_KEPT = 64  # of a query


class Pairwise(Utility):
    """A utility as far as singles and pairs tell it, in bits: exact for those, cheap for all.

    From the largest single to the smallest (of equals the first before), an attribute adds what it
    adds beside that one of those before it which leaves it the least. Of a submodular U this is an
    upper bound; of one that falls again, as leave-one-user-out does, it is too high for many
    attributes. Sums are rounded once: a set has the same value however it is reached.
    """

    def __init__(self, matrix: Floats) -> None:
        """Take U of every two attributes, symmetric, float64, shape (n, n); of each where A = B."""
        self._singles = singles = np.diagonal(matrix)
        self._rank = np.argsort(np.argsort(-singles, kind="stable"))
        # What each attribute (row) adds beside each other one; infinite where it is as if alone.
        self._beside = matrix - singles
        np.fill_diagonal(self._beside, np.inf)
        most = np.where(np.isfinite(self._beside), self._beside, 0.0).max(axis=1, initial=0.0)
        self.limit = fsum(np.maximum(singles, most))
        self._row: Callable[[int], list[float]] = lru_cache(ROWS_KEPT)(self._beside_all)

    def value(self, mask: int) -> float:
        """U(A) in bits."""
        return self._row(mask & mask - 1)[(mask & -mask).bit_length() - 1] if mask else 0.0

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        row = self._row(mask)
        return [row[each] for each in attributes]

    def _beside_all(self, mask: int) -> list[float]:
        inside, new = np.array([*members(mask)], np.intp), np.arange(len(self._singles))
        inside = inside[np.argsort(self._rank[inside])]  # in the order in which they count
        # What those before leave of each, infinite where there is none before.
        earlier = np.tri(len(inside), k=-1, dtype=bool)
        beside = np.where(earlier, self._beside[inside][:, inside], np.inf)
        least = beside.min(axis=1, initial=np.inf)[:, None]
        before = self._rank[new] < self._rank[inside][:, None]
        rest = np.minimum(least, np.where(before, self._beside[inside][:, new], np.inf))
        own = np.where(before, np.inf, self._beside[new][:, inside].T).min(axis=0, initial=np.inf)
        rest = np.where(np.isfinite(rest), rest, self._singles[inside][:, None])
        own = np.where(np.isfinite(own), own, self._singles[new])
        return [fsum(each) for each in np.vstack([rest, own]).T.tolist()]


class Scope(NamedTuple):
    """What every answer keeps to.

    As masks, ``sent``: sent before, and free to use again; ``fixed``: in every answer. ``most``:
    how many attributes an answer may have, None for any number.
    """

    sent: int
    fixed: int = 0
    most: int | None = None

    def has_room(self, mask: int) -> bool:
        """Whether an answer may have all of these."""
        return self.most is None or mask.bit_count() <= self.most


class QueryPlanner(SetFigures, Utility):
    """The utility of one query, computed once for a set; it is made only to count with.

    What is counted is near the sets that answers come to.
    """

    def __init__(
        self,
        utility: Callable[[], Utility],
        attributes: int,
        stored: Rows | None = None,
        limit: float | None = None,
        least: float = ROUNDING,
        *,
        quick: bool = False,
        whole: Callable[[int], Floats] | None = None,
    ) -> None:
        """Take the utility, how many attributes there are, and U of sets that need no computing.

        ``limit``: the utility's, None for what it says itself; ``least``: the bits that an
        attribute has to add to an answer to be sent, where the recipient does not hold it;
        ``quick``: U of a set with each further attribute is as soon computed for all as for one,
        by ``whole`` of `SetFigures` where that is given.
        """
        super().__init__(
            attributes,
            lambda mask: self._counting().value(mask) if mask else 0.0,
            lambda mask, new: self._counting().extensions(mask, new),
            stored,
            whole,
        )
        self.utility, self.least, self._limit = utility, least, limit
        self.best_in: Callable[[Scope, int, int], tuple[int, ...]] = lru_cache(ORDERS_KEPT)(
            lambda scope, start, more: self.best(start, more, scope.has_room, scope.sent)
        )
        """As ``best``, for answers that have room in a scope; it is asked for again."""
        self._focus, self._prepared = 0, -1  # the set whose neighbours are counted next, and last
        self.quick = quick

    def embedded(self, places: Sequence[int], count: int, unit: float) -> "QueryPlanner":
        """The same by the numbers of its attributes among ``count``, times ``unit``."""
        at, rows = np.array(places, dtype=np.intp), dict[int, Floats]()
        for mask, row in self.stored.items():
            whole = rows[union(places[each] for each in members(mask))] = np.empty(count)
            whole[:], whole[at] = unit * row[mask.bit_length() - 1] if mask else 0.0, unit * row
        limit = None if self._limit is None else unit * self._limit
        utility = once(lambda: Embedded(self, places, unit))
        return QueryPlanner(utility, count, rows, limit, self.least, quick=self.quick)

    @property
    def submodular(self) -> bool:
        """Whether the utility is, which is made to tell."""
        return self.utility().submodular

    @property
    def limit(self) -> float:  # type: ignore[override]  # computed when it is asked for
        """No set has more, in bits."""
        return self.utility().limit if self._limit is None else self._limit

    @cached_property
    def by_pairs(self) -> "QueryPlanner":
        """The same as far as singles and pairs tell it; itself where they are not stored.

        An attribute without a row adds nothing.
        """
        stored = {mask: row for mask, row in self.stored.items() if mask.bit_count() <= 1}
        if self.quick or len(stored) <= 1:
            return self
        count = len(self._nothing)
        places = [each for each in range(count) if 1 << each in stored]
        matrix = np.array([stored[1 << each] for each in places])[:, places]
        utility = Embedded(Pairwise(matrix), places, 1.0)
        return QueryPlanner(lambda: utility, count, stored, least=self.least, quick=True)

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        self._focus = mask
        row = self.beside(mask, union(attributes))
        return [float(row[each]) for each in attributes]

    def at_hand(self, mask: int) -> Floats | None:
        """U of a set with each attribute, where that is stored, or as soon computed; else None."""
        row = self.stored.get(mask)
        if row is None and self.quick:
            row = self.beside(mask, (1 << len(self._nothing)) - 1 & ~mask)
        return row

    def potentials(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """For each V in ``attributes`` a bound, in bits, on U of every set with A u {V}."""
        return self._counting().potentials(mask, attributes)

    def best(
        self, start: int, options: int, allowed: Callable[[int], bool], sent: int = 0
    ) -> tuple[int, ...]:
        """What to add to a set, the best first, until nothing allowed adds much.

        ``sent``: attributes that are held, and so may add any number of bits; the others have to
        add the least. What added less beside fewer is tried again only where nothing else adds
        more, as U need not be submodular.
        """
        mask, level, order, hopeful = start, self.value(start), list[int](), options
        while True:
            rest = hopeful & ~mask
            row = self.beside(mask, rest)
            better = [
                (-row[each], each)
                for each in members(rest)
                if row[each] - level >= (ROUNDING if sent >> each & 1 else self.least)
            ]
            chosen = next((each for _, each in sorted(better) if allowed(mask | 1 << each)), None)
            if chosen is not None:
                order.append(chosen)
                mask, level = mask | 1 << chosen, float(row[chosen])
                hopeful = union(each for _, each in better)
            elif hopeful != options:
                hopeful = options
            else:
                return tuple(order)

    def _counting(self) -> Utility:
        """The utility, to count with."""
        utility = self.utility()
        if self._prepared != self._focus and not self.quick:
            utility.extensions(self._focus, ())
            self._prepared = self._focus
        return utility


@dataclass(frozen=True, slots=True)
class Portfolio:
    """What a recipient is to hold in the end.

    ``mask``: the set, with what was sent; ``order``: what was added, in the order chosen; ``uses``:
    by query, the subset that it uses; ``bits``: by query, U of that; ``refused``: what would be
    worth adding and breaks a limit, a mask; ``value``: bits of help to all requests less the cost;
    ``evaluations``: how many sets were priced; ``crowds``: what the request at hand pays for by
    itself would break a limit beside it.
    """

    mask: int
    order: tuple[int, ...]
    uses: tuple[int, ...]
    bits: tuple[float, ...]
    refused: int
    value: float
    evaluations: int
    crowds: bool = False


def plan(
    queries: Sequence[QueryPlanner],
    numbers: Sequence[float],
    prices: SetFunction,
    scope: Scope,
    free: int,
    starts: Sequence[int] = (),
) -> Portfolio:
    """A portfolio P with a large value: the sum of n_q U_q over what q uses of P, less C(P).

    ``queries``: the first is the request at hand; ``numbers``: of each query, how many requests are
    expected; ``prices``: what a portfolio costs, and its limits; ``free``: what may be in it, a
    mask.
    It is grown from what was sent, and from each of ``starts``, sets of what is free, where that is
    feasible. Of the best, each of the new attributes that add least is left out and the rest grown
    again, as long as that is better. What the request at hand pays for by itself comes first: a
    portfolio beside which a limit keeps it out is none. P is feasible, if what was sent and fixed
    is, and no single new attribute would better be left out. Source: DESIGN.md 2.10.
    """
    given = scope.sent | scope.fixed
    alone = np.nan_to_num(np.array([each.beside(0, free) for each in queries]))
    alone = np.where(alone >= [[each.least] for each in queries], alone, 0.0)
    planning = _Planning(queries, np.array(numbers), prices, scope, given, alone)
    at_hand = planning._replace(queries=queries[:1], numbers=planning.numbers[:1], alone=alone[:1])
    needed = at_hand.grown(free)
    planning = planning._replace(needed=needed.mask)
    sets = dict.fromkeys(given | each & free for each in (0, *starts))
    some = [each for each in sets if each == given or prices.feasible(each)]
    grown = [planning.grown(free, each & ~given) for each in some]
    if all(each.crowds for each in grown):
        grown.append(planning.grown(free, needed.mask & ~given))
    best, better = max(grown, key=lambda each: (not each.crowds, each.value)), True
    while better:
        less = [planning.without(each, best) for each in best.order]
        less = sorted(less, key=lambda each: -each.value)[:LEFT_OUT]
        again = [planning.grown(free & ~best.mask, start=each) for each in less]
        grown += again
        found = max([best, *less, *again], key=lambda each: (not each.crowds, each.value))
        better = found.value > best.value + ROUNDING and found.crowds <= best.crowds
        best = found if better else best
    return replace(best, evaluations=sum(each.evaluations for each in [needed, *grown]))


class _Planning(NamedTuple):
    """What a plan is made for, and the moves from one portfolio to another.

    ``given``: what is in every one, a mask; ``alone``: float64, by query and attribute, what each
    helps alone; ``needed``: what the request at hand pays for by itself, a mask.
    """

    queries: Sequence[QueryPlanner]
    numbers: Floats
    prices: SetFunction
    scope: Scope
    given: int
    alone: Floats
    needed: int = 0

    def without(self, attribute: int, whole: Portfolio) -> Portfolio:
        """A portfolio without one of its new attributes; worth nothing where that is infeasible."""
        own, mask = 1 << attribute, whole.mask & ~(1 << attribute)
        uses, bits = [*whole.uses], [*whole.bits]
        for place, use in enumerate(uses):
            if use & own:
                query, rest = self.queries[place], use & ~own
                uses[place] = rest | union(query.best_in(self.scope, rest, mask & ~rest))
                bits[place] = query.value(uses[place])
        order = tuple(each for each in whole.order if each != attribute)
        value = float(self.numbers @ bits) - self.prices.cost(mask)
        value = value if mask == self.given or self.prices.feasible(mask) else -inf
        return Portfolio(mask, order, tuple(uses), tuple(bits), 0, value, 0)

    def grown(self, options: int, new: int = 0, start: Portfolio | None = None) -> Portfolio:
        """Grow a portfolio: what adds most is added, while something adds enough (greedy).

        It is begun with what was sent and what is ``new``, if not with ``start``. A query uses a
        new attribute beside what it used before, or where its answer is full in place of that,
        where that helps it enough.
        """
        scope, evaluations, refused = self.scope, 0, 0
        if start is None:
            mask, order, more = self.given | new, [*members(new)], (scope.sent | new) & ~scope.fixed
            best_of = (query.best_in(scope, scope.fixed, more) for query in self.queries)
            uses = [scope.fixed | union(each) for each in best_of]
        else:
            mask, order, uses = start.mask, [*start.order], [*start.uses]
        fresh = np.ones(self.alone.shape, dtype=bool)  # beside nothing, gains are their bits
        growth = _Growth(self.queries, scope, uses, np.zeros(len(uses)), self.alone.copy(), fresh)
        for place, use in enumerate(uses):
            if use or not scope.has_room(1):
                growth.use(place, use)
        while open_ := options & ~mask:
            some = np.array([*members(open_)], dtype=np.intp)
            some = some[(growth.gains[:, some] > 0).any(axis=0)]  # the others are not worth a cost
            evaluations += len(some)
            floors = self.prices.costs_beside(mask, some) - self.prices.cost(mask)
            stale = True
            while stale:
                gains = self.numbers @ growth.gains[:, some]
                best, refused = _worthiest(mask, some, gains, floors, self.prices)
                stale = growth.refresh(len(uses), [best] if best >= 0 else [*members(refused)])
                stale |= best < 0 and growth.refresh(1, some)
            if best < 0:
                break
            mask |= 1 << best
            order.append(best)
            for place in np.flatnonzero(growth.gains[:, best]).tolist():  # of all that it helps
                growth.use(place, growth.uses[place] | 1 << best)
        value = float(self.numbers @ growth.bits) - self.prices.cost(mask)
        value = value if mask == self.given or self.prices.feasible(mask) else -inf
        whole, bits = mask | self.needed, tuple(growth.bits.tolist())
        crowds = whole != mask and not self.prices.feasible(whole)
        return Portfolio(mask, tuple(order), tuple(uses), bits, refused, value, evaluations, crowds)


def _worthiest(
    mask: int, options: Indexes, gains: Floats, floors: Floats, prices: SetFunction
) -> tuple[int, int]:
    """The option that is worth most, above 0, and may be added; of equals the smaller.

    -1 where there is none. And as a mask, what would be worth more and breaks a limit. ``floors``:
    what each option costs at the least, in bits.
    """
    worthiest, worth, refused, base = -1, ROUNDING, 0, prices.cost(mask)
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


@dataclass(slots=True)
class _Growth:
    """A portfolio on its way up: what each query uses of it, and the bits that this brings.

    By query and attribute: ``gains``, 0 where one is too small to be used; ``fresh``, whether the
    gain is one beside what is used. A gain is computed afresh only when it matters, unless it is
    stored: until then what it gained beside less stands for it, as it would bound it if U were
    submodular. Which gains are fresh depends on this plan alone, never on what was computed for
    others.
    """

    queries: Sequence[QueryPlanner]
    scope: Scope
    uses: list[int]
    bits: Floats
    gains: Floats
    fresh: NDArray[np.bool_]

    def refresh(self, first: int, attributes: Indexes | list[int]) -> bool:
        """Compute what is out of date of what the first queries gain by these; say if any was."""
        stale = ~self.fresh[:first, attributes] & (self.gains[:first, attributes] > 0)
        for place in np.flatnonzero(stale.any(axis=1)).tolist():
            some, query = np.array(attributes)[stale[place]], self.queries[place]
            gains = query.beside(self.uses[place], union(some.tolist()))[some] - self.bits[place]
            self.gains[place, some] = np.where(gains >= query.least, gains, 0.0)
            self.fresh[place, some] = True
        return bool(stale.any())

    def use(self, place: int, use: int) -> None:
        """Have a query use a set, less what leaves the most where it has one too many.

        And take what is stored of its next step: a full answer gains by exchanges alone.
        """
        query, scope = self.queries[place], self.scope
        rests = [use & ~(1 << each) for each in members(use & ~scope.fixed)]
        if not scope.has_room(use):
            use = max(rests, key=query.value)
            rests = [use & ~(1 << each) for each in members(use & ~scope.fixed)]
        self.uses[place], self.bits[place] = use, query.value(use)
        full = not scope.has_room(use << 1 | 1)
        rests = rests if full else [use]
        hopeful = (self.gains[place] > 0) | query.quick
        new = flagged(hopeful)
        some = (each for each in rests if full or query.quick or each in query.stored)
        rows = [query.beside(each, new & ~each) for each in some]
        self.fresh[place] = bool(rows) or not use
        if rows:
            gains = np.max(rows, axis=0) - self.bits[place]
            self.gains[place] = np.where(hopeful & (gains >= query.least), gains, 0.0)
        elif full:
            self.gains[place] = 0.0
