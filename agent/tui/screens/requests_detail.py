"""One request in detail: the verdict, then each attribute as a row."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from agent.tui.numbers import bits, more, people
from agent.tui.plain import fitted, plain, plain_lines
from agent.tui.screens import requests_trial
from agent.tui.screens.requests_trial import BEST, PROVEN, Change, Trial, begun
from agent.tui.virtual_list import Kind, Line, Listing, Look, Part
from agent.wire.decide import Line as Said
from agent.wire.policy import Review
from agent.wire.records import Handled
from agent.wire.what_if import Row, Weighed

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
    "in the plan": "worth it for all that it is asked",
    "planned for other requests": "planned, for other requests",
    "not in the plan": "helps too seldom so far",
    "known to the recipient": "it knows this already",
    "costs more than it helps": "costs more than it helps",
    "would break a limit": "would break a limit",
    "not asked for": "it did not ask for this",
    "not allowed": "may not leave",
    "not set": "not set: never leaves",
    "never": "never leaves",
    "guarded": "guarded: never leaves",
    "recognised": "would confirm who you are",
    "outside the model": "nobody is known to look like you",
    "too many combinations": "too many combinations to weigh",
}
TOOLTIP = (
    "Each attribute with what it helps the recipient serve you, and what it costs you, in "
    "bits (one bit: an answer found twice as fast); "
    "how many people like you are expected to be left; and why it is in or out. Space tries it the "
    "other way; then a makes that hold always for this recipient, o once, Enter asks for how long."
)


@dataclass(frozen=True, slots=True)
class Shown:
    """One attribute as a row; ``scale``: bits of a full bar; ``sign``: in, out, or changed.

    ``value``: the user's own, empty while it is hidden; ``then``: what became of it with a request
    of the past, before the reason of today; empty where it is about the next one.
    """

    row: Row
    sign: str
    scale: float
    value: str = ""
    then: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence below the attributes."""

    label: str
    text: str


Shows = Shown | Note


ABOUT = Note(
    "about",
    "so many people are expected to be left, before your value is looked at; those of a "
    "request that is past were counted after it",
)


def order_of(weighed: Weighed) -> tuple[str, ...]:
    """Return the names of what is in first, then of what is out, what brings most first."""
    rows = sorted(weighed.rows, key=lambda row: (not row.inside, -_net(row), row.name))
    return tuple(row.name for row in rows)


def rows_of(trial: Trial, order: Sequence[str], values: Mapping[str, str]) -> tuple[Shows, ...]:
    """Return what is shown of what was weighed, in an order, and below it what more is said."""
    weighed = trial.weighed
    if weighed is None:
        return ()
    scale = scale_of(weighed.rows)
    place = {name: number for number, name in enumerate(order)}
    rows = tuple(
        Shown(
            row,
            trial.change.sign(row.name, trial.inside),
            scale,
            values.get(row.name, ""),
            _then(row, trial),
        )
        for row in sorted(weighed.rows, key=lambda row: place.get(row.name, len(place)))
    )
    return (*rows, *([ABOUT] if rows else []), *map(_note, filter(_adds, weighed.lines)))


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


def why(row: Row, then: str = "") -> str:
    """Return the reason in words, with the limit or the rule behind it.

    ``then``: what became of it before; the reason is that of today and says so.
    """
    text = then + REASONS.get(row.reason, row.reason)
    if row.limit:
        return f"{text}: {row.limit}"
    return f"{text} (rule: {row.rule})" if row.rule and row.reason in RULED else text


def heads(width: int, *, past: bool = False) -> str:
    """Return what stands over the columns; ``past``: over those of a request that is past."""
    title, each = _widths(width)
    text = "today, in bits:" if past else "attribute, in bits:"
    helps, costs = (fitted(text, each + NUMBER + 1, right=True) for text in ("helps", "costs"))
    return f" {fitted('', 4)}{fitted(text, title)} {helps} {costs}"


def look() -> Look[Shows]:
    """Return how rows are shown."""
    return Look(
        key=lambda item: ("row", item.row.name) if isinstance(item, Shown) else item,
        lines=lines,
        height=height,
        rests=lambda _: True,
    )


def height(item: Shows, width: int) -> int:
    """Return how many lines an item has in so many columns."""
    if isinstance(item, Note):
        return len(_wrapped(item, width))
    return 1 + len(_below(item, width))


def lines(item: Shows, width: int) -> tuple[Line, ...]:
    """Return a row as lines of so many columns."""
    if isinstance(item, Note):
        return tuple((Part(text, "muted"),) for text in _wrapped(item, width))
    row, (title, each) = item.row, _widths(width)
    kind = _kind(item.sign)
    return (
        (
            Part(f"{item.sign} ", kind),
            Part(fitted(row.title, title) + " ", kind),
            Part(bar(row.gain_bits, item.scale, each), "good"),
            Part(fitted(_helps(row), NUMBER + 1, right=True) + " "),
            Part(bar(row.cost_bits, item.scale, each), "bad"),
            Part(fitted(bits(row.cost_bits), NUMBER + 1, right=True)),
        ),
        *_below(item, width),
    )


def _below(item: Shown, width: int) -> tuple[Line, ...]:
    """Return name, value and reason, with how many people are left; in two lines if need be."""
    row = item.row
    left = "" if row.people_left is None else f" about {people(row.people_left)} left"
    value = f"{row.name} = {item.value}" if item.value else row.name
    reason, room = why(row, item.then), width - 4 - len(left)
    whole = f"{value} · {reason}"
    first, *more_of_it = [whole] if cell_len(plain(whole)) <= room else [value, reason]
    return (
        (Part("    "), Part(fitted(first, room), "muted"), Part(left)),
        *((Part("    "), Part(fitted(each, width - 4), "muted")) for each in more_of_it),
    )


def _then(row: Row, trial: Trial) -> str:
    """Return what became of an attribute with a request of the past, where it went along."""
    if not isinstance(trial.subject, Handled):
        return ""
    return "told; today: " if row.name in trial.subject.disclosed else ""


def _adds(line: Said) -> bool:
    """Return whether a line says more than the sentence on top, which has what is proven whole."""
    return not (line.label == PROVEN and line.text.startswith(BEST))


def _note(line: Said) -> Note:
    return Note(line.label, line.text)


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


class Detail(Vertical):
    """A request, the attributes beside it, and what is tried out on it."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        """Take the time, where the user lives."""
        super().__init__(id="detail")
        self._clock = now
        self._trial: Trial | None = None
        self._values: Mapping[str, str] = {}
        self._order: tuple[str, ...] = ()  # rows stay where they are while something is tried

    def compose(self) -> ComposeResult:
        """Lay the sentences on top, the attributes below."""
        yield Static(id="what")
        yield Static(id="change")
        yield Static(id="over")
        yield Listing[Shows](look(), id="rows", tooltip=TOOLTIP)

    @property
    def trial(self) -> Trial | None:
        """What is shown."""
        return self._trial

    @property
    def rows(self) -> Listing[Shows]:
        """The attributes."""
        return self.query_one(Listing)

    def row(self) -> str | None:
        """Return the attribute under the cursor."""
        under = self.rows.under
        return under.row.name if isinstance(under, Shown) else None

    def show(self, trial: Trial | None) -> None:
        """Show a request, with what the daemon says of it; None for none."""
        if self._trial is None or trial is None or self._trial.subject != trial.subject:
            self._values, self._order = {}, ()
            self.rows.show(())
        self._trial = trial
        self._draw()

    def switch(self, name: str) -> Trial | None:
        """Try an attribute the other way, and return what is to be weighed then."""
        if self._trial is None or self._trial.weighed is None:
            return None
        change = self._trial.change.switched(name, self._trial.inside)
        return self._tried(change)

    def reset(self) -> Trial | None:
        """Try nothing any more, and return what is to be weighed then."""
        return self._tried(begun(self._trial.subject).change) if self._trial else None

    def reveal(self, values: Mapping[str, str]) -> None:
        """Show the values that left, or none."""
        self._values = values
        self._draw()

    def on_listing_resized(self, event: Listing.Resized) -> None:
        """Draw it for the room there is."""
        event.stop()
        self._draw()

    def _tried(self, change: Change) -> Trial | None:
        """Show a change at once; the figures come when they are weighed."""
        if self._trial is None:
            return None
        self._trial = Trial(self._trial.subject, change, self._trial.weighed)
        self._draw(weighing=True)
        return self._trial

    def _draw(self, *, weighing: bool = False) -> None:
        trial = self._trial
        if not self.query("#what"):  # an answer may come while the screen is taken away
            return
        if trial is None:
            text = "Choose a request to see what was told, why, and what it cost."
            self.query_one("#what", Static).update(Content(text))
            self.query_one("#change").display = self.query_one("#over").display = False
            return
        said = (
            requests_trial.headline(trial, self._clock()),
            requests_trial.figures(trial),
            requests_trial.proof(trial),
        )
        text = "\n".join(each for each in said if each)
        self.query_one("#what", Static).update(Content(plain_lines(text)))
        self._draw_change(Trial(trial.subject, trial.change) if weighing else trial)
        if trial.weighed is not None:
            self._order = self._order or order_of(trial.weighed)
            past = isinstance(trial.subject, Handled)
            over = heads(self.rows.size.width, past=past)
            shown = rows_of(trial, self._order, self._values)
            self.query_one("#over", Static).update(Content(over))
            fresh = not self.rows.items
            self.rows.show(shown)
            if fresh and isinstance(trial.subject, Review) and trial.subject.names:
                self.rows.put(("row", trial.subject.names[0]))
        self.query_one("#over").display = bool(self.rows.items)

    def _draw_change(self, trial: Trial) -> None:
        text = requests_trial.changed(trial)
        waits = isinstance(trial.subject, Review)
        self.query_one("#change").display = bool(text) or waits
        said = "\n".join(each for each in (text, requests_trial.hint(trial.subject)) if each)
        self.query_one("#change", Static).update(Content(plain_lines(said)))
