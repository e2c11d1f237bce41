"""`reticent profile`: the user's own values."""

from collections.abc import Mapping
from typing import ClassVar

import click

from agent.cli.door import door
from agent.cli.groups import Commands, Deferred
from agent.cli.layout import Column, counted, paragraph, strong, table
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.decision.phrases import listed
from agent.wire.keeping import Changed, Profile, ProfileChange, Stale

MASK = "***"
BACK = "`reticent undo` takes that back, until the vault is locked."
COLUMNS = (Column("attribute", wraps=True), Column("value", wraps=True))

model_option = click.option(
    "--model", metavar="NAME", help="Only for this model. By default for all that have it."
)


class ProfileCommands(Commands):
    """The group; what reads and writes files needs more than the others."""

    deferred: ClassVar[Mapping[str, Deferred]] = {
        "export": Deferred("agent.cli.profile_export", "Write your values into a file, in clear."),
        "import": Deferred("agent.cli.profile_values", "Set the values that are in a file."),
        "set": Deferred("agent.cli.profile_values", "Set values that you are asked for."),
    }


@click.group(cls=ProfileCommands)
def profile() -> None:
    """Show, set, import and export your own values."""


@profile.command()
@click.option("--reveal", is_flag=True, help="Show the values, which are masked otherwise.")
@json_option
def show(*, reveal: bool, as_json: bool) -> None:
    """Show which attributes you have set, of which model."""
    with door() as client:
        found: Profile = client.call("profile")
    values = {model: _masked(each, reveal=reveal) for model, each in found.values.items()}
    click.echo(record({"values": values}) if as_json else profile_text(values, masked=not reveal))


@profile.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@model_option
@json_option
def unset(*, names: tuple[str, ...], model: str | None, as_json: bool) -> None:
    """Take values away: these attributes never leave from then on.

    Whoever was told one goes on to hold it: `reticent knows HOST` says who holds what.
    """
    change = ProfileChange(model=model, unset=[*names])
    with door() as client:
        changed: Changed = client.call("change_profile", change)
    click.echo(record(changed) if as_json else changed_text(f"Unset {listed(names)}.", changed))


def changed_text(said: str, changed: Changed) -> str:
    """Return what was changed, who holds an older value of it, and how to take it back."""
    kept = {each.name for each in changed.changes if each.is_set}
    lines = [said, *(_older(each, is_set=each.name in kept) for each in changed.stale)]
    lines += [BACK] if changed.changes else []
    return "\n".join(paragraph(printable(each)) for each in lines)


def _older(stale: Stale, *, is_set: bool) -> str:
    one = len(stale.pools) == 1
    who = f"{listed(stale.pools)} {'holds' if one else 'hold'}"
    if not is_set:
        return f"{who} a value of {stale.name}, and {'goes' if one else 'go'} on to hold it."
    then = "the new one is told there like a fact that is known"
    return f"{who} an older value of {stale.name}; {then}."


def _masked(values: Mapping[str, str], *, reveal: bool) -> dict[str, str]:
    return {name: value if reveal else MASK for name, value in values.items()}


def profile_text(values: Mapping[str, Mapping[str, str]], *, masked: bool) -> str:
    """Return the values by model, a table for each."""
    parts = []
    for model, each in values.items():
        if each:
            rows = [(name, printable(value)) for name, value in each.items()]
            parts.append(strong(printable(f"{model}: {counted(len(each), 'value')}")))
            parts.append(table(COLUMNS, rows))
    if not parts:
        return "You have set no values: `reticent profile set NAME...` asks for some."
    parts += ["`--reveal` shows the values."] if masked else []
    return "\n\n".join(parts)
