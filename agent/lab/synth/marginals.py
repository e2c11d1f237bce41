"""The paper's shares of its search log (section 5), and draws that come out at such shares."""

import csv
import tomllib
from collections.abc import Sequence
from dataclasses import fields
from datetime import date
from importlib.resources import files
from types import SimpleNamespace
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
    """One published share: ``name`` of what is counted, ``words`` for it, its ``place``.

    It is the share of a ``table``, people or queries, whose ``column`` has a ``value``: * for any,
    classified for one that the directory has.
    """

    name: str
    words: str
    share: float
    place: str
    table: str
    column: str
    value: str


_, *_ROWS = csv.reader((files("agent.lab.synth") / "marginals.csv").read_text("utf-8").splitlines())
MARGINALS = tuple(Marginal._make((*each[:2], float(each[2]), *each[3:])) for each in _ROWS)
PUBLISHED = {each.name: each.share for each in MARGINALS}
INVENTED = tomllib.loads((files("agent.lab.synth") / "invented.toml").read_text("utf-8"))


def invented(part: str) -> SimpleNamespace:
    """Return the numbers of a part of invented.toml, by their names."""
    return SimpleNamespace(**INVENTED[part])


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
