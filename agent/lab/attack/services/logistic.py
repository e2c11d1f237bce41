"""Regularised logistic regression that has learnt with attributes left out at random."""

from __future__ import annotations

from typing import TYPE_CHECKING
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from agent.lab.attack.services.hearing import SILENT, prior
from agent.lab.attack.services.linear import Linear, Terms, tempered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.lab.attack.services.hearing import Floats, Heard
    from agent.tradeoff.tables import QueryRows

STEPS, NEAR = 200, 1e-3  # where its search ends
TEMPER = 0.25


def logistic(rows: QueryRows, cards: Sequence[int], heard: Heard, strength: float) -> Linear:
    """Return the service of a query's rows.

    ``heard``: what is said in each row, each row as many times as wished, all rows and then all
    again, as `hearing.heard` has it; ``strength``: the inverse of the weight of the penalty on
    squared coefficients, for rows that are there once.
    """
    copies = len(heard) // len(rows.intent)
    chances = prior(rows)
    wanted = np.unique(rows.intent)
    bias, added = np.log(chances), np.zeros((sum(cards), rows.intents))
    if len(wanted) > 1:
        fitted = LogisticRegression(C=strength / copies, max_iter=STEPS, tol=NEAR)
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # a search that ends early fits less
            fitted.fit(one_hot(heard, cards), np.tile(rows.intent, copies))
        bias[:] = -np.inf
        bias[wanted], added[:, wanted] = _spread(fitted.intercept_), _spread(fitted.coef_).T
    parts = np.split(added, np.cumsum(cards)[:-1])
    return Linear(Terms(bias, tuple(parts)), chances, TEMPER)


def one_hot(heard: Heard, cards: Sequence[int]) -> csr_array:
    """Return a table with a column for each value, and t of `Linear` where it was said."""
    starts = np.append(0, np.cumsum(cards)[:-1])
    row, attribute = np.nonzero(heard != SILENT)
    column = starts[attribute] + heard[row, attribute] - 1
    return csr_array(
        (tempered(heard, TEMPER)[row], (row, column)), shape=(len(heard), int(sum(cards)))
    )


def _spread(fitted: NDArray[np.float64]) -> Floats:
    """Return a line per intent: of two intents only the second has one of its own."""
    return np.concatenate([0 * fitted, fitted]) if len(fitted) == 1 else fitted
