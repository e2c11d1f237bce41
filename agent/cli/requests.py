"""What was asked and sent, who holds what, and the statement that one has forgotten."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

import click
import msgspec

from agent.cli import options
from agent.cli.daemon_client import COPYING, call, door, titles_of
from agent.cli.interrupt import Interrupted
from agent.cli.options import DATES, DAY, QUERY, RECIPIENT, Deferred, Output, answers, option
from agent.cli.printing import Column, note, numeric, page, paragraph, table, texts, wide
from agent.cli.printing import facts as pairs
from agent.cli.prompts import agree
from agent.cli.reviews import likely, waiting_page
from agent.errors import AbsentError, LockedError, UsageError
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES, Done, RecipientName
from agent.wire.state import Corrected, Deletion, Entry, ReadingEdit, Recipient, Status
from agent.words import notices, record
from agent.words.figures import counted, moment, of_whom, people
from agent.words.titles import Titles, titled, value_title
from policy.settings import Door

if TYPE_CHECKING:
    from agent.wire.client import Client

REQUESTS = (
    *(numeric("entry"), wide("when", 10), wide("recipient", 20)),
    *(wide("query", 14), wide("sent", 20)),
)
HOLDER = options.known("recipients", "attributes")
UNTITLED = [column._replace(title="") for column in REQUESTS]
DOORS = options.OneOf(get_args(Door))
Given = Any  # by the name of an option, of its type
LIMIT = click.IntRange(1, MOST_ENTRIES)
HOLDERS = (wide("recipient"), numeric("requests"), wide("knows"), Column("look like you"))
HOLDERS_OF = (wide("recipient"), wide("value"), Column("since"))
KNOWN = (wide("fact"), wide("value"), Column("since"))
DEFERRED = {
    "undo": Deferred("agent.cli.reviews", "Undo your last decision or change of your facts.")
}
UNDO = click.option("--undo", is_flag=True, help="Forget what you said of the text.")


@click.group(cls=options.Commands, default=lambda _: "list", deferred=DEFERRED)
def requests() -> None:
    """See what was sent to whom and what waits for you, and decide about it.

    Without a command it lists the latest requests.
    """


@requests.command(name="list")
@click.argument("words", metavar="[WORD]...", nargs=-1)
@option("--recipient", RECIPIENT, "RECIPIENT", "Only its requests, and those of its group.")
@option("--door by", DOORS, "DOOR", "Only by this door, such as browser, mcp or vscode.")
@option("--since", DAY, "DATE", f"Only from that day on: {DATES}.")
@option("--until", options.NEXT_DAY, "DATE", "Only to the end of that day.")
@option("--limit", LIMIT, "N", "At most N requests, the latest.", default=LATEST_ENTRIES)
@click.option("--values", is_flag=True, help="With the values, which only the ledger has.")
@click.option("--waiting", is_flag=True, help="Only what waits for your approval.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a table for a spreadsheet.")
@click.option("--follow", is_flag=True, help="Then print new requests as they come, until Ctrl-C.")
@answers
def list_(*, waiting: bool, follow: bool, as_csv: bool, **which: Given) -> Output:
    """List the latest requests, the newest last.

    With words, only those that have all of them in the query, the recipient or what was sent.
    Requests that carried nothing are listed until the vault is locked, and have no entry in the
    ledger. `means` and `not-that` take the number of an entry, or the text. What waits for your
    approval is in the daemon's memory only: once it stops, that waits again with the next request
    that needs it.
    """
    if waiting:
        return waiting_page()
    with door() as client:
        state: Status = client.call("status")
        if lock := state.without_facts and notices.without_facts(state.without_facts):
            note(lock)
        titles = titles_of(client)
        entries = _found(client, titles, **which)
    if len(entries) == (limit := which.pop("limit")):
        note(f"these are the latest {limit:,} requests; --limit has it show up to {MOST_ENTRIES:,}")
    carried = sum(each.kind == "disclosed" for each in entries)
    total = sum(each.kind != "forgotten" for each in entries)
    head = f"{counted(total, 'request')}; {carried:,} of them carried facts about you."
    whole = not any(which.values())
    unlisted = state.silent - (total - carried) if whole and len(entries) < limit else 0
    if unlisted > 0:
        head += f" {unlisted:,} more carried nothing, and are no longer on this list."
    elif not entries:
        head = "No requests yet." if whole else "No such requests."
    text = _cells(entries, titles, REQUESTS, as_csv=as_csv)
    text = text if as_csv else page(head, text)
    if follow:
        _follow(text, entries, titles, which | {"limit": limit})
    return Output({"requests": entries}, text)


def _found(client: "Client", titles: Titles, **which: Given) -> list[Entry]:
    """Ask for requests, and pick those with all words in them, and by a door."""
    words, by, values, limit = map(which.pop, ("words", "by", "values", "limit"))
    most = MOST_ENTRIES if words or by else limit
    every: list[Entry] = client.call("ledger" if values else "requests", limit=most, **which)
    if len(every) == most > limit:
        note(f"only the latest {most:,} requests were searched; --until has it search older ones")
    return [e for e in every if by in (None, e.door) and record.is_meant(e, words, titles)][-limit:]


def _cells(entries: list[Entry], titles: Titles, columns: Sequence[Column], *, as_csv: bool) -> str:
    """Lay out requests as a table, or as CSV, which has a title where the table has one."""
    rows = [record.cells(each, titles) for each in entries]
    if as_csv:
        heads = [record.CELLS] if columns is REQUESTS else []
        return record.spreadsheet([*heads, *rows]).removesuffix("\n")
    beside = ((*row[:2], f"{row[2]} ({row[3]})" if row[3] else row[2], *row[4:]) for row in rows)
    return table(columns, beside)  # 80 columns have no room for one with the doors


def _follow(page_: str, entries: list[Entry], titles: Titles, which: dict[str, Any]) -> None:
    """Print what there is, then each request that comes, until Ctrl-C; AbsentError at the end."""
    from agent.wire.client import ABSENT, START

    given, numbers = click.get_current_context().params, [0, *(each.number for each in entries)]

    def show(page_: str, entries: list[Entry]) -> None:
        click.echo(options.record({"requests": entries}) if given["as_json"] else page_)

    show(page_, entries)
    with suppress(Interrupted), door(attended=False) as client:
        for event in client.events():
            new = list[Entry]()
            if event.kind in ("answer", "nothing"):
                with suppress(LockedError):
                    found = _found(client, titles, **which)  # older ones may slide into its limit
                    new = [e for e in found if not min(numbers) <= e.number <= max(numbers)]
            if new:
                numbers += [each.number for each in new]
                show(_cells(new, titles, UNTITLED, as_csv=given["as_csv"]), new)
        raise AbsentError(ABSENT, START)
    click.get_current_context().exit()


@requests.command()
@option("--since", DAY, "DATE", f"From that day on: {DATES}.", default="7d")
@answers
def summary(*, since: datetime) -> Output:
    """Sum up the last week, or all since a day.

    It says who learned what, to whom the fewest people look like you, what a lock cost, and what
    waits for your approval.
    """
    with door() as client:
        state: Status = client.call("status")
        entries: list[Entry] = client.call("requests", since=since, limit=MOST_ENTRIES)
        pools = {each.pool: None for each in entries if each.kind == "disclosed"}
        holding = [client.call("recipients", recipient=pool)[0] for pool in pools]
        titles = titles_of(client)
    nothing = sum(each.kind == "nothing" for each in entries)
    nothing = max(nothing, state.silent if state.started_at >= since else 0)
    head = record.verdict_since(since, entries, nothing)
    text = page(head, pairs(record.summary(since, holding, state, titles)))
    return Output({"since": since, "nothing": nothing, "recipients": holding}, text)


@requests.command()
@click.argument("entries", metavar="[ENTRY]...", type=click.IntRange(1), nargs=-1)
@option("--before", DAY, "DATE", f"All from before that day: {DATES}.")
@options.yes_option
@answers
def delete(entries: tuple[int, ...], *, before: datetime | None, yes: bool) -> Output:
    """Delete what you asked from the record, of an ENTRY or of all before a day.

    What recipients know stays counted. Requests that carried nothing have no entry; a lock forgets
    them.
    """
    if bool(entries) == (before is not None):
        raise UsageError("name either entries or a day", "as in `requests delete --before 90d`")
    named = counted(len({*entries}), "entry", "entries")
    which = named if before is None else f"all requests before {before:%Y-%m-%d}"
    agree(f"Delete the text of {which}?", yes=yes, warning=texts("requests")["deletes"])
    with door(COPYING) as client:
        body = Deletion(entries=[*entries], before=before)
        deleted: list[int] = client.call("delete_texts", body)
    done = f"Deleted {counted(len(deleted), 'text')}; what recipients know stays counted."
    return Output({"deleted": deleted}, paragraph(done))


@requests.command()
@click.argument("recipient", type=HOLDER, metavar="[RECIPIENT|FACT]", required=False)
@answers
def recipients(recipient: str | None) -> Output:
    """List who knows what about you, what RECIPIENT knows, or who knows FACT.

    Recipients are listed with the latest first. RECIPIENT may be @ and the name of a group that
    shares what it learns.
    """
    if recipient is not None:
        return ("." not in recipient and _holders(recipient)) or _knows(recipient)
    with door() as client:
        answer: list[Recipient] = client.call("recipients")
        titles = titles_of(client)
    rows, mixed = [], len({each.among for each in answer}) > 1
    for each in answer:
        sites = "" if each.sites == [each.pool] else f": {', '.join(each.sites)}"
        state = " (blocked)" if each.blocked else " (told nothing new)" if each.stopped else ""
        name = f"{each.pool}{sites}{state}"
        facts_ = ", ".join(titled(each.held, titles)) or "nothing"
        first, now = people(each.first_left), people(each.people_left)
        now = of_whom(each.people_left, each.among) if mixed else now
        now = now if first == people(each.people_left) else f"{first}, now {now}"
        rows.append((name, f"{each.requests:,}", facts_, now))
    unit = "look like you: how many people do, to the recipient; two numbers: at first, and now."
    text = page(notices.who_know(answer), table(HOLDERS, rows), paragraph(unit))
    return Output({"recipients": answer}, text if answer else "Nobody knows anything about you.")


def _holders(fact: str) -> Output | None:
    """List who knows a fact, by its name or title; None where nothing is called so."""
    with door() as client:
        titles, wanted = titles_of(client), fact.casefold()
        names = {n for n, title in titles.items() if wanted in (n, title.casefold())}
        every: list[Recipient] = client.call("recipients") if names else []
        whole = [client.call("recipients", recipient=e.pool)[0] for e in every if names & {*e.held}]
    if not names:
        return None
    title, rows = titles[min(names)], []
    for each in whole:
        for name in names & each.values.keys():
            since = moment(each.since[name]) if name in each.since else ""
            rows.append((each.pool, value_title(each.values[name], title), since))
    head = f"Who knows this of you: {title}." if rows else f"Nobody knows this of you: {title}."
    return Output({"fact": min(names), "recipients": whole}, page(head, table(HOLDERS_OF, rows)))


def _knows(recipient: str) -> Output:
    with door() as client:
        answer: Recipient = client.call("recipients", recipient=recipient)[0]
        waiting = [each for each in client.call("reviews") if each.pool == answer.pool]
        titles, some = titles_of(client), client.call("recipients")
    hint = "" if answer.values else likely(recipient, some)
    bare = recipient.replace("-", "_").isidentifier() and answer.pool[:1] != "@"
    if bare and not (answer.requests or waiting):
        raise UsageError.unknown("recipient or fact", recipient, [*titles, *(e.pool for e in some)])
    rows = []
    for name, value in answer.values.items():
        [title] = titled([name], titles)
        since = moment(answer.since[name]) if name in answer.since else ""
        rows.append((title, value_title(value, title), since))
    guesses = [paragraph(notices.inferred(each)) for each in answer.inferred]
    held_back = pairs(("waits for you", notices.waits(each, titles)) for each in waiting)
    text = page(notices.knows_of(answer, titles) + hint, table(KNOWN, rows), *guesses, held_back)
    return Output(answer, text)


@requests.command()
@click.argument("which", metavar="ID|TEXT", type=QUERY)
@click.argument("topic", metavar="TOPIC", nargs=-1)
@UNDO
@answers
def means(which: str, topic: tuple[str, ...], *, undo: bool) -> Output:
    """Say what a text means.

    ID is an entry of the ledger; else TEXT is what was typed. TOPIC is a name, a title or its
    beginning; `reticent model info NAME` lists them. From then on the text is read as that, however
    it is written, and so are texts that say nearly the same. As with `not-that`, this is kept in
    the vault, and what was sent stays sent.
    """
    if bool(topic) == undo:
        raise UsageError("either name a topic, or use --undo", "the topic stands after the text")
    return _corrected(which, ReadingEdit(topic=" ".join(topic) or None, undo=undo))


@requests.command(name="not-that")
@click.argument("which", metavar="ID|TEXT", type=QUERY)
@UNDO
@answers
def not_that(which: str, *, undo: bool) -> Output:
    """Correct a text that was read wrongly.

    ID is an entry of the ledger; else TEXT is taken as it is read now. From then on the text is not
    read as that again, however it is written, nor are texts that say nearly the same. This is kept
    in the vault, not in the policy, since it says what you searched. What was sent stays sent. With
    - as TEXT it is read from the standard input, where no other user of this machine sees it.
    """
    return _corrected(which, ReadingEdit(undo=undo))


def _corrected(which: str, edit: ReadingEdit) -> Output:
    """Edit what the text of an entry, or a text, means."""
    entry = int(which) if which.isascii() and which.isdecimal() else None
    edit = msgspec.structs.replace(edit, entry=entry, query=which if entry is None else None)
    answer: Corrected = call("correct", edit)
    return Output(answer, paragraph(notices.corrected(answer, edit)))


@requests.command()
@click.argument("recipient", type=RECIPIENT)
@options.yes_option
@answers
def forget(recipient: str, *, yes: bool) -> Output:
    """Mark RECIPIENT as having forgotten you.

    From then on it counts as knowing nothing, and so does its group. This cannot be undone, and
    deletes nothing: the ledger keeps what was sent.
    """
    with door() as client:
        pool = client.call("recipients", recipient=recipient)[0].pool
        recipients: list[Recipient] = client.call("recipients")
        if pool not in [each.pool for each in recipients]:
            never = f"{recipient} was never sent anything, so there is nothing to forget."
            return Output(Done(done=False), paragraph(never + likely(recipient, recipients)))
        whom = recipient if recipient == pool else f"{recipient}, with all that counts as {pool},"
        agree("Mark it as having forgotten you?", yes=yes, warning=notices.FORGETTING.format(whom))
        stated: Done = client.call("forget", RecipientName(recipient=recipient))
    named = whom if stated.done else recipient
    return Output(stated, paragraph(notices.forgotten(named, done=stated.done)))
