"""From a person's answers to prices: of each attribute, and of being recognised (paper 6, 7.2)."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeVar

import numpy as np
from msgspec import Struct, field

from agent.decision.cache import Cache
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.study import LEVELS, NEVER, UNANSWERED, fit, wanted_bits
from agent.tradeoff.tables import EMPTY, singleton

QUESTIONS = ("improvement", "sensitivity", "one_of")
IMPROVEMENTS = {"25%": 1.25, "50%": 1.5, "100%": 2.0, "4x": 4.0, "never": NEVER}
SCALE = tuple(str(level) for level in range(1, LEVELS + 1))
MOST_DIGITS = 10  # of a number of people
METRIC: Literal["maxprob"] = "maxprob"
Source = Literal["precision", "one_of"]
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class PersonAnswers:
    """The answers of one person.

    ``improvement``: by level, the factor of speed that is wanted, NEVER for none; ``sensitivity``:
    by attribute, its level; ``one_of``: by number of people, the level of being one of them.
    """

    improvement: Mapping[int, float]
    sensitivity: Mapping[str, int]
    one_of: Mapping[int, int]


class WantedPair(Struct, frozen=True, kw_only=True):
    """The bits that must be gained for being known so well, None for what is never shared.

    ``residual_bits``: those wanted less those on the fitted line, None without a line.
    """

    name: str
    identifiability: float
    wanted_bits: float | None
    residual_bits: float | None = None


class Calibration(Struct, frozen=True, kw_only=True):
    """The prices that answers imply.

    ``trade_off``: λ, None where no pair has a price; ``source``: the question that the pairs come
    from; ``sensitivity``: in bits by attribute, None for what is never shared.
    """

    people: int
    trade_off: float | None = field(name="lambda")
    metric: str = field(name="cost", default=METRIC)
    source: Source
    rms_residual_bits: float | None
    pairs: tuple[WantedPair, ...]
    sensitivity: dict[str, float | None]


def answers_of(tables: Mapping[str, Any], model: Model) -> PersonAnswers:
    """Read the answers to each of the QUESTIONS about a model.

    UsageError, with the nearest name, for an unknown question or an invalid answer, and where
    there is no answer at all, or no improvement for a level.
    """
    for key, table in tables.items():
        if key not in QUESTIONS:
            raise UsageError.unknown("key", key, QUESTIONS)
        if not isinstance(table, dict):
            raise UsageError(f"{key!r} is not a table", f"write it as [{key}]")
    improvements, sensitivity, one_of = (tables.get(each, {}) for each in QUESTIONS)
    for name in sensitivity:
        model.index(name)
    answers = PersonAnswers(
        dict(_improvement(key, answer) for key, answer in improvements.items()),
        {name: _level(name, answer) for name, answer in sensitivity.items()},
        {_people(key): _level(key, answer) for key, answer in one_of.items()},
    )
    levels = {*answers.sensitivity.values(), *answers.one_of.values()}
    if not levels:
        raise UsageError("no question is answered", "answer sensitivity, one_of, or both")
    for level in sorted(levels - answers.improvement.keys()):
        what = f"improvement has no answer for sensitivity {level}"
        raise UsageError(what, f'add one, as in {level} = "100%"')
    return answers


def _improvement(key: str, answer: object) -> tuple[int, float]:
    if key not in SCALE:
        raise UsageError.unknown("sensitivity", key, SCALE)
    if not isinstance(answer, str):
        what = f"the improvement for {key} is not text"
        raise UsageError(what, 'write it in quotes, as in "100%"')
    if answer not in IMPROVEMENTS:
        raise UsageError.unknown("improvement", answer, IMPROVEMENTS)
    return int(key), IMPROVEMENTS[answer]


def _level(key: str, answer: object) -> int:
    # A bool is an int to Python, but not to the person who writes it.
    if type(answer) is not int or not 1 <= answer <= LEVELS:
        what = f"the sensitivity of {key} is not a whole number from 1 to {LEVELS}"
        raise UsageError(what, f"write {key} = 3, for example")
    return answer


def _people(key: str) -> int:
    if key.isascii() and key.isdecimal() and not key.startswith("0") and len(key) <= MOST_DIGITS:
        return int(key)
    what = f"{key!r} is not a number of people"
    raise UsageError(what, "write a whole number from 1, without signs, as in 1000 = 2")


def calibrated(answers: Sequence[PersonAnswers], model: Model) -> Calibration:
    """Calibrate to the answers of one person, or to the medians of several (paper 7.2).

    λ is fitted to the steps of precision that attributes of the model refine one another by, where
    two of them have a price; else to being one of k people, whose identifiability is 1/k.
    """
    sensitivity = _wanted([each.sensitivity for each in answers], answers)
    steps = {name: cost for name, cost in _ladder(model) if name in sensitivity}
    if sum(isfinite(sensitivity[name]) for name in steps) > 1:
        return _fitted(len(answers), sensitivity, "precision", steps, sensitivity)
    one_of = {str(k): bits for k, bits in _wanted([e.one_of for e in answers], answers).items()}
    costs = {str(k): 1 / k for k in sorted(map(int, one_of))}
    return _fitted(len(answers), sensitivity, "one_of", costs, one_of)


def aligned(answers: Sequence[PersonAnswers], costs: Mapping[str, float]) -> Calibration:
    """Calibrate to steps of precision that no model has (paper 7.2).

    ``costs``: by name, in order, the identifiability of each step, less that of nothing; the
    answers have the sensitivity of a step under that name. A step that nobody rated is left out.
    """
    wanted = _wanted([each.sensitivity for each in answers], answers)
    steps = {name: cost for name, cost in costs.items() if name in wanted}
    return _fitted(len(answers), wanted, "precision", steps, wanted)


def _fitted(
    people: int,
    sensitivity: Mapping[str, float],
    source: Source,
    costs: Mapping[str, float],
    wanted: Mapping[str, float],
) -> Calibration:
    bits = [wanted[name] for name in costs]
    line = fit(np.array([*costs.values()]), np.array(bits))
    residuals = [None] * len(bits) if line is None else map(_finite, line.residuals.tolist())
    return Calibration(
        people=people,
        trade_off=None if line is None else line.trade_off,
        source=source,
        rms_residual_bits=None if line is None else line.error,
        pairs=tuple(
            WantedPair(
                name=name, identifiability=cost, wanted_bits=_finite(each), residual_bits=residual
            )
            for (name, cost), each, residual in zip(costs.items(), bits, residuals, strict=True)
        ),
        sensitivity={name: _finite(each) for name, each in sensitivity.items()},
    )


def _finite(bits: float) -> float | None:
    return bits if isfinite(bits) else None


def _wanted(
    levels: Sequence[Mapping[Key, int]], answers: Sequence[PersonAnswers]
) -> dict[Key, float]:
    """Return the bits wanted for everything that somebody answered about."""
    keys = list(dict.fromkeys(key for each in levels for key in each))
    table = [[each.get(key, UNANSWERED) for key in keys] for each in levels]
    scale = range(1, LEVELS + 1)
    factors = [[each.improvement.get(level, np.nan) for level in scale] for each in answers]
    bits = wanted_bits(np.array(table, dtype=np.intp), np.array(factors, dtype=np.float64))
    return dict(zip(keys, bits.tolist(), strict=True))


def _ladder(model: Model) -> Iterator[tuple[str, float]]:
    """Yield each attribute that refines another, or that another refines, with its cost."""
    people, refined = Cache().anonymity_set(model), {each.refines for each in model.attributes}
    ground = people.identifiability(EMPTY, METRIC, 1)  # of somebody who discloses nothing
    for place, each in enumerate(model.attributes):
        if each.refines is not None or each.name in refined:
            yield each.name, people.identifiability(singleton(place), METRIC, 1) - ground
