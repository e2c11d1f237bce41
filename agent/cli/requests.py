"""What was asked and sent, who holds what, and the statement that one has forgotten."""

import json
from collections.abc import Iterable

import click

from agent.cli.daemon_client import door, titles_of
from agent.cli.options import (
    QUERY,
    Commands,
    Deferred,
    Output,
    answers,
    explain_option,
    json_option,
    option,
    record,
    yes_option,
)
from agent.cli.printing import Column, note, numeric, page, paragraph, sparkline, table, told, wide
from agent.cli.printing import facts as pairs
from agent.cli.prompts import agree
from agent.cli.reviews import DISMISS, numbers, pending
from agent.errors import UsageError, nearest
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES, Done
from agent.wire.state import Corrected, Entry, Forget, Handled, Held, NotThat, Recipient
from agent.words.figures import HELPS, LEFT, bits, counted, moment, of_whom, people
from agent.words.notices import FORGOTTEN, corrected, held, inferred, outcome_of, waits, who_know
from agent.words.titles import NONE, facts, read_as, titled, titles_in, value_title

LEDGER = (
    numeric("entry"),
    wide("when", 10),
    wide("recipient"),
    wide("query", 12),
    wide("read as", 10),
    wide("sent", 15),
)
REQUESTS = (
    numeric("entry"),
    wide("when", 10),
    wide("recipient", 10),
    wide("query", 10),
    wide("sent", 11),
)
FIGURES = (wide("read as", 8), numeric("bits"), numeric("people"))
UNITS = f"bits: {HELPS}; people: {LEFT}."
HOLDERS = (wide("recipient"), numeric("requests"), wide("knows"), Column("look like you"))
KNOWN = (wide("fact"), wide("value"), Column("since"))
MEANS = (
    "You state that {} can no longer link to you what it was sent: for example, you have another "
    "account there, and nothing else gives you away. This makes nobody forget, the ledger keeps "
    "what was sent, and you cannot undo it."
)
DONE = (
    "From now on {} counts as knowing nothing about you. The ledger keeps what was sent, and that "
    "you said this."
)
DEFERRED = {
    "undo": Deferred("agent.cli.reviews", "Undo your last decision or change of your facts."),
}
LIMIT = click.IntRange(1, MOST_ENTRIES)
OF_ENTRIES = f"[default: {LATEST_ENTRIES}; with --json {MOST_ENTRIES}]"


@click.group(cls=Commands, default="list", deferred=DEFERRED)
def requests() -> None:
    """See what was sent to whom and what waits for you, and decide about it.

    Without a command it lists the latest requests.
    """


@requests.command()
@click.argument("recipient", required=False)
@option("--after", click.IntRange(0), "N", "Only what came after entry N.")
@option("--limit", LIMIT, "N", f"At most N entries, the latest.  {OF_ENTRIES}")
@click.option(
    "--json", "as_json", is_flag=True, help="Print a history: one JSON object in each line."
)
def ledger(*, recipient: str | None, after: int | None, limit: int | None, as_json: bool) -> None:
    """Show what was sent, to whom and when; the latest last.

    Lists what RECIPIENT and its group were sent, or all recipients. With --json it prints one
    JSON object for each request.
    """
    limit = limit or (MOST_ENTRIES if as_json else LATEST_ENTRIES)
    with door() as client:
        entries: list[Entry] = client.call("ledger", recipient=recipient, after=after, limit=limit)
        titles = NONE if as_json else titles_of(client)
    note_latest(len(entries), limit, "entries")
    rows = []
    for each in entries:
        if as_json and each.kind == "disclosed":
            click.echo(history_line(each))
        what = "; ".join(facts(each.disclosed, titles_in(each.model, titles))) or "nothing"
        what = FORGOTTEN if each.kind == "forgotten" else what
        texts = (str(each.number), moment(each.at), each.recipient, each.query)
        rows.append((*texts, "" if each.read_as is None else read_as(each.read_as), what))
    if not as_json:
        click.echo(table(LEDGER, rows) or "Nothing was sent.")


def note_latest(shown: int, limit: int, what: str) -> None:
    """Say beside the answer that there may be more, where as many are shown as may be."""
    if shown == limit:
        note(f"these are the latest {limit:,} {what}; --limit has it show up to {MOST_ENTRIES:,}")


def history_line(entry: Entry) -> str:
    """Return a disclosure as one line of JSON."""
    line = {
        "at": entry.at.isoformat(),
        "recipient": entry.recipient,
        "query": entry.query,
        "asked": entry.asked,
        "disclosed": entry.disclosed,
        "model": entry.model,
    }
    return json.dumps(line)


@requests.command(name="list")
@option("--recipient", str, "HOST", "Only its requests, and those of its group.")
@option("--limit", LIMIT, "N", "At most N requests, the latest.", default=LATEST_ENTRIES)
@click.option("--waiting", is_flag=True, help="Only what waits for your approval.")
@option("--dismiss", numbers, "ID,ID", DISMISS, multiple=True)
@click.option("--follow", is_flag=True, help="One sentence for all that happens, until Ctrl-C.")
@explain_option
@json_option
def list_(
    *,
    recipient: str | None,
    limit: int,
    waiting: bool,
    dismiss: tuple[tuple[int, ...] | None, ...],
    follow: bool,
    explain: bool,
    as_json: bool,
) -> None:
    """List the latest requests, the newest last.

    Requests that carried nothing are listed until the vault is locked, and have no entry in the
    ledger. `not-that` takes the number of an entry, or the text. What waits for your approval is in
    the daemon's memory only: once it stops, that waits again with the next request that needs it.
    """
    if follow:
        from agent.cli.watch import watch

        if waiting or dismiss:
            raise UsageError("--follow does not go with --waiting", "choose one of them")
        watch(as_json=as_json)
        return
    answer = pending(dismiss) if waiting or dismiss else _listed(recipient, limit, explain=explain)
    click.echo(record(answer.message) if as_json else answer.page)


def _listed(recipient: str | None, limit: int, *, explain: bool) -> Output:
    with door() as client:
        found: list[Handled] = client.call("requests", recipient=recipient, limit=limit)
        titles = titles_of(client)
    note_latest(len(found), limit, "requests")
    rows, last = [], dict[str, tuple[str, list[str]]]()
    for each in found:
        what = outcome_of(each, titles)
        if each.disclosed:  # which need not be read twice
            now = each.model, each.disclosed
            again = last.get(each.pool) == now and each.waiting == each.settled
            what = "the same facts again" if again else what
            last[each.pool] = now
        number = str(each.number) if each.number > 0 else ""
        texts = (number, moment(each.at), each.recipient, each.query, what)
        meant = "" if each.read_as is None else read_as(each.read_as)
        figures = (meant, bits(each.utility_bits), people(each.people_left)) if explain else ()
        rows.append((*texts, *figures))
    carried = sum(each.kind == "disclosed" for each in found)
    asked = sum(each.kind != "forgotten" for each in found)
    head = f"{counted(asked, 'request')}; {carried:,} of them carried facts about you."
    listed = table((*REQUESTS, *FIGURES) if explain else REQUESTS, rows)
    text = page(head, listed, paragraph(UNITS) if explain else "")
    return Output({"requests": found}, text if found else "No requests yet.")


@requests.command()
@click.argument("recipient", metavar="[HOST]", required=False)
@answers
def recipients(recipient: str | None) -> Output:
    """List who knows what about you, or what HOST knows.

    Recipients are listed with the latest first. HOST may be @ and the name of a group that shares
    what it learns.
    """
    if recipient is not None:
        return _knows(recipient)
    with door() as client:
        found: list[Recipient] = client.call("recipients")
        titles = titles_of(client)
    rows, mixed = [], len({each.among for each in found}) > 1
    for each in found:
        sites = "" if each.sites == [each.pool] else f": {', '.join(each.sites)}"
        name = f"{each.pool}{sites}{' (blocked)' if each.blocked else ''}"
        facts_ = ", ".join(titled(each.held, titles)) or "nothing"
        now, counts = people(each.people_left), [past.people_left for past in each.history]
        now = of_whom(each.people_left, each.among) if mixed else now
        if counts != [each.people_left]:
            now = " ".join(filter(None, (people(counts[0]), sparkline(counts, each.people), now)))
        rows.append((name, f"{each.requests:,}", facts_, now))
    unit = "look like you: how many people do so to the recipient, at first and now."
    text = page(who_know(found), table(HOLDERS, rows), paragraph(unit))
    return Output({"recipients": found}, text if found else "Nobody knows anything about you.")


def _knows(recipient: str) -> Output:
    with door() as client:
        found: Held = client.call("knowledge", recipient=recipient)
        waiting = [each for each in client.call("reviews") if each.pool == found.pool]
        titles = titles_of(client)
        meant = "" if found.values else _meant(recipient, client.call("recipients"))
    rows = []
    for name, value in found.values.items():
        title = titles.get(name, name)
        since = moment(found.since[name]) if name in found.since else ""
        rows.append((title, value_title(value, title), since))
    guesses = [paragraph(inferred(each)) for each in found.inferred]
    held_back = pairs(("waits for you", waits(each, titles)) for each in waiting)
    text = page(held(found, titles) + meant, table(KNOWN, rows), *guesses, held_back)
    return Output(found, text)


@requests.command(name="not-that")
@click.argument("which", metavar="ID|TEXT", type=QUERY)
@click.option("--undo", is_flag=True, help="Let the text be read as before again.")
@answers
def not_that(which: str, *, undo: bool) -> Output:
    """Correct a text that was read wrongly.

    ID is an entry of the ledger; else TEXT is taken as it is read now. From then on the text is not
    read as that again, however it is written. This is kept in the vault, not in the policy, since
    it says what you searched. What was sent stays sent. With - as TEXT it is read from the standard
    input, where no other user of this machine sees it.
    """
    if which.isascii() and which.isdecimal():
        body = NotThat(entry=int(which), undo=undo)
    else:
        body = NotThat(query=which, undo=undo)
    with door() as client:
        found: Corrected = client.call("not_that", body)
    return Output(found, paragraph(corrected(found, undone=undo)))


@requests.command()
@click.argument("recipient")
@yes_option
@answers
def forget(recipient: str, *, yes: bool) -> Output:
    """Mark RECIPIENT as having forgotten you.

    From then on it counts as knowing nothing, and so does its group. This cannot be undone, and
    deletes nothing: the ledger keeps what was sent.
    """
    with door() as client:
        pool = client.call("knowledge", recipient=recipient).pool
        known: list[Recipient] = client.call("recipients")
        if pool not in [each.pool for each in known]:
            never = f"{recipient} was never sent anything, so there is nothing to forget."
            return Output(Done(done=False), paragraph(never + _meant(recipient, known)))
        if not yes:
            told(MEANS.format(recipient))
        agree("Mark it as having forgotten you?", yes=yes)
        stated: Done = client.call("forget", Forget(recipient=recipient))
    already = f"{recipient} already knows nothing about you, so there is nothing to forget."
    return Output(stated, paragraph(DONE.format(recipient) if stated.done else already))


def _meant(recipient: str, known: Iterable[Recipient]) -> str:
    """Return which of those known was probably meant, as a sentence behind another."""
    near = nearest(recipient, {name for each in known for name in (each.pool, *each.sites)})
    return "" if near in (None, recipient) else f" Did you mean {near!r}?"
