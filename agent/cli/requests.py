"""What was asked and sent, who holds what, and the statement that one has forgotten."""

import json

import click

from agent.cli.daemon_client import door, titles_of
from agent.cli.groups import Commands, Deferred
from agent.cli.options import explain_option, json_option, record, yes_option
from agent.cli.printing import Column, note, page, paragraph, sparkline, table
from agent.cli.prompts import agree
from agent.errors import nearest
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES, Done
from agent.wire.records import Entry, Forget, Handled, Held, Recipient
from agent.words.figures import HELPS, LEFT, bits, counted, moment, people
from agent.words.notices import FORGOTTEN, held, inferred, outcome_of
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
    Column("look like you"),
)
KNOWN = (Column("fact", wraps=True), Column("value", wraps=True), Column("since"))
MEANS = (
    "You state that {} can no longer link what it was sent to you: you have another account there, "
    "say, and nothing else gives you away. This makes nobody forget, and the ledger keeps what was "
    "sent."
)
DONE = (
    "From now on {} counts as knowing nothing about you. The ledger keeps what was sent, and your "
    "mark."
)
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
def ledger(*, recipient: str | None, after: int | None, limit: int | None, as_json: bool) -> None:
    """Show what was sent, to whom and when; the latest last.

    Lists what RECIPIENT and its group were sent, or all recipients. With --json it prints the
    requests as a history for `reticent policy try`.
    """
    limit = limit or (MOST_ENTRIES if as_json else LATEST_ENTRIES)
    with door() as client:
        entries: list[Entry] = client.call("ledger", recipient=recipient, after=after, limit=limit)
        titles = NONE if as_json else titles_of(client)
    note_latest(len(entries), limit, "entries")
    if not as_json:
        click.echo(ledger_text(entries, titles))
    for each in entries:
        if as_json and each.kind == "disclosed":
            click.echo(history_line(each))


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
    rows = []
    for each in entries:
        what = "; ".join(facts(each.disclosed, titles)) or "nothing"
        what = FORGOTTEN if each.kind == "forgotten" else what
        rows.append((str(each.number), moment(each.at), each.recipient, each.query, what))
    return table(LEDGER, rows) or "Nothing was sent."


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
        rows.append((*texts, *figures))
    if explain:
        return page(head, table((*REQUESTS, *FIGURES), rows), paragraph(UNITS))
    return page(head, table(REQUESTS, rows))


@requests.command()
@json_option
def recipients(*, as_json: bool) -> None:
    """List who knows what about you, the latest first."""
    with door() as client:
        found: list[Recipient] = client.call("recipients")
        titles = NONE if as_json else titles_of(client)
    click.echo(record({"recipients": found}) if as_json else recipients_text(found, titles))


def recipients_text(found: list[Recipient], titles: Titles) -> str:
    """Return recipients as a table."""
    if not found:
        return "Nobody knows anything about you."
    known = "recipient knows" if len(found) == 1 else "recipients know"
    sizes = {each.people for each in found}
    whole = f" of the {people(sizes.pop())} people in the model" if len(sizes) == 1 else ""
    rows = []
    for each in found:
        sites = "" if each.sites == [each.pool] else f": {', '.join(each.sites)}"
        name = f"{each.pool}{sites}{' (blocked)' if each.blocked else ''}"
        held_ = ", ".join(titled(each.held, titles)) or "nothing"
        now, counts = f"{each.people_left:,}", [past.people_left for past in each.history]
        if counts != [each.people_left]:
            now = " ".join(filter(None, (f"{counts[0]:,}", sparkline(counts, each.people), now)))
        rows.append((name, f"{each.requests:,}", held_, now))
    return page(
        f"{len(found):,} {known} something about you.",
        table(HOLDERS, rows),
        paragraph(f"look like you: how many{whole} do so to the recipient, at first and now."),
    )


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
    rows = []
    for name, value in found.values.items():
        title = titles.get(name, name)
        since = moment(found.since[name]) if name in found.since else ""
        rows.append((title, value_title(value, title), since))
    guesses = [paragraph(inferred(each)) for each in found.inferred]
    return page(held(found, titles), table(KNOWN, rows), *guesses)


@requests.command()
@click.argument("recipient")
@yes_option
@json_option
def forget(recipient: str, *, yes: bool, as_json: bool) -> None:
    """Mark RECIPIENT as having forgotten you.

    From then on it counts as knowing nothing, and so does its group. This deletes
    nothing: the ledger keeps what was sent.
    """
    if not yes:
        click.echo(paragraph(MEANS.format(recipient)), err=True)
    agree("Mark it as having forgotten you?", yes=yes)
    with door() as client:
        stated: Done = client.call("forget", Forget(recipient=recipient))
        told: list[Recipient] = [] if stated.done else client.call("recipients")
    text = DONE.format(recipient)
    if not stated.done:
        near = nearest(recipient, {name for each in told for name in (each.pool, *each.sites)})
        meant = "" if near is None else f" Did you mean {near!r}?"
        text = f"{recipient} was never sent anything, so there is nothing to forget.{meant}"
    click.echo(record(stated) if as_json else paragraph(text))
