"""The plain way: an objective that evaluates every set from its columns, and a greedy search."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.objective import Settings
from agent.tradeoff.tables import Population, QueryRows
from agent.tradeoff.utility import Estimator

Indexes = NDArray[np.intp]


class PlainObjective(SetFunction):
    """F = U - lambda (I(A) - I(0)) with `louo` and `maxprob`, no knowledge, person attributes.

    The formulas of DESIGN.md 2.1 and 2.2 in plain NumPy: what a set is worth is computed from
    all of its columns each time.
    """

    claims_submodularity = True

    def __init__(
        self, rows: QueryRows, shrinkage: float, population: Population, settings: Settings
    ) -> None:
        self._population, self._settings, self._shrinkage = population, settings, shrinkage
        self._rows, self._columns = rows, rows.person[rows.user]
        self.candidates = settings.candidates
        self._own = np.bincount(rows.user)[rows.user]
        self._same = _sizes(rows.user * rows.intents + rows.intent)
        others = np.bincount(rows.intent)[rows.intent] - self._same
        self._prior = (others + 0.5) / (len(rows.user) - self._own + rows.intents / 2)

    def value(self, mask: int) -> float:
        """Return F(A) in bits."""
        return self._utility(mask) - self.cost(mask) if mask else 0.0

    def cost(self, mask: int) -> float:
        """Return lambda (I(A) - I(0)) in bits."""
        classes = int(_groups(self._population.codes, mask).max()) + 1
        return self._settings.trade_off * (classes - 1) / self._population.rows

    def may_exceed(self, mask: int, level: float) -> bool:
        """Say whether the bound on U alone leaves F(A) a chance."""
        return self.utility_limit - self.cost(mask) > level

    def _utility(self, mask: int) -> float:
        group = _groups(self._columns, mask)
        pair = _sizes(group * self._rows.intents + self._rows.intent)
        share = (pair - self._same + self._shrinkage * self._prior) / (
            _sizes(group) - self._own + self._shrinkage
        )
        return float(np.mean(np.log2(share) - np.log2(self._prior)))

    @property
    def utility_limit(self) -> float:
        """Return a bound on U of every set."""
        return -float(np.log2(self._prior).mean())


def lazy_greedy(
    rows: QueryRows,
    cards: Sequence[int],
    estimator: Estimator,
    shrinkage: float,
    people: Population,
    trade_off: float,
) -> tuple[list[int], float]:
    """Return what lazy greedy chooses, and F of it, in bits: U in either estimator, `maxprob`.

    As somebody would write it who knows NumPy and needs nothing else; person attributes only.
    """
    intents, user, intent = rows.intents, rows.user, rows.intent
    total, own, columns = len(user), np.bincount(user)[user], rows.person[user].T.astype(np.intp)
    codes, of_intent = people.codes.T.astype(np.intp), np.bincount(intent, minlength=intents)
    same = np.bincount(user * intents + intent)[user * intents + intent]
    prior = (of_intent[intent] - same + 0.5) / (total - own + intents / 2)
    share = (of_intent + 0.5) / (total + intents / 2)

    def bits(groups: Indexes) -> float:
        cells = groups * intents + intent
        if estimator == "louo":
            pairs = np.bincount(cells)[cells] - same + shrinkage * prior
            ratio = pairs / (np.bincount(groups)[groups] - own + shrinkage) / prior
            return float(np.log2(ratio).mean())
        table = np.bincount(cells, minlength=(groups.max() + 1) * intents).reshape(-1, intents)
        mixed = np.vstack([of_intent, table]) + shrinkage * share
        mixed /= np.maximum(mixed.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        entropies = -(mixed * np.log2(np.maximum(mixed, np.finfo(float).tiny))).sum(axis=1)
        return float(entropies[0] - entropies[1:] @ table.sum(axis=1) / total)

    def level(each: int) -> float:
        found = np.count_nonzero(np.bincount(classes * cards[each] + codes[each]))
        gained = bits(groups * cards[each] + columns[each])
        return gained - trade_off * (found - 1) / people.rows

    groups, classes = np.zeros(total, np.intp), np.zeros(people.rows, np.intp)
    chosen, value = list[int](), 0.0
    heap = [(-level(each), each, 0) for each in range(people.persons)]
    heapify(heap)
    while heap and heap[0][0] < 0:
        _, each, at = heappop(heap)
        if at < len(chosen):
            heappush(heap, (value - level(each), each, len(chosen)))
            continue
        value, chosen = level(each), [*chosen, each]
        groups = np.unique(groups * cards[each] + columns[each], return_inverse=True)[1]
        classes = np.unique(classes * cards[each] + codes[each], return_inverse=True)[1]
    return chosen, value


def _groups(codes: NDArray[np.unsignedinteger], mask: int) -> Indexes:
    """Number the groups of equal rows in the columns that `mask` names."""
    columns = [index for index in range(codes.shape[1]) if mask >> index & 1]
    keys = np.zeros(len(codes), dtype=np.intp)
    for column in columns:
        span = int(codes[:, column].max()) + 1
        keys = np.unique(keys * span + codes[:, column], return_inverse=True)[1]
    return keys


def _sizes(keys: Indexes) -> Indexes:
    """Return, for each item, how many have its key."""
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts[inverse]
