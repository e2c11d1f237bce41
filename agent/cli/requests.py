"""What was asked and sent, who holds what, and the statement that one has forgotten."""

import json
from collections.abc import Mapping
from typing import TypedDict, Unpack

import click

from agent.cli.daemon_client import door
from agent.cli.groups import Commands, Deferred
from agent.cli.options import json_option, record, yes_option
from agent.cli.printing import Column, note, paragraph, printable, sparkline, strong, table
from agent.cli.prompts import agree
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES, Done
from agent.wire.records import Entry, Forget, Handled, Held, Recipient
from agent.words.figures import bits, counted, moment
from agent.words.notices import FORGOTTEN, inferred, outcome_of
from agent.words.notices import held as knowledge
from agent.words.titles import UNSPECIFIED

LEDGER = (
    Column("entry", right=True),
    Column("when", wraps=True),
    Column("recipient", wraps=True),
    Column("query", wraps=True),
    Column("disclosed", wraps=True),
)
REQUESTS = (
    Column("when", wraps=True, least=10),
    Column("recipient", wraps=True),
    Column("query", wraps=True, least=14),
    Column("disclosed", wraps=True),
    Column("bits", right=True),
    Column("people", right=True),
)
HOLDERS = (
    Column("recipient", wraps=True),
    Column("requests", right=True),
    Column("holds", wraps=True),
    Column("people left"),
)
KNOWN = (Column("attribute", wraps=True), Column("value", wraps=True), Column("since"))
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
DEFERRED = {
    "approve": Deferred("agent.cli.reviews", "Approve what waits for you."),
    "deny": Deferred("agent.cli.reviews", "Deny what waits for you."),
    "pending": Deferred("agent.cli.reviews", "List what waits for your approval."),
    "review": Deferred("agent.cli.review", "Open the screens: see what was sent, and change it."),
    "undo": Deferred("agent.cli.reviews", "Undo your last decision about what may be sent."),
    "watch": Deferred("agent.cli.watch", "Follow what happens, one sentence per line."),
    "whatif": Deferred("agent.cli.ask", "Compare other facts with those that were sent."),
}


@click.group(cls=Commands, default="list", deferred=DEFERRED)
def requests() -> None:
    """See what was sent to whom and what waits for you, and decide about it.

    Without a command it lists the latest requests.
    """


class LedgerOptions(TypedDict):
    """The options of `reticent requests ledger`, as click hands them over."""

    recipient: str | None
    after: int | None
    limit: int | None
    as_json: bool


@requests.command()
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
    """Show what was sent, to whom and when.

    To RECIPIENT and whoever it shares what it learns with, or to all; the latest last. With --json
    it prints a history that `reticent policy try` reads; there only requests are listed.
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
    """Return a disclosure as a line of a history, which `agent/cli/policy_try.py` describes."""
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
    return table(LEDGER, [_entry_row(each) for each in entries])


def _entry_row(entry: Entry) -> tuple[str, ...]:
    what = FORGOTTEN if entry.kind == "forgotten" else _told(entry.disclosed)
    recipient, query, shown = map(printable, (entry.recipient, entry.query, what))
    return (str(entry.number), moment(entry.at), recipient, query, shown)


def _told(disclosed: Mapping[str, str]) -> str:
    """Return what was disclosed, and the names of what was answered as not specified."""
    said = [f"{name}={value}" for name, value in disclosed.items() if value != UNSPECIFIED]
    unset = [name for name, value in disclosed.items() if value == UNSPECIFIED]
    parts = [", ".join(said)] if said else []
    parts += [f"not specified: {', '.join(unset)}"] if unset else []
    return "; ".join(parts) or "nothing"


@requests.command(name="list")
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
def list_(*, recipient: str | None, limit: int, as_json: bool) -> None:
    """List the latest requests, the newest last.

    Requests that carried nothing are listed until the vault is locked.
    """
    with door() as client:
        found: list[Handled] = client.call("requests", recipient=recipient, limit=limit)
    note_latest(len(found), limit, "requests")
    click.echo(record({"requests": found}) if as_json else requests_text(found))


def requests_text(found: list[Handled]) -> str:
    """Return requests as a table."""
    if not found:
        return "Nothing was asked."
    return table(REQUESTS, [_request_row(each) for each in found])


def _request_row(handled: Handled) -> tuple[str, ...]:
    gain, left = handled.utility_bits, handled.people_left
    texts = (moment(handled.at), handled.recipient, handled.query, outcome_of(handled))
    figures = (bits(gain), "-" if left is None else f"{left:,}")
    return (*map(printable, texts), *figures)


@requests.command()
@json_option
def recipients(*, as_json: bool) -> None:
    """List who knows what about you, the latest first.

    The last column says how many people look like you to each: at first, in between, and now.
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
    return (
        f"{strong(paragraph(head))}\n\n{table(HOLDERS, [_recipient_row(each) for each in found])}"
    )


def _recipient_row(recipient: Recipient) -> tuple[str, ...]:
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


@requests.command()
@click.argument("recipient")
@json_option
def knows(recipient: str, *, as_json: bool) -> None:
    """Show what RECIPIENT knows about you, and since when.

    RECIPIENT is a host, or @ and the name of a group that shares what it learns.
    """
    with door() as client:
        found: Held = client.call("knowledge", recipient=recipient)
    click.echo(record(found) if as_json else held_text(found))


def held_text(held: Held) -> str:
    """Return what a recipient holds as a page, how much that tells on top."""
    head = printable(knowledge(held))
    if not held.values:
        return paragraph(head)
    rows = [
        (name, printable(value), moment(held.since[name]) if name in held.since else "")
        for name, value in held.values.items()
    ]
    parts = [strong(paragraph(head)), table(KNOWN, rows)]
    parts += [paragraph(printable(inferred(each))) for each in held.inferred]
    return "\n\n".join(parts)


@requests.command()
@click.argument("recipient")
@yes_option
@json_option
def forget(recipient: str, *, yes: bool, as_json: bool) -> None:
    """Mark RECIPIENT as having forgotten you.

    From then on it counts as knowing nothing, and so does whoever it shares with. This deletes
    nothing: the ledger keeps what was sent.
    """
    name = printable(recipient)
    if not yes:
        click.echo(paragraph(MEANS.format(name)), err=True)
    agree("Is that so?", yes=yes)
    with door() as client:
        stated: Done = client.call("forget", Forget(recipient=recipient))
    said = DONE if stated.done else NEVER
    click.echo(record(stated) if as_json else paragraph(said.format(name)))
