"""Moving one attribute in or out while that improves F enough: eager and lazy passes (paper 4)."""

from collections.abc import Iterable, Sequence
from copy import copy
from math import inf, isinf, nan
from typing import Protocol

import numpy as np

from agent.tradeoff.tables import Floats, Indexes, mask_arrays, members, union

FLOOR = 1e-12  # bits: what floating-point noise can feign
TIE = 2.0**-30  # bits: gains that round to the same multiple are equal, and the index decides
ROUNDING = 1e-9  # bits: a gain that grows by less is not called a violation


class SetFunction(Protocol):
    """What a search maximises: F over the feasible subsets of the candidates, F(0) = 0.

    A set is an integer, whose bit i says that attribute i is in it. A subclass needs only
    ``candidates`` and ``value``; what else it says makes a search quicker, or proves more.
    """

    candidates: int
    """The attributes to choose from, as a mask."""

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

    def above(self, mask: int, options: int) -> float:
        """A bound on F of A with any of ``options``, a mask; infinite where none is known."""
        del mask, options
        return inf

    def promising(self, mask: int, options: int) -> int:
        """The attributes of a mask that may be worth adding to A, where all take long to tell."""
        del mask
        return options

    def cost(self, mask: int) -> float:
        """C(A): the part of -F(A) that is cheap to compute, 0 where no part is."""
        del mask
        return 0.0

    def costs_beside(self, mask: int, attributes: Indexes) -> Floats:
        """What C(A u {V}) is at the least, for each V of an array of intp, none in A."""
        sets = (mask | 1 << each for each in attributes.tolist())
        return np.array([self.cost(each) for each in sets], dtype=np.float64)

    def helps(self, mask: int, attributes: Indexes, *, count: bool = True) -> Floats | None:
        """U(A u {V}) for each V of an array of intp, none in A, where F is U less a cost.

        Less ``costs_beside`` it bounds F. None where it is no sooner known than F, or, where it
        takes counting, without ``count``.
        """
        del mask, attributes, count
        return None

    def at_hand(self, mask: int) -> Floats | None:
        """F(A u {V}) for each V, by attribute; None where that needs counting.

        Minus infinity where V is not in A and may not be chosen.
        """
        del mask
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
        if mask not in self._values:
            if (row := self._rows.get(mask)) is None:
                self._values[mask] = self.function.value(self.base | mask) - self.ground
            else:
                self._values[mask] = float(row[mask.bit_length() - 1])
        return self._values[mask]

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
        if mask not in self._feasible:
            self._feasible[mask] = self.function.feasible(self.base | mask)
        return self._feasible[mask]

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
        return [each - self.ground for each in self.function.bounds(self.base | mask, attributes)]

    def may_grow(self, mask: int, options: int, level: float) -> bool:
        """False only where A with any of ``options`` has at most this value for certain."""
        return self.function.above(self.base | mask, options) > level + self.ground

    def hope(self, options: int) -> float:
        """F of the present set and what moving each of ``options`` in adds alone, at the most."""
        row, violations = self.at_hand(self.mask), self.violations
        if row is None:
            gains = self.moves(options).gains
            self.violations = violations  # a pass notices them
        else:
            gains = row[mask_arrays([options], len(row))[0]] - self.level
        return self.level + float(np.maximum(gains, 0.0).sum())

    @property
    def limited(self) -> bool:
        """Whether a limit has kept anything out so far."""
        return not all(self._feasible.values())

    def promising(self, mask: int, without: int) -> int:
        """The candidates that may be worth adding to A, a mask, of those that are not left out."""
        return self.function.promising(self.base | mask, self.candidates & ~(mask | without))

    def at_hand(self, mask: int) -> Floats | None:
        """F of A with each V, as `SetFunction` has it; None where it is not at hand."""
        if mask not in self._rows:
            row = self.function.at_hand(self.base | mask)
            if row is not None and (self.base or self.candidates != self.function.candidates):
                [inside] = mask_arrays([self.candidates], len(row))
                row = np.where(inside, row, -inf) - self.ground
            self._rows[mask] = row
        return self._rows[mask]

    def gainful(self) -> list[int]:
        """The candidates that may be chosen alone, and gain by it, those that gain most first."""
        row, nothing = self.at_hand(0), self.restarted(0)
        if row is None:
            moves = nothing.moves(self.candidates)
            gains = nothing.options(union(moves.attributes[moves.gains > 0].tolist()))
        else:
            gains = [(float(row[each]), each) for each in members(self.candidates)]
        best_first = sorted(gains, key=lambda pair: (-rank(pair[0]), pair[1]))
        return [each for gain, each in best_first if gain > 0]

    @property
    def level(self) -> float:
        """F of the present set, in bits."""
        return self.value(self.mask)

    def threshold(self, level: float) -> float:
        """The least gain of F, in bits, that a move from a set of value ``level`` must bring."""
        if self._epsilon is None:
            return -inf
        return max(self._epsilon / max(1, self.candidates.bit_count()) ** 2 * abs(level), FLOOR)

    def restarted(self, mask: int) -> "LocalSearch":
        """A search of the same function that begins at this set."""
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

    def moves(self, options: int) -> "Moves":
        """The moves in, or the moves out, of attributes; where U is part of F, only bounded."""
        level, inside = self.level + self.threshold(self.level), options & self.mask
        out = (each for each in members(inside))
        options &= ~union(e for e in out if not self.may_grow(self.mask ^ 1 << e, 0, level))
        new, mask = np.array([*members(options)], np.intp), self.base | self.mask
        bits = self.function.helps(mask, new) if len(new) and not inside else None
        if bits is None:
            gains, places = np.array(self.options(options), np.float64).reshape(-1, 2).T
            return Moves(places.astype(np.intp), gains, self.mask)
        cost = self.function.cost(mask)
        bits = bits - (self.level + self.ground + cost)
        return Moves(new, bits - (self.function.costs_beside(mask, new) - cost), -1, bits)

    def bound(self, moves: "Moves", place: int) -> None:
        """Bound a gain as of the present set at little expense; all where U is at hand.

        What a move added to U earlier bounds what it adds now, if U is submodular; the cost is
        renewed.
        """
        function, mask, some = self.function, self.base | self.mask, np.array([place])
        if np.isnan(moves.bits[place]):
            price = self.price(moves.computed_at[place], int(moves.attributes[place]))
            moves.bits[place] = moves.gains[place] + price
        if self.mask >> (each := int(moves.attributes[place])) & 1:
            more = np.array([self.price(self.mask, each)])
        else:
            cost, bits = function.cost(mask), function.helps(mask, moves.attributes, count=False)
            if bits is not None:
                some = np.flatnonzero(moves.gains > -inf)
                moves.bits[some] = bits[some] - (self.level + self.ground + cost)
            more = function.costs_beside(mask, moves.attributes[some]) - cost
        moves.gains[some], moves.stale[some] = moves.bits[some] - more, False

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


class Moves:
    """Moving attributes in, or out: what each adds to F, at the most.

    By attribute, ``attributes``, intp: ``gains``, float64, minus infinity of one that is settled;
    ``bits``: what the move adds to U, no number where the gain was computed and tells it;
    ``stale``: whether the gain is of an earlier set; ``computed_at``: the set where it was last
    computed, -1 for nowhere.
    """

    def __init__(
        self, attributes: Indexes, gains: Floats, computed_at: int, bits: Floats | float = nan
    ) -> None:
        count = len(attributes)
        self.attributes, self.gains, self.bits = attributes, gains, np.full(count, bits)
        self.stale, self.computed_at = np.zeros(count, bool), [computed_at] * count


def lazy_pass(state: LocalSearch, options: int) -> bool:
    """Do the same with gains computed afresh only when they come up (Robertazzi & Schwartz).

    A gain that was computed for an earlier set bounds the present one where U is submodular and
    C supermodular; before it is computed, what bounds it at less expense stands for it. Ties go to
    the smaller attribute, as in ``eager_pass``. As long as the gains of all are at hand, none is
    stale. ``options``: all in the set, or none.
    """
    start, moves = state.mask, follow(state, options) or state.moves(options)
    least = state.threshold(state.level)
    while len(moves.gains):
        place = int(np.rint(moves.gains / TIE).argmax())
        each, mask = int(moves.attributes[place]), state.mask
        if moves.gains[place] <= least:
            break
        if moves.stale[place]:
            state.bound(moves, place)
        elif moves.computed_at[place] == mask:
            state.move(each)
            state.extend(state.mask, [])
            moves.gains[place], moves.stale = -inf, np.ones(len(moves.gains), bool)
            least = state.threshold(state.level)
        elif state.feasible(mask ^ 1 << each):
            gain, earlier = state.gain(mask, each), moves.computed_at[place]
            if earlier >= 0:
                state.notice(gain, state.gain(earlier, each))
            moves.gains[place], moves.bits[place], moves.computed_at[place] = gain, nan, mask
        else:
            moves.gains[place] = -inf
    return state.mask != start


def follow(state: LocalSearch, options: int) -> Moves | None:
    """Move attributes in while the gains of all are at hand.

    Returns the moves that were open at the last set where they were, none if none was good; None
    where nothing is at hand at all.
    """
    singles, moves = state.at_hand(0), None
    if options & state.mask or singles is None:
        return None
    [open_] = mask_arrays([options], len(singles))
    while (row := state.at_hand(state.mask)) is not None:
        gains = np.where(open_, row - state.level, -inf)
        state.violations += int(np.count_nonzero(gains > singles + ROUNDING))
        good = np.where(gains > state.threshold(state.level), np.rint(gains / TIE), -inf)
        place = int(good.argmax())
        if good[place] == -inf:
            return Moves(np.zeros(0, np.intp), np.zeros(0), state.mask)
        gains[place] = -inf
        open_[place] = False
        some = np.flatnonzero(gains > -inf)
        moves = Moves(some, gains[some], state.mask)
        moves.stale[:] = True
        state.move(place)
    return moves


def best(options: Iterable[tuple[float, int]], least: float = -inf) -> tuple[float, int]:
    """The option with the largest gain above ``least``, the smallest attribute of equals.

    (-inf, -1) where there is none.
    """
    good = (option for option in options if option[0] > least)
    return max(good, key=lambda option: (rank(option[0]), -option[1]), default=(-inf, -1))


def rank(level: float) -> float:
    """Bits as a number that is the same for levels too close to tell apart."""
    return level if isinf(level) else float(round(level / TIE))
