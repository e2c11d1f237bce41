"""The agent under attack: people who were not seen before, in every way, before every adversary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from agent.lab.attack.adversaries import knowing, pooled
from agent.lab.attack.exactly import Exactly, exactly
from agent.lab.attack.intervals import Resamples
from agent.lab.attack.outcome import Crowd, Outcome, left_of, outcome
from agent.lab.attack.reasoned import EVERYONE, Reasoned, reasoned
from agent.lab.attack.service import Trial, chosen
from agent.lab.attack.streams import drawn
from agent.lab.attack.walk import Scene
from agent.lab.attack.ways import (
    ANSWERED,
    CONSTANT,
    FAMILIES,
    NOTHING,
    OWN,
    PAPERS,
    SHIPPED,
    Way,
)
from agent.lab.attack.workers import Run, traces, watched
from agent.lab.paper.subject import groups_of
from agent.tradeoff.sets import members, union

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from agent.lab.attack.absence import Inferred
    from agent.lab.attack.heldout import HeldOut
    from agent.lab.attack.options import Options
    from agent.lab.attack.walk import Trace
    from agent.model.model import Model

    Counts = NDArray[np.intp]
    Progress = Callable[[str, float], None]

GUARDED = ("gender", "race")  # what the preset strict guards
POOLING = 4  # recipients who share what they hold
BEFOREHAND = 3  # demographics that an adversary knows already
LINES: tuple[Way, ...] = tuple(way for family in FAMILIES.values() for way in family)
EVERY: tuple[Way, ...] = (*CONSTANT, *SHIPPED, *ANSWERED, *OWN, *LINES)
SIDES: tuple[Way, ...] = (NOTHING, PAPERS, ANSWERED[1])
"""The ways that are shown to adversaries who pool, and to those who know something already."""


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """A model of one half of the people, the other half, and a sentence on where both are from."""

    model: Model
    others: HeldOut
    source: str


class Side(NamedTuple):
    """One way before one more adversary; ``left``: as of `Outcome`."""

    way: Way
    adversary: str
    left: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """What was found: outcomes by way, of the same people in the same order.

    ``trials``: what services were worth, ``service``: the one that was chosen; ``exactly``: exact
    search beside local search, for the first of these people.
    """

    options: Options
    material: Material
    crowd: Crowd
    trials: tuple[Trial, ...]
    service: Trial
    outcomes: Mapping[Way, Outcome]
    sides: tuple[Side, ...]
    reasoned: Reasoned
    exactly: Exactly
    resamples: Resamples

    @property
    def steps(self) -> tuple[int, ...]:
        """After how many requests there are figures."""
        return self.crowd.steps

    @property
    def families(self) -> dict[str, tuple[Way, ...]]:
        """The lines of the frontier."""
        return FAMILIES


def study(material: Material, options: Options, progress: Progress) -> Study:
    """Return what comes of all ways; times aside, the same for any number of processes."""
    model, others = material.model, material.others
    service, trials = chosen(model, options.seed, progress)
    people = drawn(others, options.people, options.requests, options.seed)
    crowd = Crowd(people, others.codes, _guarded(model), options.steps)
    run = Run(options.processes, progress)
    sent, inferred = _sent(crowd, model, run, options.seed)
    outcomes = {}
    for number, (way, found) in enumerate(sent.items(), 1):
        outcomes[way] = outcome(crowd, found, service)
        progress("guessing who it is", number / len(sent))
    few = replace(crowd, people=people[: options.exact])
    return Study(
        options=options,
        material=material,
        crowd=crowd,
        trials=trials,
        service=next(each for each in trials if each.recipe == service.recipe),
        outcomes=outcomes,
        sides=(*_knowing(crowd, sent, model), *_pooling(crowd, model, run)),
        reasoned=reasoned(model, crowd, outcomes, inferred, run),
        exactly=exactly(model, few, service, run, options.seed),
        resamples=Resamples(len(people), options.seed),
    )


def _sent(
    crowd: Crowd, model: Model, run: Run, seed: int
) -> tuple[dict[Way, list[Trace]], list[Inferred]]:
    """Return the traces of all ways, and who is left for one who reasons about EVERYONE's."""
    scene, ways = Scene(seed=seed), ways_for(model)
    both = watched(model, scene, dict.fromkeys(EVERYONE, crowd.people), crowd.codes, run)
    rest = traces(model, scene, [way for way in ways if way not in both], crowd.people, run)
    found = {way: [trace for trace, _ in each] for way, each in both.items()} | rest
    inferred = [each for pairs in both.values() for _, each in pairs]
    return {way: found[way] for way in ways}, inferred


def ways_for(model: Model) -> tuple[Way, ...]:
    """Return the ways that a model has the attributes for."""
    groups = {each.name for each in groups_of(model)}
    missing = {"demographics", "topics"} - groups
    return tuple(way for way in EVERY if way.telling not in missing)


def known(model: Model) -> int:
    """Return what an adversary knows who knows something: the first demographics of the person."""
    mask = next((each.mask for each in groups_of(model) if each.name == "demographics"), 0)
    persons = [each for each in members(mask) if each < model.persons]
    return union(persons[:BEFOREHAND])


def _guarded(model: Model) -> tuple[int, ...]:
    names = [each.name for each in model.attributes[: model.persons]]
    return tuple(names.index(each) for each in GUARDED if each in names)


def _knowing(crowd: Crowd, sent: Mapping[Way, Sequence[Trace]], model: Model) -> list[Side]:
    mask = known(model)
    names = ", ".join(model.attributes[each].name for each in members(mask))
    return [
        Side(way, f"knows {names}", left_of(crowd, [knowing(each, mask) for each in sent[way]]))
        for way in SIDES
    ]


def _pooling(crowd: Crowd, model: Model, run: Run) -> list[Side]:
    """Return what several recipients know together, whether the agent knows that they do or not."""
    found = []
    for grouped, word in ((False, "pool"), (True, "pool, and the agent knows")):
        scene = Scene(recipients=POOLING, grouped=grouped)
        sent = traces(model, scene, SIDES[1:], crowd.people, run)
        for way, lines in sent.items():
            together = left_of(crowd, [pooled(each) for each in lines])
            found.append(Side(way, f"{POOLING} recipients that {word}", together))
    return found
