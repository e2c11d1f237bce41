"""`reticent lock`: close the vault, so that nothing is attached."""

import click

from agent.cli.door import door
from agent.cli.layout import paragraph
from agent.cli.options import json_option, record
from agent.cli.status import headline


@click.command()
@json_option
def lock(*, as_json: bool) -> None:
    """Close the vault: from now on nothing is attached to any request."""
    with door() as client:
        found = client.call("lock")
    click.echo(record(found) if as_json else paragraph(headline(found)))
