"""What was asked and sent, who holds what, and the statement that one has forgotten."""

import click
import msgspec

from agent.cli import options
from agent.cli.daemon_client import door, titles_of
from agent.cli.options import QUERY, RECIPIENT, Deferred, Output, answers, option
from agent.cli.printing import Column, note, numeric, page, paragraph, say, table, wide
from agent.cli.printing import facts as pairs
from agent.cli.prompts import agree
from agent.cli.reviews import likely, waiting_page
from agent.errors import UsageError
from agent.wire.base import LATEST_ENTRIES, MOST_ENTRIES, Done, RecipientName
from agent.wire.state import Corrected, Entry, ReadingEdit, Recipient, Status
from agent.words import notices
from agent.words.figures import counted, moment, of_whom, people
from agent.words.titles import facts, titled, titles_in, value_title

REQUESTS = (
    *(numeric("entry"), wide("when", 10), wide("recipient", 20)),
    *(wide("query", 14), wide("sent", 20)),
)
HOLDER = options.known("recipients", "attributes")
LIMIT = click.IntRange(1, MOST_ENTRIES)
HOLDERS = (wide("recipient"), numeric("requests"), wide("knows"), Column("look like you"))
HOLDERS_OF = (wide("recipient"), wide("value"), Column("since"))
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
    "undo": Deferred("agent.cli.reviews", "Undo your last decision or change of your facts.")
}
UNDO = click.option("--undo", is_flag=True, help="Forget what you said of the text.")


@click.group(cls=options.Commands, default=lambda _: "list", deferred=DEFERRED)
def requests() -> None:
    """See what was sent to whom and what waits for you, and decide about it.

    Without a command it lists the latest requests.
    """


@requests.command(name="list")
@option("--recipient", RECIPIENT, "RECIPIENT", "Only its requests, and those of its group.")
@option("--limit", LIMIT, "N", "At most N requests, the latest.", default=LATEST_ENTRIES)
@click.option("--values", is_flag=True, help="With the values, which only the ledger has.")
@click.option("--waiting", is_flag=True, help="Only what waits for your approval.")
@answers
def list_(*, recipient: str | None, limit: int, values: bool, waiting: bool) -> Output:
    """List the latest requests, the newest last.

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
        route = "ledger" if values else "requests"
        entries: list[Entry] = client.call(route, recipient=recipient, limit=limit)
        titles = titles_of(client)
    if len(entries) == limit:
        most = f"--limit has it show up to {MOST_ENTRIES:,}"
        note(f"these are the latest {limit:,} requests; {most}")
    rows = []
    for each in entries:
        number = str(each.number) if each.number > 0 else ""
        sent = "; ".join(facts(each.values, titles_in(each.model, titles)))
        what = sent or notices.outcome_of(each, titles)
        query = each.query or ("(text deleted)" if each.kind == "disclosed" else "")
        rows.append((number, moment(each.at), each.recipient, query, what))
    carried = sum(each.kind == "disclosed" for each in entries)
    total = sum(each.kind != "forgotten" for each in entries)
    head = f"{counted(total, 'request')}; {carried:,} of them carried facts about you."
    unlisted = 0 if recipient or values else state.silent - (total - carried)
    if unlisted > 0 and len(entries) < limit:
        head += f" {unlisted:,} more carried nothing; a lock took them off this list."
    text = page(head, table(REQUESTS, rows))
    return Output({"requests": entries}, text if entries or unlisted else "No requests yet.")


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
        pools = [each.pool for each in every if names & {*each.held}]
        whole = [client.call("recipients", recipient=pool)[0] for pool in pools]
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
        titles = titles_of(client)
        hint = "" if answer.values else likely(recipient, client.call("recipients"))
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
    with door() as client:
        answer: Corrected = client.call("correct", edit)
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
        if not yes:
            say(MEANS.format(whom))
        agree("Mark it as having forgotten you?", yes=yes)
        stated: Done = client.call("forget", RecipientName(recipient=recipient))
    already = f"{recipient} already knows nothing about you, so there is nothing to forget."
    return Output(stated, paragraph(DONE.format(whom) if stated.done else already))
