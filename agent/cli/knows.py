"""`reticent knows`: what a recipient holds about the user."""

import click

from agent.cli.door import door
from agent.cli.layout import Column, counted, moment, paragraph, strong, table
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.wire.keeping import Held

COLUMNS = (Column("attribute", wraps=True), Column("value", wraps=True), Column("since"))


@click.command()
@click.argument("recipient")
@json_option
def knows(recipient: str, *, as_json: bool) -> None:
    """Show what RECIPIENT holds about you, since when, and how many people still look like you.

    RECIPIENT is a host, or @ and the name of a group that is taken to pool what it learns.
    """
    with door() as client:
        found: Held = client.call("knowledge", recipient=recipient)
    click.echo(record(found) if as_json else held_text(found))


def held_text(held: Held) -> str:
    """Return what a recipient holds as a page, how much that tells on top."""
    pool = printable(held.pool)
    if not held.values:
        return paragraph(f"{pool} holds nothing about you{_recent(held)}.")
    facts = counted(len(held.values), "fact")
    alike = f"{held.people_left:,} of {counted(held.people, 'person', 'people')} of {held.model}"
    head = f"{pool} holds {facts} about you, with which {printable(alike)} agree{_recent(held)}."
    rows = [
        (name, printable(value), moment(held.since[name]) if name in held.since else "")
        for name, value in held.values.items()
    ]
    return f"{strong(paragraph(head))}\n\n{table(COLUMNS, rows)}"


def _recent(held: Held) -> str:
    return f"; {held.recent} new in the last seven days" if held.recent else ""
