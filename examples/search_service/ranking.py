"""Ranking the results of a query by P(x|q,a), from the counts of a model (DESIGN.md 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.decision.rerank import Choices
from agent.errors import UsageError
from agent.tradeoff import members
from agent.tradeoff.tables import union

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from agent import Model

    Floats = NDArray[np.float64]


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
        self._counts: dict[int, Choices] = {}

    def rank(self, query: int, codes: Mapping[str, int]) -> Ranking:
        """Rank the intents of a query, by its index, for these codes of attributes, by name.

        Of the attributes given, those of ``helping`` are used. UsageError for a name that is not
        the model's, and for a code that the attribute does not have.
        """
        given = {self._place(name, code): code for name, code in codes.items()}
        mask = self._chosen(query, union(given))
        probabilities = self._of(query).chances({place: given[place] for place in members(mask)})
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
        return self._of(query).best(given)

    def _of(self, query: int) -> Choices:
        if query not in self._counts:
            self._counts[query] = Choices.of(self._model, query)
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
