"""What is wrong on this machine, and what fixes it."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from agent.tui.page import Finding, Page
from agent.tui.plain import fitted, plain
from agent.tui.virtual_list import Kind, Line, Listing, Look, Part, Said
from agent.wire.state import EventKind
from agent.words.notices import health

TOOLTIP = "What was looked at; what is wrong stands first, each with the fix below or beside it."
BELOW = "What was found at the line under the cursor, and how to fix it. Up and down scroll it."
LOOKING = "Looking …"
FIRST = ("daemon", "vault")  # of what is equally bad: without them nothing is attached
ORDER = ("bad", "warn", "ok")  # what is worst first
SIGNS: dict[str, tuple[str, Kind]] = {
    "bad": ("✗ BAD ", "bad"),
    "warn": ("! note", "strong"),
    "ok": ("√ ok  ", "good"),
}


class Seen(NamedTuple):
    """What was found, of the kind that `Finding` says; ``nth``: of those of one name."""

    nth: int
    name: str
    state: str
    what: str
    fix: str


def seen(found: Sequence[Finding]) -> list[Seen]:
    """Return what was found, the worst first."""
    of_name: Counter[str] = Counter()
    every = []
    for each in found:
        every.append(Seen(of_name[each.name], each.name, each.state, each.what, each.fix))
        of_name[each.name] += 1
    return sorted(every, key=lambda each: (ORDER.index(each.state), _place(each)))


def _place(each: Seen) -> int:
    """Return where it stands among its equals."""
    return FIRST.index(each.name) if each.name in FIRST else len(FIRST)


def said(found: Sequence[Seen]) -> str:
    """Return what it comes to, in a sentence; it begins with why nothing is attached."""
    wrong = sum(each.state == "bad" for each in found)
    notes = sum(each.state == "warn" for each in found)
    stops = next((each for each in found if each.state == "warn" and each.name in FIRST), None)
    fine = "Nothing is wrong" if stops is None else f"! {stops.name}: {plain(stops.what)}"
    return health(wrong, notes, fine)


def drawn(item: Seen, width: int) -> Line:
    """Return what was found as a line of so many columns; what has no room is cut, with a sign."""
    sign, kind = SIGNS[item.state]
    text = f"{item.name}: {item.what}"
    return (Part(f"{sign}  ", kind), Part(fitted(text, width - cell_len(sign) - 2)))


LOOK: Look[Seen] = Look(
    key=lambda item: (item.name, item.nth),
    lines=lambda item, width: (drawn(item, width),),
    height=lambda _item, _width: 1,
    rests=lambda _item: True,
)


class HealthScreen(Page, where="health"):
    """All that `reticent daemon doctor` looks at; it needs no open vault, and no daemon."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy", "models", "lock"})
    needs_vault: ClassVar[bool] = False

    def body(self) -> ComposeResult:
        """Lay what it comes to on top, then the list, and the fix for one finding."""
        yield Static(LOOKING, id="headline")
        with Container(classes="told"):
            yield Listing(LOOK, id="first", tooltip=TOOLTIP)
            yield Said(tooltip=BELOW)

    async def renew(self) -> None:
        """Look at everything, beside what is drawn."""
        found = seen(await asyncio.to_thread(self.review.environment.doctor))
        self._listing().show(found)
        self.query_one("#headline", Static).update(Content(said(found)))
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
        self.query_one("#headline", Static).update(LOOKING)
        self.look()

    def _listing(self) -> Listing[Seen]:
        return self.query_one("#first", Listing)

    def _say(self) -> None:
        item = self._listing().under
        text = "" if item is None else f"{item.name}: {item.what}\n\n{item.fix}"
        self.query_one(Said).say(text)
