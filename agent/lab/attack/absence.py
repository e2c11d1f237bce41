"""What an adversary gains who reasons about absence: who would have sent this very transcript.

For everybody on its list it asks what their agent would have sent in this stream of requests: the
set, its order, and the values. Whoever would have sent something else is out, also where what they
left out says so. DESIGN.md 2.6: for limits that are kept for everyone nobody is out who agrees with
what was disclosed, and has set the same attributes; where they are kept for the user alone, or
people differ in what they have set, some are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.lab.attack.adversaries import consistent
from agent.lab.attack.deciding import Question
from agent.lab.attack.recipients import Memory, hosts_of
from agent.lab.attack.streams import Person
from agent.lab.attack.walk import FIRST
from agent.tradeoff.sets import union

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from agent.lab.attack.deciding import Reticent
    from agent.lab.attack.walk import Scene
    from agent.model.model import Model

    Codes = NDArray[np.unsignedinteger]
    Rows = NDArray[np.intp]


class Inferred(NamedTuple):
    """The people of a list who are left after each request; intp, shape (T,), and bool.

    ``agreeing``: with all that was disclosed to any recipient; ``producing``: whose agent would
    have sent the whole transcript; ``same``: whether these are the same people.
    """

    agreeing: NDArray[np.intp]
    producing: NDArray[np.intp]
    same: NDArray[np.bool_]

    @property
    def bits(self) -> NDArray[np.float64]:
        """What absence gives after each request, in bits: how many fewer people produce it."""
        found: NDArray[np.float64] = np.log2(self.agreeing / self.producing)
        return found


class Reasoner:
    """Simulates the agent of everybody on a list, in one way that Reticent decides.

    Whoever is decided alike is decided once: those with the same of all that a decision takes.
    """

    def __init__(self, agent: Reticent, model: Model, scene: Scene, people: Codes) -> None:
        """Take the list: unsigned, shape (N, P), codes by person attribute."""
        self._agent = agent
        self._scene, self._people, self._persons = scene, people, model.persons
        self._names = [attribute.name for attribute in model.attributes[: model.persons]]

    def inferred(self, person: Person) -> Inferred:
        """Return who is left of the list, after each request of a person who is on it."""
        hosts = hosts_of(self._scene.recipients)
        # Whoever is not out yet was asked the same and has said the same: one memory is all theirs.
        memory = Memory(self._names, person.codes, grouped=self._scene.grouped)
        producing, held = np.arange(len(self._people)), 0
        left, masks = [], []
        for number, asked in enumerate(person.requests):
            at, host = FIRST + number * self._scene.pause, hosts[number % len(hosts)]
            question = Question(asked.query, host, memory.knowledge(host, at), at)
            order = self._agent.chosen(question, person).order
            producing = self._those_who_say(order, question, person, producing)
            memory.tell(question, order, counted=self._agent.plans(question))
            held |= union(each for each in order if each < self._persons)
            left.append(producing)
            masks.append(held)
        agreeing = list(consistent(masks, person, self._people))
        return Inferred(
            np.array([len(rows) for rows in agreeing], dtype=np.intp),
            np.array([len(rows) for rows in left], dtype=np.intp),
            np.array([np.array_equal(*both) for both in zip(agreeing, left, strict=True)]),
        )

    def _those_who_say(
        self, order: Sequence[int], question: Question, person: Person, among: Rows
    ) -> Rows:
        """Return who would send these attributes, in this order, with the person's values."""
        # Whoever would have sent other values need not be decided for.
        for each in order:
            if each < self._persons:
                among = among[self._people[among, each] == person.codes[each]]
        said = [
            rows
            for rows in self._decided_alike(question, among)
            if self._agent.chosen(question, self._somebody(rows)).order == order
        ]
        return np.sort(np.concatenate([np.zeros(0, np.intp), *said]))

    def _decided_alike(self, question: Question, among: Rows) -> list[Rows]:
        """Return the rows in groups that share all that a decision takes."""
        if not len(among) or not self._agent.reads_person(question):
            return [among] if len(among) else []
        groups: dict[Hashable, list[int]] = {}
        for row in among.tolist():
            own = self._agent.own(question, self._people[row].tolist())
            groups.setdefault(own, []).append(row)
        return [np.array(rows, dtype=np.intp) for rows in groups.values()]

    def _somebody(self, rows: Rows) -> Person:
        """Return the first of them, who asks nothing of their own here."""
        row = int(rows[0])
        return Person(row, tuple(self._people[row].tolist()), ())
