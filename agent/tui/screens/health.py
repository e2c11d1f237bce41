"""What is wrong on this machine, and what mends it."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from agent.tui.actions import health
from agent.tui.actions.action import Where, keys
from agent.tui.finding import Finding
from agent.tui.listing import Kind, Line, Listing, Look, Part
from agent.tui.page import Page
from agent.wire.state import EventKind

TOOLTIP = "What was looked at; what is wrong stands first, each with the way out below the list."
ORDER = ("bad", "warn", "ok")  # what is worst first
SIGNS: dict[str, tuple[str, Kind]] = {
    "bad": ("✗ BAD ", "bad"),
    "warn": ("! note", "strong"),
    "ok": ("√ ok  ", "good"),
}


class Seen(NamedTuple):
    """What was found, of the kind that `Finding` says."""

    place: int
    name: str
    state: str
    what: str
    fix: str


def seen(found: Sequence[Finding]) -> list[Seen]:
    """Return what was found, the worst first."""
    every = [
        Seen(place, each.name, each.state, each.what, each.fix) for place, each in enumerate(found)
    ]
    return sorted(every, key=lambda each: ORDER.index(each.state))


def said(found: Sequence[Seen]) -> str:
    """Return what it comes to, in a sentence."""
    wrong = sum(each.state == "bad" for each in found)
    notes = sum(each.state == "warn" for each in found)
    first = f"{wrong} to mend" if wrong else "Nothing is wrong"
    return f"{first}, {notes} worth a look." if notes else f"{first}."


def _lines(item: Seen, _width: int) -> tuple[Line, ...]:
    sign, kind = SIGNS[item.state]
    return ((Part(sign, kind), Part(f"  {item.name}: "), Part(item.what)),)


LOOK: Look[Seen] = Look(
    key=lambda item: item.place,
    lines=_lines,
    height=lambda _item, _width: 1,
    rests=lambda _item: True,
)


class Health(Page):
    """All that `reticent doctor` looks at; it needs no open vault, and no daemon."""

    where: ClassVar[Where] = "health"
    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy", "models", "lock"})
    needs_vault: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = [*keys(health.ACTIONS)]

    def body(self) -> ComposeResult:
        """Lay the list between what it comes to and the way out."""
        yield Static("Looking …", id="health-whole")
        yield Listing(LOOK, id="first", tooltip=TOOLTIP)
        yield Static(id="health-fix")

    async def renew(self) -> None:
        """Look at everything, beside what is drawn."""
        found = seen(await asyncio.to_thread(self.review.outside.doctor))
        self._listing().show(found)
        self.query_one("#health-whole", Static).update(Content(said(found)))
        self._say()

    def clear(self) -> None:
        """Leave it: nothing of it is private."""

    def on_listing_moved(self) -> None:
        """Say what mends what is under the cursor."""
        self._say()

    def on_listing_chosen(self) -> None:
        """Say what mends what was clicked."""
        self._say()

    def action_examine(self) -> None:
        """Look again."""
        self.query_one("#health-whole", Static).update("Looking …")
        self.look()

    def _listing(self) -> Listing[Seen]:
        return self.query_one("#first", Listing)

    def _say(self) -> None:
        item = self._listing().under
        text = "" if item is None else f"{item.name}: {item.what}\n{item.fix}"
        self.query_one("#health-fix", Static).update(Content(text))
