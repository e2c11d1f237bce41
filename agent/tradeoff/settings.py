"""What one person demands of a disclosure, as numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.tradeoff.losses import Metric


@dataclass(frozen=True, slots=True)
class Settings:
    """What one person demands of a disclosure to one recipient.

    ``candidates``: mask of the attributes that may be disclosed; ``trade_off``: lambda, bits
    per unit of ``metric``; ``sensitivity``: bits, one per attribute; ``guards``: (attribute,
    weight) pairs; ``metric_k``: the k of the metric k-anonymity. Hard limits: ``k`` people with
    a tolerated share ``max_violations`` of people in smaller classes; ``max_risk``, the expected
    success of one guess; ``most`` >= 0 attributes in a set, and ``most_new`` >= 0 person
    attributes in it that the recipient does not hold. ``own``: the user's own (person attribute,
    code) pairs, code 0 for the rest; where given, ``k`` and ``max_risk`` are kept for the people
    like the user too.
    """

    candidates: int
    sensitivity: tuple[float, ...]
    trade_off: float = 5.12
    metric: Metric = "maxprob"
    metric_k: int = 100
    guards: tuple[tuple[int, float], ...] = ()
    k: int | None = None
    max_violations: float = 0.0
    max_risk: float | None = None
    most: int | None = None
    most_new: int | None = None
    own: tuple[tuple[int, int], ...] | None = field(default=None, repr=False)

    @property
    def measures(self) -> list[tuple[Metric, int]]:
        """Every measure of identifiability that matters here, each with its k."""
        measures: list[tuple[Metric, int]] = [(self.metric, self.metric_k)]
        if self.max_risk is not None:
            measures.append(("maxprob", 1))
        if self.k is not None:
            measures.append(("k-anonymity", self.k))
        return measures
