"""Many people under many strategies, in several processes if wanted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Literal, NamedTuple

from agent import Model, load_model
from agent.lab import Progress, spawned
from agent.lab.attack.adversaries import Reasoner
from agent.lab.attack.heldout import Codes, Person
from agent.lab.attack.simulation import Reticent, Scene, Trace, chooser, walk
from agent.lab.attack.strategies import Strategy
from agent.model.file import SUFFIX, write

AT_ONCE = 25  # people in a task
DOING = {
    "send": "sending requests",
    "send and reason": "sending requests, and reasoning",
    "reason": "reasoning about absence",
}


class Run(NamedTuple):
    """In how many processes, and who is told which share is done."""

    processes: int
    progress: Progress


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What is done with each person, under strategies that Reticent decides if it reasons.

    "send" makes a trace. "reason" infers who is left of a list for an adversary who reasons about
    absence, and "send and reason" both, decided once. ``listed``: unsigned, shape (N, P), the
    codes of who is on that list, as is everybody who is looked for.
    """

    kind: Literal["send", "send and reason", "reason"]
    scene: Scene
    listed: Codes | None = None

    def under(self, strategy: Strategy, model: Model) -> Callable[[Person], Any]:
        """Prepare what is done with a person; what was decided is kept in it."""
        scene = self.scene
        if self.listed is None:
            return partial(walk, chooser(strategy, model, scene, perf_counter), model, scene)
        agent = Reticent(strategy, model, scene, perf_counter)
        reason = Reasoner(agent, model, scene, self.listed).inferred
        if self.kind == "reason":
            return reason
        return lambda person: (walk(agent.chosen, model, scene, person), reason(person))


def traces(
    model: Model, scene: Scene, strategies: Iterable[Strategy], people: Sequence[Person], run: Run
) -> dict[Strategy, list[Trace]]:
    """Trace the people under each strategy, in their order.

    But for seconds the traces do not depend on how many processes there are.
    """
    return worked(model, Work("send", scene), dict.fromkeys(strategies, people), run)


def worked(
    model: Model, work: Work, people: Mapping[Strategy, Sequence[Person]], run: Run
) -> dict[Strategy, list[Any]]:
    """Do the work with each person, by strategy and in their order, and report progress.

    What a model remembers cannot be sent, so each of several processes reads the model.
    """
    tasks = [
        (strategy, these[start : start + AT_ONCE])
        for strategy, these in people.items()
        for start in range(0, len(these), AT_ONCE)
    ]
    done: dict[Strategy, list[Any]] = {strategy: [] for strategy in people}
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
        for number, ((strategy, _), found) in enumerate(zip(tasks, results, strict=True), 1):
            done[strategy] += found
            run.progress(DOING[work.kind], number / len(tasks))
    return done


# How a person is handled under a strategy: the latest one, with what it has decided so far.
_working: list[Callable[[Strategy], Callable[[Person], Any]]] = []


def _begin(model: Model | Path, work: Work) -> None:
    loaded = load_model(model) if isinstance(model, Path) else model
    _working[:] = [lru_cache(1)(partial(work.under, model=loaded))]


def _done(task: tuple[Strategy, Sequence[Person]]) -> list[Any]:
    strategy, people = task
    return [*map(_working[0](strategy), people)]
