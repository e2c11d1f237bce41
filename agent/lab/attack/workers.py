"""Many people in many ways, by several processes if wanted."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Literal, NamedTuple

from agent import Model, load_model
from agent.lab import Progress, spawned
from agent.lab.attack.adversaries import Reasoner
from agent.lab.attack.heldout import Codes, Person
from agent.lab.attack.simulation import (
    Chosen,
    Clock,
    Question,
    Reticent,
    Scene,
    Trace,
    strategy,
    walk,
)
from agent.lab.attack.ways import Way
from agent.model.file import SUFFIX, write

Task = tuple[Way, Sequence[Person]]
AT_ONCE = 25  # people in a task; exact search takes long
DOING = {
    "send": ("sending requests", AT_ONCE),
    "send and reason": ("sending requests, and reasoning", AT_ONCE),
    "reason": ("reasoning about absence", AT_ONCE),
    "search": ("searching exactly", 3),
}


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
        self._model, self._scene = model, scene
        self._known: dict[Hashable, Compared] = {}
        self._compared: list[Compared] = []

    def searched(self, person: Person) -> Searched:
        """Return what comes of a person's requests; their recipients knew nothing before."""
        self._compared = []
        trace = walk(self.chosen, self._model, self._scene, person)
        return Searched(trace, tuple(self._compared))

    def chosen(self, question: Question, person: Person) -> Chosen:
        """Return what a request carries, and compare it."""
        chosen, state = self._exact.chosen(question, person), self._exact.state(question, person)
        if state not in self._known:
            best = self._exact.decision(question, person)
            other = self._default.decision(question, person)
            self._known[state] = Compared(
                same={*best.disclosed} == {*other.disclosed},
                gained=best.figures.objective - other.figures.objective,
                proven=best.evidence.exact,
            )
        self._compared.append(self._known[state])
        return chosen


@dataclass(frozen=True, slots=True)
class Run:
    """By how many processes, and who is told which share is done."""

    processes: int
    progress: Progress


def traces(
    model: Model, scene: Scene, ways: Iterable[Way], people: Sequence[Person], run: Run
) -> dict[Way, list[Trace]]:
    """Return the traces of the people for each way, in their order.

    But for seconds they do not depend on how many processes there are.
    """
    return worked(model, Work("send", scene), dict.fromkeys(ways, people), run)


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What is done with each person, in ways that Reticent decides if it is more than sending.

    "send" makes a trace. "reason" infers who is left of a list for one who reasons about absence,
    and "send and reason" both, decided once. "search" makes what exact search finds, in a way that
    searches so. ``listed``: unsigned, shape (N, P), the codes of who is on that list, as is
    everybody who is looked for.
    """

    kind: Literal["send", "send and reason", "reason", "search"]
    scene: Scene
    listed: Codes | None = None

    def of(self, way: Way, model: Model) -> Callable[[Person], Any]:
        """Return what is done with a person in a way; what was decided is kept in it."""
        scene, listed = self.scene, self.listed
        if self.kind == "search":
            return Searcher(way, model, scene, perf_counter).searched
        if listed is None:
            return partial(walk, strategy(way, model, scene, perf_counter), model, scene)
        agent = Reticent(way, model, scene, perf_counter)
        reason = Reasoner(agent, model, scene, listed).inferred
        if self.kind == "reason":
            return reason
        return lambda person: (walk(agent.chosen, model, scene, person), reason(person))


def worked(
    model: Model, work: Work, people: Mapping[Way, Sequence[Person]], run: Run
) -> dict[Way, list[Any]]:
    """Return what work makes of each person, by way and in their order, and report progress.

    A model's own memory cannot be sent, so each of several processes reads the model.
    """
    what, at_once = DOING[work.kind]
    tasks = [
        (way, these[start : start + at_once])
        for way, these in people.items()
        for start in range(0, len(these), at_once)
    ]
    done: dict[Way, list[Any]] = {way: [] for way in people}
    with ExitStack() as stack:
        results: Iterable[list[Any]] = map(_done, tasks)
        if run.processes == 1:
            stack.callback(_working.clear)
            _begin(model, work)
        else:
            path = Path(stack.enter_context(TemporaryDirectory())) / f"half{SUFFIX}"
            write(model, path)
            pool = stack.enter_context(spawned(run.processes, partial(_begin, path, work)))
            results = pool.map(_done, tasks)
        for number, ((way, _), found) in enumerate(zip(tasks, results, strict=True), 1):
            done[way] += found
            run.progress(what, number / len(tasks))
    return done


# What is done in a way; what was decided in it is kept until another comes. One, once begun.
_working: list[Callable[[Way], Callable[[Person], Any]]] = []


def _begin(model: Model | Path, work: Work) -> None:
    loaded = load_model(model) if isinstance(model, Path) else model
    _working[:] = [lru_cache(1)(partial(work.of, model=loaded))]


def _done(task: Task) -> list[Any]:
    way, people = task
    return [*map(_working[0](way), people)]
