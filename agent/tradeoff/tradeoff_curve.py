"""The trade-off curve: which set is chosen as lambda varies, and where the curve bends (7.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from agent.tradeoff.objective import Objective, Parts
from agent.tradeoff.search import Algorithm, Proof, maximise

OCTAVES = range(-3, 17)  # lambda from 1/8 to 65,536: one bit for all of 65,536 people at most
PER_OCTAVE = 2
DIGITS = 9  # of a height above the chord; the rest is rounding
PROOFS: tuple[Proof, ...] = ("enumerated", "if-submodular", "none")  # the strongest first


@dataclass(frozen=True, slots=True)
class Point:
    """One set, chosen at every lambda of the grid from ``least`` to ``most``.

    ``parts``: the terms of F at ``least``; ``proof``: what is proven of it at each of them. Between
    ``most`` and the next point's ``least`` the choice changes at a lambda that is not known.
    """

    least: float
    most: float
    mask: int
    parts: Parts
    proof: Proof

    @property
    def worth(self) -> float:
        """U - sum w G - S in bits: the part of F that lambda leaves alone."""
        return self.parts.utility - self.parts.guard - self.parts.sensitivity

    @property
    def cost(self) -> float:
        """I(A u D|d) - I(0|d), the part of F that lambda weighs, in the unit of the metric."""
        return self.parts.identifiability_cost


def grid(present: float) -> tuple[float, ...]:
    """0, powers of 2 in even steps, and the present lambda, in ascending order."""
    steps = range(OCTAVES.start * PER_OCTAVE, (OCTAVES.stop - 1) * PER_OCTAVE + 1)
    return tuple(sorted({0.0, present, *(2.0 ** (step / PER_OCTAVE) for step in steps)}))


def curve(
    objective: Objective, trade_offs: Iterable[float] | None = None, algorithm: Algorithm = "lls"
) -> tuple[Point, ...]:
    """The set that a search chooses at each lambda; equal sets are one point.

    ``trade_offs``: lambdas in ascending order, by default a grid that has the objective's own.
    """
    points = []
    for each in grid(objective.trade_off) if trade_offs is None else trade_offs:
        there = objective.at(each)
        result = maximise(there, algorithm)
        points.append(Point(each, each, result.mask, there.parts(result.mask), result.proof))
    return merged(points)


def merged(chosen: Iterable[Point]) -> tuple[Point, ...]:
    """The points of a curve: what was chosen at each lambda, equal sets as one.

    ``chosen``: in ascending order of lambda. Where each is the best feasible set, cost and worth
    fall, if weakly, from point to point: of two sets each is the best at its own lambda, and both
    inequalities added leave (lambda' - lambda) (C - C') >= 0. A search that may miss the best
    promises neither. Only the upper concave hull of all (C, U) can be reached. Source: paper 3.1,
    7.2, Fig. 8a.
    """
    points: list[Point] = []
    for each in chosen:
        if points and points[-1].mask == each.mask:
            weaker = max(points[-1].proof, each.proof, key=PROOFS.index)
            points[-1] = replace(points[-1], most=each.most, proof=weaker)
        else:
            points.append(each)
    return tuple(points)


def beaten(points: Sequence[Point]) -> tuple[bool, ...]:
    """Whether another point is worth more than each at no more cost, or as much at less."""
    values = [(each.worth, each.cost) for each in points]
    return tuple(
        any(one >= worth and two <= cost and (one, two) != (worth, cost) for one, two in values)
        for worth, cost in values
    )


def knee(points: Sequence[Point]) -> int | None:
    """The index of the point farthest above the chord of the normalised curve.

    Cost and worth of the points that no other beats are scaled to [0, 1]; the chord joins the
    cheapest to the dearest. The cheaper of equals; None where no point stands above the chord.
    Source: Satopaa, Albrecht, Irwin and Raghavan, "Finding a Kneedle in a Haystack" (2011): knees
    are looked for among the local maxima of the normalised curve less the diagonal, which stand
    in for the points of greatest curvature. This is the largest of them; their smoothing and
    their threshold are left out, as nothing here is measured.
    """
    unbeaten = [index for index, worse in enumerate(beaten(points)) if not worse]
    costs = np.array([points[each].cost for each in unbeaten])
    worths = np.array([points[each].worth for each in unbeaten])
    if not unbeaten or not np.ptp(costs) or not np.ptp(worths):
        return None
    above = (worths - worths.min()) / np.ptp(worths) - (costs - costs.min()) / np.ptp(costs)
    heights = np.round(above, DIGITS).tolist()
    best = max(range(len(unbeaten)), key=lambda place: (heights[place], -costs[place]))
    return unbeaten[best] if heights[best] > 0 else None
