"""What a daemon answered and what waits there, as a test wants it, and the screen over that."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agent.errors import UsageError
from agent.tui.screens.requests import RequestsScreen
from agent.tui.screens.requests_detail import Shown
from agent.tui.screens.requests_view import key_of
from agent.wire.base import Done
from agent.wire.decide import Weighed, WhatIf
from agent.wire.policy import Review, Ruled
from agent.wire.state import Entry, Handled
from tests.tui.double import Double
from tests.tui.running import USUAL, Running
from tests.tui.values import row, weighed, weight
from tests.wire.fake import says


def page(shown: Running) -> RequestsScreen:
    """Return the screen."""
    found = shown.app.page()
    assert isinstance(found, RequestsScreen)
    return found


def told(shown: Running, said: str) -> bool:
    """Return whether something was said to the user."""
    return said in shown.notes()


def words(shown: Running) -> str:
    """Return what stands on the screen, whatever its lines are."""
    return " ".join(shown.text().split())


MORE = ("age", "hobby")


class Many:
    """What a daemon answered and what waits there, of which a test says all."""

    def __init__(self, daemon: Double) -> None:
        """Begin with nothing in it."""
        self.daemon = daemon
        self.past: list[Handled] = []
        self.waits: list[Review] = []
        self.error: UsageError | None = None
        self.rows = [row("region", disclosed=True), row("gender", gain_bits=0.3), *map(row, MORE)]
        daemon.calls |= {
            "requests": lambda limit: self.past[-limit:],
            "reviews": lambda: self.waits,
            "whatif": self.whatif,
            "ledger": self.ledger,
            "verdict": self.verdict,
            "dismiss": self.dismiss,
            "override": says(Ruled(written="mine", without_effect=[])),
        }

    def whatif(self, body: WhatIf) -> Weighed:
        """Return what was asked about, or fail."""
        if self.error is not None:
            raise self.error
        after = weight("region", *body.add, breaks="k" if body.add else None)
        return weighed(weighed=after, rows=tuple(self.rows))

    def ledger(self, **_: Any) -> list[Entry]:  # noqa: ANN401  (of the call)
        """Return the entries from the first on."""
        return [
            Entry(
                number=each.number,
                kind="disclosed",
                at=each.at,
                recipient=each.recipient,
                disclosed={"region": f"value of {each.number}"},
            )
            for each in self.past
        ]

    def verdict(self, id: int, **_: object) -> Ruled:  # noqa: A002  (the route's word)
        """Settle it, with a rule that wins over it."""
        self.waits = [each for each in self.waits if each.id != id]
        return Ruled(written=None, without_effect=["gender"], decided_by=["strict"])

    def dismiss(self, id: int) -> Done:  # noqa: A002  (as above)
        """Take it off the list."""
        self.verdict(id)
        return Done()

    def decided(self) -> list[Any]:
        """Return the decisions that were sent."""
        return [*self.daemon.asked("verdict"), *self.daemon.asked("override")]

    @asynccontextmanager
    async def shown(self, size: tuple[int, int] = USUAL) -> AsyncIterator[Running]:
        """Yield the screens over it, once all is shown that there is."""
        async with self.daemon.shown(size) as shown:
            await shown.until(lambda: {"limit": 10_000} in self.daemon.asked("requests"))
            await shown.settled()
            yield shown


def at(shown: Running, kind: type[Review | Handled]) -> None:
    """Put the cursor on the first item of a kind."""
    listing = page(shown).listing
    listing.put(next(key_of(each) for each in listing.items if isinstance(each, kind)))


async def opened(shown: Running, kind: type[Review | Handled]) -> None:
    """Look into the first item of a kind, from the list."""
    at(shown, kind)
    await shown.pilot.press("enter")
    detail = page(shown).detail
    await shown.until(lambda: detail.trial and detail.trial.weighed and detail.rows.has_focus)


def names(shown: Running) -> list[str]:
    """Return the attributes in the order in which they stand."""
    return [each.row.name for each in page(shown).detail.rows.items if isinstance(each, Shown)]
