"""A replayed history as a page of text: the sentence, a row for each request, the summary."""

import textwrap
from collections.abc import Iterator
from itertools import chain

from agent.cli.layout import GAP, INDENT, WIDTH, Column, facts, paragraph, strong, table
from agent.cli.tried import Tried
from agent.decision.compared import Compared, Counts, Outcome, Shares
from agent.decision.phrases import bits, people

NOTHING = "The history is empty: there is nothing to try the policy on."
COLUMNS = (
    Column("when"),
    Column("recipient"),
    Column("query"),
    Column("bits", right=True),
    Column("people left", right=True),
)
FRAME = len(INDENT) + len("2026-03-02") + len(GAP) * (len(COLUMNS) - 1)
DETAIL = " " * 6


def try_text(tried: Tried) -> str:
    """Return all that there is to say about a replayed history, in 80 columns."""
    if not tried.outcomes:
        return NOTHING
    parts = [strong(paragraph(_headline(tried)))]
    notes = [*_notes(tried)]
    if notes:
        parts.append(paragraph(" ".join(notes)))
    parts += [_requests(tried.outcomes), _summary(tried)]
    return "\n\n".join(parts)


def _headline(tried: Tried) -> str:
    summary = tried.summary
    if not summary.changed:
        return "Nothing would change: each request would have carried what it did."
    of = f"{summary.changed} of {summary.requests}"
    changed = f"{of} requests would have carried something else"
    was, would_be = summary.bits or (0.0, 0.0)
    return f"{changed}: {bits(would_be)} bits on average, where it was {bits(was)}."


def _notes(tried: Tried) -> Iterator[str]:
    """Yield what has to be known to read the figures."""
    if tried.sorted:
        yield "The lines of the history were not in order of time, and were sorted."
    if not tried.summary.expected:
        return
    count = len(tried.worlds.rows)
    if not tried.worlds.alike:
        yield "The model knows nobody like the history."
    who = "who agree with the rest" if tried.worlds.alike else "drawn evenly from all of it"
    whose = "one person" if count == 1 else f"{count} people"
    yield (
        f"Some values stand neither in the history nor in a profile: they are those of {whose} of "
        f"the model {who}, figures are means, and a percentage is the share of these people."
    )


def _requests(outcomes: tuple[Outcome, ...]) -> str:
    """Return a row for each request, with what would differ below it."""
    figures = [_figures(each) for each in outcomes]
    titles = tuple(column.title for column in COLUMNS[-2:])
    room = WIDTH - FRAME - sum(max(map(len, cells)) for cells in zip(titles, *figures, strict=True))
    recipient = min(room // 2, max(len(each.host) for each in outcomes))
    recipient = max(recipient, len("recipient"))
    rows = [
        (
            each.past.at.date().isoformat(),
            _shortened(each.host, recipient),
            _shortened(each.past.query, room - recipient),
            *cells,
        )
        for each, cells in zip(outcomes, figures, strict=True)
    ]
    title, *lines = table(COLUMNS, rows).splitlines()
    below = ([line, *_details(each)] for line, each in zip(lines, outcomes, strict=True))
    return "\n".join([title, *chain.from_iterable(below)])


def _figures(outcome: Outcome) -> tuple[str, str]:
    was, would_be = outcome.bits
    return _change(bits(was), bits(would_be)), _people(outcome.people_left)


def _people(left: Compared) -> str:
    return _change(people(left.was), people(left.would_be))


def _change(was: str, would_be: str) -> str:
    return was if was == would_be else f"{was} -> {would_be}"


def _details(outcome: Outcome) -> Iterator[str]:
    """Yield lines for what the policy changes about one request."""
    for label, shares in (
        ("newly disclosed", outcome.newly_disclosed),
        ("newly withheld", outcome.newly_withheld),
        ("would have asked", outcome.would_ask),
    ):
        if shares:
            yield _detail(label, shares)


def _detail(label: str, shares: Shares) -> str:
    first = f"{DETAIL}{label:<16}  "
    named = (name if share == 1 else f"{name} ({share:.0%})" for name, share in shares)
    after = " " * len(first)
    return textwrap.fill(", ".join(named), WIDTH, initial_indent=first, subsequent_indent=after)


def _shortened(text: str, width: int) -> str:
    """Return a text in one line of so many columns, in which nothing steers the terminal."""
    line = "".join(each if each.isprintable() else " " for each in " ".join(text.split()))
    return line if len(line) <= width else f"{line[: width - 3]}..."


def _summary(tried: Tried) -> str:
    summary = tried.summary
    was, would_be = summary.bits or (0.0, 0.0)
    lines = [
        ("mean bits", _change(bits(was), bits(would_be))),
        ("changed", f"{summary.changed} of {summary.requests} requests"),
        ("would have asked", f"for {summary.asking} of {summary.requests} requests"),
        ("newly disclosed", _counted(summary.newly_disclosed)),
        ("newly withheld", _counted(summary.newly_withheld)),
    ]
    lines += [
        ("people left", f"{each.pool}: {_people(each.people_left)}") for each in summary.pools
    ]
    return f"{strong('In the end')}\n{facts(lines)}"


def _counted(counts: Counts) -> str:
    """Return attributes, with the number of requests where it is more than one."""
    if not counts:
        return "nothing"
    return ", ".join(name if count == 1 else f"{name} ({count}x)" for name, count in counts)
