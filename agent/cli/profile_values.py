"""`reticent profile import`: values from a file, or from a pipe."""

import sys
from pathlib import Path

import click

from agent.cli.door import door
from agent.cli.layout import counted
from agent.cli.options import PATH, json_option, record
from agent.cli.profile import changed_text
from agent.decision.phrases import listed
from agent.errors import UsageError
from agent.files import read_bytes
from agent.model.file import SUFFIX, read
from agent.model.model import Model
from agent.model.shipped import shipped_model
from agent.paths import paths
from agent.vault.profile_file import LARGEST, read_profile
from agent.wire.client import Client
from agent.wire.keeping import Changed, Profile, ProfileChange
from agent.wire.state import ModelStatus

PIPE = Path("-")


@click.command(name="import")
@click.argument("file", type=PATH, metavar="FILE")
@click.option("--replace", is_flag=True, help="What is not in the file goes.")
@json_option
def import_(file: Path, *, replace: bool, as_json: bool) -> None:
    """Set the values that are in FILE: attribute = "value", for every model that has it.

    Below a line [NAME] they are for the model NAME only. FILE may be - for the standard input.
    Nothing is set where anything in the file does not fit.
    """
    text = _piped() if file == PIPE else None
    with door() as client:
        values = _values(file, text, _models(client))
        if replace and not any(values.values()):
            raise _empty(file)
        changed = {model: each for model, each in values.items() if each or replace}
        removed = _removed(client, changed) if replace else {}
        changes: list[Changed] = [
            client.call("change_profile", ProfileChange(model=model, set=each, replace=replace))
            for model, each in changed.items()
        ]
    if as_json:
        stale = [stale for each in changes for stale in each.stale]
        names = {model: [*each] for model, each in changed.items()}
        click.echo(record({"set": names, "removed": removed, "stale": stale}))
    else:
        click.echo(changed_text(_said(changed, removed), changes))


def _piped() -> bytes:
    return b"" if sys.stdin is None else sys.stdin.buffer.read(LARGEST + 1)


def _models(client: Client) -> list[Model]:
    """Return the models that the daemon uses, read anew."""
    known: list[ModelStatus] = client.call("models")
    usable = [each for each in known if each.problem is None]
    return [read(shipped_model() if each.shipped else _place(each.name)) for each in usable]


def _place(name: str) -> Path:
    return paths().models / f"{name}{SUFFIX}"


def _values(file: Path, text: bytes | None, models: list[Model]) -> dict[str, dict[str, str]]:
    """Return the values by model; UsageError, with the file, for what is wrong in it."""
    where = _where(file)
    if text is not None and len(text) > LARGEST:
        raise UsageError("this is too large", f"a profile has at most {LARGEST:,} bytes", where)
    try:
        return read_profile(read_bytes(file, LARGEST) if text is None else text, models)
    except UsageError as error:
        raise UsageError(error.what, error.hint, error.where or where) from None


def _where(file: Path) -> str:
    return "the standard input" if file == PIPE else str(file)


def _empty(file: Path) -> UsageError:
    """Return the error for a file that would take everything away: half of a pipe is such a one."""
    hint = "`reticent profile unset NAME...` takes values away"
    return UsageError("nothing is set in it, so that --replace would unset all", hint, _where(file))


def _removed(client: Client, values: dict[str, dict[str, str]]) -> dict[str, list[str]]:
    """Return by model which attributes are set now, and will not be."""
    before: Profile = client.call("profile")
    gone = {
        model: [name for name in before.values.get(model, {}) if name not in each]
        for model, each in values.items()
    }
    return {model: names for model, names in gone.items() if names}


def _said(values: dict[str, dict[str, str]], removed: dict[str, list[str]]) -> str:
    parts = [f"{counted(len(each), 'value')} of {model}" for model, each in values.items() if each]
    said = [f"Set {', '.join(parts)}." if parts else "The file sets nothing."]
    said += [f"Unset {listed(names)} of {model}." for model, names in removed.items()]
    return " ".join(said)
