"""`reticent model`: build, describe, sign and verify a model, and decide with it."""

from pathlib import Path

import click

from agent.cli.groups import Commands
from agent.cli.model_build import build
from agent.cli.model_record import model_record
from agent.cli.model_shelf import add, list_, remove
from agent.cli.model_sign import key, sign, verify
from agent.cli.model_text import model_text
from agent.cli.options import PATH, json_option, record
from agent.model.file import read
from agent.model.shipped import shipped_model


@click.group(cls=Commands)
def model() -> None:
    """Build, describe, sign and verify a model, and decide with it."""


model.add_command(build)
model.add_command(add)
model.add_command(list_)
model.add_command(remove)
model.add_command(key)
model.add_command(sign)
model.add_command(verify)


@model.command()
@click.argument("path", required=False, type=PATH, metavar="[M]")
@json_option
def info(path: Path | None, *, as_json: bool) -> None:
    """Describe the model M, by default the one that comes with reticent."""
    found = read(path or shipped_model())
    if as_json:
        click.echo(record(model_record(found)))
    else:
        click.echo(model_text(found))
