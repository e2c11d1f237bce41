"""A person's values in a TOML file: attribute = "value"."""

import tomllib
from pathlib import Path

from agent.errors import UsageError
from agent.model.file import read_bytes
from agent.model.model import Model

LARGEST = 1 << 20  # bytes


def read_values(path: Path, model: Model) -> dict[str, int]:
    """Return codes by attribute; UsageError where the file names what the model has not."""
    try:
        document = tomllib.loads(read_bytes(path, LARGEST).decode("utf-8-sig"))
    except (ValueError, RecursionError):  # ValueError also where it is not UTF-8
        hint = 'write lines such as region = "west_europe"'
        raise UsageError("this is no TOML", hint, str(path)) from None
    try:
        return {name: _code(name, value, model) for name, value in document.items()}
    except UsageError as error:
        raise UsageError(error.what, error.hint, str(path)) from None


def _code(name: str, value: object, model: Model) -> int:
    attribute = model.attributes[model.index(name)]
    if not isinstance(value, str):
        hint = f'write it in quotes, as in {name} = "{attribute.values[-1]}"'
        raise UsageError(f"the value of {name} is not text", hint)
    return attribute.code(value)
