"""Many people in many ways, by several processes if wanted."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from agent.lab.attack.absence import Inferred, Reasoner
from agent.lab.attack.walk import Trace, Walker
from agent.model.file import SUFFIX, read, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from agent.lab.attack.streams import Person
    from agent.lab.attack.walk import Scene
    from agent.lab.attack.ways import Way
    from agent.model.model import Model

    Task = tuple[Way, Sequence[Person]]
    Codes = NDArray[np.unsignedinteger]

AT_ONCE = 25  # people in a task
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


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
    tasks = [(way, part) for way in dict.fromkeys(ways) for part in _parts(people)]
    results = _worked(model, _Crew(scene), tasks, run, "sending requests")
    return _by_way(tasks, results)


def inferences(
    model: Model,
    scene: Scene,
    people: Mapping[Way, Sequence[Person]],
    listed: Codes,
    run: Run,
) -> dict[Way, list[Inferred]]:
    """Return who is left of a list for one who reasons about absence, by way, in their order.

    ``people``: who is looked for, all of them on the list, in ways that Reticent decides;
    ``listed``: unsigned, shape (N, P), their codes.
    """
    tasks = [(way, part) for way, these in people.items() for part in _parts(these)]
    results = _worked(model, _Crew(scene, listed), tasks, run, "reasoning about absence")
    return _by_way(tasks, results)


def _parts(people: Sequence[Person]) -> list[Sequence[Person]]:
    return [people[start : start + AT_ONCE] for start in range(0, len(people), AT_ONCE)]


def _by_way(tasks: Sequence[Task], results: Iterable[list[Any]]) -> dict[Way, list[Any]]:
    done: dict[Way, list[Any]] = {way: [] for way, _ in tasks}
    for (way, _), found in zip(tasks, results, strict=True):
        done[way] += found
    return done


class _Crew(NamedTuple):
    """What is done for each person; ``listed``: on whom to reason, None to send requests."""

    scene: Scene
    listed: Codes | None = None

    def hand(self, model: Model) -> Callable[[Task], list[Any]]:
        """Return who does one task after the other; what is decided is kept until another way."""
        working: dict[Way, Callable[[Person], Any]] = {}

        def work(task: Task) -> list[Any]:
            way, people = task
            if way not in working:
                working.clear()
                working[way] = self._worker(way, model)
            return [working[way](person) for person in people]

        return work

    def _worker(self, way: Way, model: Model) -> Callable[[Person], Any]:
        if self.listed is None:
            return Walker(way, model, self.scene, perf_counter).walk
        return Reasoner(way, model, self.scene, self.listed).inferred


def _worked(
    model: Model, crew: _Crew, tasks: Sequence[Task], run: Run, what: str
) -> Iterator[list[Any]]:
    """Yield the results of the tasks in order, and report progress."""
    shared = run.processes > 1
    results = _shared(model, crew, tasks, run.processes) if shared else map(crew.hand(model), tasks)
    for number, found in enumerate(results, 1):
        run.progress(what, number / len(tasks))
        yield found


def _shared(
    model: Model, crew: _Crew, tasks: Sequence[Task], processes: int
) -> Iterator[list[Any]]:
    """Yield the results of new processes: whoever has threads cannot be forked.

    A model's own memory cannot be sent, so each process reads the model.
    """
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"half{SUFFIX}"
        write(model, path)
        with ProcessPoolExecutor(
            processes, get_context("spawn"), initializer=_begin, initargs=(path, crew)
        ) as pool:
            yield from pool.map(_work, tasks)


_hands: list[Callable[[Task], list[Any]]] = []  # of this process: one, once it has begun


def _begin(path: Path, crew: _Crew) -> None:
    _hands.append(crew.hand(read(path)))


def _work(task: Task) -> list[Any]:
    return _hands[0](task)
