"""What exact search would choose in place of local search, in states that people came to.

An exact decision takes seconds where the default takes milliseconds, so no stream of requests is
sent that way; the decisions that are compared are drawn from streams instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.lab.attack.deciding import Question, Reticent
from agent.lab.attack.recipients import Memory, hosts_of
from agent.lab.attack.walk import FIRST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.decision.decision import Decision
    from agent.lab.attack.deciding import Clock
    from agent.lab.attack.streams import Person
    from agent.lab.attack.walk import Scene
    from agent.lab.attack.ways import Way
    from agent.model.model import Model


class Compared(NamedTuple):
    """One decision, by the way's own search and by the exact one.

    ``same``: whether the sets are; ``gained``: by how many bits of F the exact one is better, which
    may be less than 0 where its limit of nodes was hit; ``proven``: whether it was not;
    ``seconds``: of both.
    """

    same: bool
    gained: float
    proven: bool
    seconds: tuple[float, float]


class Searcher:
    """Decides both ways at the last request of a stream."""

    def __init__(self, way: Way, model: Model, scene: Scene, clock: Clock) -> None:
        """Take a way that Reticent decides; ``clock``: in seconds."""
        self._own = Reticent(way, model, scene, clock)
        self._exact = Reticent(replace(way, algorithm="exact"), model, scene, clock)
        self._names = [attribute.name for attribute in model.attributes[: model.persons]]
        self._scene, self._clock = scene, clock

    def compared(self, person: Person) -> Compared:
        """Return the two decisions on a person's last request, told before as the way has it."""
        question = self._last(person)
        mine, mine_took = self._timed(self._own, question, person)
        best, best_took = self._timed(self._exact, question, person)
        return Compared(
            same={*mine.disclosed} == {*best.disclosed},
            gained=best.figures.objective - mine.figures.objective,
            proven=best.evidence.exact,
            seconds=(mine_took, best_took),
        )

    def _last(self, person: Person) -> Question:
        hosts = hosts_of(self._scene.recipients)
        memory = Memory(self._names, person.codes, grouped=self._scene.grouped)
        for number, asked in enumerate(person.requests):
            at, host = FIRST + number * self._scene.pause, hosts[number % len(hosts)]
            question = Question(asked.query, host, memory.knowledge(host, at), at)
            if number + 1 < len(person.requests):
                order = self._own.chosen(question, person).order
                memory.tell(question, order, counted=self._own.plans(question))
        return question

    def _timed(self, agent: Reticent, question: Question, person: Person) -> tuple[Decision, float]:
        start = self._clock()
        decision = agent.decision(question, person)
        return decision, self._clock() - start


def cut(people: Sequence[Person], count: int, seed: int) -> tuple[Person, ...]:
    """Return so many of the people, each cut off after a request that is drawn."""
    lengths = np.random.default_rng(seed).random(count)
    chosen = [people[number % len(people)] for number in range(count)]
    return tuple(
        each._replace(requests=each.requests[: 1 + int(share * len(each.requests))])
        for each, share in zip(chosen, lengths.tolist(), strict=True)
    )
