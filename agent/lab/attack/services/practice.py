"""Sets of attributes to learn from and to be judged by: any, those that help, and whole groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.lab.attack.services.hearing import told
from agent.lab.paper.groups import groups_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from agent.model.model import Model

    Table = NDArray[np.bool_]

MOST = 8  # attributes of a set that is drawn
LEAST = 1e-4  # bits: what an attribute without utility counts for
GROUPS = 0.1  # of the sets are such as no search has chosen


def practised(model: Model, query: int, count: int, draw: np.random.Generator) -> Table:
    """Return ``count`` sets of attributes for a query, bool, shape (count, attributes).

    Of 0 to MOST attributes, each number as likely as another: half of them any attributes, half
    each as likely as its own utility is large. In place of GROUPS of them stands everything, or a
    group of `groups_of`: what is told where nobody decides.
    """
    utilities = np.maximum(model.tables.singles.utilities[query], LEAST)
    weights = np.where(draw.random((count, 1)) < 1 / 2, 1.0, utilities)
    place = (draw.exponential(size=weights.shape) / weights).argsort(axis=1).argsort(axis=1)
    sets = place < draw.integers(0, MOST + 1, (count, 1))
    groups = _groups(model)
    chosen = groups[draw.integers(0, len(groups), count)]
    found: Table = np.where(draw.random((count, 1)) < GROUPS, chosen, sets)
    return found


def _groups(model: Model) -> Table:
    count = len(model.attributes)
    return told([(1 << count) - 1, *(each.mask for each in groups_of(model))], count)
