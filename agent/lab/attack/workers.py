"""The traces of many people in many ways, by several processes if wanted."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from agent.lab.attack.walk import Walker
from agent.model.file import SUFFIX, read, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent.lab.attack.streams import Person
    from agent.lab.attack.walk import Scene, Trace
    from agent.lab.attack.ways import Way
    from agent.model.model import Model

    Task = tuple[Way, Sequence[Person]]

AT_ONCE = 25  # people in a task
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class _Crew:
    """Walks for one task after the other; what was decided in a way is kept until another."""

    def __init__(self, model: Model, scene: Scene) -> None:
        self._model, self._scene = model, scene
        self._walking: tuple[Way, Walker] | None = None

    def work(self, task: Task) -> list[Trace]:
        """Return the traces of a task's people."""
        way, people = task
        if self._walking is None or self._walking[0] != way:
            self._walking = way, Walker(way, self._model, self._scene, perf_counter)
        return [self._walking[1].walk(person) for person in people]


@dataclass(frozen=True, slots=True)
class Run:
    """By how many processes, and who is told which share is done."""

    processes: int
    progress: Callable[[str, float], None]


def traces(
    model: Model,
    scene: Scene,
    ways: Sequence[Way],
    people: Sequence[Person],
    run: Run,
) -> dict[Way, list[Trace]]:
    """Return the traces of the people for each way, in their order.

    But for seconds they do not depend on how many processes there are.
    """
    parts = [people[start : start + AT_ONCE] for start in range(0, len(people), AT_ONCE)]
    tasks = [(way, part) for way in dict.fromkeys(ways) for part in parts]
    done: dict[Way, list[Trace]] = {way: [] for way in ways}
    results = (
        map(_Crew(model, scene).work, tasks)
        if run.processes == 1
        else _shared(model, scene, tasks, run.processes)
    )
    for number, ((way, _), found) in enumerate(zip(tasks, results, strict=True), 1):
        done[way] += found
        run.progress("sending requests", number / len(tasks))
    return done


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
    _crews.append(_Crew(read(path), scene))


def _work(task: Task) -> list[Trace]:
    return _crews[0].work(task)
