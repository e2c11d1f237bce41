"""One person's requests to one recipient that remembers what it is told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.decision.knowledge import Told, knowledge_of
from agent.tradeoff.tables import UNSPECIFIED
from examples.search_service.replay.strategies import RECIPIENT, strategy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from agent.decision.request import Knowledge
    from agent.model.model import Model
    from examples.search_service.ranking import Ranker
    from examples.search_service.replay.strategies import Way
    from examples.search_service.replay.streams import Asked, Person

    Codes = Mapping[str, int]
    Table = NDArray[np.unsignedinteger]
    Counts = NDArray[np.int32]

FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Where a replay takes place.

    ``rankers``: by their name in a way; ``asked``: the names that the service asks for;
    ``populations``: unsigned, shape (people, P) each, among whom a recipient looks for a person;
    ``pause``: the time from one request to the next.
    """

    model: Model
    rankers: Mapping[str, Ranker]
    asked: frozenset[str]
    populations: Sequence[Table]
    pause: timedelta


class Trace(NamedTuple):
    """What came of each of T requests.

    ``ranks``: int32, shape (T,), the place of the chosen result, from 1; ``told``: int32, shape
    (T,), how many attributes were told; ``left``: int32, shape (T, populations), how many people
    of each agree with all that was told until then.
    """

    ranks: Counts
    told: Counts
    left: Counts


class Walker:
    """Sends the requests of one person after the other, told in one way."""

    def __init__(self, way: Way, world: World) -> None:
        """Prepare a way."""
        self._whole = way.telling == "everything"
        self._world, self._ranker = world, world.rankers[way.ranking]
        self._strategy = strategy(way, world.model, world.asked)
        self._names = tuple(attribute.name for attribute in world.model.attributes)
        self._persons = self._names[: world.model.persons]

    def walk(self, person: Person) -> Trace:
        """Return what comes of a person's requests; their recipient knew nothing before."""
        recipient = _Recipient(self._persons, self._world.populations)
        ranks, told, left = [], [], []
        for number, asked in enumerate(person.requests):
            at = FIRST + number * self._world.pause
            chosen = self._strategy.chosen(asked.query, recipient.knowledge(at), at)
            values = self._revealed(chosen, person, asked)
            recipient.hear(values, at)
            known = values if self._whole else _sent(values)
            ranks.append(self._ranker.rank(asked.query, known).rank(asked.intent))
            told.append(len(values))
            left.append(recipient.people_left)
        return Trace(*(np.array(each, dtype=np.int32) for each in (ranks, told, left)))

    def _revealed(self, chosen: Sequence[str], person: Person, asked: Asked) -> Codes:
        """Return the codes of what was chosen: the first look at anything of the person's."""
        own = dict(zip(self._names, (*person.codes, *asked.request), strict=True))
        return {name: own[name] for name in chosen}


class _Recipient:
    """What it holds of one person, whose values stay, and whom it may take that person for."""

    def __init__(self, persons: Sequence[str], populations: Sequence[Table]) -> None:
        self._columns = {name: place for place, name in enumerate(persons)}
        self._populations = populations
        self._agree = [np.ones(len(each), dtype=bool) for each in populations]
        self._told: list[Told] = []
        self._held: set[str] = set()

    def knowledge(self, now: datetime) -> Knowledge:
        """Return what it holds by now."""
        return knowledge_of(self._told, RECIPIENT, str, now)

    def hear(self, values: Codes, at: datetime) -> None:
        """Remember what is new to it of what lasts."""
        new = {
            name: code
            for name, code in values.items()
            if name in self._columns and name not in self._held
        }
        self._held |= new.keys()
        self._told.append(Told(at, RECIPIENT, tuple(sorted(new.items()))))
        for name, code in new.items():
            column = self._columns[name]
            for place, codes in enumerate(self._populations):
                self._agree[place] &= codes[:, column] == code

    @property
    def people_left(self) -> list[int]:
        """How many people of each population agree with all that it was told."""
        return [int(np.count_nonzero(agree)) for agree in self._agree]


def _sent(values: Codes) -> Codes:
    """Return what travels: a value that is not specified is left out of the header."""
    return {name: code for name, code in values.items() if code != UNSPECIFIED}
