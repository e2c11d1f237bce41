"""The screens as a test runs them, without a terminal, and a daemon that is none below them."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace as changed
from textual import _wait
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from agent.daemon.doctor import bad, ok, warn
from agent.errors import UsageError
from agent.tui import list_page
from agent.tui import page as pages
from agent.tui.actions import Where
from agent.tui.app import IDLE, ReviewApp
from agent.tui.dialogs import Choice
from agent.tui.link import Link
from agent.tui.page import Environment, Page
from agent.tui.screens.requests import LATEST, RequestsScreen
from agent.tui.screens.requests_detail import Shown
from agent.tui.screens.requests_view import key_of
from agent.wire.base import Done, Undone
from agent.wire.decide import Weighed, WhatIf
from agent.wire.policy import Review, Ruled
from agent.wire.state import Entry, Event, EventKind, ModelStatus, Status
from agent.words.decisions import difference
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon, Handler, says, short_folder
from tests.worlds import messages
from tests.worlds.messages import REGION, row, weighed, weight

BEGAN = datetime(2026, 3, 2, tzinfo=UTC)
MODEL = ModelStatus(name="m", digest="0", shipped=True, attributes=1, queries=1)
OPEN = changed(messages.OPEN, models=[MODEL], waiting=2, raised=2)
FOUND = (
    ok("python", "Python 3.11.7"),
    warn("keyring", "this session has no keyring", "unlock with the passphrase"),
    bad("disk", "no room is left at /home/mara/data", "make room there"),
)


# Textual's pilot looks every 20 ms, thrice for each key, whether the program is idle.
_wait.SLEEP_GRANULARITY, _wait.SLEEP_IDLE = 1 / 100, 1 / 2_000
# Each program would parse the same style sheets, for a twelfth of the time that a test takes.
_PARSE, _PARSED = Stylesheet.parse, dict[str, Any]()


def _parsed(sheet: Stylesheet) -> None:
    sheet._parse_cache = _PARSED.setdefault(str(sheet._variables), sheet._parse_cache)  # noqa: SLF001
    _PARSE(sheet)


Stylesheet.parse = _parsed  # type: ignore[assignment, method-assign]
SOON = pages.SOON = 0.05  # in place of what is short for a person
list_page.PAUSE = list_page.TYPED = 0.02
QUIET = 2  # looks at which the screen is as before, further apart than two renewals
NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
NOTHING = Environment(
    list, lambda _path, _line: None, lambda: NOW, lambda name, _text: name
)  # is wrong, or edited
SMALL, USUAL, LARGE = (60, 20), (80, 24), (120, 40)  # columns and lines


class Running(NamedTuple):
    """The program, and what presses its keys."""

    app: ReviewApp
    pilot: Pilot[None]

    async def until(self, holds: Callable[[], Any]) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, "it does not come to hold"
            await self.pilot.pause(0.02)
        await self.pilot.pause()

    async def go(self, where: Where) -> Page:
        self.app.action_show(where)
        await self.until(lambda: getattr(self.app.screen, "where", "") == where)
        page = self.app.page()
        assert page is not None
        return page

    async def choose(self, key: str, *keys: str) -> None:
        await self.pilot.press(key)
        await self.until(lambda: isinstance(self.app.screen, Choice))
        await self.pilot.press(*keys)

    async def settled(self) -> None:
        """Wait until nothing is asked of the daemon, and the screen has stayed as it is."""
        before, same = "", 0
        async with asyncio.timeout(PATIENCE):
            while same < QUIET:
                await self.pilot.pause(SOON)
                with suppress(WorkerCancelled):  # a later one took its place
                    await self.app.workers.wait_for_complete()
                before, same = self.text(), same + 1 if self.text() == before else 0

    def text(self) -> str:
        """Return what stands on the screen, line by line."""
        width = self.app.size.width
        strips = self.app.screen._compositor.render_strips()  # noqa: SLF001  (what a terminal gets)
        return "\n".join(strip.text.ljust(width).rstrip() for strip in strips)

    def words(self) -> str:
        """Return what stands on the screen, whatever its lines are."""
        return " ".join(self.text().split())

    def notes(self) -> str:
        """Return what was said in passing and is still shown, unwrapped."""
        return "\n".join(each.message for each in self.app._notifications)  # noqa: SLF001  (as said)


@asynccontextmanager
async def running(
    control: Path,
    size: tuple[int, int] = USUAL,
    *,
    start: Callable[[], None] = lambda: None,
    environment: Environment | None = None,
    idle: float = IDLE,
) -> AsyncIterator[Running]:
    """Yield the program over the daemon behind a control socket, once it has heard of it."""
    app = ReviewApp(Link(control, start), environment or NOTHING, idle)
    async with app.run_test(size=size, notifications=True) as pilot:
        shown = Running(app, pilot)
        await shown.until(lambda: app.state.status is not None and app.page() is not None)
        yield shown


class Double:
    """A daemon of one vault; ``calls``: what answers its calls, ``fake``: what hears them."""

    fake: FakeDaemon

    def __init__(self, path: Path) -> None:
        """Begin open, with nothing in it."""
        self.path, self.status = path, OPEN
        self.ended = False
        self._news: list[Event] = []
        self._change = threading.Condition()
        self.calls: dict[str, Handler] = {
            "status": lambda: self.status,
            "lock": lambda: self.set(locked=True),
            "unlock": self._unlock,
            "requests": says([]),
            "attributes": says([]),
            "recipients": says([]),
            "reviews": says([]),
            "undo": says(Undone(what="Denied region: undone.")),
            "events": self._events,
        }

    def listen(self) -> FakeDaemon:
        """Return what listens, from now on, once it is entered."""
        self.fake = FakeDaemon(self.path, self.calls)
        self.fake.handlers = self.calls  # which a test may change
        return self.fake

    def shown(
        self,
        size: tuple[int, int] = USUAL,
        **options: Any,  # noqa: ANN401  (of `running`)
    ) -> AbstractAsyncContextManager[Running]:
        return running(self.path, size, **options)

    def asked(self, name: str) -> list[Any]:
        """Return the messages, or else the parameters, of the calls of a name."""
        return [given.get("body", given) for each, given in self.fake.calls if each == name]

    def set(self, *, locked: bool, vault: bool = True) -> Status:
        self.status = changed(OPEN, locked=locked, vault=vault)
        return self.status

    def happen(self, kind: EventKind) -> None:
        with self._change:
            self._news.append(Event(number=len(self._news) + 1, kind=kind, at=BEGAN))
            self._change.notify_all()

    def end(self) -> None:
        """Tell of nothing more."""
        with self._change:
            self.ended = True
            self._change.notify_all()

    def _unlock(self, body: object) -> Status:
        if getattr(body, "secret", None) != "right":
            raise UsageError("that is not the passphrase", "try again")
        return self.set(locked=False)

    def _events(self) -> Iterator[Event]:
        """Yield what happens, until the end."""
        at = len(self._news)
        with self._change:
            while not self.ended:
                yield from self._news[at:]
                at = len(self._news)
                self._change.wait(PATIENCE)


@contextmanager
def double() -> Iterator[Double]:
    """Yield a daemon that is none."""
    with short_folder() as folder:
        found = Double(folder / "control.sock")
        with found.listen():
            try:
                yield found
            finally:
                found.end()


def page(shown: Running) -> RequestsScreen:
    found = shown.app.page()
    assert isinstance(found, RequestsScreen)
    return found


MORE = ("age", "hobby")


class Many:
    """What a daemon answered and what waits there, of which a test says all."""

    def __init__(self, daemon: Double) -> None:
        self.daemon = daemon
        self.past: list[Entry] = []
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
        names = sorted({"region", *body.add} - {*body.drop})
        after = weight(*names, breaks="k" if body.add else None)
        titles = {each.name: each.title for each in self.rows}
        text = difference(REGION, after, titles, informed=True) or "Send 1 fact (the region)."
        return weighed(headline=text, weighed=after, rows=tuple(self.rows))

    def ledger(self, **_: Any) -> list[Entry]:  # noqa: ANN401  (of the call)
        return [changed(each, values={"region": f"value of {each.number}"}) for each in self.past]

    def verdict(self, id: int, **_: object) -> Ruled:  # noqa: A002  (the route's word)
        """Settle it, with a rule that wins over it."""
        self.waits = [each for each in self.waits if each.id != id]
        return Ruled(written=None, without_effect=["gender"], decided_by=["strict"])

    def dismiss(self, id: int) -> Done:  # noqa: A002  (as above)
        self.verdict(id)
        return Done()

    def decided(self) -> list[Any]:
        return [*self.daemon.asked("verdict"), *self.daemon.asked("override")]

    @asynccontextmanager
    async def shown(self, size: tuple[int, int] = USUAL) -> AsyncIterator[Running]:
        """Yield the screens over it, once all is shown that there is."""
        async with self.daemon.shown(size) as shown:
            await shown.until(lambda: {"limit": LATEST} in self.daemon.asked("requests"))
            await shown.settled()
            yield shown


def at(shown: Running, kind: type[Review | Entry]) -> None:
    """Put the cursor on the first item of a kind."""
    listing = page(shown).listing
    listing.put(next(key_of(each) for each in listing.items if isinstance(each, kind)))


async def opened(shown: Running, kind: type[Review | Entry]) -> None:
    """Look into the first item of a kind, from the list."""
    at(shown, kind)
    await shown.pilot.press("enter")
    detail = page(shown).detail
    await shown.until(lambda: detail.trial and detail.trial.weighed and detail.rows.has_focus)


def names(shown: Running) -> list[str]:
    """Return the attributes in the order in which they stand."""
    return [each.row.name for each in page(shown).detail.rows.items if isinstance(each, Shown)]
