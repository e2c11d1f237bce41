"""The answers to the questions of a calibration, in a TOML file; what it says is checked here.

[improvement]    # how much must a search improve before you share something so sensitive?
1 = "25%"        # "25%", "50%", "100%", "4x" (the right page at once) or "never"
5 = "never"

[sensitivity]    # how sensitive is an attribute of the model, from 1 (hardly) to 5 (highly)?
region = 1       # where attributes refine one another, these are the steps of precision

[one_of]         # how sensitive is it, to be known to be one of so many people?
1000 = 1
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.errors import UsageError
from agent.files import read_bytes
from agent.model.model import Model
from agent.tradeoff.calibrate import LEVELS, NEVER

LARGEST = 1 << 20  # bytes
MOST_DIGITS = 10  # of a number of people
IMPROVEMENTS = {"25%": 1.25, "50%": 1.5, "100%": 2.0, "4x": 4.0, "never": NEVER}
SCALE = tuple(str(level) for level in range(1, LEVELS + 1))
TABLES = ("improvement", "sensitivity", "one_of")


@dataclass(frozen=True, slots=True)
class Answers:
    """What one person said.

    ``improvement``: by level, the factor of speed that is wanted, NEVER for none; ``sensitivity``:
    by attribute, its level; ``one_of``: by number of people, the level of being one of them.
    """

    improvement: Mapping[int, float]
    sensitivity: Mapping[str, int]
    one_of: Mapping[int, int]


def read_answers(path: Path, model: Model) -> Answers:
    """Return the answers in a file; UsageError, with the nearest, for what nobody asked."""
    try:
        return answers_of(read_bytes(path, LARGEST), model)
    except UsageError as error:
        raise UsageError(error.what, error.hint, error.where or str(path)) from None


def answers_of(text: bytes, model: Model) -> Answers:
    """Return the answers in a text; UsageError as for a file."""
    tables = _tables(text)
    for name in tables["sensitivity"]:
        model.index(name)
    answers = Answers(
        {_level_key(key): _factor(key, said) for key, said in tables["improvement"].items()},
        {name: _level(name, said) for name, said in tables["sensitivity"].items()},
        {_people(key): _level(key, said) for key, said in tables["one_of"].items()},
    )
    said = {*answers.sensitivity.values(), *answers.one_of.values()}
    if not said:
        raise UsageError("nothing is answered here", "fill in [sensitivity] and [one_of]")
    for level in sorted(said - answers.improvement.keys()):
        what = f"[improvement] does not say what you want for sensitivity {level}"
        raise UsageError(what, f'add a line such as {level} = "100%"')
    return answers


def _tables(text: bytes) -> dict[str, dict[str, Any]]:
    """Return each table as it stands, empty where it is left out."""
    try:
        document = tomllib.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # ValueError also where it is not UTF-8
        raise UsageError("this is no TOML", "write lines such as region = 2") from None
    for key, value in document.items():
        if key not in TABLES:
            raise UsageError.unknown("key", key, TABLES)
        if not isinstance(value, dict):
            raise UsageError(f"{key!r} is not a table", f"write it as [{key}]")
    return {key: document.get(key, {}) for key in TABLES}


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
