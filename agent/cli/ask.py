"""`reticent ask` and `whatif`: what one request may carry, and what another set would bring."""

from collections.abc import Iterable, Sequence
from typing import Any

import click

from agent.cli.daemon_client import door, titles_of
from agent.cli.options import QUERY, Answer, answers, explain_option, flat, host, names, option
from agent.cli.printing import Column, facts, note, numeric, page, paragraph, table, wide
from agent.errors import DaemonError, LockedError, ReticentError, UsageError, nearest
from agent.paths import paths
from agent.wire.decide import UNDECIDED, Ask, Code, Explained
from agent.wire.decide import Answer as Attached
from agent.wire.policy import Review
from agent.wire.state import Status
from agent.wire.what_if import Weighed, WhatIf
from agent.words.figures import apart, bits, listed, of_whom, people
from agent.words.notices import sent_to, waits
from agent.words.outcomes import WHY_NOTHING, why, write_policy
from agent.words.titles import NONE, Titles, read_as, titled, titles_in, value_title

COLUMNS = (wide("fact"), Column("sent"), numeric("gain"), numeric("cost"), wide("why", 24))
MEASURES = map(numeric, ("bits", "cost", "people"))
SETS = (Column("set"), *MEASURES, Column("breaks"), wide("facts"))
ROWS = (*COLUMNS[:-1], numeric("people"), Column("rule"), COLUMNS[-1])
FIGURES = "gain and cost: bits that a fact adds to the rest of the set, or would add"
READING = f"{FIGURES}; people: how many would still look like you"
TODAY = "; figures and reasons follow today's rules"
ONLY = "The attributes that the recipient can use. By default any."
HEADER = "Shared-Attributes"
STALE = (
    "the policy file has mistakes, so the rules before it are in use; "
    "`reticent policy check` lists them"
)
BRIEF = ("read as", "hint")  # lines that are shown without --explain
EXPLAIN = "Add --explain to see what each fact would gain and cost."
WHICH = "write QUERY and --recipient HOST, or --all in place of QUERY, or --entry N alone"


def undecided(code: Code, status: Status) -> ReticentError:
    """Return the error for a request that was not decided; ``status``: how the daemon is."""
    policy, what = status.policy, WHY_NOTHING[code]
    error: type[ReticentError] = DaemonError
    match code:
        case "locked" if not status.vault and status.notice is None:
            what, hint = "there is no vault yet", "make one with `reticent init`"
        case "locked":
            error, hint = LockedError, "open it with `reticent unlock`"
        case "no policy" if policy.problems:
            hint = f"`reticent policy check` says what is wrong with {policy.path}"
        case "no policy":
            hint = write_policy(policy.path)
        case "no model":
            hint = "see `reticent status`; `reticent model add` adds a model"
        case "unfit":
            hint = (
                "see `reticent policy check` and `reticent requests knows`; if a model was removed,"
                " add it again, or have what it told forgotten with `reticent requests forget`"
            )
        case "not https":
            error, hint = UsageError, "name its https address, or the host alone"
        case "failed":
            hint = status.notice or f"see `reticent status`, and the log: {paths().log}"
        case _:
            hint = "try again in a minute"
    return error(f"nothing can be sent: {what}", hint)


def explanation_page(explained: Explained, titles: Titles = NONE, *, explain: bool = True) -> str:
    """Return what would be decided: what is sent first, then what waits, then the nearest misses.

    Without ``explain`` no figures follow the verdict.
    """
    if not explain:
        brief = [(each.label, each.text) for each in explained.lines if each.label in BRIEF]
        return page(explained.headline, facts(brief), EXPLAIN)
    first = [*explained.disclosed, *explained.pending]
    rows = []
    for each in sorted(
        (each for each in explained.candidates if each.gain_bits is not None),
        key=lambda each: (
            first.index(each.name) if each.name in first else len(first),
            -each.net_bits,
            each.name,
        ),
    ):
        decimals = apart(each.gain_bits, each.cost_bits)  # what decides must not be rounded away
        gain = bits(each.gain_bits, signed=True, decimals=decimals)
        cost = bits(each.cost_bits, decimals=decimals)
        inside = "yes" if each.disclosed else "-"
        because = why(each.reason, each.rule, each.limit)
        rows.append((titles.get(each.name, each.name), inside, gain, cost, because))
    lines = ((each.label, each.text) for each in explained.lines)
    legend = paragraph(f"{FIGURES}.") if rows else ""
    return page(explained.headline, table(COLUMNS, rows), legend, facts(lines))


def attached_page(
    attached: Attached, waiting: Iterable[Review], titles: Titles, *, explain: bool
) -> str:
    """Return what is attached, with the values; ``waiting``: the reviews of whoever is asked."""
    summary = attached.summary
    if summary is None:  # as of what was not decided, which is an error
        return ""
    titles = titles_in(summary.model, titles)
    unset = listed(titled(attached.unspecified, titles))
    lines = [("read as", read_as(summary.read_as))]
    if attached.attributes:
        sent, known = [*attached.attributes], "known to the recipient"
        again = [each.name for each in summary.because if each.reason == known]
        again = [name for name in again if name in sent]
        verdict = sent_to(summary.pool, sent, titles, summary.people_left, again, summary.among)
    elif unset:
        verdict = f"Sent nothing to {summary.pool}: you prefer not to say {unset}."
    else:
        verdict = summary.headline.replace("Send", "Sent", 1)
    if unset:
        text = f"{unset}: left out, which is an answer too, and counts as known"
        lines.append(("unspecified", text))
    lines += [("waits for you", waits(each, titles)) for each in waiting]
    pairs = ", ".join(f"{name}={value}" for name, value in attached.parameters.items())
    header = f"{HEADER}: {attached.header}" if attached.header else ""
    ways = {"header": header, "words": attached.words, "parameters": pairs}
    lines += [(label, text) for label, text in ways.items() if text]
    if explain and attached.id is not None:
        lines.append(("helps", f"{bits(summary.utility_bits)} bits better served"))
        lines.append(("recorded", f"entry {attached.id} of the ledger, as sent to {summary.pool}"))
        estimated = summary.among is not None and summary.among.estimated
        left = f"{of_whom(summary.people_left, summary.among)} fit all that it knows"
        left = f"about {left}" if estimated else left
        lines.append(("people", left))
    named = ((titles.get(name, name), value) for name, value in attached.attributes.items())
    values = ((title, value_title(value, title)) for title, value in named)
    return page(verdict, facts(values), facts(lines))


@click.command()
@click.argument("recipient", type=host)
@click.argument("query", type=QUERY)
@option("--only-names only", names, "A,B", ONLY)
@click.option("--dry-run", is_flag=True, help="Explain what would be decided; nothing is recorded.")
@explain_option
@answers
def ask(
    recipient: str, query: str, *, only: tuple[str, ...] | None, dry_run: bool, explain: bool
) -> Answer:
    """Get the facts that a request of QUERY to RECIPIENT may carry.

    Ask only for what you are about to send: the answer is recorded as sent to the recipient. With -
    as QUERY it is read from the standard input: every user of this machine can read the arguments
    of a running command, and a shell keeps them.
    """
    request = Ask(recipient=recipient, query=query, asked=None if only is None else [*only])
    with door() as client:
        found: Attached | Explained = client.call("explain" if dry_run else "decide", request)
        if found.stale_rules:
            note(STALE)
        if found.code in UNDECIDED:
            return Answer(found, "", error=undecided(found.code, client.call("status")))
        if isinstance(found, Explained):
            note_unknown(only or (), [each.name for each in found.candidates])
            return Answer(found, explanation_page(found, titles_of(client), explain=explain))
        unseen = [each for each in only or () if each not in found.attributes]
        unseen = [each for each in unseen if each not in found.unspecified]
        if unseen:
            candidates = client.call("explain", request).candidates
            note_unknown(unseen, [each.name for each in candidates])
        pool = found.summary.pool if found.summary and found.summary.waiting else None
        reviews: list[Review] = client.call("reviews") if pool else []
        theirs = [each for each in reviews if each.pool == pool]
        return Answer(found, attached_page(found, theirs, titles_of(client), explain=explain))


def note_unknown(asked: Iterable[str], known: Sequence[str]) -> None:
    """Say which names the model lacks: it may for another recipient's, so that is no mistake.

    ``known``: those it has; none where nothing may leave anyway, and then nothing is said.
    """
    for name in asked:
        if known and name not in known:
            near = nearest(name, known)
            meant = "" if near is None else f": did you mean {near!r}?"
            note(f"the model lacks {name!r}{meant}")


def weighed_page(weighed: Weighed, *, past: bool, explain: bool) -> str:
    """Return a set beside another; ``past``: of one that has left.

    What is in comes first, then what would bring most for its cost.
    """
    if not explain:
        return page(weighed.headline, EXPLAIN)
    titles = {each.name: each.title for each in weighed.rows}
    chosen, other = weighed.chosen, weighed.weighed
    sets = []
    for what, each in {"sent" if past else "decided": chosen, "what if": other}.items():
        if each is chosen or each != chosen:
            figures = (bits(each.utility_bits), bits(each.cost_bits), people(each.people_left))
            held = ", ".join(titled(each.names, titles)) or "nothing"
            sets.append((what, *figures, each.breaks or "-", held))
    rows = []
    for row in sorted(weighed.rows, key=lambda row: (not row.inside, -row.net_bits)):
        before = row.name in chosen.names
        place = ("yes" if before else "new") if row.inside else "gone" if before else "-"
        because = why(row.reason, row.rule, row.limit)
        rows.append(
            (
                row.title,
                place,
                bits(row.gain_bits, signed=True),
                bits(row.cost_bits),
                people(row.people_left),
                row.disclose,
                f"sent; today: {because}" if past and before else because,
            )
        )
    lines = [("columns", READING + (TODAY if past else ""))]
    lines += [(each.label, each.text) for each in weighed.lines]
    return page(weighed.headline, table(SETS, sets), table(ROWS, rows), facts(lines))


@click.command()
@click.argument("query", type=QUERY, required=False)
@option("--recipient", host, "HOST", "Who would receive the request.")
@option("--asked", names, "A,B", ONLY)
@option("--entry", click.IntRange(1), "N", "Entry N of the ledger, as things stood before it.")
@option("--with add", names, "A,B", "Add these.", multiple=True)
@option("--without drop", names, "A,B", "Drop these.", multiple=True)
@click.option("--all", "standing", is_flag=True, help="All queries on average, not one.")
@explain_option
@answers
def whatif(*, standing: bool, explain: bool, **given: Any) -> Answer:  # noqa: ANN401  (as WhatIf has them)
    """Compare other facts with those that would be sent.

    With QUERY, or with an entry of the ledger. Nothing is sent, recorded or changed. With - as
    QUERY it is read from the standard input, where no other user of this machine sees it.
    """
    named = [given[each] is not None for each in ("query", "recipient", "asked")]
    if given["entry"] is not None and (standing or any(named)):
        raise UsageError("--entry already specifies the request", WHICH)
    if given["entry"] is None and given["recipient"] is None:
        raise UsageError("no request specified", WHICH)
    if given["entry"] is None and standing == (given["query"] is not None):
        raise UsageError("specify either one query or all", WHICH)
    sets = {name: sorted(flat(given[name])) for name in ("add", "drop")}
    asked = None if given["asked"] is None else [*given["asked"]]
    body = WhatIf(**given | sets | {"asked": asked})
    with door() as client:
        found: Weighed = client.call("whatif", body)
        note_unknown(body.asked or (), [each.name for each in found.rows])
        undone = undecided(found.code, client.call("status")) if found.code in UNDECIDED else None
    text = weighed_page(found, past=body.entry is not None, explain=explain)
    return Answer(found, text, error=undone)
