"""One request in detail: the verdict, the facts that matter, and the rest on demand."""

import textwrap
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, cast

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from agent.decision.values import Outcome
from agent.tui.actions import TEXTS
from agent.tui.page import Page
from agent.tui.plain import fitted, plain_lines
from agent.tui.screens import requests_view as view
from agent.tui.screens.requests_view import Change, Fold, Trial
from agent.tui.virtual_list import Kind, Line, Listing, Look, Part
from agent.wire.decide import Weighed
from agent.wire.policy import Review
from agent.wire.state import Entry
from agent.words.titles import NONE, Titles, fact, why

MATTER = 3  # attributes that are shown before the others are unfolded
KINDS: Mapping[str, Kind] = {"[x]": "strong", "[+]": "good", "[-]": "bad"}
NONE_CHOSEN = "Choose a request to see what was sent, and why."


class Shown(NamedTuple):
    """One attribute as a row; ``sign``: in, out, or changed.

    ``value``: the user's own, empty while it is hidden; ``then``: what became of it in a past
    request, before the reason of today.
    """

    row: Outcome
    sign: str
    value: str = ""
    then: str = ""


Shows = Shown | Fold | str  # a sentence below the attributes


def order_of(weighed: Weighed) -> tuple[str, ...]:
    """Order names: what is sent first, then the rest, the most worthwhile first."""
    rows = sorted(weighed.rows, key=lambda row: (not row.disclosed, -row.net_bits, row.name))
    return tuple(row.name for row in rows)


def rows_of(
    trial: Trial, order: Sequence[str], values: Mapping[str, str], *, unfolded: bool = False
) -> tuple[Shows, ...]:
    """Lay out the attributes that matter or all of them, in an order."""
    weighed, subject = trial.weighed, trial.subject
    if weighed is None:
        return ()
    place = {name: number for number, name in enumerate(order)}
    rows = sorted(weighed.rows, key=lambda row: place.get(row.name, len(place)))
    matter = {each.called for each in rows[:MATTER]} | trial.change.add | trial.change.drop
    matter |= {*subject.names} if isinstance(subject, Review) else set()
    past = {*subject.disclosed} if isinstance(subject, Entry) else set()
    shown = tuple(
        Shown(
            row,
            trial.change.sign(row.called, trial.inside),
            values.get(row.name, ""),
            "sent; today: " if row.name in past else "",
        )
        for row in rows
        if unfolded or row.called in matter
    )
    fold = (Fold(len(rows) - len(shown)),) if {each.called for each in rows} - matter else ()
    notes = [f"{each.label}: {each.text}" for each in weighed.lines]
    return (*shown, *fold, *(() if rows else notes))


def lines(item: Shows, width: int) -> tuple[Line, ...]:
    """Draw an item as lines of this width."""
    if isinstance(item, str):
        return tuple((Part(text, "muted"),) for text in textwrap.wrap(item, max(10, width)))
    if isinstance(item, Fold):
        more = f"▸ {item.hidden} more attributes: space shows them"
        return ((Part(fitted(more if item.hidden else "▾ space folds these", width), "accent"),),)
    row, kind = item.row, KINDS.get(item.sign, "plain")
    title = fact(row.title, item.value) if item.value else row.title
    reason = item.then + why(row.reason, row.rule, row.limit)
    first = (Part(f"{item.sign} ", kind), Part(fitted(title, width - 4), kind))
    return (first, (Part("    "), Part(fitted(reason, width - 4), "muted")))


def key_of(item: Shows) -> Hashable:
    """Identify an item."""
    match item:
        case Shown():
            return "row", item.row.called
        case Fold():
            return "fold"  # however many it hides
    return item


LOOK: Look[Shows] = Look(
    key=key_of,
    lines=lines,
    height=lambda item, width: len(lines(item, width)),
    rests=lambda item: not isinstance(item, str),
)


class Detail(Vertical):
    """A request, the attributes beside it, and what is tried out on it."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        """Take the time, where the user lives."""
        super().__init__(id="detail")
        self._clock = clock
        self.trial: Trial | None = None
        self.titles: Titles = NONE  # of every model
        self._values: Mapping[str, str] = {}
        self._order: tuple[str, ...] = ()  # rows stay where they are while something is tried
        self._unfolded = False

    def compose(self) -> ComposeResult:
        """Lay the sentences on top, the attributes below."""
        yield Static(id="what")
        yield Static(id="change")
        yield Listing[Shows](LOOK, id="rows", tooltip=TEXTS["requests"]["tooltip_detail"])

    @property
    def rows(self) -> Listing[Shows]:
        """The attributes."""
        return self.query_one(Listing)

    @property
    def folds(self) -> bool:
        """Whether the line that unfolds the others is under the cursor."""
        return isinstance(self.rows.under, Fold)

    def row(self) -> str | None:
        """Name the attribute under the cursor."""
        under = self.rows.under
        return under.row.called if isinstance(under, Shown) else None

    def show(self, trial: Trial | None) -> None:
        """Show a request, with the daemon's answer about it; None for none."""
        if self.trial is None or trial is None or self.trial.subject != trial.subject:
            self._values, self._order, self._unfolded = {}, (), False
            self.rows.show(())
        self.trial = trial
        self._draw()

    def unfold(self) -> None:
        """Show the other attributes too, or fold them again."""
        self._unfolded = not self._unfolded
        self._draw()

    def switch(self, name: str) -> Trial | None:
        """Try an attribute the other way, and return the trial to evaluate."""
        if self.trial is None or self.trial.weighed is None:
            return None
        return self._try(self.trial.change.switched(name, self.trial.inside))

    def reset(self) -> Trial | None:
        """Undo the trial, and return the one to evaluate."""
        return self._try(view.begun(self.trial.subject).change) if self.trial else None

    def reveal(self, values: Mapping[str, str]) -> None:
        """Show the values that were sent, or none."""
        self._values = values
        self._draw()

    def on_listing_resized(self, event: Listing.Resized) -> None:
        """Draw it for the room there is."""
        event.stop()
        self._draw()

    def on_listing_moved(self, event: Listing.Moved) -> None:
        """Keep it from the screen, whose list is another."""
        event.stop()

    async def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Try what is clicked the other way."""
        event.stop()
        await self.run_action("screen.switch")

    def _try(self, change: Change) -> Trial | None:
        """Show a change at once; what it would do comes when it is computed."""
        if self.trial is None:
            return None
        self.trial = Trial(self.trial.subject, change, self.trial.weighed)
        self._draw(computing=True)
        return self.trial

    def _draw(self, *, computing: bool = False) -> None:
        trial, put_text = self.trial, cast("Page", self.screen).put_text
        if not self.query("#what"):  # an answer may come while the screen is taken away
            return
        if trial is None:
            put_text("#what", NONE_CHOSEN)
            put_text("#change", "")
            return
        head = view.headline(trial, self._clock(), self.titles)
        put_text("#what", plain_lines(f"{head}\n{view.today(trial)}".rstrip()))
        tried = replace(trial, weighed=None) if computing else trial
        text = view.changed(tried, self.titles)
        if text or isinstance(trial.subject, Review):
            text = f"{text}\n{view.hint(trial.subject)}".lstrip()
        put_text("#change", plain_lines(text))
        if trial.weighed is not None:
            self._order = self._order or order_of(trial.weighed)
            fresh = not self.rows.items
            self.rows.show(rows_of(trial, self._order, self._values, unfolded=self._unfolded))
            if fresh and isinstance(trial.subject, Review) and trial.subject.names:
                self.rows.put(("row", trial.subject.names[0]))
