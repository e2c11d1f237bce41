"""A person's requests decided by exact search, each beside what local search would choose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from agent.lab.attack.deciding import Reticent
from agent.lab.attack.walk import Walker

if TYPE_CHECKING:
    from collections.abc import Hashable

    from agent.lab.attack.deciding import Chosen, Clock, Question
    from agent.lab.attack.streams import Person
    from agent.lab.attack.walk import Scene, Trace
    from agent.lab.attack.ways import Way
    from agent.model.model import Model


class Compared(NamedTuple):
    """One request by exact search, and by the default in the same state.

    ``same``: whether the sets are; ``gained``: by how many bits of F the exact one is better, never
    less than 0 but for rounding, as it begins there; ``proven``: whether no feasible set is better,
    whatever F looks like.
    """

    same: bool
    gained: float
    proven: bool


class Searched(NamedTuple):
    """What came of a person's requests by exact search, and a comparison for each of them."""

    trace: Trace
    compared: tuple[Compared, ...]


class Searcher:
    """Sends requests as a way has it that searches exactly; each state is compared once."""

    def __init__(self, way: Way, model: Model, scene: Scene, clock: Clock) -> None:
        """Take a way that Reticent decides; ``clock``: in seconds."""
        self._exact = Reticent(way, model, scene, clock)
        self._default = Reticent(replace(way, algorithm="lls"), model, scene, clock)
        self._walker = Walker(self, model, scene)
        self._known: dict[Hashable, Compared] = {}
        self._compared: list[Compared] = []

    def searched(self, person: Person) -> Searched:
        """Return what comes of a person's requests; their recipients knew nothing before."""
        self._compared = []
        trace = self._walker.walk(person)
        return Searched(trace, tuple(self._compared))

    def chosen(self, question: Question, person: Person) -> Chosen:
        """Return what a request carries, and compare it."""
        chosen, state = self._exact.chosen(question, person), self._exact.state(question, person)
        if state not in self._known:
            self._known[state] = self._beside(question, person)
        self._compared.append(self._known[state])
        return chosen

    def plans(self, question: Question) -> bool:
        """Say whether choosing depends on what the recipient was asked before."""
        return self._exact.plans(question)

    def _beside(self, question: Question, person: Person) -> Compared:
        best, other = (each.decision(question, person) for each in (self._exact, self._default))
        return Compared(
            same={*best.disclosed} == {*other.disclosed},
            gained=best.figures.objective - other.figures.objective,
            proven=best.evidence.exact,
        )
