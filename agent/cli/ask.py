"""`reticent ask`: what one request may carry, and why."""

from collections.abc import Iterable, Sequence

import click

from agent.cli.daemon_client import door, titles_of
from agent.cli.options import QUERY, Output, all_option, answers, host, names, option
from agent.cli.printing import note, page
from agent.decision.values import UNDECIDED, Code, Decision
from agent.errors import DaemonError, LockedError, ReticentError, UsageError, nearest
from agent.paths import paths
from agent.wire.client import Client
from agent.wire.decide import Answer as Attached
from agent.wire.decide import Ask, Weighed, WhatIf
from agent.wire.policy import Review
from agent.wire.state import Status
from agent.words.decisions import BRIEF, COLUMNS, FIGURES, MORE, explanation, headline, lines
from agent.words.figures import bits, listed, people
from agent.words.layout import Column, facts, numeric, table
from agent.words.notices import sent_to, waits
from agent.words.titles import (
    WHY_NOTHING,
    Titles,
    read_as,
    titled,
    titles_in,
    value_title,
    why,
    write_policy,
)

MEASURES = map(numeric, ("bits", "cost", "people"))
SETS = (Column("set"), *MEASURES, Column("breaks"), COLUMNS[0])
ROWS = (*COLUMNS[:-1], numeric("people"), COLUMNS[-1])
READING = f"{FIGURES}; people: how many would still look like you"
ONLY = "The attributes that the recipient can use. By default any."
EXPLAIN = "Show what would be sent and why, and send nothing."
HEADER = "Shared-Attributes"
STALE = (
    "the policy file has mistakes, so the rules before it are in use; "
    "`reticent policy check` lists them"
)


NO_VAULT = "nothing can be sent: there is no vault yet"
HINTS = {  # by why nothing was decided
    "no model": "see `reticent status`; `reticent model add` adds a model",
    "unfit": "see `reticent policy check` and `reticent requests recipients`; if a model was"
    " removed, add it again, or have what it told forgotten with `reticent requests forget`",
    "not https": "name its https address, or the host alone",
    "locked": "open it with `reticent unlock`",
}
ERRORS: dict[str, type[ReticentError]] = {"locked": LockedError, "not https": UsageError}


def undecided(code: Code, status: Status) -> ReticentError:
    """Name the error for a request that was not decided; ``status``: how the daemon is."""
    if code == "locked" and not status.vault and status.notice is None:
        return DaemonError(NO_VAULT, "make one with `reticent init`")
    hint = HINTS.get(code, "try again in a minute")
    if code == "no policy":
        path = status.policy.path
        wrong = f"`reticent policy check` says what is wrong with {path}"
        hint = wrong if status.policy.problems else write_policy(path)
    elif code == "failed":
        hint = status.notice or f"see `reticent status`, and the log: {paths().log}"
    return ERRORS.get(code, DaemonError)(f"nothing can be sent: {WHY_NOTHING[code]}", hint)


def decision_page(decision: Decision, *, explain: bool = True, every: bool = False) -> str:
    """Lay out a decision: the verdict alone, or with all that explains it."""
    if explain or every:
        return page(*explanation(decision, every=every))
    brief = [(each.label, each.text) for each in lines(decision) if each.label in BRIEF]
    return page(headline(decision), facts(brief), MORE)


def attached_page(attached: Attached, waiting: Iterable[Review], titles: Titles) -> str:
    """Lay out what is attached, with the values; ``waiting``: the reviews of whoever is asked."""
    summary = attached.summary
    if summary is None:  # as of what was not decided, which is an error
        return ""
    titles = titles_in(summary.model, titles)
    unset = listed(titled(attached.unspecified, titles))
    about = [("read as", read_as(summary.read_as))]
    if attached.attributes:
        sent = [*attached.attributes]
        again = [each.name for each in summary.because if each.reason == "known to the recipient"]
        again = [name for name in again if name in sent]
        verdict = sent_to(summary.pool, sent, titles, summary.people_left, again, summary.among)
    elif unset:
        verdict = f"Sent nothing to {summary.pool}: you prefer not to say {unset}."
    else:
        verdict = summary.headline.replace("Send", "Sent", 1)
    if unset:
        text = f"{unset}: left blank (the site can tell that you declined)"
        about.append(("unspecified", text))
    about += [("waits for you", waits(each, titles)) for each in waiting]
    pairs = ", ".join(f"{name}={value}" for name, value in attached.parameters.items())
    header = f"{HEADER}: {attached.header}" if attached.header else ""
    ways = {"header": header, "words": attached.words, "parameters": pairs}
    about += [(label, text) for label, text in ways.items() if text]
    named = ((titles.get(name, name), value) for name, value in attached.attributes.items())
    values = ((title, value_title(value, title)) for title, value in named)
    return page(verdict, facts(values), facts(about))


@click.command()
@click.argument("recipient", type=host)
@click.argument("query", type=QUERY)
@option("--only-names only", names, "A,B", ONLY)
@click.option("--explain", is_flag=True, help=EXPLAIN)
@all_option
@option("--with add", names, "A,B", "Explain the set with these facts too.")
@option("--without drop", names, "A,B", "Explain the set without these facts.")
@answers
def ask(
    recipient: str,
    query: str,
    *,
    only: tuple[str, ...] | None,
    explain: bool,
    every: bool,
    add: tuple[str, ...] | None,
    drop: tuple[str, ...] | None,
) -> Output:
    """Get the facts that a request of QUERY to RECIPIENT may carry.

    Ask only for what you are about to send: the answer is recorded as sent to the recipient, except
    with --explain. With - as QUERY it is read from the standard input: every user of this machine
    can read the arguments of a running command, and a shell keeps them.
    """
    if (add or drop) and not explain:
        what = "other facts than those decided cannot be sent"
        raise UsageError(what, "add --explain to compare them, or change your rules")
    asked = None if only is None else [*only]
    request = Ask(recipient=recipient, query=query, asked=asked)
    with door() as client:
        if add or drop:
            body = WhatIf(
                recipient=recipient,
                query=query,
                asked=asked,
                add=[*(add or ())],
                drop=[*(drop or ())],
            )
            return _compared(body, client)
        if explain:
            return _explained(request, client, every=every)
        attached: Attached = client.call("decide", request)
        if attached.stale_rules:
            note(STALE)
        if attached.code in UNDECIDED:
            return Output(attached, "", error=undecided(attached.code, client.call("status")))
        unseen = {*(only or ())} - {*attached.attributes, *attached.unspecified}
        if unseen:
            decision: Decision = client.call("explain", request)
            note_unknown(sorted(unseen), [*decision.titles])
        pool = attached.summary.pool if attached.summary and attached.summary.waiting else None
        reviews: list[Review] = client.call("reviews") if pool else []
        theirs = [each for each in reviews if each.pool == pool]
        return Output(attached, attached_page(attached, theirs, titles_of(client)))


def _explained(request: Ask, client: Client, *, every: bool) -> Output:
    decision: Decision = client.call("explain", request)
    if decision.stale_rules:
        note(STALE)
    if decision.code in UNDECIDED:
        return Output(decision, "", error=undecided(decision.code, client.call("status")))
    note_unknown(request.asked or (), [*decision.titles])
    return Output(decision, decision_page(decision, every=every))


def _compared(body: WhatIf, client: Client) -> Output:
    weighed: Weighed = client.call("whatif", body)
    note_unknown(body.asked or (), [each.name for each in weighed.rows])
    code = weighed.decision.code
    error = undecided(code, client.call("status")) if code in UNDECIDED else None
    return Output(weighed, weighed_page(weighed), error=error)


def note_unknown(given: Iterable[str], attributes: Sequence[str]) -> None:
    """Say which names the model lacks: it may for another recipient's, so that is no mistake.

    ``attributes``: those it has; none where nothing may be sent anyway, and then nothing is said.
    """
    for name in given:
        if attributes and name not in attributes:
            near = nearest(name, attributes)
            suggestion = "" if near is None else f": did you mean {near!r}?"
            note(f"the model lacks {name!r}{suggestion}")


def weighed_page(weighed: Weighed) -> str:
    """Lay out a set beside the one that would be sent: first what is in it, then the nearest."""
    titles = {each.name: each.title for each in weighed.rows}
    sets = []
    for what, each in {"decided": weighed.chosen, "what if": weighed.weighed}.items():
        figures = (bits(each.utility), bits(each.cost), people(each.people_left))
        contents = ", ".join(titled(each.names, titles)) or "nothing"
        sets.append((what, *figures, each.breaks or "-", contents))
    rows = []
    for row in sorted(weighed.rows, key=lambda row: (not row.disclosed, -row.net_bits)):
        before = row.name in weighed.chosen.names
        rows.append(
            (
                row.title,
                ("yes" if before else "new") if row.disclosed else "gone" if before else "-",
                bits(row.gain_bits, signed=True),
                bits(row.cost_bits),
                people(row.people_left),
                why(row.reason, row.rule, row.limit),
            )
        )
    about = [("columns", READING), *((each.label, each.text) for each in weighed.lines)]
    return page(weighed.headline, table(SETS, sets), table(ROWS, rows), facts(about))
