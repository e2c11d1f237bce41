"""`reticent approve` and `reticent deny`: the user's word on what waits."""

from collections.abc import Callable
from itertools import zip_longest
from typing import TypedDict, Unpack

import click
from msgspec.structs import replace as changed

from agent.cli.door import door
from agent.cli.layout import counted, paragraph
from agent.cli.options import json_option, record
from agent.cli.pending import waiting
from agent.cli.problems import printable
from agent.decision.phrases import listed
from agent.errors import UsageError
from agent.wire.base import MOST_DAYS
from agent.wire.reviews import About, Decided, Lasting, Review, Ruled, Verdict

Command = Callable[..., None]
ONCE = "For the next request only; the default, but for what a recipient offers to use."


class VerdictOptions(TypedDict):
    """The options of both commands, as click hands them over."""

    number: int
    names: tuple[str, ...]
    once: bool
    until_restart: bool
    days: int | None
    always: bool
    everyone: bool
    as_json: bool


def _options(command: Command) -> Command:
    """Give a command what both take."""
    for each in reversed(
        (
            click.argument("number", type=int, metavar="ID"),
            click.argument("names", nargs=-1, metavar="[NAME]..."),
            click.option("--once", is_flag=True, help=ONCE),
            click.option("--until-restart", is_flag=True, help="Until the daemon ends."),
            click.option(
                "--days",
                type=click.IntRange(1, MOST_DAYS),
                metavar="N",
                help="For N days; written into the policy.",
            ),
            click.option("--always", is_flag=True, help="For good; written into the policy."),
            click.option("--everyone", is_flag=True, help="For every recipient, not this one."),
            json_option,
        )
    ):
        command = each(command)
    return command


@click.command()
@_options
def approve(**options: Unpack[VerdictOptions]) -> None:
    """Let what waits under ID leave, or only the attributes NAME, from the next request on.

    Of what a recipient offers to use: from then on it gets no more than that, as the policy allows,
    for good or with --days; when these are over, nothing.
    """
    _rule("approve", options)


@click.command()
@_options
def deny(**options: Unpack[VerdictOptions]) -> None:
    """Keep what waits under ID, or only the attributes NAME, from the next request on.

    A recipient whose offer is denied gets nothing any more, for good or with --days, by a rule that
    is written into the policy.
    """
    _rule("deny", options)


def _rule(decided: Decided, options: VerdictOptions) -> None:
    verdict = _verdict(decided, options)
    with door() as client:
        review = waiting(options["number"], client.call("reviews"))
        if review.kind == "offer":
            _check_offer(options, verdict)
        verdict = _shown(verdict, review)
        ruled: Ruled = client.call("verdict", verdict, id=review.id)
        place = None if ruled.written is None else client.call("policy").path
    if options["as_json"]:
        click.echo(record(ruled))
        return
    said = [verdict_line(review, verdict), *ruled_lines(ruled, place)]
    click.echo("\n".join(paragraph(printable(each)) for each in said))


def _verdict(decided: Decided, options: VerdictOptions) -> Verdict:
    """Return the message; UsageError where it would last in two ways."""
    said: dict[str, Lasting] = {
        "once": "once",
        "until_restart": "until restart",
        "days": "days",
        "always": "always",
    }
    chosen = [name for name in said if options[name]]  # type: ignore[literal-required]  # each is a key
    if len(chosen) > 1:
        one, other = (f"--{name.replace('_', '-')}" for name in chosen[:2])
        raise UsageError(f"{one} does not go with {other}", "say one of them")
    about: About = "everyone" if options["everyone"] else "recipient"
    return Verdict(
        decided=decided,
        lasting=said[chosen[0]] if chosen else "once",
        about=about,
        names=[*dict.fromkeys(options["names"])] or None,
        days=options["days"],
    )


def _shown(verdict: Verdict, review: Review) -> Verdict:
    """Return the verdict on what the review has now, so that it is none on what it has later.

    UsageError for a name that does not wait in it.
    """
    for name in verdict.names or ():
        if name not in review.names:
            raise UsageError.unknown("attribute of the review", name, review.names)
    return changed(verdict, names=verdict.names or review.names, pool=review.pool)


def _check_offer(options: VerdictOptions, verdict: Verdict) -> None:
    """Refuse what cannot be said of an offer; UsageError."""
    for name in ("once", "until_restart"):
        if options[name]:
            what = f"--{name.replace('_', '-')} does not go with an offer"
            raise UsageError(what, "it is settled for good, or with --days N")
    if verdict.decided == "deny" and verdict.names:
        hint = f"`reticent approve {options['number']} NAME...` says what its recipient may use"
        raise UsageError("an offer is denied as a whole", hint)


def verdict_line(review: Review, verdict: Verdict) -> str:
    """Return what was said, about whom and for how long."""
    names = listed(verdict.names or review.names)
    approved = verdict.decided == "approve"
    if review.kind == "offer":
        lasting = _lasting(verdict) if verdict.days else "from now on"
        if approved:
            more = "; when these are over, nothing" if verdict.days else ""
            may = f"{review.recipient} may get {names} and nothing else {lasting}"
            return f"{may}, as the policy allows{more}."
        return f"{review.recipient} gets nothing {lasting}."
    whom = "everyone" if verdict.about == "everyone" else review.pool
    may = "may leave to" if approved else "does not leave to"
    return f"{names} {may} {whom} {_lasting(verdict)}."


def ruled_lines(ruled: Ruled, place: str | None) -> list[str]:
    """Return where the verdict was written, and what it does not reach, and why."""
    lines = [] if ruled.written is None else [f"Written into {place} as {ruled.written!r}."]
    for name, rule in zip_longest(ruled.without_effect, ruled.decided_by, fillvalue="another rule"):
        lines.append(f"Without effect on {name}, about which {rule!r} decides.")
    return lines


def _lasting(verdict: Verdict) -> str:
    match verdict.lasting:
        case "once":
            return "with the next request"
        case "until restart":
            return "until the daemon ends"
        case "days":
            return f"for {counted(verdict.days or 0, 'day')}"
    return "from now on"
