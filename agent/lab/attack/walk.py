"""One person's requests to recipients that remember what they are told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.lab.attack.deciding import Question
from agent.lab.attack.recipients import Memory, hosts_of
from agent.tradeoff.sets import union

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from agent.lab.attack.deciding import Strategy
    from agent.lab.attack.streams import Person
    from agent.model.model import Model

    Seconds = NDArray[np.float64]

FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAILY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Scene:
    """Where people send their requests.

    ``asked``: the names that recipients ask for, None for all that there are; ``pause``: from one
    request of a person to the next; ``recipients``: among whom a person's requests go around;
    ``grouped``: whether the agent knows that these pool what they learn; ``seed``: of what is told
    at random.
    """

    asked: frozenset[str] | None = None
    pause: timedelta = DAILY / 5
    recipients: int = 1
    grouped: bool = False
    seed: int = 0


class Trace(NamedTuple):
    """What came of each of T requests; masks are over the model's attributes, in order.

    ``sent``: the attributes that a request carried, not specified or not; ``held``: those of the
    person that its recipient held after it; ``seconds``: float64, shape (T,), what the decision
    took where it was first made, 0 where there was none to make.
    """

    sent: tuple[int, ...]
    held: tuple[int, ...]
    seconds: Seconds


class Walker:
    """Sends the requests of one person after the other, told in one way."""

    def __init__(self, strategy: Strategy, model: Model, scene: Scene) -> None:
        """Take who chooses what is told."""
        self._scene, self._strategy = scene, strategy
        self._names = [attribute.name for attribute in model.attributes[: model.persons]]
        self._hosts = hosts_of(scene.recipients)

    def walk(self, person: Person) -> Trace:
        """Return what comes of a person's requests; their recipients knew nothing before."""
        memory = Memory(self._names, person.codes, grouped=self._scene.grouped)
        sent, held, seconds = [], [], []
        for number, asked in enumerate(person.requests):
            at = FIRST + number * self._scene.pause
            host = self._hosts[number % len(self._hosts)]
            question = Question(asked.query, host, memory.knowledge(host, at), at)
            chosen = self._strategy.chosen(question, person)
            memory.tell(question, chosen.order, counted=self._strategy.plans(question))
            sent.append(union(chosen.order))
            held.append(memory.held(host))
            seconds.append(chosen.seconds)
        return Trace(tuple(sent), tuple(held), np.array(seconds, dtype=np.float64))
