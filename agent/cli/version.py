"""`reticent --version`: its own, and the models', from the headers of their files; no NumPy."""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import click

from agent import __version__
from agent.cli.printing import printable
from agent.paths import paths

_LENGTH = 8  # bytes that hold the length of the header
_MOST = 2**24  # bytes of a header
_SHOWN = 12  # digits of a digest


def show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001  (of click)
    """Print the version and the models if it was asked for, and end."""
    if asked and not context.resilient_parsing:
        models = (f"model {printable(each)}" for each in identities(paths().models))
        click.echo("\n".join((f"reticent, version {__version__}", *models)))
        context.exit()


def identity(path: Path) -> tuple[str, str] | None:
    """Return the id and the digest that a model file states, unverified; None if it states none."""
    try:
        if not path.is_file():  # a pipe would not end
            return None
        with path.open("rb") as file:
            header = file.read(min(int.from_bytes(file.read(_LENGTH), "little"), _MOST))
        stated = json.loads(json.loads(header)["__metadata__"]["reticent"])
        return str(stated["id"]), str(stated["digest"])
    except (OSError, LookupError, TypeError, ValueError, RecursionError):
        return None


def identities(folder: Path) -> Iterator[str]:
    """Yield a line for each shipped model, then for each in a folder: its id and its digest."""
    shipped = Path(str(files("agent"))) / "model/shipped"
    for path in _models(shipped) + _models(folder):
        stated = identity(path)
        yield f"{path.stem}: not a model" if stated is None else f"{stated[0]} {stated[1][:_SHOWN]}"


def _models(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.safetensors"))
