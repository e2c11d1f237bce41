"""The agent under attack: people not seen before, under every strategy."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from agent.decision.engine import load_model
from agent.lab import Progress, StudyOptions, spawned
from agent.lab.attack.outcome import Crowd, Reasoner, Remaining, Resamples, StrategyOutcome, outcome
from agent.lab.attack.simulation import Material, Person, Reticent, chooser, people_of, walk
from agent.lab.attack.strategies import ANSWERED, CONSTANT, FAMILIES, OWN, SHIPPED, UNSET, Strategy
from agent.model.file import SUFFIX, write
from agent.model.model import Model
from agent.tradeoff.tables import Codes

AT_ONCE = 25  # people in a task
EVERYONE = (*SHIPPED, *ANSWERED)
FEW, SHORT, LISTED = 3, 20, 4000  # people, requests, and names on the list where each is decided
EVERY: tuple[Strategy, ...] = (
    *(*CONSTANT, *SHIPPED, *ANSWERED, *OWN),
    *(strategy for family in FAMILIES.values() for strategy in family),
)


class Run(NamedTuple):
    """In how many processes, and what is called with the share that is done."""

    processes: int
    progress: Progress


def worked(
    model: Model,
    people: Mapping[Strategy, Sequence[Person]],
    run: Run,
    listed: Codes | None = None,
    requested: frozenset[str] | None = None,
) -> dict[Strategy, list[Any]]:
    """Trace people's requests, by strategy and in the order of the people, and report progress.

    ``listed``: unsigned, shape (N, P), the codes of who is on a list, as is everybody who is looked
    for: with each trace comes who is `Remaining` on it, to an adversary who reasons about absence,
    under strategies that Reticent decides. None for traces alone. ``requested``: as of `Reticent`.
    What a model remembers cannot be sent, so each of several processes reads the model.
    """
    tasks = [
        (strategy, these[start : start + AT_ONCE])
        for strategy, these in people.items()
        for start in range(0, len(these), AT_ONCE)
    ]
    doing = "sending requests" if listed is None else "sending requests, and reasoning"
    done: dict[Strategy, list[Any]] = {strategy: [] for strategy in people}
    with ExitStack() as stack:
        results: Iterable[list[Any]] = map(_done, tasks)
        if run.processes == 1:
            stack.callback(_working.clear)
            _begin(model, listed, requested)
        else:
            path = Path(stack.enter_context(TemporaryDirectory())) / f"half{SUFFIX}"
            write(model, path)
            pool = stack.enter_context(
                spawned(run.processes, partial(_begin, path, listed, requested))
            )
            results = pool.map(_done, tasks)
        for number, ((strategy, _), outcomes) in enumerate(zip(tasks, results, strict=True), 1):
            done[strategy] += outcomes
            run.progress(doing, number / len(tasks))
    return done


# How a person is handled under a strategy: the latest one, with what it has decided so far.
_working: list[Callable[[Strategy], Callable[[Person], Any]]] = []


def _begin(model: Model | Path, listed: Codes | None, requested: frozenset[str] | None) -> None:
    loaded = load_model(model) if isinstance(model, Path) else model

    @lru_cache(1)
    def under(strategy: Strategy) -> Callable[[Person], Any]:
        if listed is None:
            return partial(walk, chooser(strategy, loaded, requested), loaded)
        agent = Reticent(strategy, loaded, requested)
        reason = Reasoner(agent, loaded, listed).inferred
        return lambda person: (walk(agent.chosen, loaded, person), reason(person))

    _working[:] = [under]


def _done(task: tuple[Strategy, Sequence[Person]]) -> list[Any]:
    strategy, people = task
    return [*map(_working[0](strategy), people)]


@dataclass(frozen=True, slots=True)
class Reasoned:
    """What an adversary found who knows for everybody on its list what they would have sent.

    ``compared``: pairs of person and request, over the presets, with limits kept for everyone;
    ``equal``: of these, those where whoever would have sent the same are just those who agree with
    what was disclosed. ``withheld``: what is left of a list of ``listed`` names in strategies of
    OWN, and of UNSET, where people's decisions differ; of the few people who are looked for.
    """

    compared: int
    equal: int
    withheld: Mapping[Strategy, Sequence[Remaining]]
    listed: int


def reasoned(
    model: Model,
    crowd: Crowd,
    outcomes: Mapping[Strategy, StrategyOutcome],
    everyone: Iterable[Remaining],
    run: Run,
) -> Reasoned:
    """Reason about absence; ``outcomes``: of ANSWERED, for the crowd's people.

    ``everyone``: what was inferred of these, in strategies of EVERYONE.
    For the user alone, and where people differ in what is set, decisions differ: there only the
    FEW are looked for to whom the same preset leaves the fewest others, in their first SHORT
    requests, on a list of LISTED.
    """
    same = np.concatenate([each.same for each in everyone])
    rare: dict[Strategy, list[Person]] = {}
    for strategy, own, unset in zip(ANSWERED, OWN, UNSET, strict=True):
        fewest = np.argsort(outcomes[strategy].remaining[:, -1], kind="stable")[:FEW].tolist()
        some = [crowd.people[each] for each in fewest]
        rare[own] = [each._replace(requests=each.requests[:SHORT]) for each in some]
        rare[unset] = rare[own]
    # Whom a list has that may be shorter: the people, and the first others.
    places = np.unique([each.place for these in rare.values() for each in these])
    others = np.setdiff1d(np.arange(len(crowd.codes)), places)
    listed = np.append(places, others[: max(0, LISTED - len(places))])
    results = worked(model, rare, run, crowd.codes[listed])
    withheld = {
        strategy: [remaining for _, remaining in each] for strategy, each in results.items()
    }
    return Reasoned(len(same), int(same.sum()), withheld, len(listed))


@dataclass(frozen=True, slots=True, eq=False)
class AttackStudy:
    """What was found: outcomes by strategy, of the same people in the same order."""

    options: StudyOptions
    material: Material
    crowd: Crowd
    outcomes: Mapping[Strategy, StrategyOutcome]
    reasoned: Reasoned
    resamples: Resamples


def study(material: Material, options: StudyOptions, progress: Progress) -> AttackStudy:
    """Run all strategies; the result is the same for any number of processes."""
    from agent.lab.attack.services import Service  # of the extra `lab`

    model, others, run = material.model, material.others, Run(options.processes, progress)
    people = people_of(others, options.people, options.requests, options.seed)
    crowd, service = Crowd(people, others.codes, options.steps), Service(model, options.seed)
    both = worked(model, dict.fromkeys(EVERYONE, people), run, crowd.codes)
    rest = {each: people for each in EVERY if each not in both}
    traced = {each: [trace for trace, _ in pairs] for each, pairs in both.items()}
    traced |= worked(model, rest, run)
    inferred = [each for pairs in both.values() for _, each in pairs]
    outcomes = {}
    for number, strategy in enumerate(EVERY, 1):
        outcomes[strategy] = outcome(crowd, traced[strategy], service)
        progress("guessing who it is", number / len(EVERY))
    return AttackStudy(
        options=options,
        material=material,
        crowd=crowd,
        outcomes=outcomes,
        reasoned=reasoned(model, crowd, outcomes, inferred, run),
        resamples=Resamples(len(people), options.seed),
    )
