"""`reticent recipients`: who was told what, and how few people that leaves."""

import click

from agent.cli.door import door
from agent.cli.layout import Column, counted, paragraph, strong, table
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.cli.sparkline import sparkline
from agent.wire.overview import Recipient

COLUMNS = (
    Column("recipient", wraps=True),
    Column("requests", right=True),
    Column("holds", wraps=True),
    Column("people left"),
)


@click.command()
@json_option
def recipients(*, as_json: bool) -> None:
    """List who was told anything about you, the latest first.

    For each: how many requests carried something, what it holds, and how many people still look
    like you to it: as many as at first, how that went, and how many it is now.
    """
    with door() as client:
        found: list[Recipient] = client.call("recipients")
    click.echo(record({"recipients": found}) if as_json else recipients_text(found))


def recipients_text(found: list[Recipient]) -> str:
    """Return recipients as a table."""
    if not found:
        return "Nobody was told anything about you."
    them = "recipient was" if len(found) == 1 else "recipients were"
    most = found[0].people
    whole = f", where the model has {counted(most, 'person', 'people')}"
    same = all(each.people == most for each in found)
    head = f"{len(found):,} {them} told something{whole if same else ''}."
    return f"{strong(paragraph(head))}\n\n{table(COLUMNS, [_row(each) for each in found])}"


def _row(recipient: Recipient) -> tuple[str, ...]:
    said = (_name(recipient), ", ".join(recipient.held) or "nothing")
    name, held = map(printable, said)
    return (name, f"{recipient.requests:,}", held, _left(recipient))


def _name(recipient: Recipient) -> str:
    """Return who it is, by way of which sites a group was told, and whether it is blocked."""
    alone = recipient.sites == [recipient.pool]
    sites = "" if alone else f": {', '.join(recipient.sites)}"
    return f"{recipient.pool}{sites}{' (blocked)' if recipient.blocked else ''}"


def _left(recipient: Recipient) -> str:
    """Return how many people were left at first, and are now, with what was between."""
    counts = [each.people_left for each in recipient.history]
    now = f"{recipient.people_left:,}"
    if counts == [recipient.people_left]:
        return now
    line = sparkline(counts, recipient.people)
    return " ".join(each for each in (f"{counts[0]:,}", line, now) if each)
