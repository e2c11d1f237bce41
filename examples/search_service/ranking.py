"""Ranking the results of a query by P(x|q,a), from the counts of a model (DESIGN.md 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from agent.errors import UsageError
from agent.tradeoff import members
from agent.tradeoff.tables import union
from agent.tradeoff.utility import query_utility

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from agent import Model
    from agent.tradeoff import Utility

    Floats = NDArray[np.float64]

PULL = 20.0  # beta, in rows, where a model was built without
SETS_KEPT = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The results of one query, in order.

    ``order``: the intents, best first, ties by index. ``probabilities``: float64, shape (K,),
    P(x|q,a) by intent, read-only. ``used``: the names that the order depends on, of those given.
    """

    order: tuple[int, ...]
    probabilities: Floats
    used: tuple[str, ...]

    def rank(self, intent: int) -> int:
        """Find the place of an intent in the order, from 1; ValueError if it is none."""
        return self.order.index(intent) + 1


class Ranker:
    """Ranks the intents of a model's queries for what is known about who asks.

    Nothing of it depends on a value that was not given, nor on who was ranked for before.
    """

    def __init__(self, model: Model) -> None:
        """Take the model; a query is prepared when it is first asked."""
        self._model = model
        self._places = {each.name: place for place, each in enumerate(model.attributes)}
        self._counts: dict[int, _Counts] = {}
        self._best = lru_cache(SETS_KEPT)(self._best_subset)

    def rank(self, query: int, codes: Mapping[str, int]) -> Ranking:
        """Rank the intents of a query, by its index, for these codes of attributes, by name.

        Of the attributes given, those of ``helping`` are used. UsageError for a name that is not
        the model's, and for a code that the attribute does not have.
        """
        given = {self._place(name, code): code for name, code in codes.items()}
        mask = self._chosen(query, union(given))
        probabilities = self._of(query).smoothed({place: given[place] for place in members(mask)})
        order = np.argsort(-probabilities, kind="stable").tolist()
        probabilities.setflags(write=False)
        return Ranking(tuple(order), probabilities, self._names(mask))

    def helping(self, query: int, names: Sequence[str]) -> tuple[str, ...]:
        """Find those of the names with which a query is best ranked, in the model's order.

        With many attributes hardly anybody is left to count, so only some are used: taken one by
        one while that raises the leave-one-user-out utility, or all if they together have more.
        """
        mask = union(self._model.index(name) for name in names)
        return self._names(self._chosen(query, mask))

    def utility(self, query: int, names: Sequence[str]) -> float:
        """Compute the leave-one-user-out utility of these attributes for a query, in bits."""
        mask = union(self._model.index(name) for name in names)
        return self._of(query).utility.value(mask)

    def _chosen(self, query: int, given: int) -> int:
        return self._best(query, given)

    def _best_subset(self, query: int, given: int) -> int:
        """Find the greedy subset of a set, or the set itself where it has more utility."""
        utility, chosen, reached, left = self._of(query).utility, 0, 0.0, list(members(given))
        while left:
            values = utility.extensions(chosen, left)
            best = int(np.argmax(values))  # of equals the first
            if values[best] <= reached:
                break
            reached = values[best]
            chosen |= 1 << left.pop(best)
        return given if utility.value(given) > utility.value(chosen) else chosen

    def _of(self, query: int) -> _Counts:
        if query not in self._counts:
            self._counts[query] = _Counts(self._model, query)
        return self._counts[query]

    def _place(self, name: str, code: int) -> int:
        place = self._places.get(name)
        if place is None:
            place = self._model.index(name)  # which says what is near
        if not 0 <= code < self._model.cards[place]:
            what = f"{name} has no code {code}"
            raise UsageError(what, f"give one from 0 to {self._model.cards[place] - 1}")
        return place

    def _names(self, mask: int) -> tuple[str, ...]:
        return tuple(self._model.attributes[place].name for place in members(mask))


class _Counts:
    """The rows of one query, laid out for counting."""

    def __init__(self, model: Model, query: int) -> None:
        self._rows = rows = model.rows(query)
        self._codes = np.concatenate([rows.person[rows.user], rows.request], axis=1)
        self._cards, self._pull = model.cards, model.queries[query].shrinkage or PULL
        self._prior = (self._count() + 0.5) / (len(rows.intent) + rows.intents / 2)

    @cached_property
    def utility(self) -> Utility:
        """The utility of sets, each row scored by everybody else."""
        return query_utility(self._rows, self._cards, "louo", self._pull)

    def smoothed(self, codes: Mapping[int, int]) -> Floats:
        """Compute P(x|g) = (c(g,x) + beta p0(x)) / (c(g) + beta) by intent; p0 for no codes."""
        if not codes:
            return self._prior
        agree = np.logical_and.reduce(
            [self._codes[:, place] == code for place, code in codes.items()]
        )
        counts = self._count(agree)
        smoothed: Floats = (counts + self._pull * self._prior) / (counts.sum() + self._pull)
        return smoothed

    def _count(self, agree: NDArray[np.bool_] | None = None) -> Floats:
        intents = self._rows.intent if agree is None else self._rows.intent[agree]
        counts: Floats = np.bincount(intents, minlength=self._rows.intents).astype(np.float64)
        return counts
