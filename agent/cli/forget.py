"""`reticent forget`: state that a recipient can no longer link."""

import click

from agent.cli.asked import agree
from agent.cli.door import door
from agent.cli.layout import paragraph
from agent.cli.options import json_option, record, yes_option
from agent.cli.problems import printable
from agent.wire.base import Done
from agent.wire.keeping import Forget

MEANS = (
    "This is your statement that {} can no longer link what it was told to you: you have another "
    "account there, say, and nothing else gives you away. It makes nobody forget, and the ledger "
    "keeps what was disclosed."
)
DONE = (
    "From now on {} is taken to know nothing about you. The ledger keeps what was disclosed, and "
    "that you said this."
)
NEVER = "{} was never told anything, so that there is nothing to forget."


@click.command()
@click.argument("recipient")
@yes_option
@json_option
def forget(recipient: str, *, yes: bool, as_json: bool) -> None:
    """State that RECIPIENT can no longer link what it was told to you.

    From then on it is taken to know nothing, and whoever it pools with as well. It is a statement,
    not a deletion: the ledger keeps what was disclosed.
    """
    name = printable(recipient)
    if not yes:
        click.echo(paragraph(MEANS.format(name)), err=True)
    agree("Is that so?", yes=yes)
    with door() as client:
        stated: Done = client.call("forget", Forget(recipient=recipient))
    said = DONE if stated.done else NEVER
    click.echo(record(stated) if as_json else paragraph(said.format(name)))
