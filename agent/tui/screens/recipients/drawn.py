"""A recipient as lines of the list. Pure."""

from collections.abc import Sequence

from agent.tui.bars import bars
from agent.tui.listing import Kind, Line, Look, Part
from agent.tui.plain import fitted
from agent.wire.records import Recipient

HEIGHT = 2  # lines of each
PEOPLE, REQUESTS = 26, 10  # columns
LEAST_NAME = 12
SPARK = 8


def heads(found: Sequence[Recipient], width: int) -> str:
    """Return what stands in the columns; of how many people, where all models have as many."""
    whole = {each.people for each in found}
    of = f", of {whole.pop():,}" if len(whole) == 1 else ""
    name = fitted("  recipient", _name(width))
    return f"{name}{f'people left{of}':>{PEOPLE}}{'requests':>{REQUESTS}}"


def lines(recipient: Recipient, width: int) -> tuple[Line, ...]:
    """Return who it is and how many people are left; then what it holds."""
    sign = "×" if recipient.blocked else " "
    kind: Kind = "bad" if recipient.blocked else "strong"
    blocked = "blocked · " if recipient.blocked else ""
    held = ", ".join(recipient.held) or "nothing about you"
    return (
        (
            _part(f"{sign} {recipient.pool}", _name(width), kind),
            _part(left(recipient), PEOPLE, right=True),
            _part(f"{recipient.requests:,}", REQUESTS, "muted", right=True),
        ),
        (_part(f"    {blocked}holds {held}", width, "muted"),),
    )


def left(recipient: Recipient) -> str:
    """Return how many people look like the user to a recipient, and how that came to be."""
    counts = [each.people_left for each in recipient.history]
    now = f"{recipient.people_left:,}"
    if counts in ([], [recipient.people_left]):
        return now
    return f"{counts[0]:,} {bars(counts, recipient.people, SPARK)} {now}"


def _name(width: int) -> int:
    return max(LEAST_NAME, width - PEOPLE - REQUESTS)


def _part(text: str, width: int, kind: Kind = "plain", *, right: bool = False) -> Part:
    return Part(fitted(text, width, right=right), kind)


LOOK: Look[Recipient] = Look(
    key=lambda each: each.pool,
    lines=lines,
    height=lambda _, __: HEIGHT,
    rests=lambda _: True,
)
