"""The attributes beside a set as rows: in or out, what each helps and costs, and why. Pure."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.tui.listing import Kind, Line, Look, Part
from agent.tui.numbers import bits, more, people
from agent.tui.plain import fitted
from agent.tui.screens.requests.change import Change
from agent.wire.weighing import Row, Weighed

EIGHTHS = " ▏▎▍▌▋▊▉"
FULL, CUT = "█", "»"
NUMBER = 6
LARGEST = 4  # times what helps most, that a bar of the scale may be
RULED = ("always", "waits for you", "never", "guarded", "not allowed")  # reasons that a rule gives
REASONS = {
    "worth it": "helps more than it costs",
    "always": "always goes along",
    "waits for you": "waits for your word",
    "in the standing set": "in the set for all queries",
    "not in the standing set": "not in the set for all queries",
    "known to the recipient": "it knows this already",
    "costs more than it helps": "costs more than it helps",
    "would break a limit": "would break a limit",
    "not asked for": "it did not ask for this",
    "not allowed": "may not leave",
    "never": "never leaves",
    "guarded": "guarded: never leaves",
    "recognised": "would confirm who you are",
    "outside the model": "nobody is known to look like you",
    "too many combinations": "too many combinations to weigh",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One attribute as a row; ``scale``: bits of a full bar; ``sign``: in, out, or changed.

    ``value``: the user's own, empty while it is hidden.
    """

    row: Row
    sign: str
    scale: float
    value: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence below the attributes."""

    label: str
    text: str


Shows = Shown | Note


def order_of(weighed: Weighed) -> tuple[str, ...]:
    """Return the names of what is in first, then of what is out, what brings most first."""
    rows = sorted(weighed.rows, key=lambda row: (not row.inside, -_net(row), row.name))
    return tuple(row.name for row in rows)


def rows_of(
    weighed: Weighed, change: Change, order: Sequence[str], values: Mapping[str, str]
) -> tuple[Shows, ...]:
    """Return what is shown, in an order, and below it what more is said."""
    inside, scale = frozenset(weighed.chosen.names), scale_of(weighed.rows)
    place = {name: number for number, name in enumerate(order)}
    rows = tuple(
        Shown(row, change.sign(row.name, inside), scale, values.get(row.name, ""))
        for row in sorted(weighed.rows, key=lambda row: place.get(row.name, len(place)))
    )
    return (*rows, *(Note(each.label, each.text) for each in weighed.lines))


def scale_of(rows: Sequence[Row]) -> float:
    """Return how many bits a full bar has: both bars of all rows are on this one scale."""
    helps = max((row.gain_bits or 0.0 for row in rows), default=0.0)
    most = max((max(row.gain_bits or 0.0, row.cost_bits or 0.0) for row in rows), default=0.0)
    return min(most, LARGEST * helps) if helps > 0 else most


def bar(number: float | None, scale: float, width: int) -> str:
    """Return a bar of so many columns; one that is too long for the scale ends with a sign."""
    if number is None or number <= 0 or scale <= 0:
        return " " * width
    if number > scale * (1 + 1e-9):
        return FULL * (width - 1) + CUT
    whole, part = divmod(round(number / scale * width * 8), 8)
    return (FULL * whole + EIGHTHS[part].strip()).ljust(width)


def why(row: Row) -> str:
    """Return the reason in words, with the limit or the rule behind it."""
    text = REASONS.get(row.reason, row.reason)
    if row.limit:
        return f"{text}: {row.limit}"
    return f"{text} (rule: {row.rule})" if row.rule and row.reason in RULED else text


def heads(width: int) -> str:
    """Return what stands over the columns."""
    title, each = _widths(width)
    helps, costs = (fitted(text, each + NUMBER + 1, right=True) for text in ("helps", "costs"))
    return f" {fitted('', 4)}{fitted('attribute, in bits:', title)} {helps} {costs}"


def look() -> Look[Shows]:
    """Return how rows are shown."""
    return Look(
        key=lambda item: ("row", item.row.name) if isinstance(item, Shown) else item,
        lines=lines,
        height=lambda item, width: 2 if isinstance(item, Shown) else len(_wrapped(item, width)),
        rests=lambda _: True,
    )


def lines(item: Shows, width: int) -> tuple[Line, ...]:
    """Return a row as lines of so many columns."""
    if isinstance(item, Note):
        return tuple((Part(text, "muted"),) for text in _wrapped(item, width))
    row, (title, each) = item.row, _widths(width)
    kind = _kind(item.sign)
    left = "" if row.people_left is None else f" {people(row.people_left)} left"
    value = f"{row.name} = {item.value}" if item.value else row.name
    return (
        (
            Part(f"{item.sign} ", kind),
            Part(fitted(row.title, title) + " ", kind),
            Part(bar(row.gain_bits, item.scale, each), "good"),
            Part(fitted(_helps(row), NUMBER + 1, right=True) + " "),
            Part(bar(row.cost_bits, item.scale, each), "bad"),
            Part(fitted(bits(row.cost_bits), NUMBER + 1, right=True)),
        ),
        (
            Part("    "),
            Part(fitted(f"{value} · {why(row)}", width - 4 - len(left)), "muted"),
            Part(left),
        ),
    )


def _helps(row: Row) -> str:
    return more(row.gain_bits)


def _kind(sign: str) -> Kind:
    return {"[x]": "strong", "[+]": "good", "[-]": "bad"}.get(sign, "plain")  # type: ignore[return-value]  # each is one


def _net(row: Row) -> float:
    if row.gain_bits is None or row.cost_bits is None:
        return float("-inf")
    return row.gain_bits - row.cost_bits


def _widths(width: int) -> tuple[int, int]:
    """Return how wide the title and each bar is."""
    title = max(12, width * 42 // 100)
    return title, max(3, (width - 4 - title - 1 - 2 * (NUMBER + 1) - 1) // 2)


def _wrapped(note: Note, width: int) -> list[str]:
    return textwrap.wrap(f"{note.label}: {note.text}", max(10, width))
