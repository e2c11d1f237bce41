"""The traces of many people in many ways, by several processes if wanted."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from agent.model.file import SUFFIX, read, write
from examples.search_service.ranking import Ranker
from examples.search_service.replay.plain import PlainRanker
from examples.search_service.replay.walk import Walker, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import timedelta

    import numpy as np
    from numpy.typing import NDArray

    from agent.model.model import Model
    from examples.search_service.replay.strategies import Way
    from examples.search_service.replay.streams import Person
    from examples.search_service.replay.walk import Trace

    Task = tuple[Way, Sequence[Person]]

AT_ONCE = 10  # people in a task
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What a world is made of, beside its model.

    ``asked``: the names that the service asks for; ``others``: unsigned, shape (N, P), the codes
    of the held-out half; ``pause``: the time from one request to the next.
    """

    asked: frozenset[str]
    others: NDArray[np.unsignedinteger]
    pause: timedelta

    def world(self, model: Model) -> World:
        """Return the world; a recipient looks for people in the model, and in the other half."""
        rankers = {"best": Ranker(model), "plain": PlainRanker(model)}
        return World(model, rankers, self.asked, (model.population.codes, self.others), self.pause)


class _Crew:
    """Walks for one task after the other; what was prepared for a way is kept."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._walkers: dict[Way, Walker] = {}

    def work(self, task: Task) -> list[Trace]:
        """Return the traces of a task's people."""
        way, people = task
        if way not in self._walkers:
            self._walkers[way] = Walker(way, self._world)
        return [self._walkers[way].walk(person) for person in people]


def traces(
    model: Model,
    scene: Scene,
    ways: Sequence[Way],
    people: Sequence[Person],
    run: Run,
) -> dict[Way, list[Trace]]:
    """Return the traces of the people for each way, in their order.

    They do not depend on how many processes there are.
    """
    parts = [people[start : start + AT_ONCE] for start in range(0, len(people), AT_ONCE)]
    tasks = [(way, part) for way in ways for part in parts]
    done: dict[Way, list[Trace]] = {way: [] for way in ways}
    results = (
        _alone(model, scene, tasks)
        if run.processes == 1
        else _shared(model, scene, tasks, run.processes)
    )
    for number, ((way, _), found) in enumerate(zip(tasks, results, strict=True), 1):
        done[way] += found
        run.progress("replaying", number / len(tasks))
    return done


@dataclass(frozen=True, slots=True)
class Run:
    """By how many processes, and who is told which share is done."""

    processes: int
    progress: Callable[[str, float], None]


def _alone(model: Model, scene: Scene, tasks: Iterable[Task]) -> Iterator[list[Trace]]:
    return map(_Crew(scene.world(model)).work, tasks)


def _shared(
    model: Model, scene: Scene, tasks: Sequence[Task], processes: int
) -> Iterator[list[Trace]]:
    """Yield the results of new processes: whoever has threads cannot be forked.

    A model's own memory cannot be sent, so each process reads the model.
    """
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"half{SUFFIX}"
        write(model, path)
        with ProcessPoolExecutor(
            processes, get_context("spawn"), initializer=_begin, initargs=(path, scene)
        ) as pool:
            yield from pool.map(_work, tasks)


_crews: list[_Crew] = []  # of this process: one, once it has begun


def _begin(path: Path, scene: Scene) -> None:
    _crews.append(_Crew(scene.world(read(path))))


def _work(task: Task) -> list[Trace]:
    return _crews[0].work(task)
