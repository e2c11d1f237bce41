"""A person's values in a TOML file: attribute = "value", or what `profile export` wrote."""

from pathlib import Path

from agent.errors import UsageError
from agent.files import read_bytes
from agent.model.model import Model
from agent.model.persons import person_codes
from agent.vault import profile_file as toml


def read_values(path: Path, model: Model) -> dict[str, int]:
    """Return codes by attribute; UsageError where the file names what the model has not."""
    codes = person_codes(model)
    try:
        values = toml.read_values(read_bytes(path, toml.LARGEST), model)
    except UsageError as error:
        raise UsageError(error.what, error.hint, str(path)) from None
    return {name: codes[name][value] for name, value in values.items()}
