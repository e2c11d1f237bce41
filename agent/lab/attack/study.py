"""The agent under attack: people not seen before, in every way, before every adversary."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from agent import Model
from agent.lab import Progress
from agent.lab.attack import ways
from agent.lab.attack.adversaries import Inferred, knowing, pooled
from agent.lab.attack.heldout import Floats, Indexes, Material, Person, drawn
from agent.lab.attack.outcome import Crowd, Outcome, Resamples, left_of, outcome
from agent.lab.attack.services import Service, Trial, chosen
from agent.lab.attack.simulation import Scene, Trace
from agent.lab.attack.ways import ANSWERED, Options, Way
from agent.lab.attack.workers import Compared, Run, Work, traces, worked
from agent.lab.paper.subject import groups_of
from agent.tradeoff import members
from agent.tradeoff.study import union

EVERYONE = (*ways.SHIPPED, *ANSWERED)
FEW, SHORT, LISTED = 3, 20, 4000  # people, requests, and names on the list where each is decided
GUARDED = ("gender", "sex", "race")  # what the preset strict guards
POOLING = 4  # recipients who share what they hold
BEFOREHAND = 3  # demographics that an adversary knows already
LINES: tuple[Way, ...] = tuple(way for family in ways.FAMILIES.values() for way in family)
EVERY: tuple[Way, ...] = (*ways.CONSTANT, *ways.SHIPPED, *ANSWERED, *ways.OWN, *LINES)
# Shown to adversaries who pool, and to those who know something already.
SIDES: tuple[Way, ...] = (ways.NOTHING, ways.PAPERS, ANSWERED[1])


@dataclass(frozen=True, slots=True, eq=False)
class Exactly:
    """What came of SINGLE and of EXACT, for the same people.

    ``compared``: EXACT's requests, person by person; ``resamples``: of these people.
    """

    outcomes: Mapping[Way, Outcome]
    compared: tuple[Compared, ...]
    resamples: Resamples


def exactly(model: Model, crowd: Crowd, service: Service, run: Run, seed: int) -> Exactly:
    """Return what comes of a crowd's people; ``seed``: of their resamples."""
    # In this order: what a search is compared with is remembered, and would take no time after.
    sent = traces(model, Scene(), [ways.SINGLE], crowd.people, run)
    found = worked(model, Work("search", Scene()), {ways.EXACT: crowd.people}, run)[ways.EXACT]
    sent[ways.EXACT] = [each.trace for each in found]
    return Exactly(
        outcomes={way: outcome(crowd, each, service) for way, each in sent.items()},
        compared=tuple(request for each in found for request in each.compared),
        resamples=Resamples(len(crowd.people), seed),
    )


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
    what was disclosed. ``withheld``: by way, with limits kept for the user alone; ``unset``: by
    way, where people have not set what they did not say.
    """

    compared: int
    equal: int
    withheld: Mapping[Way, Withheld]
    unset: Mapping[Way, Withheld]


def reasoned(
    model: Model,
    crowd: Crowd,
    outcomes: Mapping[Way, Outcome],
    everyone: Iterable[Inferred],
    run: Run,
) -> Reasoned:
    """Return what was found; ``outcomes``: of ANSWERED, for the crowd's people.

    ``everyone``: what was inferred of these, in ways of EVERYONE.
    For the user alone, and where people differ in what is set, decisions differ: there only the
    FEW are looked for to whom the same preset leaves the fewest others, in their first SHORT
    requests, on a list of LISTED.
    """
    people, codes = crowd.people, crowd.codes
    same = np.concatenate([each.same for each in everyone])
    rare = {
        own: _rarest(people, outcomes[way]) for own, way in zip(ways.OWN, ANSWERED, strict=True)
    }
    rare |= {way: rare[own] for way, own in zip(ways.UNSET, ways.OWN, strict=True)}
    # Whom a list has that may be shorter: the people, and the first others.
    places = np.unique([each.place for these in rare.values() for each in these])
    others = np.setdiff1d(np.arange(len(codes)), places)
    listed = np.append(places, others[: max(0, LISTED - len(places))])
    withheld = {}
    reason = Work("reason", Scene(), codes[listed])
    for way, found in worked(model, reason, rare, run).items():
        bits = np.array([each.bits[-1] for each in found])
        most = found[int(bits.argmax())]
        left = int(most.agreeing[-1]), int(most.producing[-1])
        withheld[way] = Withheld(bits, *left, len(listed))
    return Reasoned(
        compared=len(same),
        equal=int(same.sum()),
        withheld={way: each for way, each in withheld.items() if way in ways.OWN},
        unset={way: each for way, each in withheld.items() if way in ways.UNSET},
    )


def _rarest(people: Sequence[Person], found: Outcome) -> list[Person]:
    """Return those with whom the fewest agree in the end, in their first requests."""
    places = np.argsort(found.left[:, -1], kind="stable")[:FEW].tolist()
    return [people[each]._replace(requests=people[each].requests[:SHORT]) for each in places]


class Side(NamedTuple):
    """One way before one more adversary; ``left``: as of `Outcome`."""

    way: Way
    adversary: str
    left: Indexes


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


def study(material: Material, options: Options, progress: Progress) -> Study:
    """Return what comes of all ways; times aside, the same for any number of processes."""
    model, others = material.model, material.others
    service, trials = chosen(model, options.seed, progress)
    people = drawn(others, options.people, options.requests, options.seed)
    names = [each.name for each in model.attributes[: model.persons]]
    guarded = tuple(names.index(each) for each in GUARDED if each in names)
    crowd = Crowd(people, others.codes, guarded, options.steps)
    run = Run(options.processes, progress)
    scene, every = Scene(seed=options.seed), ways_for(model)
    watched = Work("send and reason", scene, crowd.codes)
    both = worked(model, watched, dict.fromkeys(EVERYONE, people), run)
    rest = traces(model, scene, [way for way in every if way not in both], people, run)
    found = {way: [trace for trace, _ in each] for way, each in both.items()} | rest
    sent = {way: found[way] for way in every}
    inferred = [each for pairs in both.values() for _, each in pairs]
    outcomes = {}
    for number, (way, each) in enumerate(sent.items(), 1):
        outcomes[way] = outcome(crowd, each, service)
        progress("guessing who it is", number / len(sent))
    few = replace(crowd, people=people[: options.exact])
    return Study(
        options=options,
        material=material,
        crowd=crowd,
        trials=trials,
        service=next(each for each in trials if each.recipe == service.recipe),
        outcomes=outcomes,
        sides=tuple(_sides(crowd, sent, model, run)),
        reasoned=reasoned(model, crowd, outcomes, inferred, run),
        exactly=exactly(model, few, service, run, options.seed),
        resamples=Resamples(len(people), options.seed),
    )


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


def _sides(
    crowd: Crowd, sent: Mapping[Way, Sequence[Trace]], model: Model, run: Run
) -> Iterator[Side]:
    """Yield what one knows who knew something, and several together, as the agent knows or not."""
    mask = known(model)
    names = ", ".join(model.attributes[each].name for each in members(mask))
    for way in SIDES:
        informed = [knowing(each, mask) for each in sent[way]]
        yield Side(way, f"knows {names}", left_of(crowd, informed))
    for grouped, word in ((False, "pool"), (True, "pool, and the agent knows")):
        scene = Scene(recipients=POOLING, grouped=grouped)
        for way, lines in traces(model, scene, SIDES[1:], crowd.people, run).items():
            together = left_of(crowd, [pooled(each) for each in lines])
            yield Side(way, f"{POOLING} recipients that {word}", together)
