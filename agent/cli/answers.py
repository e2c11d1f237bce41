"""The answers to the questions of a calibration, in a TOML file.

[improvement]    # how much must a search improve before you share something so sensitive?
1 = "25%"        # "25%", "50%", "100%", "4x" (the right page at once) or "never"
5 = "never"

[sensitivity]    # how sensitive is an attribute of the model, from 1 (hardly) to 5 (highly)?
region = 1       # where attributes refine one another, these are the steps of precision

[one_of]         # how sensitive is it, to be known to be one of so many people?
1000 = 1
"""

import tomllib
from pathlib import Path
from typing import Any

from agent.decision.answers import QUESTIONS, Answers, answers_of
from agent.errors import UsageError
from agent.files import read_bytes
from agent.model.model import Model

LARGEST = 1 << 20  # bytes


def read_answers(path: Path, model: Model) -> Answers:
    """Return the answers in a file; UsageError, with the nearest, for what nobody asked."""
    try:
        return answers_of(_tables(read_bytes(path, LARGEST)), model)
    except UsageError as error:
        raise UsageError(error.what, error.hint, error.where or str(path)) from None


def _tables(text: bytes) -> dict[str, dict[str, Any]]:
    """Return each table as it stands, empty where it is left out."""
    try:
        document = tomllib.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # ValueError also where it is not UTF-8
        raise UsageError("this is no TOML", "write lines such as region = 2") from None
    for key, value in document.items():
        if key not in QUESTIONS:
            raise UsageError.unknown("key", key, QUESTIONS)
        if not isinstance(value, dict):
            raise UsageError(f"{key!r} is not a table", f"write it as [{key}]")
    return {key: document.get(key, {}) for key in QUESTIONS}
