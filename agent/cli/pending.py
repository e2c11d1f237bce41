"""`reticent pending`: what waits for the user's word."""

from collections.abc import Sequence

import click

from agent.cli.door import door
from agent.cli.layout import counted, facts, moment, paragraph, strong
from agent.cli.options import json_option, record
from agent.cli.parameters import names
from agent.cli.problems import printable
from agent.decision.phrases import bits, listed, people
from agent.errors import UsageError
from agent.wire.reviews import Review

ALL = "all"
SHOWN = 5  # numbers in a hint
MEANWHILE = "it may have been settled meanwhile, on the screen or by another command"
HOW = (
    "`reticent approve ID` lets it leave with the next request, `reticent deny ID` does not; both "
    "also for longer: see --help."
)
OFFERS = (
    "What a recipient can use is settled for good, or with --days. Approved, it gets no more than "
    "that, as far as the policy allows; denied, nothing at all, by a rule in the policy."
)


def _numbers(text: str) -> tuple[int, ...] | None:
    """Return the numbers in a list, None for all; UsageError if it is neither."""
    parts = names(text)
    if parts == (ALL,):
        return None
    if not parts or not all(each.isascii() and each.isdecimal() for each in parts):
        raise UsageError(f"{text!r} is no list of IDs", f"write --dismiss 3,4, or --dismiss {ALL}")
    return tuple(map(int, parts))


@click.command()
@click.option(
    "--dismiss",
    type=_numbers,
    metavar="ID,ID",
    multiple=True,
    help=f"Take these off the list, or {ALL} of it, ruling nothing.",
)
@json_option
def pending(*, dismiss: tuple[tuple[int, ...] | None, ...], as_json: bool) -> None:
    """List what waits for your word: attributes ruled `ask`, and what recipients offer to use.

    The list is in the daemon's memory only: it is gone when that ends, and what was not settled
    waits again with the next request that asks for it.
    """
    with door() as client:
        found: list[Review] = client.call("reviews")
        for each in (gone := _dismissed(dismiss, found)):
            client.call("dismiss", id=each)
        if gone:
            found = client.call("reviews")
    click.echo(record({"waiting": found}) if as_json else pending_text(found))


def _dismissed(
    wanted: tuple[tuple[int, ...] | None, ...], found: Sequence[Review]
) -> tuple[int, ...]:
    """Return what is to go, each once; UsageError, before anything goes, for what is not there."""
    if None in wanted:
        return tuple(each.id for each in found)
    numbers = dict.fromkeys(each for group in wanted for each in group or ())
    for each in numbers:
        waiting(each, found)
    return tuple(numbers)


def waiting(number: int, found: Sequence[Review]) -> Review:
    """Return what waits under a number; UsageError where nothing does."""
    for each in found:
        if each.id == number:
            return each
    hint = f"{MEANWHILE}; nothing else waits"
    if found:
        known = [str(each.id) for each in found[:SHOWN]]
        known += [f"{len(found) - SHOWN} more"] if len(found) > SHOWN else []
        hint = f"{MEANWHILE}; `reticent pending` lists what does wait: {listed(known)}"
    raise UsageError(f"nothing waits under {number}", hint)


def pending_text(reviews: list[Review]) -> str:
    """Return what waits as a page, each with its number."""
    if not reviews:
        return "Nothing waits for you."
    verb = "waits" if len(reviews) == 1 else "wait"
    head = strong(f"{counted(len(reviews), 'request')} {verb} for you.")
    lines = [(str(each.id), printable(review_line(each))) for each in reviews]
    kinds = {each.kind for each in reviews}
    how = [text for kind, text in (("ask", HOW), ("offer", OFFERS)) if kind in kinds]
    return "\n\n".join([head, facts(lines), *map(paragraph, how)])


def review_line(review: Review) -> str:
    """Return in one sentence who would get what, why, what it would mean, and since when."""
    return f"{what_waits(review)} ({moment(review.at)})"


def what_waits(review: Review) -> str:
    """Return the same without the time."""
    names = listed(review.names)
    if review.kind == "offer":
        where = "" if review.search is None else f" in searches at {review.search}"
        return f"{review.recipient} says that it can use {names}{where}"
    pool = "" if review.pool == review.recipient else f", and so {review.pool}"
    why = f", with {review.query!r}" if review.query else ""
    return f"{names} to {review.recipient}{pool}{why}{_figures(review)}"


def _figures(review: Review) -> str:
    more, left = review.more_bits, review.people_left
    return brought(
        None if more is None else bits(more, signed=True),
        None if left is None else f"about {people(left)}",
    )


def brought(gain: str | None, left: str | None) -> str:
    """Return how many bits something brings and how many people it leaves, after a colon."""
    said = [] if gain is None else [f"{gain} bits better served"]
    said += [] if left is None else [f"{left} people left"]
    return f": {listed(said)}" if said else ""
