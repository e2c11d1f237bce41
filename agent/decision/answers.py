"""The answers to the questions of a calibration, and whether they are some (paper 6)."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.calibrate import LEVELS, NEVER

QUESTIONS = ("improvement", "sensitivity", "one_of")
IMPROVEMENTS = {"25%": 1.25, "50%": 1.5, "100%": 2.0, "4x": 4.0, "never": NEVER}
SCALE = tuple(str(level) for level in range(1, LEVELS + 1))
MOST_DIGITS = 10  # of a number of people


@dataclass(frozen=True, slots=True)
class Answers:
    """What one person said.

    ``improvement``: by level, the factor of speed that is wanted, NEVER for none; ``sensitivity``:
    by attribute, its level; ``one_of``: by number of people, the level of being one of them.
    """

    improvement: Mapping[int, float]
    sensitivity: Mapping[str, int]
    one_of: Mapping[int, int]


def answers_of(said: Mapping[str, Mapping[str, object]], model: Model) -> Answers:
    """Return the answers in what was said to each of the QUESTIONS, about a model.

    UsageError, with the nearest, for what nobody asked, for what is no answer, and where there is
    none at all, or no improvement for a level.
    """
    for name in said["sensitivity"]:
        model.index(name)
    answers = Answers(
        {_level_key(key): _factor(key, each) for key, each in said["improvement"].items()},
        {name: _level(name, each) for name, each in said["sensitivity"].items()},
        {_people(key): _level(key, each) for key, each in said["one_of"].items()},
    )
    levels = {*answers.sensitivity.values(), *answers.one_of.values()}
    if not levels:
        raise UsageError("nothing is answered here", "answer sensitivity, one_of, or both")
    for level in sorted(levels - answers.improvement.keys()):
        what = f"improvement does not say what you want for sensitivity {level}"
        raise UsageError(what, f'answer that too, as in {level} = "100%"')
    return answers


def _level_key(key: str) -> int:
    if key not in SCALE:
        raise UsageError.unknown("sensitivity", key, SCALE)
    return int(key)


def _factor(key: str, said: object) -> float:
    if not isinstance(said, str):
        what = f"the improvement for {key} is not a text"
        raise UsageError(what, 'write it in quotes, as in "100%"')
    if said not in IMPROVEMENTS:
        raise UsageError.unknown("improvement", said, IMPROVEMENTS)
    return IMPROVEMENTS[said]


def _level(key: str, said: object) -> int:
    # A bool is an int to Python, and none to whoever writes one.
    if type(said) is not int or not 1 <= said <= LEVELS:
        what = f"the sensitivity of {key} is not a whole number from 1 to {LEVELS}"
        raise UsageError(what, f"write {key} = 3, say")
    return said


def _people(key: str) -> int:
    if key.isascii() and key.isdecimal() and not key.startswith("0") and len(key) <= MOST_DIGITS:
        return int(key)
    what = f"{key!r} is not a number of people"
    raise UsageError(what, "write a whole number from 1, without signs, as in 1000 = 2")
