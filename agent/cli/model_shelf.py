"""`reticent model add|list|remove`: the models that requests are decided with.

The daemon does it where one runs; else the same is done here.
"""

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from agent.cli.door import door
from agent.cli.layout import Column, paragraph, table
from agent.cli.options import PATH, json_option, record
from agent.cli.problems import printable
from agent.paths import paths
from agent.wire.base import Done
from agent.wire.state import ModelStatus, Place

COLUMNS = (
    Column("name", wraps=True),
    Column("queries", right=True),
    Column("attributes", right=True),
    Column("signed with", wraps=True),
)


@click.command()
@click.argument("file", type=PATH, metavar="M")
@json_option
def add(*, file: Path, as_json: bool) -> None:
    """Copy the model M, and its signature, to those that requests are decided with.

    Where the policy has trusted_keys, only with a signature by one of them. The policy decides
    with it where it says model = "NAME", the name of the file without its ending.
    """
    place = file.absolute()
    if _runs():
        with door() as client:
            added: ModelStatus = client.call("add_model", Place(path=str(place)))
    else:
        from agent.daemon.live.shelf import Shelf

        added = Shelf(paths().models).add(place, _keys(), datetime.now(UTC))
    said = f'Added {added.name}. The policy decides with it where it says model = "{added.name}".'
    click.echo(record(added) if as_json else paragraph(printable(said)))


@click.command(name="list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the models that requests can be decided with."""
    if _runs():
        with door() as client:
            found: list[ModelStatus] = client.call("models")
    else:
        from agent.daemon.live.shelf import Shelf

        found = Shelf(paths().models).status(_keys(), datetime.now(UTC))
    if as_json:
        click.echo(record({"models": found}))
        return
    click.echo(table(COLUMNS, [_row(each) for each in found]))
    for each in found:
        if each.problem is not None:
            click.echo(paragraph(printable(f"{each.name} cannot be used: {each.problem}")))


@click.command()
@click.argument("name", metavar="NAME")
@json_option
def remove(*, name: str, as_json: bool) -> None:
    """Remove the model NAME, and its signature, from those that were added."""
    if _runs():
        with door() as client:
            client.call("remove_model", name=name)
    else:
        from agent.daemon.live.shelf import Shelf

        Shelf(paths().models).remove(name)
    click.echo(record(Done()) if as_json else paragraph(printable(f"Removed {name}.")))


def _runs() -> bool:
    """Say whether a daemon is there to ask."""
    from agent.daemon.checks.places import listens

    return listens(paths().control)


def _keys() -> tuple[str, ...]:
    """Return the keys of the makers that the policy trusts; PolicyError if that cannot be said."""
    from agent.files import check_ours
    from policy.load import load

    place = paths().policy
    return load(place, check_ours).trusted_keys if os.path.lexists(place) else ()


def _row(model: ModelStatus) -> tuple[str, str, str, str]:
    maker = "comes with reticent" if model.shipped else model.maker or "nobody"
    return printable(model.name), f"{model.queries:,}", f"{model.attributes:,}", maker
