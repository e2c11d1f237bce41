"""`reticent ledger`: what was disclosed, to whom, and when."""

import json
from collections.abc import Mapping
from typing import TypedDict, Unpack

import click

from agent.cli.door import door
from agent.cli.layout import Column, moment, table
from agent.cli.problems import note, printable
from agent.model.attributes import UNSPECIFIED
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES
from agent.wire.keeping import Entry

COLUMNS = (
    Column("entry", right=True),
    Column("when", wraps=True),
    Column("recipient", wraps=True),
    Column("query", wraps=True),
    Column("disclosed", wraps=True),
)


class LedgerOptions(TypedDict):
    """The options of `reticent ledger`, as click hands them over."""

    recipient: str | None
    after: int | None
    limit: int | None
    as_json: bool


@click.command()
@click.argument("recipient", required=False)
@click.option("--after", type=click.IntRange(0), metavar="N", help="Only what came after entry N.")
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_ENTRIES),
    metavar="N",
    help=f"At most N entries, the latest.  [default: {LATEST_ENTRIES}; with --json {MOST_ENTRIES}]",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print a history: one JSON object in each line."
)
def ledger(**options: Unpack[LedgerOptions]) -> None:
    """Show what was disclosed, oldest first; to RECIPIENT, and whoever it pools with, or to all.

    With --json it prints a history that `reticent policy try` reads. What was said to be
    forgotten is no request, and is left out there.
    """
    limit = options["limit"] or (MOST_ENTRIES if options["as_json"] else LATEST_ENTRIES)
    with door() as client:
        entries: list[Entry] = client.call(
            "ledger", recipient=options["recipient"], after=options["after"], limit=limit
        )
    note_latest(len(entries), limit, "entries")
    if options["as_json"]:
        for each in entries:
            if each.kind == "disclosed":
                click.echo(history_line(each))
    else:
        click.echo(ledger_text(entries))


def note_latest(shown: int, limit: int, what: str) -> None:
    """Say beside the answer that there may be more, where as many are shown as may be."""
    if shown == limit:
        note(f"these are the latest {limit:,} {what}; --limit has it show up to {MOST_ENTRIES:,}")


def history_line(entry: Entry) -> str:
    """Return a disclosure as a line of a history, which `agent/cli/history.py` describes."""
    line = {
        "at": entry.at.isoformat(),
        "recipient": entry.recipient,
        "query": entry.query,
        "asked": entry.asked,
        "disclosed": entry.disclosed,
    }
    return json.dumps(line)


def ledger_text(entries: list[Entry]) -> str:
    """Return entries as a table."""
    if not entries:
        return "Nothing was disclosed."
    return table(COLUMNS, [_row(each) for each in entries])


def _row(entry: Entry) -> tuple[str, ...]:
    what = "said to have forgotten all" if entry.kind == "forgotten" else _told(entry.disclosed)
    recipient, query, shown = map(printable, (entry.recipient, entry.query, what))
    return (str(entry.number), moment(entry.at), recipient, query, shown)


def _told(disclosed: Mapping[str, str]) -> str:
    """Return what was disclosed, and the names of what was answered as not specified."""
    said = [f"{name}={value}" for name, value in disclosed.items() if value != UNSPECIFIED]
    unset = [name for name, value in disclosed.items() if value == UNSPECIFIED]
    parts = [", ".join(said)] if said else []
    parts += [f"not specified: {', '.join(unset)}"] if unset else []
    return "; ".join(parts) or "nothing"
