"""Moving one attribute in or out while that improves F enough: eager and lazy passes (paper 4)."""

from collections.abc import Iterable, Sequence
from copy import copy
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import inf, isinf
from typing import Protocol

import numpy as np

from agent.tradeoff.tables import Floats, Indexes, by_pair, mask_arrays, members, union

FLOOR = 1e-12  # bits: what floating-point noise can feign
TIE = 2.0**-30  # bits: gains that round to the same multiple are equal, and the index decides
FEW = 16  # attributes; the pairs of more are not evaluated to start from the best
ROUNDING = 1e-9  # bits: a gain that grows by less is not called a violation


class SetFunction(Protocol):
    """What a search maximises: F over the feasible subsets of the candidates, F(0) = 0.

    A set is an integer, whose bit i says that attribute i is in it. A subclass needs only
    ``candidates`` and ``value``; what else it says makes a search quicker, or proves more.
    """

    candidates: int
    """The attributes to choose from, as a mask."""
    nearly_submodular: bool = False
    """Whether "exact" may search by bounds that hold if F is submodular, also without a proof."""

    @property
    def claims_submodularity(self) -> bool:
        """Whether F is known to be submodular, and every set of candidates is feasible.

        Only then do results claim what follows from it.
        """
        return False

    def value(self, mask: int) -> float:
        """F(A)."""
        ...

    def feasible(self, mask: int, *, larger: bool = False) -> bool:
        """Whether A may be chosen; the empty set always may.

        ``larger``: whether A, or a set that contains it, may; True where that is not known.
        """
        del mask, larger
        return True

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """F(A u {V}) for each V in ``attributes``, none in A; minus infinity if infeasible.

        Also of no attributes, it makes the neighbours of A quick to evaluate.
        """
        sets = [mask | 1 << each for each in attributes]
        return [self.value(each) if self.feasible(each) else -inf for each in sets]

    def bounds(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """For each V in ``attributes`` a bound on F of every set with A u {V}.

        It needs no submodularity.
        """
        del mask
        return [inf] * len(attributes)

    def may_exceed(self, mask: int, level: float) -> bool:
        """False only where F(A) <= level for certain, at less expense than value(A)."""
        del mask, level
        return True

    def cost(self, mask: int) -> float:
        """C(A): the part of -F(A) that is cheap to compute, 0 where no part is."""
        del mask
        return 0.0

    def costs_beside(self, mask: int, attributes: Indexes) -> Floats:
        """What C(A u {V}) is at the least, for each V of an array of intp, none in A."""
        sets = (mask | 1 << each for each in attributes.tolist())
        return np.array([self.cost(each) for each in sets], dtype=np.float64)

    def at_hand(self, masks: Sequence[int]) -> dict[int, Floats]:
        """F(A u {V}) for each V, by attribute, for each A that needs no counting for it.

        Minus infinity where V is not in A and may not be chosen.
        """
        del masks
        return {}

    def pairs_at_hand(self) -> Floats | None:
        """F of every two attributes, symmetric, by attribute; roughly, at no expense.

        Minus infinity where one is no candidate. None where nothing is known of pairs.
        """
        return None


class LocalSearch:
    """A search of F(B u A) - F(B) for a fixed set B, by default none; each A is evaluated once.

    ``mask``: the present set A; ``order``: its attributes as they were chosen; ``violations``: how
    often a gain was seen to grow with the set.
    """

    def __init__(
        self,
        function: SetFunction,
        epsilon: float | None = None,
        between: tuple[int, int] | None = None,
    ) -> None:
        """Begin with nothing; a move must improve F by more than (epsilon/n^2)|F|.

        Where epsilon is None every move is good enough. ``between``: B, and B with all that may be
        added to it; None: nothing, and all candidates.
        ValueError where B is not feasible, or an attribute is no candidate of ``function``, whose
        bounds need not hold for it.
        """
        base, most = (0, function.candidates) if between is None else between
        if (base | most) & ~function.candidates:
            raise ValueError("both sets must be candidates of the function")
        if not function.feasible(base):
            raise ValueError("the smaller set breaks a limit, so there is nothing to add to it")
        self.function, self.base, self.candidates = function, base, most & ~base
        self.ground = function.value(base)
        self._values: dict[int, float] = {0: 0.0}
        self._feasible: dict[int, bool] = {0: True}
        self._rows: dict[int, Floats | None] = {}
        self._epsilon, self.violations = epsilon, 0
        self.start_at(0)

    @property
    def evaluations(self) -> int:
        """How many sets F was evaluated at, or at hand at: these once for each row they are in."""
        rows = [row for row in self._rows.values() if row is not None]
        return len(self._values) - 1 + int(np.count_nonzero(np.array(rows) > -inf))

    def value(self, mask: int) -> float:
        """F(B u A) - F(B)."""
        worth = self._values.get(mask)
        if worth is None:
            row = self._rows.get(mask)
            if row is None:
                worth = self.function.value(self.base | mask) - self.ground
            else:
                worth = float(row[mask.bit_length() - 1])
            self._values[mask] = worth
        return worth

    def extend(self, mask: int, attributes: Sequence[int]) -> None:
        """Evaluate A u {V} for each V in ``attributes``, none of them in A, if it is feasible."""
        new = [each for each in attributes if mask | 1 << each not in self._values]
        levels = self.function.extensions(self.base | mask, new)
        for each, level in zip(new, levels, strict=True):
            self._feasible[mask | 1 << each] = level > -inf
            if level > -inf:
                self._values[mask | 1 << each] = level - self.ground

    def gain(self, mask: int, attribute: int) -> float:
        """What moving one attribute in or out adds: F(A ^ {V}) - F(A)."""
        other = mask ^ 1 << attribute
        if other > mask and other not in self._values:
            self.extend(mask, [attribute])
        return self.value(other) - self.value(mask)

    def price(self, mask: int, attribute: int) -> float:
        """What moving one attribute in or out adds to the cost."""
        other, cost = mask ^ 1 << attribute, self.function.cost
        return cost(self.base | other) - cost(self.base | mask)

    def feasible(self, mask: int) -> bool:
        """Whether B u A may be chosen."""
        verdict = self._feasible.get(mask)
        if verdict is None:
            verdict = self._feasible[mask] = self.function.feasible(self.base | mask)
        return verdict

    def possible(self, mask: int = 0, among: int = -1) -> list[int]:
        """The candidates of ``among``, beside A, that a feasible set may contain with A."""
        both = self.base | mask
        return [
            each
            for each in members(self.candidates & among & ~mask)
            if self.function.feasible(both | 1 << each, larger=True)
        ]

    def bounds(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """For each V in ``attributes`` a bound on every set with A u {V}."""
        bounds = self.function.bounds(self.base | mask, attributes)
        return [each - self.ground for each in bounds]

    def may_exceed(self, mask: int, level: float) -> bool:
        """False only where A has at most this value for certain."""
        return self.function.may_exceed(self.base | mask, level + self.ground)

    def at_hand(self, mask: int) -> Floats | None:
        """F of A with each V, as `SetFunction` has it; None where it is not at hand."""
        if mask not in self._rows:
            self.look_at([mask])
        return self._rows[mask]

    def look_at(self, masks: Iterable[int]) -> None:
        """Fetch what is at hand for many sets at once, which is quicker."""
        new = {self.base | mask: mask for mask in masks if mask not in self._rows}
        rows = self.function.at_hand([*new]) if new else {}
        for both, mask in new.items():
            row = rows.get(both)
            if row is not None and (self.base or self.candidates != self.function.candidates):
                row = self._within(row) - self.ground
            self._rows[mask] = row

    def gainful(self) -> int:
        """The candidates that may be chosen alone, and gain by it, as a mask."""
        row = self.at_hand(0)
        if row is not None:
            return union(np.flatnonzero(row > 0).tolist())
        single = filter(self.feasible, (1 << each for each in members(self.candidates)))
        return sum(each for each in single if self.value(each) > 0)

    def best_pairs(self, most: int) -> list[int]:
        """Sets of two candidates with a large F, the best first, of equals the smaller.

        Where nothing is known of pairs, those of few candidates are evaluated, and of many none.
        """
        levels = None if self.base else self.function.pairs_at_hand()
        if levels is not None:
            sets, bits = by_pair(self._within(self._within(levels).T))
            some = np.argpartition(bits, -most)[-most:] if most < len(bits) else range(len(bits))
            worth = {sets[each]: float(bits[each]) for each in some if bits[each] > -inf}
        elif self.candidates.bit_count() <= FEW:
            both = combinations(members(self.candidates), 2)
            two = filter(self.feasible, (1 << one | 1 << other for one, other in both))
            worth = {each: self.value(each) for each in two}
        else:
            return []
        return sorted(filter(self.feasible, worth), key=lambda e: (-rank(worth[e]), e))[:most]

    def _within(self, levels: Floats) -> Floats:
        """Levels by attribute, minus infinity for those that are no candidates."""
        [inside] = mask_arrays([self.candidates], levels.shape[-1])
        return np.where(inside, levels, -inf)

    @property
    def level(self) -> float:
        """F of the present set, in bits."""
        return self.value(self.mask)

    def threshold(self, level: float) -> float:
        """The least gain of F, in bits, that a move from a set of value ``level`` must bring."""
        if self._epsilon is None:
            return -inf
        tolerance = self._epsilon / max(1, self.candidates.bit_count()) ** 2
        return max(tolerance * abs(level), FLOOR)

    def restarted(self, mask: int) -> "LocalSearch":
        """A search of the same function, as patient, that begins at this set."""
        other = copy(self)
        other.violations = 0
        other.start_at(mask)
        return other

    def start_at(self, mask: int) -> None:
        """Go on from this set; its attributes count as chosen in ascending order."""
        self.mask, self.order = mask, tuple(members(mask))

    def move(self, attribute: int) -> None:
        """Move one attribute in, or out where it is in."""
        self.mask ^= 1 << attribute
        rest = tuple(each for each in self.order if each != attribute)
        self.order = (*rest, attribute) if len(rest) == len(self.order) else rest

    def options(self, mask: int) -> list[tuple[float, int]]:
        """The (gain, attribute) of every feasible move of an attribute in ``mask``."""
        attributes, present = list(members(mask)), self.mask
        self.extend(present, [each for each in attributes if not present >> each & 1])
        feasible = [each for each in attributes if self.feasible(present ^ 1 << each)]
        base = self.value(present)
        options = [(self.value(present ^ 1 << each) - base, each) for each in feasible]
        if present and not mask & present:
            for gain, each in options:
                self.notice(gain, self.value(1 << each))
        return options

    def notice(self, gain: float, earlier: float) -> None:
        """Count a violation of submodularity: a gain that grew with the set."""
        self.violations += gain > earlier + ROUNDING


def eager_pass(state: LocalSearch, options: int) -> bool:
    """Make the best move of an attribute in ``options`` until none is good; say if any was."""
    start = state.mask
    while True:
        _, attribute = best(state.options(options), state.threshold(state.level))
        if attribute < 0:
            return state.mask != start
        state.move(attribute)
        options ^= 1 << attribute


def lazy_pass(state: LocalSearch, options: int) -> bool:
    """Do the same with gains computed afresh only when they come up (Robertazzi & Schwartz).

    A gain that was computed for an earlier set bounds the present one where U is submodular and
    C supermodular. C is remembered across requests, so its part of a stale gain is renewed
    first. Ties go to the smaller attribute, as in ``eager_pass``: a heap orders pairs. As long as
    the gains of all are at hand, none is stale.
    """
    start = state.mask
    stale = follow(state, options)
    if stale is None:
        stale = start, state.options(options)
    computed_at, gains = stale
    # Of each attribute the gain, and the sets as of which its cost and all of it are known.
    heap = [(-rank(gain), each, gain, computed_at, computed_at) for gain, each in gains]
    heapify(heap)
    while heap:
        _, attribute, gain, priced_at, computed_at = heappop(heap)
        if gain <= state.threshold(state.level):
            continue
        if computed_at == state.mask:
            state.move(attribute)
            state.extend(state.mask, [])
        elif state.feasible(state.mask ^ 1 << attribute):
            if priced_at == state.mask:
                gain = state.gain(state.mask, attribute)
                state.notice(gain, state.gain(computed_at, attribute))
                computed_at = state.mask
            else:
                gain -= state.price(state.mask, attribute) - state.price(priced_at, attribute)
            heappush(heap, (-rank(gain), attribute, gain, state.mask, computed_at))
    return state.mask != start


def follow(state: LocalSearch, options: int) -> tuple[int, list[tuple[float, int]]] | None:
    """Move attributes in while the gains of all are at hand.

    Returns the last set where they were, with the (gain, attribute) of every move that was open,
    none if none was good; None where nothing is at hand at all.
    """
    latest, singles = None, state.at_hand(0)
    if options & state.mask or singles is None:
        return None
    [open_] = mask_arrays([options], len(singles))
    while (row := state.at_hand(state.mask)) is not None:
        gains = np.where(open_, row - state.level, -inf)
        state.violations += int(np.count_nonzero(gains > singles + ROUNDING))
        good = np.where(gains > state.threshold(state.level), np.rint(gains / TIE), -inf)
        place = int(good.argmax())
        if good[place] == -inf:
            return state.mask, []
        latest = state.mask, gains
        gains[place] = -inf
        open_[place] = False
        state.move(place)
    if latest is None:
        return None
    mask, gains = latest
    return mask, [(float(gains[each]), each) for each in np.flatnonzero(gains > -inf).tolist()]


def ascend(state: LocalSearch, starts: Sequence[int]) -> list[int]:
    """The sets that following leads to from each of these sets, step by step together.

    Paths that meet are one, so there can be fewer than there are starts.
    """
    ends, seen = list[int](), set[int]()
    state.look_at([0, *starts])
    singles, masks = state.at_hand(0), [*starts]
    while masks and singles is not None:
        seen.update(masks)
        state.look_at(masks)
        ready = [(mask, row) for mask in masks if (row := state.at_hand(mask)) is not None]
        ends += [mask for mask in masks if state.at_hand(mask) is None]
        if not ready:
            break
        levels = [state.value(mask) for mask, _ in ready]
        gains = np.array([row for _, row in ready]) - np.array(levels)[:, None]
        state.violations += int(np.count_nonzero(gains > singles + ROUNDING))
        least = np.array([state.threshold(level) for level in levels])[:, None]
        good = np.where(gains > least, np.rint(gains / TIE), -inf)
        places, masks = good.argmax(axis=1).tolist(), []
        for line, (place, (mask, _)) in enumerate(zip(places, ready, strict=True)):
            larger = mask | 1 << place
            if good[line, place] == -inf:
                ends.append(mask)
            elif larger not in seen:
                seen.add(larger)
                masks.append(larger)
    return ends


def best(options: Iterable[tuple[float, int]], least: float = -inf) -> tuple[float, int]:
    """The option with the largest gain above ``least``, the smallest attribute of equals.

    (-inf, -1) where there is none.
    """
    good = (option for option in options if option[0] > least)
    return max(good, key=lambda option: (rank(option[0]), -option[1]), default=(-inf, -1))


def rank(level: float) -> float:
    """Bits as a number that is the same for levels too close to tell apart."""
    return level if isinf(level) else float(round(level / TIE))
