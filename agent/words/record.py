"""The record in words: the cells of a request, which requests are meant, and a summary."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from io import StringIO

from agent.wire.state import Entry, Recipient, Status
from agent.words import notices
from agent.words.figures import alike, counted, listed, moment
from agent.words.layout import printable
from agent.words.titles import NONE, Titles, facts, titled, titles_in

CELLS = ("entry", "when", "recipient", "door", "query", "sent")
MOST = 10  # recipients that are named in a summary
FORMULA = ("=", "+", "-", "@")  # how a cell begins that a spreadsheet computes


def cells(entry: Entry, titles: Titles = NONE) -> tuple[str, ...]:
    """Write a request as CELLS."""
    number = str(entry.number) if entry.number > 0 else ""
    query = entry.query or ("(text deleted)" if entry.kind == "disclosed" else "")
    values = "; ".join(facts(entry.values, titles_in(entry.model, titles)))
    sent = values or notices.outcome_of(entry, titles)
    return number, moment(entry.at), entry.recipient, entry.door, query, sent


def is_meant(entry: Entry, words: Iterable[str], titles: Titles = NONE) -> bool:
    """Whether each of these words is in the query, the recipient, the door or what was sent."""
    text = "\n".join(cells(entry, titles)[2:]).casefold()
    return all(word.casefold() in text for word in words)


def spreadsheet(rows: Iterable[Sequence[str]]) -> str:
    """Write rows as CSV (RFC 4180); what a spreadsheet would compute begins with an apostrophe."""
    text = StringIO()
    safe = ([f"'{e}" if e.startswith(FORMULA) else e for e in map(printable, row)] for row in rows)
    csv.writer(text, lineterminator="\n").writerows(safe)
    return text.getvalue()


def verdict_since(since: datetime, entries: Sequence[Entry], nothing: int) -> str:
    """Say how many requests there were, and how many carried facts, to how many recipients.

    ``nothing``: how many carried nothing.
    """
    pools = [each.pool for each in entries if each.kind == "disclosed"]
    if not pools and not nothing:
        return f"No requests since {since:%Y-%m-%d}."
    many = counted(len(pools) + nothing, "request")
    to = f", to {counted(len({*pools}), 'recipient')}" if pools else ""
    return f"{many} since {since:%Y-%m-%d}: {len(pools):,} carried facts about you{to}."


def summary(
    since: datetime, holding: Sequence[Recipient], state: Status, titles: Titles = NONE
) -> Iterator[tuple[str, str]]:
    """Sum up by label who learned what, who could find the user best, and what a lock cost.

    ``holding``: who was sent something since then, with all that each holds.
    """
    new = [
        f"{each.pool}: {listed(titled(names, titles))}"
        for each in holding
        if (names := [name for name, at in each.since.items() if at >= since])
    ]
    more = [f"{len(new) - MOST} more learned something"] if len(new) > MOST else []
    yield "learned", "; ".join(new[:MOST] + more) or "nobody learned anything new"
    if nearest := min(holding, key=lambda each: each.people_left, default=None):
        yield "closest", f"{nearest.pool}: {alike(nearest.people_left, among=nearest.among)}"
    if state.without_facts and (bare := notices.without_facts(state.without_facts)):
        yield "bare", bare
    waiting = f"{state.waiting}; `reticent requests list --waiting` lists them"
    yield "waits for you", waiting if state.waiting else "nothing"
