"""Moving one attribute in or out while that improves F enough: eager and lazy passes (paper 4)."""

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import inf, isinf
from typing import NamedTuple, Protocol

import numpy as np

from agent.tradeoff.tables import (
    Floats,
    above_diagonal,
    mask_array,
    members,
    singleton,
    union,
)

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
    claims_submodularity: bool = False
    """Whether bounds that assume F to be submodular mean anything here."""

    def value(self, mask: int) -> float:
        """Return F(A)."""
        ...

    def feasible(self, mask: int) -> bool:
        """Say whether A may be chosen; the empty set always may."""
        del mask
        return True

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return F(A u {V}) for each V in ``attributes``, none in A; minus infinity if infeasible.

        Also of no attributes, it makes the neighbours of A quick to evaluate.
        """
        sets = [mask | singleton(each) for each in attributes]
        return [self.value(each) if self.feasible(each) else -inf for each in sets]

    def bounds(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return for each V in ``attributes`` a bound on F of every set with A u {V}.

        It needs no submodularity.
        """
        del mask
        return [inf] * len(attributes)

    def hopeless(self, mask: int) -> bool:
        """Say True only where neither A nor a set that contains it may be chosen."""
        del mask
        return False

    def may_exceed(self, mask: int, level: float) -> bool:
        """Say False only where F(A) <= level for certain, at less expense than value(A)."""
        del mask, level
        return True

    def cost(self, mask: int) -> float:
        """Return C(A): the part of -F(A) that is cheap to compute, 0 where no part is."""
        del mask
        return 0.0

    def at_hand(self, masks: Sequence[int]) -> dict[int, Floats]:
        """Return F(A u {V}) for each V, by attribute, for each A that needs no counting for it.

        Minus infinity where V is not in A and that may not be chosen.
        """
        del masks
        return {}

    def pairs_at_hand(self) -> Floats | None:
        """Return F of every two attributes, symmetric, by attribute; roughly, at no expense.

        Minus infinity where one is no candidate. None where nothing is known of pairs.
        """
        return None


class Memo:
    """A set function that is evaluated at most once for a set."""

    def __init__(self, function: SetFunction) -> None:
        """Start with nothing evaluated."""
        self.function = function
        self._values: dict[int, float] = {0: 0.0}
        self._feasible: dict[int, bool] = {0: True}
        self._rows: dict[int, Floats | None] = {}

    @property
    def evaluations(self) -> int:
        """How many sets F was evaluated at, or at hand at: these once for each row they are in."""
        rows = [row for row in self._rows.values() if row is not None]
        return len(self._values) - 1 + int(np.count_nonzero(np.array(rows) > -inf))

    def value(self, mask: int) -> float:
        """Return F(A)."""
        found = self._values.get(mask)
        if found is None:
            row = self._rows.get(mask)
            found = self.function.value(mask) if row is None else float(row[mask.bit_length() - 1])
            self._values[mask] = found
        return found

    def extend(self, mask: int, attributes: Sequence[int]) -> None:
        """Evaluate A u {V} for each V in ``attributes``, none of them in A, if it is feasible."""
        new = [each for each in attributes if mask | singleton(each) not in self._values]
        for each, level in zip(new, self.function.extensions(mask, new), strict=True):
            self._feasible[mask | singleton(each)] = level > -inf
            if level > -inf:
                self._values[mask | singleton(each)] = level

    def gain(self, mask: int, attribute: int) -> float:
        """Return what moving one attribute in or out adds: F(A ^ {V}) - F(A)."""
        other = mask ^ singleton(attribute)
        if other > mask and other not in self._values:
            self.extend(mask, [attribute])
        return self.value(other) - self.value(mask)

    def feasible(self, mask: int) -> bool:
        """Say whether A may be chosen."""
        found = self._feasible.get(mask)
        if found is None:
            found = self._feasible[mask] = self.function.feasible(mask)
        return found

    def at_hand(self, mask: int) -> Floats | None:
        """Return F(A u {V}) for each V, as `SetFunction` does; None where it is not at hand."""
        if mask not in self._rows:
            self.look_at([mask])
        return self._rows[mask]

    def look_at(self, masks: Iterable[int]) -> None:
        """Fetch what is at hand for many sets at once, which is quicker."""
        new = [mask for mask in masks if mask not in self._rows]
        found = self.function.at_hand(new) if new else {}
        self._rows.update((mask, found.get(mask)) for mask in new)

    def gainful(self) -> int:
        """Return the candidates that may be chosen alone, and gain by it, as a mask."""
        row = self.at_hand(0)
        if row is not None:
            return union(np.flatnonzero(row > 0).tolist())
        single = filter(self.feasible, map(singleton, members(self.function.candidates)))
        return sum(each for each in single if self.value(each) > 0)

    def best_pairs(self, most: int) -> list[int]:
        """Return sets of two candidates with a large F, the best first, of equals the smaller.

        Where nothing is known of pairs, those of few candidates are evaluated, and of many none.
        """
        function, levels = self.function, self.function.pairs_at_hand()
        if levels is None:
            if function.candidates.bit_count() > FEW:
                return []
            each = [singleton(one) for one in members(function.candidates)]
            both = filter(self.feasible, (one | other for one, other in combinations(each, 2)))
            known = {pair: self.value(pair) for pair in both}
        else:
            ones, others = above_diagonal(len(levels))
            upper = levels[ones, others]
            some = np.argpartition(upper, -most)[-most:] if most < len(upper) else range(len(upper))
            known = {
                singleton(int(ones[place])) | singleton(int(others[place])): float(upper[place])
                for place in some
                if upper[place] > -inf
            }
        feasible = filter(self.feasible, known)
        return sorted(feasible, key=lambda pair: (-rank(known[pair]), pair))[:most]


class Gain(NamedTuple):
    """What a move is known to add at the most: its utility as of one set, its cost of another."""

    bound: float
    priced_at: int
    computed_at: int


class Ahead(NamedTuple):
    """What moves were to add at one set: float64, shape (n,), bits, minus infinity for no move."""

    mask: int
    gains: Floats

    def stale(self) -> dict[int, Gain]:
        """Return each gain by attribute."""
        found = np.flatnonzero(self.gains > -inf)
        gains = zip(found.tolist(), self.gains[found].tolist(), strict=True)
        return {each: Gain(gain, self.mask, self.mask) for each, gain in gains}


class LocalSearch:
    """The state of a search: the present set, the order of its attributes, violations seen."""

    def __init__(self, memo: Memo, epsilon: float | None) -> None:
        """Start at the empty set; a move must improve F by more than (epsilon/n^2)|F|.

        Where epsilon is None every move is good enough.
        """
        self.memo = memo
        self.mask = 0
        self.order: tuple[int, ...] = ()
        self.violations = 0
        pairs = max(1, memo.function.candidates.bit_count()) ** 2
        self._tolerance = None if epsilon is None else epsilon / pairs

    @property
    def value(self) -> float:
        """F of the present set, in bits."""
        return self.memo.value(self.mask)

    @property
    def threshold(self) -> float:
        """What a move must improve F by at the least, in bits."""
        return -inf if self._tolerance is None else max(self._tolerance * abs(self.value), FLOOR)

    def least(self, levels: Floats) -> Floats:
        """Return the same for each level that F may have, float64, in bits."""
        if self._tolerance is None:
            return np.full_like(levels, -inf)
        return np.maximum(self._tolerance * np.abs(levels), FLOOR)

    def restarted(self, mask: int) -> "LocalSearch":
        """Return a search of the same function, as patient, that begins at this set."""
        other = LocalSearch(self.memo, None)
        other._tolerance = self._tolerance
        other.start_at(mask)
        return other

    def start_at(self, mask: int) -> None:
        """Go on from this set; its attributes count as chosen in ascending order."""
        self.mask, self.order = mask, tuple(members(mask))

    def move(self, attribute: int) -> None:
        """Move one attribute in, or out where it is in."""
        self.mask ^= singleton(attribute)
        rest = tuple(each for each in self.order if each != attribute)
        self.order = (*rest, attribute) if len(rest) == len(self.order) else rest

    def options(self, mask: int) -> list[tuple[float, int]]:
        """Return (gain, attribute) for every feasible move of an attribute in ``mask``."""
        memo, attributes, present = self.memo, list(members(mask)), self.mask
        memo.extend(present, [each for each in attributes if not present >> each & 1])
        feasible = [each for each in attributes if memo.feasible(present ^ singleton(each))]
        base = memo.value(present)
        options = [(memo.value(present ^ singleton(each)) - base, each) for each in feasible]
        if present and not mask & present:
            for gain, each in options:
                self.notice(gain, memo.value(singleton(each)))
        return options

    def notice(self, gain: float, earlier: float) -> None:
        """Count a violation of submodularity: a gain that grew with the set."""
        self.violations += gain > earlier + ROUNDING


def eager_pass(state: LocalSearch, options: int) -> bool:
    """Make the best move of an attribute in ``options`` until none is good; say if any was."""
    moved = False
    while True:
        _, attribute = best(state.options(options), state.threshold)
        if attribute < 0:
            return moved
        state.move(attribute)
        options ^= singleton(attribute)
        moved = True


def lazy_pass(state: LocalSearch, options: int) -> bool:
    """Do the same with gains computed afresh only when they come up (Robertazzi & Schwartz).

    A gain that was computed for an earlier set bounds the present one where U is submodular and
    C supermodular. C is remembered across requests, so its part of a stale gain is renewed
    first. Ties go to the smaller attribute, as in ``eager_pass``: a heap orders pairs. As long as
    the gains of all are at hand, none is stale.
    """
    start = state.mask
    ahead = follow(state, options)
    if ahead is None:
        stale = {each: Gain(gain, start, start) for gain, each in state.options(options)}
    else:
        stale = ahead.stale()
    heap = [(-rank(gain.bound), each) for each, gain in stale.items()]
    heapify(heap)
    while heap:
        _, attribute = heappop(heap)
        gain = stale[attribute]
        if gain.bound <= state.threshold:
            continue
        if gain.computed_at == state.mask:
            state.move(attribute)
            state.memo.extend(state.mask, [])
        elif state.memo.feasible(state.mask ^ singleton(attribute)):
            if gain.priced_at == state.mask:
                fresh = state.memo.gain(state.mask, attribute)
                state.notice(fresh, state.memo.gain(gain.computed_at, attribute))
                gain = Gain(fresh, state.mask, state.mask)
            else:
                dearer = _price(state, state.mask, attribute)
                dearer -= _price(state, gain.priced_at, attribute)
                gain = Gain(gain.bound - dearer, state.mask, gain.computed_at)
            stale[attribute] = gain
            heappush(heap, (-rank(gain.bound), attribute))
    return state.mask != start


def follow(state: LocalSearch, options: int) -> Ahead | None:
    """Move attributes in while the gains of all are at hand; return what is known of the rest.

    None where nothing is at hand at all.
    """
    memo, ahead = state.memo, None
    singles = memo.at_hand(0)
    allowed = None if options & state.mask or singles is None else mask_array(options, len(singles))
    while allowed is not None and (row := memo.at_hand(state.mask)) is not None:
        gains = np.where(allowed, row - state.value, -inf)
        if state.mask and singles is not None:
            state.violations += int(np.count_nonzero(gains > singles + ROUNDING))
        good = np.where(gains > state.threshold, np.rint(gains / TIE), -inf)
        place = int(good.argmax())
        if good[place] == -inf:
            return Ahead(state.mask, np.full(len(gains), -inf))
        ahead = Ahead(state.mask, gains)
        gains[place] = -inf
        allowed[place] = False
        state.move(place)
    return ahead


def ascend(state: LocalSearch, starts: Sequence[int]) -> list[int]:
    """Return the sets that following leads to from each of these sets, step by step together.

    Paths that meet are one, so there can be fewer than there are starts.
    """
    memo, ends, seen = state.memo, list[int](), set[int]()
    memo.look_at([0, *starts])
    singles, masks = memo.at_hand(0), [*starts]
    while masks and singles is not None:
        seen.update(masks)
        memo.look_at(masks)
        known = [(mask, row) for mask in masks if (row := memo.at_hand(mask)) is not None]
        ends += [mask for mask in masks if memo.at_hand(mask) is None]
        if not known:
            break
        levels = np.array([memo.value(mask) for mask, _ in known])
        gains = np.array([row for _, row in known]) - levels[:, None]
        state.violations += int(np.count_nonzero(gains > singles + ROUNDING))
        least = state.least(levels)[:, None]
        good = np.where(gains > least, np.rint(gains / TIE), -inf)
        places, masks = good.argmax(axis=1).tolist(), []
        for line, (place, (mask, _)) in enumerate(zip(places, known, strict=True)):
            larger = mask | singleton(place)
            if good[line, place] == -inf:
                ends.append(mask)
            elif larger not in seen:
                seen.add(larger)
                masks.append(larger)
    return ends


def _price(state: LocalSearch, mask: int, attribute: int) -> float:
    """Return what moving an attribute in or out of ``mask`` adds to the cost."""
    cost = state.memo.function.cost
    return cost(mask ^ singleton(attribute)) - cost(mask)


def best(options: Iterable[tuple[float, int]], least: float = -inf) -> tuple[float, int]:
    """Return the option with the largest gain above ``least``, the smallest attribute of equals.

    (-inf, -1) where there is none.
    """
    good = (option for option in options if option[0] > least)
    return max(good, key=lambda option: (rank(option[0]), -option[1]), default=(-inf, -1))


def rank(level: float) -> float:
    """Return bits as a number that is the same for levels too close to tell apart."""
    return level if isinf(level) else float(round(level / TIE))
