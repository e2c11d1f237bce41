"""How the figures are made."""

from __future__ import annotations

from dataclasses import dataclass

from agent.lab.paper.published import SAMPLES, SHRINKAGE, TRADE_OFF, K


@dataclass(frozen=True, slots=True)
class Options:
    """How the figures are made; the paper's numbers where nothing else is said.

    ``trade_off``: lambda of the calibrated objective, bits per unit of ``maxprob``; ``k``: of
    k-anonymity; ``samples``: rows, and people, in a sample; ``seed``: of all that is drawn;
    ``shrinkage``: of the paper's estimator, in rows.
    """

    trade_off: float = TRADE_OFF
    k: int = K
    samples: int = SAMPLES
    seed: int = 0
    shrinkage: float = SHRINKAGE
