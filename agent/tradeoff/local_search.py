"""Moving one attribute in or out while that improves F enough: eager and lazy passes (paper 4)."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import inf
from typing import NamedTuple, Protocol

from agent.tradeoff.sets import members, singleton

FLOOR = 1e-12  # bits: what floating-point noise can feign
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

    @property
    def monotone_utility(self) -> bool:
        """Whether U never falls when a set grows."""
        return False

    @property
    def utility_limit(self) -> float:
        """A bound on the utility of every set."""
        return inf

    def value(self, mask: int) -> float:
        """Return F(A)."""
        ...

    def utility(self, mask: int) -> float:
        """Return U(A), where F = U - C."""
        return self.value(mask) + self.cost(mask)

    def cost(self, mask: int) -> float:
        """Return C(A): the part of -F(A) that is cheap to compute, 0 where no part is."""
        del mask
        return 0.0

    def feasible(self, mask: int) -> bool:
        """Say whether A may be chosen; the empty set always may."""
        del mask
        return True

    def hopeless(self, mask: int) -> bool:
        """Say True only where neither A nor a set that contains it may be chosen."""
        del mask
        return False

    def may_exceed(self, mask: int, level: float) -> bool:
        """Say False only where F(A) <= level for certain, at less expense than value(A)."""
        del mask, level
        return True

    def utility_ceiling(self, mask: int) -> float:
        """Return a bound on the utility of every subset of A."""
        del mask
        return self.utility_limit

    def cost_floor(self, mask: int) -> float:
        """Return a bound below the cost of every superset of A."""
        del mask
        return -inf

    def focus(self, mask: int) -> None:
        """Make the neighbours of A quick to evaluate; the answers stay the same."""
        del mask

    def survey(self, mask: int, attributes: Sequence[int]) -> None:
        """Make ready F(A ^ {V}) for each V in ``attributes``; the answers stay the same."""
        del mask, attributes


class Memo:
    """A set function that is evaluated at most once for a set."""

    def __init__(self, function: SetFunction) -> None:
        """Start with nothing evaluated."""
        self.function = function
        self._values: dict[int, float] = {0: 0.0}
        self._feasible: dict[int, bool] = {0: True}

    @property
    def evaluations(self) -> int:
        """How many different sets F was evaluated at, the empty one not counted."""
        return len(self._values) - 1

    def value(self, mask: int) -> float:
        """Return F(A)."""
        found = self._values.get(mask)
        if found is None:
            found = self._values[mask] = self.function.value(mask)
        return found

    def gain(self, mask: int, attribute: int) -> float:
        """Return what moving one attribute in or out adds: F(A ^ {V}) - F(A)."""
        return self.value(mask ^ (1 << attribute)) - self.value(mask)

    def feasible(self, mask: int) -> bool:
        """Say whether A may be chosen."""
        found = self._feasible.get(mask)
        if found is None:
            found = self._feasible[mask] = self.function.feasible(mask)
        return found


class _Gain(NamedTuple):
    """What a move is known to add at the most: its utility as of one set, its cost of another."""

    bound: float
    priced_at: int
    computed_at: int


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
        if self._tolerance is None:
            return -inf
        return max(self._tolerance * abs(self.value), FLOOR)

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
        memo.function.survey(present, attributes)
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
        gain, attribute = best(state.options(options))
        if gain <= state.threshold:
            return moved
        state.move(attribute)
        options ^= singleton(attribute)
        moved = True


def lazy_pass(state: LocalSearch, options: int) -> bool:
    """Do the same with gains computed afresh only when they come up (Robertazzi & Schwartz).

    A gain that was computed for an earlier set bounds the present one where U is submodular and
    C supermodular. C is remembered across requests, so its part of a stale gain is renewed
    first. Ties go to the smaller attribute, as in ``eager_pass``: a heap orders pairs.
    """
    start = state.mask
    stale = {each: _Gain(gain, start, start) for gain, each in state.options(options)}
    heap = [(-gain.bound, each) for each, gain in stale.items()]
    heapify(heap)
    while heap and -heap[0][0] > state.threshold:
        _, attribute = heappop(heap)
        if stale[attribute].computed_at == state.mask:
            state.move(attribute)
            state.memo.function.focus(state.mask)
        elif state.memo.feasible(state.mask ^ singleton(attribute)):
            gain = stale[attribute]
            if gain.priced_at == state.mask:
                fresh = state.memo.gain(state.mask, attribute)
                state.notice(fresh, state.memo.gain(gain.computed_at, attribute))
                gain = _Gain(fresh, state.mask, state.mask)
            else:
                dearer = _price(state, state.mask, attribute)
                dearer -= _price(state, gain.priced_at, attribute)
                gain = _Gain(gain.bound - dearer, state.mask, gain.computed_at)
            stale[attribute] = gain
            heappush(heap, (-gain.bound, attribute))
    return state.mask != start


def _price(state: LocalSearch, mask: int, attribute: int) -> float:
    """Return what moving an attribute in or out of ``mask`` adds to the cost."""
    cost = state.memo.function.cost
    return cost(mask ^ singleton(attribute)) - cost(mask)


def best(options: list[tuple[float, int]]) -> tuple[float, int]:
    """Return the option with the largest gain, the smallest attribute among equals."""
    return max(options, key=lambda option: (option[0], -option[1]), default=(-inf, -1))
