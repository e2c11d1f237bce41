"""Moving one attribute in or out while that improves F enough: eager and lazy passes (paper 4)."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple, Protocol

from agent.tradeoff.sets import members, singleton

FLOOR = 1e-12  # bits: what floating-point noise can feign
ROUNDING = 1e-9  # bits: a gain that grows by less is not called a violation


class SetFunction(Protocol):
    """What a search maximises: F over the feasible subsets of the candidates, F(0) = 0."""

    @property
    def candidates(self) -> int:
        """The attributes to choose from, as a mask."""
        ...

    @property
    def claims_submodularity(self) -> bool:
        """Whether bounds that assume F to be submodular mean anything here."""
        ...

    def value(self, mask: int) -> float:
        """Return F(A)."""
        ...

    def cost(self, mask: int) -> float:
        """Return the part of -F(A) that is cheap to compute, 0 where no part is."""
        ...

    def feasible(self, mask: int) -> bool:
        """Say whether A may be chosen."""
        ...

    def hopeless(self, mask: int) -> bool:
        """Say True only where neither A nor a set that contains it may be chosen."""
        ...

    def focus(self, mask: int) -> None:
        """Make the neighbours of A quick to evaluate; the answers stay the same."""
        ...

    def survey(self, mask: int, attributes: Sequence[int]) -> None:
        """Make ready F(A ^ {V}) for each V in ``attributes``; the answers stay the same."""
        ...

    def may_exceed(self, mask: int, level: float) -> bool:
        """Say False only where F(A) <= level for certain, at less expense than value(A)."""
        ...

    @property
    def utility_limit(self) -> float:
        """A bound on the utility of every set."""
        ...

    def utility_ceiling(self, mask: int) -> float:
        """Return a bound on the utility of every subset of A."""
        ...

    def online_bound(self, mask: int) -> float:
        """Return Thm 4.5's bound on F at A, for submodular F; infinite where U is not monotone."""
        ...

    def cost_floor(self, mask: int) -> float:
        """Return a bound below the cost of every superset of A."""
        ...


class Divided(SetFunction, Protocol):
    """A set function F = U - C whose utility can be asked for by itself."""

    @property
    def monotone_utility(self) -> bool:
        """Whether U never falls when a set grows."""
        ...

    def utility(self, mask: int) -> float:
        """Return U(A)."""
        ...


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
    """A set on its way up: the present set, the order of its attributes, what was noticed."""

    def __init__(self, probe: Memo, epsilon: float | None) -> None:
        """Start at the empty set; a move must improve F by more than (epsilon/n^2)|F|.

        Where epsilon is None every move is good enough.
        """
        self.probe = probe
        self.mask = 0
        self.order: tuple[int, ...] = ()
        self.violations = 0
        pairs = max(1, probe.function.candidates.bit_count()) ** 2
        self._tolerance = None if epsilon is None else epsilon / pairs

    @property
    def threshold(self) -> float:
        """What a move must improve F by at the least, in bits."""
        if self._tolerance is None:
            return float("-inf")
        return max(self._tolerance * abs(self.probe.value(self.mask)), FLOOR)

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
        probe, attributes, present = self.probe, list(members(mask)), self.mask
        probe.function.survey(present, attributes)
        feasible = [each for each in attributes if probe.feasible(present ^ singleton(each))]
        base = probe.value(present)
        options = [(probe.value(present ^ singleton(each)) - base, each) for each in feasible]
        if present and not mask & present:
            for gain, each in options:
                self.notice(gain, probe.value(singleton(each)))
        return options

    def notice(self, gain: float, earlier: float) -> None:
        """Count a violation of submodularity: a gain that grew with the set."""
        self.violations += gain > earlier + ROUNDING


def eager_pass(walk: LocalSearch, options: int) -> bool:
    """Make the best move of an attribute in ``options`` until none is good; say if any was."""
    moved = False
    while True:
        gain, attribute = best(walk.options(options))
        if gain <= walk.threshold:
            return moved
        walk.move(attribute)
        options ^= singleton(attribute)
        moved = True


def lazy_pass(walk: LocalSearch, options: int) -> bool:
    """Do the same with gains computed afresh only when they come up (Robertazzi & Schwartz).

    A gain that was computed for an earlier set bounds the present one where U is submodular and
    C supermodular. C is remembered across requests, so its part of a stale gain is renewed
    first. Ties go to the smaller attribute, as in ``eager_pass``: a heap orders pairs.
    """
    start = walk.mask
    stale = {each: _Gain(gain, start, start) for gain, each in walk.options(options)}
    heap = [(-gain.bound, each) for each, gain in stale.items()]
    heapify(heap)
    while heap and -heap[0][0] > walk.threshold:
        _, attribute = heappop(heap)
        if stale[attribute].computed_at == walk.mask:
            walk.move(attribute)
            walk.probe.function.focus(walk.mask)
        elif walk.probe.feasible(walk.mask ^ singleton(attribute)):
            stale[attribute] = _renewed(walk, stale[attribute], attribute)
            heappush(heap, (-stale[attribute].bound, attribute))
    return walk.mask != start


def _renewed(walk: LocalSearch, gain: _Gain, attribute: int) -> _Gain:
    """Bring a stale gain up to the present set: its cost first, then all of it."""
    if gain.priced_at == walk.mask:
        fresh = walk.probe.gain(walk.mask, attribute)
        walk.notice(fresh, walk.probe.gain(gain.computed_at, attribute))
        return _Gain(fresh, walk.mask, walk.mask)
    dearer = _price(walk, walk.mask, attribute) - _price(walk, gain.priced_at, attribute)
    return _Gain(gain.bound - dearer, walk.mask, gain.computed_at)


def _price(walk: LocalSearch, mask: int, attribute: int) -> float:
    """Return what moving an attribute in or out of ``mask`` adds to the cost."""
    cost = walk.probe.function.cost
    return cost(mask ^ singleton(attribute)) - cost(mask)


def best(options: list[tuple[float, int]]) -> tuple[float, int]:
    """Return the option with the largest gain, the smallest attribute among equals."""
    return max(options, key=lambda option: (option[0], -option[1]), default=(float("-inf"), -1))
