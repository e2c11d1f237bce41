"""`reticent policy try`: what a policy would have sent with past requests."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from agent.cli.daemon_client import door, titles_of
from agent.cli.options import PATH, Answer, answers, explain_option
from agent.cli.policy import read_policy
from agent.cli.printing import Column, facts, numeric, page, strong, table, wide
from agent.decision.values import ReplayedRequest
from agent.wire.policy import Tried, TryPolicy
from agent.words.figures import bits, counted, listed, people
from agent.words.titles import Titles, titled

NOTHING = "The ledger is empty: there is nothing to try the policy on."
COLUMNS = (Column("when"), wide("recipient"), wide("query"), numeric("people left"))
BITS = numeric("bits")
SHOWN = 60  # characters of a query


@click.command("try")
@click.argument("file", type=PATH)
@explain_option
@answers
def try_(file: Path, *, explain: bool) -> Answer:
    """Replay the requests in your ledger under a policy file, and show what would differ.

    Your facts count as they are now, and each recipient is assumed to know what this policy would
    have sent it before. What waits for your approval counts as not sent.
    """
    text = read_policy(file).text
    with door() as client:
        found: Tried = client.call("try_policy", TryPolicy(text=text))
        titles = titles_of(client)
    return Answer(found, try_text(found, titles, explain=explain) if found.requests else NOTHING)


def try_text(found: Tried, titles: Titles, *, explain: bool) -> str:
    """Return all that there is to say about a replayed ledger; ``explain``: with the bits."""
    requests = found.requests
    different = [each for each in requests if {*each.disclosed} != {*each.would_disclose}]
    was, would_be = (
        sum(map(of, requests)) / len(requests)
        for of in (lambda each: each.utility_was, lambda each: each.utility)
    )
    head = "Nothing would change: each request would have sent what it did."
    if different:
        how = "as well" if bits(was) == bits(would_be) else "worse" if would_be < was else "better"
        head = (
            f"{len(different)} of {counted(len(requests), 'request')} would have sent something "
            f"else; on average you would have been served {how}."
        )
    rows = [
        (
            each.at.date().isoformat(),
            each.recipient,
            each.query if len(each.query) <= SHOWN else f"{each.query[:SHOWN]}...",
            _change(people(each.people_left_was), people(each.people_left)),
            *([_change(bits(each.utility_was), bits(each.utility))] if explain else []),
        )
        for each in requests
    ]
    asking = sum(bool(each.would_ask) for each in requests)
    ends = {
        each.pool: (people(each.people_left_was), people(each.people_left)) for each in requests
    }
    in_the_end = [
        ("would have asked", f"for {asking} of {counted(len(requests), 'request')}"),
        *(("people left", f"{pool}: {_change(*left)}") for pool, left in ends.items()),
        *([("mean bits", _change(bits(was), bits(would_be)))] if explain else []),
        *([("kept as they were", counted(found.kept, "request"))] if found.kept else []),
    ]
    differing = facts(pair for each in requests for pair in _differing(each, titles))
    return page(
        head,
        table((*COLUMNS, BITS) if explain else COLUMNS, rows),
        f"{strong('What would differ')}\n{differing}" if differing else "",
        f"{strong('In the end')}\n{facts(in_the_end)}",
    )


def _change(was: str, would_be: str) -> str:
    return was if was == would_be else f"{was} -> {would_be}"


def _differing(each: ReplayedRequest, titles: Titles) -> Iterator[tuple[str, str]]:
    """Yield what the policy changes about one request."""
    was, would_be = {*each.disclosed}, {*each.would_disclose}
    changes: dict[str, Sequence[str]] = {
        "newly sent": [name for name in each.would_disclose if name not in was],
        "no longer sent": [name for name in each.disclosed if name not in would_be],
        "would have asked": each.would_ask,
    }
    for label, names in changes.items():
        if names:
            what = f"{listed(titled(names, titles))} (to {each.recipient})"
            yield f"{each.at.date().isoformat()}  {label}", what
