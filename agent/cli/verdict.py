"""`reticent approve` and `reticent deny`: the user's word on what waits."""

from collections.abc import Callable
from typing import TypedDict, Unpack

import click

from agent.cli.door import door, record
from agent.cli.layout import counted, paragraph
from agent.cli.options import json_option
from agent.cli.problems import printable
from agent.decision.phrases import listed
from agent.errors import UsageError
from agent.wire.client import Client
from agent.wire.reviews import About, Decided, Lasting, Review, Ruled, Verdict

LONGEST = 3650  # days

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
                type=click.IntRange(1, LONGEST),
                metavar="N",
                help="For N days, today included; written into the policy.",
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
    """Let what waits under ID leave, or only the attributes NAME, from the next request on."""
    _rule("approve", options)


@click.command()
@_options
def deny(**options: Unpack[VerdictOptions]) -> None:
    """Keep what waits under ID, or only the attributes NAME, from the next request on."""
    _rule("deny", options)


def _rule(decided: Decided, options: VerdictOptions) -> None:
    verdict = _verdict(decided, options)
    with door() as client:
        review = _review(client, options["number"])
        ruled: Ruled = client.call("verdict", verdict, id=review.id)
    click.echo(record(ruled) if options["as_json"] else verdict_text(review, verdict, ruled))


def _verdict(decided: Decided, options: VerdictOptions) -> Verdict:
    """Return the message; UsageError where it would last in two ways."""
    said: dict[str, Lasting] = {
        "once": "once",
        "until_restart": "until restart",
        "days": "days",
        "always": "always",
    }
    chosen = [name for name in said if options[name]]  # type: ignore[literal-required]
    if len(chosen) > 1:
        one, other = (f"--{name.replace('_', '-')}" for name in chosen[:2])
        raise UsageError(f"{one} does not go with {other}", "say one of them")
    about: About = "everyone" if options["everyone"] else "recipient"
    return Verdict(
        decided=decided,
        lasting=said[chosen[0]] if chosen else "once",
        about=about,
        names=[*options["names"]] or None,
        days=options["days"],
    )


def _review(client: Client, number: int) -> Review:
    """Return what waits under a number; UsageError where nothing does."""
    reviews: list[Review] = client.call("reviews")
    for each in reviews:
        if each.id == number:
            return each
    known = ", ".join(str(each.id) for each in reviews)
    hint = f"`reticent pending` lists what does: {known}" if known else "nothing waits at all"
    raise UsageError(f"nothing waits under {number}", hint)


def verdict_text(review: Review, verdict: Verdict, ruled: Ruled) -> str:
    """Return what was said, where it was written, and what it does not reach."""
    names = listed(verdict.names or review.names)
    whom = "everyone" if verdict.about == "everyone" else review.pool
    done = "may leave to" if verdict.decided == "approve" else "does not leave to"
    parts = [f"{names} {done} {whom} {_lasting(verdict)}."]
    if ruled.written is not None:
        parts.append(f"Written into the policy: {ruled.written}.")
    if ruled.without_effect:
        what = f"Without effect on {listed(ruled.without_effect)}:"
        parts.append(f"{what} another rule of the policy decides; see `reticent policy explain`.")
    return "\n".join(paragraph(printable(each)) for each in parts)


def _lasting(verdict: Verdict) -> str:
    match verdict.lasting:
        case "once":
            return "with the next request"
        case "until restart":
            return "until the daemon ends"
        case "days":
            return f"for {counted(verdict.days or 0, 'day')}"
    return "from now on"
