"""`reticent undo`: take back the last word."""

import click

from agent.cli.door import door
from agent.cli.layout import paragraph
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.wire.reviews import Undone


@click.command()
@json_option
def undo(*, as_json: bool) -> None:
    """Take back the last approve, deny, let or dismissal, once.

    What waited waits again, and what was written into the policy is taken out, unless the file was
    edited since. What left meanwhile stays told. Locking forgets what could be taken back.
    """
    with door() as client:
        undone: Undone = client.call("undo")
    click.echo(record(undone) if as_json else paragraph(printable(undone.what)))
