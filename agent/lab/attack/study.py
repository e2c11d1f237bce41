"""The agent under attack: people not seen before, under every strategy, before every adversary."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np

from agent.decision.engine import load_model
from agent.lab import Progress, StudyOptions, spawned
from agent.lab.attack.heldout import Codes, Floats, Indexes, Material, Person, drawn
from agent.lab.attack.outcome import (
    Crowd,
    Reasoner,
    Remaining,
    Resamples,
    StrategyOutcome,
    knowing,
    left_of,
    outcome,
    pooled,
)
from agent.lab.attack.simulation import Reticent, Scene, Trace, chooser, walk
from agent.lab.attack.strategies import (
    ANSWERED,
    CONSTANT,
    FAMILIES,
    NOTHING,
    OWN,
    PAPERS,
    SHIPPED,
    UNSET,
    Strategy,
)
from agent.lab.paper.subject import groups_of
from agent.model.file import SUFFIX, write
from agent.model.model import Model
from agent.tradeoff import members
from agent.tradeoff.study import union

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


EVERYONE = (*SHIPPED, *ANSWERED)
FEW, SHORT, LISTED = 3, 20, 4000  # people, requests, and names on the list where each is decided
GUARDED = ("gender", "sex", "race")  # what the preset strict guards
POOLING = 4  # recipients who share what they hold
BEFOREHAND = 3  # demographics that an adversary knows already
LINES: tuple[Strategy, ...] = tuple(strategy for family in FAMILIES.values() for strategy in family)
EVERY: tuple[Strategy, ...] = (*CONSTANT, *SHIPPED, *ANSWERED, *OWN, *LINES)
# Shown to adversaries who pool, and to those who know something already.
SIDES: tuple[Strategy, ...] = (NOTHING, PAPERS, ANSWERED[1])


@dataclass(frozen=True, slots=True)
class Withheld:
    """What absence gives, of people whose decisions differ from others'.

    ``bits``: of each of them after the last request, float64, shape (people,); ``agreeing`` and
    ``producing``: how many are left of whom it gives most; ``listed``: names on the list.
    """

    bits: Floats
    agreeing: int
    producing: int
    listed: int


@dataclass(frozen=True, slots=True)
class Reasoned:
    """What an adversary found who knows for everybody on its list what they would have sent.

    ``compared``: pairs of person and request, over the presets, with limits kept for everyone;
    ``equal``: of these, those where whoever would have sent the same are just those who agree with
    what was disclosed. ``withheld``: by strategy, with limits kept for the user alone; ``unset``:
    by strategy, where people have not set what they did not say.
    """

    compared: int
    equal: int
    withheld: Mapping[Strategy, Withheld]
    unset: Mapping[Strategy, Withheld]


def reasoned(
    model: Model,
    crowd: Crowd,
    outcomes: Mapping[Strategy, StrategyOutcome],
    everyone: Iterable[Remaining],
    run: Run,
) -> Reasoned:
    """Return what was found; ``outcomes``: of ANSWERED, for the crowd's people.

    ``everyone``: what was inferred of these, in strategies of EVERYONE.
    For the user alone, and where people differ in what is set, decisions differ: there only the
    FEW are looked for to whom the same preset leaves the fewest others, in their first SHORT
    requests, on a list of LISTED.
    """
    people, codes = crowd.people, crowd.codes
    same = np.concatenate([each.same for each in everyone])
    rare = {
        own: _rarest(people, outcomes[strategy])
        for own, strategy in zip(OWN, ANSWERED, strict=True)
    }
    rare |= {strategy: rare[own] for strategy, own in zip(UNSET, OWN, strict=True)}
    # Whom a list has that may be shorter: the people, and the first others.
    places = np.unique([each.place for these in rare.values() for each in these])
    others = np.setdiff1d(np.arange(len(codes)), places)
    listed = np.append(places, others[: max(0, LISTED - len(places))])
    withheld = {}
    reason = Work("reason", Scene(), codes[listed])
    for strategy, found in worked(model, reason, rare, run).items():
        bits = np.array([each.bits[-1] for each in found])
        most = found[int(bits.argmax())]
        left = int(most.agreeing[-1]), int(most.producing[-1])
        withheld[strategy] = Withheld(bits, *left, len(listed))
    return Reasoned(
        compared=len(same),
        equal=int(same.sum()),
        withheld={strategy: each for strategy, each in withheld.items() if strategy in OWN},
        unset={strategy: each for strategy, each in withheld.items() if strategy in UNSET},
    )


def _rarest(people: Sequence[Person], found: StrategyOutcome) -> list[Person]:
    """Return those with whom the fewest agree in the end, in their first requests."""
    places = np.argsort(found.left[:, -1], kind="stable")[:FEW].tolist()
    return [people[each]._replace(requests=people[each].requests[:SHORT]) for each in places]


class Side(NamedTuple):
    """One strategy before one more adversary; ``left``: as of `StrategyOutcome`."""

    strategy: Strategy
    adversary: str
    left: Indexes


@dataclass(frozen=True, slots=True, eq=False)
class AttackStudy:
    """What was found: outcomes by strategy, of the same people in the same order."""

    options: StudyOptions
    material: Material
    crowd: Crowd
    outcomes: Mapping[Strategy, StrategyOutcome]
    sides: tuple[Side, ...]
    reasoned: Reasoned
    resamples: Resamples

    @property
    def steps(self) -> tuple[int, ...]:
        """After how many requests there are figures."""
        return self.crowd.steps


def study(material: Material, options: StudyOptions, progress: Progress) -> AttackStudy:
    """Run all strategies; times aside, the same for any number of processes."""
    from agent.lab.attack.services import Service  # of the extra `lab`

    model, others = material.model, material.others
    service = Service(model, options.seed)
    people = drawn(others, options.people, options.requests, options.seed)
    names = [each.name for each in model.attributes[: model.persons]]
    guarded = tuple(names.index(each) for each in GUARDED if each in names)
    crowd = Crowd(people, others.codes, guarded, options.steps)
    run = Run(options.processes, progress)
    scene, every = Scene(seed=options.seed), strategies_for(model)
    watched = Work("send and reason", scene, crowd.codes)
    both = worked(model, watched, dict.fromkeys(EVERYONE, people), run)
    rest = traces(model, scene, [each for each in every if each not in both], people, run)
    found = {each: [trace for trace, _ in pairs] for each, pairs in both.items()} | rest
    sent = {each: found[each] for each in every}
    inferred = [each for pairs in both.values() for _, each in pairs]
    outcomes = {}
    for number, (strategy, each) in enumerate(sent.items(), 1):
        outcomes[strategy] = outcome(crowd, each, service)
        progress("guessing who it is", number / len(sent))
    return AttackStudy(
        options=options,
        material=material,
        crowd=crowd,
        outcomes=outcomes,
        sides=tuple(_sides(crowd, sent, model, run)),
        reasoned=reasoned(model, crowd, outcomes, inferred, run),
        resamples=Resamples(len(people), options.seed),
    )


def strategies_for(model: Model) -> tuple[Strategy, ...]:
    """Return the strategies that a model has the attributes for."""
    groups = {each.name for each in groups_of(model)}
    missing = {"demographics", "topics"} - groups
    return tuple(strategy for strategy in EVERY if strategy.telling not in missing)


def known(model: Model) -> int:
    """Return what an adversary knows who knows something: the first demographics of the person."""
    mask = next((each.mask for each in groups_of(model) if each.name == "demographics"), 0)
    persons = [each for each in members(mask) if each < model.persons]
    return union(persons[:BEFOREHAND])


def _sides(
    crowd: Crowd, sent: Mapping[Strategy, Sequence[Trace]], model: Model, run: Run
) -> Iterator[Side]:
    """Yield what one knows who knew something, and several together, as the agent knows or not."""
    mask = known(model)
    names = ", ".join(model.attributes[each].name for each in members(mask))
    for strategy in SIDES:
        informed = [knowing(each, mask) for each in sent[strategy]]
        yield Side(strategy, f"knows {names}", left_of(crowd, informed))
    for grouped, word in ((False, "pool"), (True, "pool, and the agent knows")):
        scene = Scene(recipients=POOLING, grouped=grouped)
        for strategy, lines in traces(model, scene, SIDES[1:], crowd.people, run).items():
            together = left_of(crowd, [pooled(each) for each in lines])
            yield Side(strategy, f"{POOLING} recipients that {word}", together)
