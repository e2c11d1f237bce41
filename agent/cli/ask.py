"""`reticent ask` and `whatif`: what one request may carry, and what another set would bring."""

from collections.abc import Iterable, Sequence
from typing import TypedDict, Unpack

import click

from agent.cli.daemon_client import door, titles_of
from agent.cli.options import (
    QUERY,
    check_asked,
    check_host,
    explain_option,
    flat,
    json_option,
    names,
    record,
)
from agent.cli.printing import Column, facts, note, paragraph, printable, strong, table
from agent.errors import DaemonError, LockedError, ReticentError, UsageError, VaultError, nearest
from agent.paths import Paths, paths
from agent.wire.client import Client
from agent.wire.decide import Answer, Ask, Code, Explained, Line, Reason
from agent.wire.policy import Review
from agent.wire.state import Status
from agent.wire.what_if import Row, Weighed, Weight, WhatIf
from agent.words.decisions import UNCOVERED
from agent.words.figures import apart, bits, listed, people
from agent.words.outcomes import why, write_policy
from agent.words.titles import NONE, Titles, titled, value_title

SO = ", so nothing may be attached"
NO_VAULT = VaultError(f"there is no vault yet{SO}", "make one with `reticent init`")
UNDECIDED: dict[Code, ReticentError] = {
    "locked": LockedError(f"the vault is locked{SO}", "open it with `reticent unlock`"),
    "no policy": DaemonError(f"there is no policy in use{SO}", "see `reticent status`"),
    "no model": DaemonError(
        f"the model that the policy asks for is not there{SO}",
        "see `reticent status`; `reticent model add` adds one",
    ),
    "unfit": DaemonError(
        f"the model does not fit the policy, or what is held of you{SO}",
        "see `reticent policy check` and `reticent requests knows`",
    ),
    "not https": UsageError(
        f"the recipient's address is not https, so the network would read it{SO}",
        "name its https address, or the host alone",
    ),
    "too many": DaemonError(f"too much was asked in the last minute{SO}", "try again in a minute"),
    "too many from pages": DaemonError(
        f"pages asked too often in the last minute{SO}", "try again in a minute"
    ),
    "failed": DaemonError(f"the daemon could not decide{SO}", "see its log"),
}
COLUMNS = (
    Column("attribute", wraps=True),
    Column("in"),
    Column("gain", right=True),
    Column("cost", right=True),
    Column("why", wraps=True),
)
HEADER = "Shared-Attributes"
STALE = (
    "the policy file has mistakes, so the rules before it are in use; "
    "`reticent policy check` lists them"
)
SETS = (
    Column("set"),
    Column("bits", right=True),
    Column("cost", right=True),
    Column("people", right=True),
    Column("breaks"),
    Column("attributes", wraps=True),
)
ROWS = (
    Column("attribute", wraps=True),
    Column("in"),
    Column("gain", right=True),
    Column("cost", right=True),
    Column("people", right=True),
    Column("rule"),
    Column("why", wraps=True),
)
READING = (
    "gain and cost: bits that it adds to the rest of the set, or would; people: expected to be "
    "left with it"
)
TODAY = "; figures and reasons are by the rules of today"
BRIEF = ("read as", "hint")  # lines that are shown without --explain
EXPLAIN = "Add --explain to see what each fact would gain and cost."
WHICH = "write QUERY and --recipient HOST, or --all in place of QUERY, or --entry N alone"


def undecided(code: Code, status: Status, at: Paths) -> ReticentError:
    """Return the error for one of the codes above; ``status``: how the daemon is."""
    found = UNDECIDED[code]
    match code:
        case "locked" if not status.vault and status.notice is None:
            return NO_VAULT
        case "no policy" if status.policy.problems:
            hint = f"`reticent policy check` says what is wrong with {status.policy.path}"
        case "no policy":
            hint = write_policy(status.policy.path)
        case "failed" if status.notice is not None:
            hint = status.notice
        case "failed":
            hint = f"`reticent status` says why if the vault is at fault, else {at.log} where"
        case _:
            return found
    return DaemonError(found.what, hint)


def explanation_page(
    headline: str,
    outcomes: Iterable[Reason],
    first: Sequence[str],
    lines: Sequence[Line],
    titles: Titles = NONE,
    *,
    explain: bool = True,
) -> str:
    """Return the page; ``first``: what is disclosed, then what waits, each in its order.

    The other attributes follow, the nearest miss first; without ``explain`` no figures do.
    """
    if not explain:
        shown = [(each.label, printable(each.text)) for each in lines if each.label in BRIEF]
        parts = [strong(paragraph(printable(headline))), *([facts(shown)] if shown else [])]
        return "\n\n".join([*parts, EXPLAIN])
    place = {name: number for number, name in enumerate(first)}
    rows = sorted(
        (each for each in outcomes if each.gain_bits is not None),
        key=lambda each: (place.get(each.name, len(place)), -each.net_bits, each.name),
    )
    parts = [strong(paragraph(printable(headline)))]
    parts += [table(COLUMNS, [_row(each, titles) for each in rows])] if rows else []
    parts += [facts((each.label, printable(each.text)) for each in lines)] if lines else []
    return "\n\n".join(parts)


def _row(each: Reason, titles: Titles) -> tuple[str, ...]:
    decimals = apart(each.gain_bits, each.cost_bits)  # what decides must not be rounded away
    return (
        printable(titles.get(each.name, each.name)),
        "yes" if each.disclosed else "-",
        bits(each.gain_bits, signed=True, decimals=decimals),
        bits(each.cost_bits, decimals=decimals),
        printable(why(each.reason, each.rule, each.limit)),
    )


def answer_text(answer: Answer, waiting: Iterable[Review], titles: Titles, *, explain: bool) -> str:
    """Return what may be attached, with the values, the plain sentence on top.

    ``waiting``: the reviews of whoever is asked.
    """
    summary, none = answer.summary, not answer.attributes and bool(answer.unspecified)
    decided = [] if summary is None else [printable(summary.headline)]
    unset = listed(titled(answer.unspecified, titles))
    if answer.attributes:
        parts = [strong(paragraph(each)) for each in decided]
        named = ((titles.get(each, each), value) for each, value in answer.attributes.items())
        parts.append(facts((printable(t), printable(value_title(v, t))) for t, v in named))
        parts.append(facts([("header", f"{HEADER}: {printable(answer.header)}")]))
    elif none:
        parts = [strong(paragraph(f"Nothing is attached: you prefer not to say {unset}."))]
    else:
        parts = [strong(paragraph(each)) for each in decided]
        parts.append(paragraph("Nothing is attached."))
    lines = [("decided", each) for each in decided] if none else []
    lines += [("read as", read_as(summary.read_as))] if summary is not None else []
    left_out = "left out; that is an answer too, and counts as known"
    lines += [("unspecified", f"{printable(unset)}: {left_out}")] if unset else []
    lines += [("waits for you", _waits(each, titles)) for each in waiting]
    if explain and answer.id is not None and summary is not None:
        place = f"entry {answer.id} of the ledger, as told to {printable(summary.pool)}"
        lines += [("recorded", place), ("people", _counted(summary.people_left))]
    parts += [facts(lines)] if lines else []
    return "\n\n".join(parts)


def read_as(query: str | None) -> str:
    """Return which known query a text was read as."""
    return UNCOVERED if query is None else repr(printable(query.replace("_", " ")))


def _counted(left: float) -> str:
    """Return how many people there really are, where the sentence on top has what was expected."""
    return (
        f"{people(left)} fit your actual answer; the number above is the average over all answers"
    )


def _waits(review: Review, titles: Titles) -> str:
    names = printable(listed(titled(review.names, titles)))
    yes, no = (f"`reticent requests {word} {review.id}`" for word in ("approve", "deny"))
    return f"{names}, until you say {yes} or {no}"


def explained_text(explained: Explained, titles: Titles, *, explain: bool) -> str:
    """Return what would be decided, as `reticent model decide` prints it."""
    first = [*explained.disclosed, *explained.pending]
    return explanation_page(
        explained.headline, explained.candidates, first, explained.lines, titles, explain=explain
    )


class AskOptions(TypedDict):
    """The options of `reticent ask`, as click hands them over."""

    recipient: str
    query: str
    only: tuple[str, ...] | None
    dry_run: bool
    explain: bool
    as_json: bool


@click.command()
@click.argument("recipient")
@click.argument("query", type=QUERY)
@click.option(
    "--only-names",
    "only",
    type=names,
    metavar="A,B",
    help="The attributes that the recipient can use. By default any.",
)
@click.option("--dry-run", is_flag=True, help="Explain what would be decided; nothing is recorded.")
@explain_option
@json_option
@click.pass_context
def ask(context: click.Context, /, **options: Unpack[AskOptions]) -> None:
    """Get the facts that a request of QUERY to RECIPIENT may carry.

    Ask only for what you are about to send: the answer is recorded as sent to the recipient. With -
    as QUERY it is read from the standard input: every user of this machine can read the arguments
    of a running command, and a shell keeps them.
    """
    request = _request(options)
    with door() as client:
        if options["dry_run"]:
            found: Explained = client.call("explain", request)
            text = (
                record(found)
                if options["as_json"]
                else explained_text(found, titles_of(client), explain=options["explain"])
            )
            code, stale = found.code, found.stale_rules
            note_unknown(options["only"] or (), [each.name for each in found.candidates])
        else:
            answer: Answer = client.call("decide", request)
            text = (
                record(answer)
                if options["as_json"]
                else _page(client, answer, explain=options["explain"])
            )
            code, stale = answer.code, answer.stale_rules
            unseen = {*(options["only"] or ())} - {*answer.attributes, *answer.unspecified}
            if unseen and code not in UNDECIDED:
                note_unknown(
                    sorted(unseen),
                    [each.name for each in client.call("explain", request).candidates],
                )
        if stale:
            note(STALE)
        if code in UNDECIDED and not options["as_json"]:
            raise undecided(code, client.call("status"), paths())
    click.echo(text)
    context.exit(UNDECIDED[code].exit_code if code in UNDECIDED else 0)


def _request(options: AskOptions) -> Ask:
    """Return the request; UsageError where it cannot be one."""
    check_host(options["recipient"])
    check_asked(options["query"], "`reticent ask books.example 'version control'`")
    only = options["only"]
    asked = None if only is None else [*only]
    return Ask(recipient=options["recipient"], query=options["query"], asked=asked)


def note_unknown(asked: Iterable[str], known: Sequence[str]) -> None:
    """Say which names the model lacks: it may for another recipient's, so that is no mistake.

    ``known``: those it has; none where nothing may leave anyway, and then nothing is said.
    """
    for name in asked:
        if known and name not in known:
            near = nearest(name, known)
            meant = "" if near is None else f": did you mean {near!r}?"
            note(f"the model lacks {name!r}{meant}")


def _page(client: Client, answer: Answer, *, explain: bool) -> str:
    """Return the page of an answer; what waits is asked for only where something does."""
    summary, titles = answer.summary, titles_of(client)
    if summary is None or not summary.waiting:
        return answer_text(answer, (), titles, explain=explain)
    reviews: list[Review] = client.call("reviews")
    theirs = [each for each in reviews if each.pool == summary.pool]
    return answer_text(answer, theirs, titles, explain=explain)


def weighed_text(weighed: Weighed, *, past: bool, explain: bool) -> str:
    """Return all that there is to say of a set beside another; ``past``: of one that has left.

    What is in comes first, then what would bring most for its cost.
    """
    head = strong(paragraph(printable(weighed.headline)))
    if not explain:
        return f"{head}\n\n{EXPLAIN}"
    chosen, other = weighed.chosen, weighed.weighed
    sets = [_set("told" if past else "leaves", chosen)]
    sets += [_set("what if", other)] if other != chosen else []
    rows = sorted(weighed.rows, key=lambda row: (not row.inside, -row.net_bits))
    lines = [
        ("columns", READING + (TODAY if past else "")),
        *((each.label, printable(each.text)) for each in weighed.lines),
    ]
    parts = [head, table(SETS, sets)]
    parts += (
        [table(ROWS, [_weighed_row(each, chosen.names, past=past) for each in rows])]
        if rows
        else []
    )
    return "\n\n".join([*parts, facts(lines)])


def _set(what: str, weight: Weight) -> tuple[str, ...]:
    return (
        what,
        bits(weight.utility_bits),
        bits(weight.cost_bits),
        people(weight.people_left),
        weight.breaks or "-",
        printable(", ".join(weight.names)) or "nothing",
    )


def _weighed_row(row: Row, chosen: Sequence[str], *, past: bool) -> tuple[str, ...]:
    return (
        printable(row.name),
        _place(row, chosen),
        bits(row.gain_bits, signed=True),
        bits(row.cost_bits),
        people(row.people_left),
        row.disclose,
        printable(_then(row, chosen, past=past) + why(row.reason, row.rule, row.limit)),
    )


def _then(row: Row, chosen: Sequence[str], *, past: bool) -> str:
    """Return what became of an attribute with a request of the past, before today's reason."""
    if not past:
        return ""
    return "told; today: " if row.name in chosen else ""


def _place(row: Row, chosen: Sequence[str]) -> str:
    """Return whether an attribute is in the set, and by which change."""
    if row.inside:
        return "yes" if row.name in chosen else "new"
    return "gone" if row.name in chosen else "-"


class WhatIfOptions(TypedDict):
    """The options of `reticent requests whatif`, as click hands them over."""

    query: str | None
    recipient: str | None
    asked: tuple[str, ...] | None
    entry: int | None
    add: tuple[tuple[str, ...], ...]
    drop: tuple[tuple[str, ...], ...]
    standing: bool
    explain: bool
    as_json: bool


@click.command()
@click.argument("query", type=QUERY, required=False)
@click.option("--recipient", metavar="HOST", help="Who would receive the request.")
@click.option(
    "--asked",
    type=names,
    metavar="A,B",
    help="The attributes that the recipient can use. By default any.",
)
@click.option(
    "--entry",
    type=click.IntRange(1),
    metavar="N",
    help="The request of entry N of the ledger, as things stood before it.",
)
@click.option("--with", "add", type=names, multiple=True, metavar="A,B", help="Add these.")
@click.option("--without", "drop", type=names, multiple=True, metavar="A,B", help="Drop these.")
@click.option(
    "--all", "standing", is_flag=True, help="All queries of the model on average, not one."
)
@explain_option
@json_option
@click.pass_context
def whatif(context: click.Context, /, **options: Unpack[WhatIfOptions]) -> None:
    """Compare other facts with those that would be sent.

    With QUERY, or with an entry of the ledger. Nothing is sent, recorded or changed. With - as
    QUERY it is read from the standard input, where no other user of this machine sees it.
    """
    body = _body(options)
    with door() as client:
        found: Weighed = client.call("whatif", body)
        if found.code in UNDECIDED and not options["as_json"]:
            raise undecided(found.code, client.call("status"), paths())
    note_unknown(body.asked or (), [each.name for each in found.rows])
    past, explain = bool(body.entry), options["explain"]
    page = weighed_text(found, past=past, explain=explain)
    click.echo(record(found) if options["as_json"] else page)
    context.exit(UNDECIDED[found.code].exit_code if found.code in UNDECIDED else 0)


def _body(options: WhatIfOptions) -> WhatIf:
    """Return the question; UsageError where it is not said, or said twice, which request."""
    query, recipient, asked = options["query"], options["recipient"], options["asked"]
    named = (query, recipient, asked)
    if options["entry"] is not None:
        if options["standing"] or any(each is not None for each in named):
            raise UsageError("--entry already specifies the request", WHICH)
    elif recipient is None:
        raise UsageError("no request specified", WHICH)
    elif options["standing"] == bool((query or "").strip()):
        raise UsageError("specify either one query or all", WHICH)
    if query is not None:
        check_asked(query, "`reticent requests whatif 'version control' --recipient books.example`")
    if recipient is not None:
        check_host(recipient)
    return WhatIf(
        entry=options["entry"],
        recipient=recipient,
        query=None if options["standing"] else query,
        asked=None if asked is None else [*asked],
        add=sorted(flat(options["add"])),
        drop=sorted(flat(options["drop"])),
    )
