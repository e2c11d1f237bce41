"""What is wrong on this machine, and how to fix it."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual.content import Content

from agent.tui.page import SentencesPage
from agent.tui.plain import fitted, plain, plain_lines
from agent.tui.virtual_list import Kind, Line, Look, Part
from agent.wire.state import EventKind, Finding
from agent.words.notices import health

LOOKING = "Looking …"
FIRST = ("daemon", "vault")  # of what is equally bad: without them nothing is attached
ORDER = ("bad", "warn", "ok")  # what is worst first
SIGNS: dict[str, tuple[str, Kind]] = {
    "bad": ("✗ BAD ", "bad"),
    "warn": ("! note", "strong"),
    "ok": ("√ ok  ", "good"),
}


class Seen(NamedTuple):
    """What was found; ``nth``: of those of one name."""

    nth: int
    found: Finding


def seen(found: Sequence[Finding]) -> list[Seen]:
    """Return what was found, the worst first."""
    of_name: Counter[str] = Counter()
    every = []
    for each in found:
        every.append(Seen(of_name[each.name], each))
        of_name[each.name] += 1

    def place(item: Seen) -> tuple[int, int]:
        name = item.found.name
        return ORDER.index(item.found.state), (*FIRST, name).index(name)

    return sorted(every, key=place)


def headline(found: Sequence[Seen]) -> str:
    """Return what it comes to, in a sentence; it begins with why nothing is attached."""
    findings = [each.found for each in found]
    wrong, notes = (sum(each.state == state for each in findings) for state in ("bad", "warn"))
    stops = next((each for each in findings if each.state == "warn" and each.name in FIRST), None)
    fine = "Nothing is wrong" if stops is None else f"! {stops.name}: {plain(stops.what)}"
    return health(wrong, notes, fine)


def drawn(item: Seen, width: int) -> Line:
    """Return what was found as a line of this width; what has no room is cut, with an ellipsis."""
    sign, kind = SIGNS[item.found.state]
    text = f"{item.found.name}: {item.found.what}"
    return (Part(f"{sign}  ", kind), Part(fitted(text, width - cell_len(sign) - 2)))


LOOK: Look[Seen] = Look(
    key=lambda item: (item.found.name, item.nth), lines=lambda item, width: (drawn(item, width),)
)


class HealthScreen(SentencesPage[Seen], where="health"):
    """All that `reticent doctor` checks; it needs no open vault, and no daemon."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy", "models", "lock"})
    needs_vault = False
    tooltip_list = "What was checked, the worst first; how to fix it stands below or beside."
    tooltip_detail = "What was found under the cursor, and how to fix it. Up and down scroll it."

    def __init__(self) -> None:
        super().__init__()
        self._found: Sequence[Seen] = ()

    def item_look(self) -> Look[Seen]:
        """Return how findings are shown."""
        return LOOK

    def items(self) -> Sequence[Seen]:
        """Return what was found."""
        return self._found

    def explain(self, item: Seen) -> Content:
        """Return what was found, and how to fix it."""
        found = item.found
        return Content(plain_lines(f"{found.name}: {found.what}\n\n{found.fix}"))

    async def renew(self) -> None:
        """Check everything, beside what is drawn."""
        self._found = seen(await asyncio.to_thread(self.review.environment.doctor))
        self.put_text("#headline", headline(self._found))
        self.draw()

    def clear(self) -> None:
        """Leave it: nothing of it is private."""

    def action_examine(self) -> None:
        """Check again."""
        self.put_text("#headline", LOOKING)
        self.look()
