"""What was asked and sent, who holds what, and the statement that one has forgotten."""

import json
from typing import TypedDict, Unpack

import click

from agent.cli.daemon_client import door, titles_of
from agent.cli.groups import Commands, Deferred
from agent.cli.options import explain_option, json_option, record, yes_option
from agent.cli.printing import Column, note, paragraph, printable, sparkline, strong, table
from agent.cli.prompts import agree
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES, Done
from agent.wire.records import Entry, Forget, Handled, Held, Recipient
from agent.words.figures import HELPS, LEFT, bits, counted, moment, people
from agent.words.notices import held, inferred, outcome_of
from agent.words.titles import NONE, Titles, facts, titled, value_title

LEDGER = (
    Column("entry", right=True),
    Column("when", wraps=True),
    Column("recipient", wraps=True),
    Column("query", wraps=True),
    Column("sent", wraps=True),
)
REQUESTS = (
    Column("when", wraps=True, least=10),
    Column("recipient", wraps=True),
    Column("query", wraps=True, least=14),
    Column("sent", wraps=True),
)
FIGURES = (Column("bits", right=True), Column("people", right=True))
UNITS = f"bits: {HELPS}; people: {LEFT}."
HOLDERS = (
    Column("recipient", wraps=True),
    Column("requests", right=True),
    Column("knows", wraps=True),
    Column("people left"),
)
KNOWN = (Column("fact", wraps=True), Column("value", wraps=True), Column("since"))
MEANS = (
    "You state that {} can no longer link what it was told to you: you have another account there, "
    "say, and nothing else gives you away. This makes nobody forget, and the ledger keeps what was "
    "sent."
)
DONE = (
    "From now on {} counts as knowing nothing about you. The ledger keeps what was sent, and that "
    "you marked it."
)
NEVER = "{} was never told anything, so there is nothing to forget."
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

    Lists what RECIPIENT and its group were sent, or all recipients; the latest last. With --json
    it prints the requests as a history for `reticent policy try`.
    """
    limit = options["limit"] or (MOST_ENTRIES if options["as_json"] else LATEST_ENTRIES)
    with door() as client:
        entries: list[Entry] = client.call(
            "ledger", recipient=options["recipient"], after=options["after"], limit=limit
        )
        titles = NONE if options["as_json"] else titles_of(client)
    note_latest(len(entries), limit, "entries")
    if options["as_json"]:
        for each in entries:
            if each.kind == "disclosed":
                click.echo(history_line(each))
    else:
        click.echo(ledger_text(entries, titles))


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


def ledger_text(entries: list[Entry], titles: Titles) -> str:
    """Return entries as a table."""
    if not entries:
        return "Nothing was sent."
    return table(LEDGER, [_entry_row(each, titles) for each in entries])


def _entry_row(entry: Entry, titles: Titles) -> tuple[str, ...]:
    what = "; ".join(facts(entry.disclosed, titles)) or "nothing"
    what = "marked as having forgotten everything" if entry.kind == "forgotten" else what
    recipient, query, shown = map(printable, (entry.recipient, entry.query, what))
    return (str(entry.number), moment(entry.at), recipient, query, shown)


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
@explain_option
@json_option
def list_(*, recipient: str | None, limit: int, explain: bool, as_json: bool) -> None:
    """List the latest requests, the newest last.

    Requests that carried nothing are listed until the vault is locked.
    """
    with door() as client:
        found: list[Handled] = client.call("requests", recipient=recipient, limit=limit)
        titles = NONE if as_json else titles_of(client)
    note_latest(len(found), limit, "requests")
    page = record({"requests": found}) if as_json else requests_text(found, titles, explain=explain)
    click.echo(page)


def requests_text(found: list[Handled], titles: Titles, *, explain: bool) -> str:
    """Return requests as a table, how many of them carried something on top."""
    if not found:
        return "No requests yet."
    carried = sum(each.kind == "disclosed" for each in found)
    head = f"{counted(len(found), 'request')}; {carried:,} of them carried facts about you."
    rows = []
    for each in found:
        texts = (moment(each.at), each.recipient, each.query, outcome_of(each, titles))
        figures = (bits(each.utility_bits), people(each.people_left)) if explain else ()
        rows.append((*map(printable, texts), *figures))
    columns = (*REQUESTS, *FIGURES) if explain else REQUESTS
    units = [paragraph(UNITS)] if explain else []
    return "\n\n".join([strong(paragraph(head)), table(columns, rows), *units])


@requests.command()
@json_option
def recipients(*, as_json: bool) -> None:
    """List who knows what about you, the latest first.

    The last column says how many people look like you to each: at first, in between, and now.
    """
    with door() as client:
        found: list[Recipient] = client.call("recipients")
        titles = NONE if as_json else titles_of(client)
    click.echo(record({"recipients": found}) if as_json else recipients_text(found, titles))


def recipients_text(found: list[Recipient], titles: Titles) -> str:
    """Return recipients as a table."""
    if not found:
        return "Nobody knows anything about you."
    them = "recipient knows" if len(found) == 1 else "recipients know"
    most = found[0].people
    whole = f", of {counted(most, 'person', 'people')} in the model"
    same = all(each.people == most for each in found)
    head = f"{len(found):,} {them} something about you{whole if same else ''}."
    rows = []
    for each in found:
        held_ = ", ".join(titled(each.held, titles)) or "nothing"
        rows.append((printable(_name(each)), f"{each.requests:,}", printable(held_), _left(each)))
    return f"{strong(paragraph(head))}\n\n{table(HOLDERS, rows)}"


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
        titles = NONE if as_json else titles_of(client)
    click.echo(record(found) if as_json else held_text(found, titles))


def held_text(found: Held, titles: Titles) -> str:
    """Return what a recipient holds as a page, how much that tells on top."""
    parts = [strong(paragraph(printable(held(found, titles))))]
    rows = []
    for name, value in found.values.items():
        title = titles.get(name, name)
        since = moment(found.since[name]) if name in found.since else ""
        rows.append((printable(title), printable(value_title(value, title)), since))
    parts += [table(KNOWN, rows)] if rows else []
    parts += [paragraph(printable(inferred(each))) for each in found.inferred]
    return "\n\n".join(parts)


@requests.command()
@click.argument("recipient")
@yes_option
@json_option
def forget(recipient: str, *, yes: bool, as_json: bool) -> None:
    """Mark RECIPIENT as having forgotten you.

    From then on it counts as knowing nothing, and so does its group. This deletes
    nothing: the ledger keeps what was sent.
    """
    name = printable(recipient)
    if not yes:
        click.echo(paragraph(MEANS.format(name)), err=True)
    agree("Mark it as having forgotten you?", yes=yes)
    with door() as client:
        stated: Done = client.call("forget", Forget(recipient=recipient))
    said = DONE if stated.done else NEVER
    click.echo(record(stated) if as_json else paragraph(said.format(name)))
