"""The terms on which one person discloses something to one recipient."""

from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from agent.errors import UsageError
from agent.tradeoff.losses import METRICS, Metric
from agent.tradeoff.search import ALGORITHMS, EPSILON, Algorithm

Mode = Literal["dynamic", "standing"]
Weights = tuple[tuple[str, float], ...]
FINITE = "a finite number from 0"
WHOLE = "a whole number from 1"
SHARE = "from 0 to below 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hard limits: no set that breaks one is ever disclosed (DESIGN.md 2.4).

    ``k``: at least so many people must look alike, but for a share ``max_violations`` of the
    people; ``max_risk``: the largest expected success of a single guess, above 0 to 1.
    """

    k: int | None = None
    max_violations: float = 0.0
    max_risk: float | None = None

    def __post_init__(self) -> None:
        risk = self.max_risk
        _require(self.k is None or self.k >= 1, "k", self.k, WHOLE)
        _require(0 <= self.max_violations < 1, "a share of violations", self.max_violations, SHARE)
        _require(risk is None or 0 < risk <= 1, "a risk", risk, "above 0 and at most 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What may leave, and what it must bring.

    ``allowed``: names that may be disclosed, None for all the model has; ``excluded``: names
    that may not; ``trade_off``: lambda, bits per unit of ``metric``; ``metric_k``: the k of the
    metric k-anonymity; ``sensitivity``: (name, bits) pairs in place of the model's defaults;
    ``guards``: (name, weight) pairs; ``mode``: decide for each query, or once for all.
    """

    allowed: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()
    trade_off: float = 5.12
    metric: Metric = "maxprob"
    metric_k: int = 100
    limits: Limits = field(default_factory=Limits)
    sensitivity: Weights = ()
    guards: Weights = ()
    mode: Mode = "dynamic"
    algorithm: Algorithm = "lls"
    epsilon: float = EPSILON

    def __post_init__(self) -> None:
        _require(_weighs(self.trade_off), "lambda", self.trade_off, FINITE)
        _require(_weighs(self.epsilon), "epsilon", self.epsilon, FINITE)
        _require(self.metric_k >= 1, "k", self.metric_k, WHOLE)
        _require(self.metric in METRICS, "a cost", self.metric, f"one of {', '.join(METRICS)}")
        known = ", ".join(ALGORITHMS)
        _require(self.algorithm in ALGORITHMS, "an algorithm", self.algorithm, f"one of {known}")
        for what, pairs in (("sensitivity of", self.sensitivity), ("guard on", self.guards)):
            names = [name for name, _ in pairs]
            for name, weight in pairs:
                _require(_weighs(weight), f"the {what} {name}", weight, FINITE)
                _require(names.count(name) == 1, f"the {what} {name}", "two numbers", "one number")


def _weighs(number: float) -> bool:
    return isfinite(number) and number >= 0


def _require(holds: bool, what: str, given: object, demand: str) -> None:  # noqa: FBT001
    if not holds:
        raise UsageError(f"{what} cannot be {given}", f"{what} is {demand}")
