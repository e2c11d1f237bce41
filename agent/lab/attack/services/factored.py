"""Naive Bayes, tempered: P(x|q) times the product of (P(v|x,q) / P(v|q))^t."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.lab.attack.services.hearing import prior
from agent.lab.attack.services.linear import Linear, Terms
from agent.tradeoff.grouping import row_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.lab.attack.services.hearing import Floats
    from agent.tradeoff.grouping import Column
    from agent.tradeoff.tables import QueryRows


def factored(rows: QueryRows, cards: Sequence[int], pull: float, temper: float) -> Linear:
    """Return the service of a query's rows.

    ``pull``: how strongly P(v|x,q) is drawn to P(v|q), in rows; ``temper``: as of `Linear`.
    """
    added = tuple(_added(each, rows, pull) for each in row_columns(rows, cards).all())
    chances = prior(rows)
    return Linear(Terms(np.log(chances), added), chances, temper)


def _added(column: Column, rows: QueryRows, pull: float) -> Floats:
    """Return log P(v|x,q) / P(v|q), float64, shape (values, K)."""
    codes, card = column
    cells = codes.astype(np.intp) * rows.intents + rows.intent
    counts = np.bincount(cells, minlength=card * rows.intents).reshape(card, rows.intents)
    of_value = (counts.sum(axis=1, keepdims=True) + 0.5) / (len(rows.intent) + card / 2)
    smoothed = (counts + pull * of_value) / (counts.sum(axis=0) + pull)
    added: Floats = np.log(smoothed / of_value)
    return added
