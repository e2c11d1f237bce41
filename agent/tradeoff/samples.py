"""How many samples estimate utility and cost well enough (paper 4.2, Lemmas 4.2 and 4.3).

Hoeffding's inequality, so they cover means of bounded terms only: ``plugin``, whose entropies lie
between 0 and log2 K, and losses in [0, 1] (``maxprob``, ``k-anonymity``). They say nothing about
``louo``, ``log-maxprob`` or ``entropy``. A sample is a row scored against the full counts: counts
made from a subsample are biased, and no number of samples here makes up for that.
"""

from __future__ import annotations

from math import ceil, isfinite, log, log2, sqrt


def utility_samples(intents: int, error: float, delta: float, *, two_sided: bool = False) -> int:
    """Return how many rows estimate U(A) to ``error`` bits with confidence 1 - ``delta``.

    ``intents``: K >= 1, the number of distinct intents; ``delta``: between 0 and 1. As printed
    the lemma bounds errors in one direction; ``two_sided`` bounds both. ValueError for arguments
    outside these ranges, and where the number is too large for a float. Source: Lemma 4.2.
    """
    if not intents >= 1:
        message = f"a query has at least one intent, not {intents}"
        raise ValueError(message)
    return _hoeffding(log2(intents), error, delta, two_sided=two_sided)


def cost_samples(error: float, delta: float, *, two_sided: bool = False) -> int:
    """Return how many people estimate I(A) to ``error`` with confidence 1 - ``delta``.

    ``error`` is in the unit of the metric, a probability; ``delta`` and ``two_sided`` as in
    ``utility_samples``, ValueError likewise. Source: Lemma 4.3.
    """
    return _hoeffding(1.0, error, delta, two_sided=two_sided)


def utility_error(intents: int, samples: int, delta: float, *, two_sided: bool = False) -> float:
    """Return to how many bits ``samples`` rows estimate U(A) with confidence 1 - ``delta``.

    The other way round of ``utility_samples``: arguments and ValueError as there, and one sample
    at the least. Source: Lemma 4.2.
    """
    if not intents >= 1:
        message = f"a query has at least one intent, not {intents}"
        raise ValueError(message)
    return log2(intents) * cost_error(samples, delta, two_sided=two_sided)


def cost_error(samples: int, delta: float, *, two_sided: bool = False) -> float:
    """Return to what error ``samples`` people estimate I(A), likewise. Source: Lemma 4.3."""
    if not samples >= 1:
        message = f"a sample has at least one row, not {samples}"
        raise ValueError(message)
    return sqrt(_doubt(delta, two_sided=two_sided) / (2 * samples))


def _hoeffding(width: float, error: float, delta: float, *, two_sided: bool) -> int:
    """Return ceil(1/2 (width/error)^2 ln(1/delta)), or ln(2/delta) for both directions."""
    if not (error > 0 and isfinite(error)):
        message = f"an error is a finite number above 0, not {error}"
        raise ValueError(message)
    ratio = width / error
    samples = 0.5 * ratio * ratio * _doubt(delta, two_sided=two_sided)
    if not isfinite(samples):
        message = f"an error of {error} takes more samples than can be counted"
        raise ValueError(message)
    return ceil(samples)


def _doubt(delta: float, *, two_sided: bool) -> float:
    """Return ln(1/delta), or ln(2/delta) for both directions."""
    if not 0 < delta < 1:
        message = f"delta is a probability between 0 and 1, not {delta}"
        raise ValueError(message)
    return log(2 if two_sided else 1) - log(delta)
