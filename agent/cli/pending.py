"""`reticent pending`: what waits for the user's word."""

import click

from agent.cli.door import door
from agent.cli.layout import counted, facts, moment, paragraph, strong
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.decision.phrases import bits, listed, people
from agent.wire.reviews import Review

HOW = (
    "`reticent approve ID` lets it leave with the next request, `reticent deny ID` does not; both "
    "also for longer: see --help."
)


@click.command()
@click.option(
    "--dismiss", type=int, metavar="ID", multiple=True, help="Take it off the list, ruling nothing."
)
@json_option
def pending(*, dismiss: tuple[int, ...], as_json: bool) -> None:
    """List what waits for your word: attributes ruled `ask`, and what recipients offer to use."""
    with door() as client:
        for each in dismiss:
            client.call("dismiss", id=each)
        found: list[Review] = client.call("reviews")
    click.echo(record({"waiting": found}) if as_json else pending_text(found))


def pending_text(reviews: list[Review]) -> str:
    """Return what waits as a page, each with its number."""
    if not reviews:
        return "Nothing waits for you."
    verb = "waits" if len(reviews) == 1 else "wait"
    head = strong(f"{counted(len(reviews), 'request')} {verb} for you.")
    lines = [(str(each.id), printable(review_line(each))) for each in reviews]
    return "\n\n".join([head, facts(lines), paragraph(HOW)])


def review_line(review: Review) -> str:
    """Return in one sentence who would get what, why, and what it would mean."""
    names = listed(review.names)
    if review.kind == "offer":
        return f"{review.recipient} says that it can use {names} ({moment(review.at)})"
    pool = "" if review.pool == review.recipient else f", and so {review.pool}"
    why = f", with {review.query!r}" if review.query else ""
    return f"{names} to {review.recipient}{pool}{why}{_figures(review)} ({moment(review.at)})"


def _figures(review: Review) -> str:
    said = []
    if review.more_bits is not None:
        said.append(f"{bits(review.more_bits, signed=True)} bits better served")
    if review.people_left is not None:
        said.append(f"about {people(review.people_left)} people left")
    return f": {listed(said)}" if said else ""
