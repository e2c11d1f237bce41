"""`reticent approve` and `reticent deny`: the user's word on what waits."""

from collections.abc import Callable
from itertools import zip_longest
from typing import TypedDict, Unpack

import click
from msgspec.structs import replace as changed

from agent.cli.door import door
from agent.cli.layout import counted, paragraph
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.decision.phrases import listed
from agent.errors import UsageError
from agent.wire.base import MOST_DAYS
from agent.wire.client import Client
from agent.wire.reviews import About, Decided, Lasting, Review, Ruled, Verdict

Command = Callable[..., None]


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
            click.option("--once", is_flag=True, help="For the next request only; the default."),
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

    What a recipient offers to use is settled for good, or with --days.
    """
    _rule("approve", options)


@click.command()
@_options
def deny(**options: Unpack[VerdictOptions]) -> None:
    """Keep what waits under ID, or only the attributes NAME, from the next request on.

    A recipient whose offer is denied gets nothing any more, or with --days for so long.
    """
    _rule("deny", options)


def _rule(decided: Decided, options: VerdictOptions) -> None:
    verdict = _verdict(decided, options)
    with door() as client:
        review = _review(client, options["number"])
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


def _review(client: Client, number: int) -> Review:
    """Return what waits under a number; UsageError where nothing does."""
    reviews: list[Review] = client.call("reviews")
    for each in reviews:
        if each.id == number:
            return each
    known = ", ".join(str(each.id) for each in reviews)
    hint = f"`reticent pending` lists what does: {known}" if known else "nothing waits at all"
    raise UsageError(f"nothing waits under {number}", hint)


def verdict_line(review: Review, verdict: Verdict) -> str:
    """Return what was said, about whom and for how long."""
    names = listed(verdict.names or review.names)
    approved = verdict.decided == "approve"
    if review.kind == "offer":
        lasting = _lasting(verdict) if verdict.days else "from now on"
        if approved:
            return f"{names} may be used for {review.recipient} {lasting}, as the policy allows."
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
