"""The Health screen: what is wrong on this machine, and how to fix it."""

import asyncio
import re
from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.content import Content

from agent.tui.list_page import SentencesPage
from agent.tui.plain import fitted, plain, plain_lines
from agent.tui.virtual_list import Kind, Line, Look, Part
from agent.wire.state import EventKind, Finding
from agent.words.notices import health

FOLDERS = re.compile(r"(?<!\S)/\S+/")  # before a name; the sentences below have them
LOOKING = "Looking …"
FIRST = ("daemon", "vault")  # of equally bad findings: without them nothing is attached
ORDER = ("bad", "warn", "ok")  # from the worst
SIGNS: dict[str, tuple[str, Kind]] = {
    "bad": ("✗ BAD ", "bad"),
    "warn": ("! note", "strong"),
    "ok": ("✓ ok  ", "good"),
}


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Sort findings: the worst first, of equally bad ones the daemon and the vault."""

    def place(item: Finding) -> tuple[int, int]:
        return ORDER.index(item.state), (*FIRST, item.name).index(item.name)

    return sorted(findings, key=place)


def headline(findings: Sequence[Finding]) -> str:
    """Sum it up in a sentence, which begins with the reason why nothing is attached."""
    wrong, notes = (sum(each.state == state for each in findings) for state in ("bad", "warn"))
    stops = next((each for each in findings if each.state == "warn" and each.name in FIRST), None)
    fine = "Nothing is wrong" if stops is None else f"! {stops.name}: {plain(stops.what)}"
    return health(wrong, notes, fine)


def drawn(item: Finding, width: int) -> Line:
    """Draw a finding as a line of this width; what has no room is cut, with an ellipsis."""
    sign, kind = SIGNS[item.state]
    what = FOLDERS.sub("…/", item.what)
    text = fitted(f"{item.name}: {what}", width - cell_len(sign) - 2)
    return (Part(f"{sign}  ", kind), Part(text))


class HealthScreen(SentencesPage[Finding], where="health"):
    """All that `reticent doctor` checks; it needs no open vault, and no daemon."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy", "models", "lock"})
    needs_vault = False

    def item_look(self) -> Look[Finding]:
        """Say how findings are shown."""
        return Look(key=lambda item: item.name, lines=lambda item, width: (drawn(item, width),))

    def explain(self, item: Finding) -> Content:
        """Explain a finding, and how to fix it."""
        return Content(plain_lines(f"{item.name}: {item.what}\n\n{item.fix}"))

    async def renew(self) -> None:
        """Check everything, beside what is drawn."""
        self._all = worst_first(await asyncio.to_thread(self.review.environment.doctor))
        self.put_text("#headline", headline(self._all))
        self.draw()

    def clear(self) -> None:
        """Leave it: nothing of it is private."""

    def action_examine(self) -> None:
        """Check again."""
        self.put_text("#headline", LOOKING)
        self.look()
