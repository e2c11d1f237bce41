"""`reticent policy show`: what holds under a policy, and where each value comes from."""

from pathlib import Path

import click

from agent.cli.options import json_option, record
from agent.cli.parameters import today
from agent.cli.policy_options import model_option, names_of, noted, policy_option, read_policy
from agent.cli.policy_record import shown_record
from agent.cli.policy_shown import shown_of, shown_text


@click.command()
@click.option("--recipient", metavar="HOST", help="For whom. By default whoever no rule names.")
@policy_option
@model_option
@json_option
def show(recipient: str | None, file: Path, model: Path | None, *, as_json: bool) -> None:
    """Show what a policy, its preset and the defaults rule together, and which of them does.

    Rules that hold for some requests only are listed below.
    """
    names = names_of(model)
    shown = shown_of(noted(read_policy(file), names), names, recipient, today())
    if as_json:
        click.echo(record(shown_record(shown)))
    else:
        click.echo(shown_text(shown))
