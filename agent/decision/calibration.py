"""From a person's answers to prices: of each attribute, and of being recognised (paper 6, 7.2)."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeVar

import numpy as np

from agent.decision.cache import Cache
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.study import LEVELS, NEVER, UNANSWERED, Fit, fit, wanted_bits
from agent.tradeoff.tables import EMPTY, singleton

QUESTIONS = ("improvement", "sensitivity", "one_of")
IMPROVEMENTS = {"25%": 1.25, "50%": 1.5, "100%": 2.0, "4x": 4.0, "never": NEVER}
SCALE = tuple(str(level) for level in range(1, LEVELS + 1))
MOST_DIGITS = 10  # of a number of people
METRIC: Literal["maxprob"] = "maxprob"
Source = Literal["precision", "one_of"]


@dataclass(frozen=True, slots=True)
class PersonAnswers:
    """What one person answered.

    ``improvement``: by level, the factor of speed that is wanted, NEVER for none; ``sensitivity``:
    by attribute, its level; ``one_of``: by number of people, the level of being one of them.
    """

    improvement: Mapping[int, float]
    sensitivity: Mapping[str, int]
    one_of: Mapping[int, int]


def answers_of(given: Mapping[str, Mapping[str, object]], model: Model) -> PersonAnswers:
    """Return the answers to each of the QUESTIONS about a model.

    UsageError, with the nearest, for what nobody asked, for what is no answer, and where there is
    none at all, or no improvement for a level.
    """
    for name in given["sensitivity"]:
        model.index(name)
    answers = PersonAnswers(
        {_level_key(key): _factor(key, each) for key, each in given["improvement"].items()},
        {name: _level(name, each) for name, each in given["sensitivity"].items()},
        {_people(key): _level(key, each) for key, each in given["one_of"].items()},
    )
    levels = {*answers.sensitivity.values(), *answers.one_of.values()}
    if not levels:
        raise UsageError("no question is answered", "answer sensitivity, one_of, or both")
    for level in sorted(levels - answers.improvement.keys()):
        what = f"improvement has no answer for sensitivity {level}"
        raise UsageError(what, f'add one, as in {level} = "100%"')
    return answers


def _level_key(key: str) -> int:
    if key not in SCALE:
        raise UsageError.unknown("sensitivity", key, SCALE)
    return int(key)


def _factor(key: str, given: object) -> float:
    if not isinstance(given, str):
        what = f"the improvement for {key} is not text"
        raise UsageError(what, 'write it in quotes, as in "100%"')
    if given not in IMPROVEMENTS:
        raise UsageError.unknown("improvement", given, IMPROVEMENTS)
    return IMPROVEMENTS[given]


def _level(key: str, given: object) -> int:
    # A bool is an int to Python, but not to the person who writes it.
    if type(given) is not int or not 1 <= given <= LEVELS:
        what = f"the sensitivity of {key} is not a whole number from 1 to {LEVELS}"
        raise UsageError(what, f"write {key} = 3, for example")
    return given


def _people(key: str) -> int:
    if key.isascii() and key.isdecimal() and not key.startswith("0") and len(key) <= MOST_DIGITS:
        return int(key)
    what = f"{key!r} is not a number of people"
    raise UsageError(what, "write a whole number from 1, without signs, as in 1000 = 2")


Thing = TypeVar("Thing", bound=Hashable)


@dataclass(frozen=True, slots=True)
class WantedPair:
    """What being known so well costs, in identifiability, and what is wanted for it, in bits."""

    name: str
    cost: float
    bits: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """What answers come to.

    ``sensitivity``: in bits by attribute, infinite for what is never shared; ``pairs``: to which λ
    was fitted; ``source``: the question that they are from; ``fit``: None where no pair has a
    price.
    """

    people: int
    sensitivity: Mapping[str, float]
    source: Source
    pairs: tuple[WantedPair, ...]
    fit: Fit | None


def calibrated(answers: Sequence[PersonAnswers], model: Model) -> Calibration:
    """Return what the answers of one person come to, or the medians of several (paper 7.2).

    λ is fitted to the steps of precision that attributes of the model refine one another by, where
    two of them have a price; else to being one of k people, whose identifiability is 1/k.
    """
    sensitivity = _wanted([each.sensitivity for each in answers], answers)
    steps = _steps(sensitivity, model)
    if sum(isfinite(each.bits) for each in steps) > 1:
        return _calibration(len(answers), sensitivity, "precision", steps)
    one_of = _wanted([each.one_of for each in answers], answers)
    pairs = [WantedPair(str(k), 1 / k, one_of[k]) for k in sorted(one_of)]
    return _calibration(len(answers), sensitivity, "one_of", pairs)


def aligned(answers: Sequence[PersonAnswers], costs: Mapping[str, float]) -> Calibration:
    """Return the same for steps of precision that no model has (paper 7.2).

    ``costs``: by name, in order, the identifiability of each step, less that of nothing; the
    answers have the sensitivity of a step under that name, and what nobody rated is left out.
    """
    wanted = _wanted([each.sensitivity for each in answers], answers)
    steps = [WantedPair(name, cost, wanted[name]) for name, cost in costs.items() if name in wanted]
    return _calibration(len(answers), wanted, "precision", steps)


def _calibration(
    people: int, sensitivity: Mapping[str, float], source: Source, pairs: Sequence[WantedPair]
) -> Calibration:
    costs = np.array([each.cost for each in pairs], dtype=np.float64)
    bits = np.array([each.bits for each in pairs], dtype=np.float64)
    return Calibration(people, sensitivity, source, tuple(pairs), fit(costs, bits))


def _wanted(
    given: Sequence[Mapping[Thing, int]], answers: Sequence[PersonAnswers]
) -> dict[Thing, float]:
    """Return the bits wanted for everything that somebody answered about."""
    things = list(dict.fromkeys(thing for each in given for thing in each))
    levels = [[each.get(thing, UNANSWERED) for thing in things] for each in given]
    scale = range(1, LEVELS + 1)
    factors = [[each.improvement.get(level, np.nan) for level in scale] for each in answers]
    bits = wanted_bits(np.array(levels, dtype=np.intp), np.array(factors, dtype=np.float64))
    return dict(zip(things, bits.tolist(), strict=True))


def _steps(sensitivity: Mapping[str, float], model: Model) -> list[WantedPair]:
    """Return the pairs of the attributes on a ladder, in the order of the model."""
    people = Cache().anonymity_set(model)
    before = people.identifiability(EMPTY, METRIC, 1)
    return [
        # As in the objective: less what is known of somebody who discloses nothing.
        WantedPair(
            name, people.identifiability(singleton(place), METRIC, 1) - before, sensitivity[name]
        )
        for place, name in _ladder(model)
        if name in sensitivity
    ]


def _ladder(model: Model) -> Iterable[tuple[int, str]]:
    """Yield every attribute that refines another, or that another refines."""
    refined = {each.refines for each in model.attributes}
    for place, each in enumerate(model.attributes):
        if each.refines is not None or each.name in refined:
            yield place, each.name
