"""How the search service serves people by what their requests carry, and who is left of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.lab.attack.outcome import people_left
from agent.tradeoff import members
from agent.tradeoff.tables import UNSPECIFIED
from examples.search_service.ranking import Ranker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from agent import Model
    from agent.lab.attack.simulation import HeldOutRequest, Person, Trace
    from examples.search_service.replay.figures import Line

    Table = NDArray[np.unsignedinteger]
    Counts = NDArray[np.int32]


class PlainRanker(Ranker):
    """Ranks by all that it is told, however few people remain to count (DESIGN.md 2.1)."""

    def _chosen(self, query: int, given: int) -> int:  # noqa: ARG002  (as the ranker that chooses)
        return given


class Served(NamedTuple):
    """What came of each of T requests.

    ``ranks``: int32, shape (T,), the place of the chosen result, from 1; ``told``: int32, shape
    (T,), how many attributes were told; ``left``: int32, shape (T, populations), how many people
    of each agree with all that was told until then.
    """

    ranks: Counts
    told: Counts
    left: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Service:
    """Who ranks, and among whom a person is looked for.

    ``names``: the attributes of the model; ``rankers``: by their name in a line; ``populations``:
    unsigned, shape (people, P) each.
    """

    names: tuple[str, ...]
    rankers: Mapping[str, Ranker]
    populations: Sequence[Table]

    @classmethod
    def of(cls, model: Model, others: Table) -> Service:
        """Make the service of a model; it looks for people in the model, and in others."""
        names = tuple(attribute.name for attribute in model.attributes)
        rankers = {"best": Ranker(model), "plain": PlainRanker(model)}
        return cls(names, rankers, (model.population.codes, others))

    def served(self, line: Line, person: Person, trace: Trace) -> Served:
        """Serve a person's requests, told as a line says."""
        ranker, whole = self.rankers[line.ranking], line.strategy.telling == "everything"
        ranks = []
        for asked, sent in zip(person.requests, trace.sent, strict=True):
            known = self._known(person, asked, sent)
            if not whole:  # a value that is not specified is left out of the header
                known = {name: code for name, code in known.items() if code != UNSPECIFIED}
            order = ranker.rank(asked.query, known).order
            if line.returned:  # by all that the user's machine knows
                own = self._known(person, asked, (1 << len(self.names)) - 1)
                own = {name: code for name, code in own.items() if code != UNSPECIFIED}
                best, end = ranker.rank(asked.query, own).probabilities, line.returned
                order = (*sorted(order[:end], key=lambda each: -best[each]), *order[end:])
            ranks.append(order.index(asked.intent) + 1)
        told = [sent.bit_count() for sent in trace.sent]
        people = [people_left(trace, person, codes) for codes in self.populations]
        return Served(
            np.array(ranks, dtype=np.int32),
            np.array(told, dtype=np.int32),
            np.stack(people, axis=1).astype(np.int32),
        )

    def _known(self, person: Person, asked: HeldOutRequest, sent: int) -> dict[str, int]:
        own = (*person.codes, *asked.request)
        return {self.names[each]: own[each] for each in members(sent)}
