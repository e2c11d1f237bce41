"""Sets of attributes to learn from and to be judged by: such as are told where somebody decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.lab.attack.services.hearing import told
from agent.lab.paper.subject import groups_of
from agent.tradeoff.sets import singleton

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from agent.model.model import Model
    from agent.tradeoff.utility import Utility

    Table = NDArray[np.bool_]

MOST = 8  # attributes of a set that is drawn
CLIMBS = 6  # orders of attributes that a search would add, each of some of all attributes
ANY, GROUPS = 0.3, 0.1  # of the sets are any attributes, or such as nobody decides about


def practised(model: Model, query: int, count: int, draw: np.random.Generator) -> Table:
    """Return ``count`` sets of attributes for a query, bool, shape (count, attributes).

    Each has 0 to MOST attributes, each number as likely as another: of ANY of them whatever
    attributes, of the others those that greedy search adds first, for utility alone, out of about
    half of all. In place of GROUPS of them stands everything, or a group of `groups_of`.
    """
    size, kind = draw.integers(0, MOST + 1, (count, 1)), draw.random((count, 1))
    attributes = len(model.attributes)
    place = draw.random((count, attributes)).argsort(axis=1).argsort(axis=1)
    found = model.remember((practised, query), lambda: _climbs(model.utility(query), attributes))
    climbed = found[draw.integers(0, CLIMBS, count)]
    sets = np.where(kind < ANY, place, climbed) < size
    groups = _groups(model)
    chosen = groups[draw.integers(0, len(groups), count)]
    return np.where(kind >= 1 - GROUPS, chosen, sets)


def _climbs(utility: Utility, attributes: int) -> NDArray[np.intp]:
    """Return where attributes stand in the order of each climb, MOST or more if nowhere."""
    draw = np.random.default_rng(attributes)
    offered = draw.random((CLIMBS, attributes)) < 1 / 2
    offered[0] = True
    return np.array(
        [_climb(utility, np.flatnonzero(each).tolist(), attributes) for each in offered]
    )


def _climb(utility: Utility, left: list[int], attributes: int) -> NDArray[np.intp]:
    mask, reached, place = 0, 0.0, np.full(attributes, MOST)
    while left and mask.bit_count() < MOST:
        utility.focus(mask)
        values = utility.extensions(mask, left)
        best = int(np.argmax(values))
        if values[best] <= reached:
            break
        reached, place[left[best]] = values[best], mask.bit_count()
        mask |= singleton(left.pop(best))
    return place


def _groups(model: Model) -> Table:
    count = len(model.attributes)
    return told([(1 << count) - 1, *(each.mask for each in groups_of(model))], count)
