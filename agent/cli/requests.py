"""`reticent requests`: what happened lately, also what carried nothing."""

import click

from agent.cli.door import door
from agent.cli.layout import Column, moment, table
from agent.cli.ledger import note_latest
from agent.cli.nothing import why_nothing
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.decision.phrases import bits
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES
from agent.wire.overview import Handled

COLUMNS = (
    Column("when", wraps=True, least=10),
    Column("recipient", wraps=True),
    Column("query", wraps=True, least=14),
    Column("disclosed", wraps=True),
    Column("bits", right=True),
    Column("people", right=True),
)


@click.command()
@click.option("--recipient", metavar="HOST", help="Only its requests, and those of its group.")
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_ENTRIES),
    metavar="N",
    default=LATEST_ENTRIES,
    show_default=True,
    help="At most N requests, the latest.",
)
@json_option
def requests(*, recipient: str | None, limit: int, as_json: bool) -> None:
    """List the latest requests, oldest first: what each disclosed, by name, and what that brought.

    Those that carried nothing are among them, until the vault is locked. On the right it says how
    many people were left who agree with all that the recipient held.
    """
    with door() as client:
        found: list[Handled] = client.call("requests", recipient=recipient, limit=limit)
    note_latest(len(found), limit, "requests")
    click.echo(record({"requests": found}) if as_json else requests_text(found))


def requests_text(found: list[Handled]) -> str:
    """Return requests as a table."""
    if not found:
        return "Nothing was asked."
    return table(COLUMNS, [_row(each) for each in found])


def _row(handled: Handled) -> tuple[str, ...]:
    gain, left = handled.utility_bits, handled.people_left
    texts = (moment(handled.at), handled.recipient, handled.query, _disclosed(handled))
    figures = (bits(gain), "-" if left is None else f"{left:,}")
    return (*map(printable, texts), *figures)


def _disclosed(handled: Handled) -> str:
    if handled.kind == "forgotten":
        return "said to have forgotten all"
    if handled.kind == "nothing":
        return f"nothing: {why_nothing(handled)}"
    waits = f"; {handled.waiting} waiting" if handled.waiting else ""
    return ", ".join(handled.disclosed) + waits
