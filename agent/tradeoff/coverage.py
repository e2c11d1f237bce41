"""Judged utility: bits of topics that attributes cover, in groups of those that say the same."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.tables import Codes, Floats, Indexes, exact, mask_arrays
from agent.tradeoff.utility import Utility

LEFT_OVER = 0.1  # epsilon: of a topic's bits, what all that is judged to help leaves together
GRADES = np.array([0.0, 0.1, 0.5, 1.0])  # nothing, "helps slightly", "clearly better", "decisive"
GRADES.setflags(write=False)
MOST_BITS = 64.0  # of a survival; what is less likely to survive does not show in a float64


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What was judged to help with each topic (DESIGN.md 2.11); n counts attributes of persons.

    ``weights``: float32, shape (Q, n), >= 0, how much each attribute is expected to matter, that of
    its kind; ``totals``: float32, shape (Q,), the sums over the kinds, each counted once; 0 for a
    topic without any; ``likely``: float32, shape (Q, n), 0 to 1, how likely an answer is clearly
    better by the attribute, for the filter of candidates (DESIGN.md 2.9).
    """

    weights: NDArray[np.float32]
    totals: NDArray[np.float32]
    likely: NDArray[np.float32]


def resolved(weights: Floats, totals: Floats) -> Floats:
    """The part of each topic's bits that each attribute resolves alone: x_tf, float64, (T, n).

    ``weights``: float64, shape (T, n), >= 0, how much each attribute is expected to matter;
    ``totals``: float64, shape (T,), the sum of the weights of all that was judged for each topic.
    1 - epsilon^(weight / total), so that all that was judged resolves 1 - epsilon together; 0 where
    the total is 0. Source: DESIGN.md 2.11 and 2.12.
    """
    wholes = totals[:, None]
    shares = np.divide(weights, wholes, out=np.zeros(weights.shape), where=wholes > 0)
    return np.asarray(-np.expm1(np.log(LEFT_OVER) * shares))


class Coverage(Utility):
    """U(A) = sum over topics t of b_t (1 - product over groups G of (1 - max over A n G of x_tf)).

    Of attributes that say the same, a group, only the best counts; groups complete each other, as
    each resolves its part of what the others leave. Monotone, and submodular whatever the parts:
    a maximum is submodular, so each factor never grows and is supermodular, and so is a product of
    such factors. A set has the same value by every path, to the last bit: the binary logarithms of
    the survivals 1 - x_tf are rounded so that their sums are exact, and so are the bits of topics.
    Source: DESIGN.md 2.11.
    """

    submodular = True

    def __init__(self, bits: Floats, parts: Floats, groups: Sequence[int] | None = None) -> None:
        """Take the topics that a text may mean; "something else" is one of them.

        ``bits``: float64, shape (T,), >= 0, of each topic times its probability (pi_t b_t);
        ``parts``: float64, shape (T, n), x_tf, from 0 to 1; ``groups``: an integer for each
        attribute, the same for those of a group; None: each is a group of its own. ValueError where
        shapes do not fit, or a number is out of range.
        """
        if bits.shape != parts.shape[:1] or (groups is not None and len(groups) != parts.shape[1]):
            raise ValueError("the bits, parts and groups of a coverage differ in their shapes")
        if not (bits >= 0).all() or np.isinf(bits).any():
            raise ValueError("the bits of a topic are a number from 0 up")
        if not ((parts >= 0) & (parts <= 1)).all():
            raise ValueError("the part that an attribute resolves is a number from 0 to 1")
        self._shared = None if groups is None else _shared(groups)
        with np.errstate(divide="ignore"):
            self._survivals = exact(np.minimum(-np.log2(1 - parts), MOST_BITS))
        self._bits = bits[:, None]
        # Added and taken off, it rounds the bits of a topic so that their sums are exact.
        self._rounding = 1.5 * 2.0 ** (np.ceil(np.log2(max(1.0, bits.sum()))) + 1)
        self.limit = self.value((1 << parts.shape[1]) - 1)

    @classmethod
    def judged(cls, bits: Floats, grades: Codes, reliability: Floats) -> "Coverage":
        """The catalogued case: attributes that were judged, each a group of its own.

        ``bits``: as above; ``grades``: unsigned, shape (T, n), indexes of GRADES; ``reliability``:
        rho, float64, shape (T, n) or one that broadcasts to it, 0 to 1, how surely each matters.
        """
        weights = GRADES[grades] * reliability
        return cls(bits, resolved(weights, weights.sum(axis=1)))

    def value(self, mask: int) -> float:
        """U(A) in bits."""
        return float(self._covered(self._surviving([mask])[1])[0, 0])

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        values: list[float] = self.rows([mask])[mask][[*attributes]].tolist() if attributes else []
        return values

    def rows(self, masks: Sequence[int]) -> dict[int, Floats]:
        """By set A, U(A u {V}) in bits for each attribute V, float64, shape (n,).

        U(A) where V is in A. So the row of A has all additions to it, and those of the sets that
        lack one of its attributes have all removals and exchanges.
        """
        more, total = self._surviving(masks)
        np.subtract(self._survivals, more, out=more)
        np.maximum(more, 0.0, out=more)
        more += total
        return dict(zip(masks, self._covered(more), strict=True))

    def _surviving(self, masks: Sequence[int]) -> tuple[Floats, Floats]:
        """-log2 of what survives of topics: the group of each attribute alone, and the whole set.

        Float64, of shapes (sets, T, n) and (sets, T, 1).
        """
        inside = mask_arrays(masks, self._survivals.shape[1])[:, None, :]
        best = np.where(inside, self._survivals, 0.0)
        total = best.sum(axis=2, keepdims=True)
        if self._shared is not None:
            attributes, first, group = self._shared
            own = best[..., attributes]
            most = np.maximum.reduceat(own, first, axis=2)
            total += most.sum(axis=2, keepdims=True) - own.sum(axis=2, keepdims=True)
            best[..., attributes] = most[..., group]
        return best, total

    def _covered(self, survivals: Floats) -> Floats:
        """The bits covered, (sets, m), by -log2 of what survives of topics, (sets, T, m).

        It writes to its argument.
        """
        np.negative(survivals, out=survivals)
        np.exp2(survivals, out=survivals)
        np.subtract(1.0, survivals, out=survivals)
        survivals *= self._bits
        survivals += self._rounding
        survivals -= self._rounding
        return np.asarray(survivals.sum(axis=1))


def _shared(groups: Sequence[int]) -> tuple[Indexes, Indexes, Indexes] | None:
    """The attributes that share a group with others, intp, group by group; None where none does.

    And the place of the first of each of these groups, and which of them each attribute is in.
    """
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    several = np.flatnonzero(sizes[group] > 1)
    attributes = several[np.argsort(group[several], kind="stable")]
    _, first, own = np.unique(group[attributes], return_index=True, return_inverse=True)
    return (attributes, first, own) if len(attributes) else None
