"""The paper's shares of its search log (section 5), and draws that come out at such shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import date
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Rng = np.random.Generator


PEOPLE, QUERIES, TEXTS = 9_523, 247_684, 914  # section 5
MIN_USERS = 30  # of a query
SOURCE = "SOURCE.md"  # beside a written log: that it is synthetic, and what is assumed
FIRST_DAY, LAST_DAY = date(2005, 12, 1), date(2007, 1, 31)  # 14 months; the days are ours
_HALVINGS, _WIDEST = 60, 40.0


class Marginal(NamedTuple):
    """One published share: ``name`` of what is counted, ``words`` for it, its ``place``."""

    name: str
    words: str
    share: float
    place: str


MARGINALS = (
    Marginal("gender_female", "people who say female", 0.42, "5.1"),
    Marginal("gender_male", "people who say male", 0.44, "5.1"),
    Marginal("age_under_18", "people who say under 18", 0.08, "5.1"),
    Marginal("age_18_to_55", "people who say 18 to 55", 0.53, "5.1"),
    Marginal("age_over_55", "people who say 55 and older", 0.33, "5.1"),
    Marginal("occupation_given", "people who say an occupation", 0.57, "5.1"),
    Marginal("student", "people who say student", 0.10, "5.1"),
    Marginal("region_us_canada", "people who say US or Canada", 0.53, "5.1"),
    Marginal("region_europe", "people who say European Union", 0.07, "5.1"),
    Marginal("region_asia", "people who say Asia", 0.03, "5.1"),
    Marginal("asked_before", "queries asked before", 0.70, "5.2"),
    Marginal("visited_before", "clicks on a site visited before", 0.53, "5.2"),
    Marginal("daily", "people who ask once a day or more", 0.47, "5.2"),
    Marginal("domain_known", "queries from .com .net .org .edu", 0.83, "5.2"),
    Marginal("several_zips", "people in several zip codes", 0.31, "5.2"),
    Marginal("several_cities", "people in several cities", 0.31, "5.2"),
    Marginal("several_countries", "people in several countries", 0.02, "5.2"),
    Marginal("working_hours", "queries in working hours", 0.40, "5.2"),
    Marginal("workday", "queries on workdays", 0.73, "5.2"),
    Marginal("topic_known", "queries whose topic is known", 0.96, "5.3"),
)


PUBLISHED = {each.name: each.share for each in MARGINALS}


class Arrays:
    """A value made of arrays, which nobody can write to once it is made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Close every array."""
        for each in fields(self):  # type: ignore[arg-type]
            getattr(self, each.name).setflags(write=False)


def apportioned(weights: Floats | Sequence[float], total: int, least: int = 0) -> Ints:
    """Return whole numbers, float64 ``weights`` > 0 in proportion, that add up to ``total``.

    Each is ``least`` or more; what is left by rounding goes to the largest remainders.
    """
    shares = np.asarray(weights, dtype=np.float64)
    exact = shares / shares.sum() * (total - least * len(shares))
    whole = np.floor(exact).astype(np.int64)
    short = total - least * len(shares) - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:short]] += 1
    found: Ints = whole + least
    return found


def by_rank(scores: Floats, shares: Sequence[float]) -> Ints:
    """Return a label per score: 0 for the lowest ones, so many as ``shares`` says, and so on."""
    counts = apportioned(shares, len(scores))
    labels = np.empty(len(scores), dtype=np.int64)
    labels[np.argsort(scores, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return labels


def top_share(scores: Floats, share: float, among: Flags) -> Flags:
    """Return who has the highest scores of those ``among``, so many as are ``share`` of all."""
    order = np.argsort(np.where(among, -scores, np.inf), kind="stable")
    chosen = np.zeros(len(scores), dtype=np.bool_)
    chosen[order[: min(round(share * len(scores)), int(among.sum()))]] = True
    return chosen


def chances(logits: Floats, share: float) -> Floats:
    """Return probabilities whose mean is ``share``: the logistic of logits, all moved alike."""
    low, high = -_WIDEST, _WIDEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _logistic(logits + middle).mean() < share:
            low = middle
        else:
            high = middle
    return _logistic(logits + low)


def drawn(logits: Floats, rng: Rng) -> Ints:
    """Return one column per row of (rows, columns) logits, drawn by their softmax."""
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    sums = weights.cumsum(axis=1)
    points = rng.random((len(logits), 1)) * sums[:, -1:]
    column: Ints = np.minimum((sums <= points).sum(axis=1), logits.shape[1] - 1)
    return column


def within(weights: Floats, owner: Ints, of: Ints, rng: Rng) -> Ints:
    """Return for each owner in ``of`` one of their own items, drawn by ``weights`` > 0.

    ``owner``: of each item, ascending; everybody in ``of`` has an item.
    """
    sums = np.concatenate([[0.0], weights.cumsum()])
    first, last = (np.searchsorted(owner, of, side) for side in ("left", "right"))
    points = sums[first] + rng.random(len(of)) * (sums[last] - sums[first])
    found: Ints = np.clip(np.searchsorted(sums, points, "right") - 1, first, last - 1)
    return found


def _logistic(logits: Floats) -> Floats:
    return 1 / (1 + np.exp(-logits))
