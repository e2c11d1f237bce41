"""Reading and writing a model: what of this room touches the disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import BuildError, ModelError
from agent.files import PRIVATE, read_bytes, replace_bytes
from agent.model.encoding import decode, encode

if TYPE_CHECKING:
    from agent.model.model import Model

MAX_BYTES = 2**30
SUFFIX = ".safetensors"


def read(path: Path) -> Model:
    """Return the model in a file, its arrays read-only; the file is read once, whole.

    Raises UsageError if there is no such file or it may not be read; DamagedModelError or
    VersionError if it must not be used.
    """
    data = read_bytes(path, MAX_BYTES)
    try:
        return decode(data)
    except ModelError as error:
        raise type(error)(error.what, error.hint, str(path)) from error


def write(model: Model, path: Path) -> Model:
    """Write a model to a file, whole or not at all, and return it as it will be read.

    Only its owner can read it: it holds the rows of single people.
    Raises BuildError if the model does not fit the format, UsageError if it cannot be written.
    """
    try:
        data = encode(model)
        written = decode(data)
    except (ModelError, ValueError) as error:
        what = error.what if isinstance(error, ModelError) else str(error)
        raise BuildError(what, "mend the tables or the options that it was built from") from error
    replace_bytes(data, path, PRIVATE)
    return written
