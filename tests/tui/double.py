"""A daemon that is none, of one vault, as the program's tests talk to it."""

import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace as changed

from agent.errors import UsageError
from agent.wire.policy import Undone
from agent.wire.state import Event, EventKind, ModelStatus, Status
from tests.tui.running import USUAL, Running, running
from tests.wire import states
from tests.wire.fake import FakeDaemon, Handler, says, short_folder

PATIENCE = 60.0  # seconds, for what takes a fraction of one
BEGAN = datetime(2026, 3, 2, tzinfo=UTC)
MODEL = ModelStatus(name="m", digest="0", shipped=True, attributes=1, queries=1)
OPEN = changed(states.OPEN, models=[MODEL], waiting=2)


class Double:
    """A daemon of one vault; ``calls``: what answers its calls, ``fake``: what hears them."""

    fake: FakeDaemon

    def __init__(self, path: Path) -> None:
        """Begin open, with nothing in it."""
        self.path = path
        self.status = OPEN
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
        """Return the screens over it."""
        return running(self.path, size, **options)

    def asked(self, name: str) -> list[Any]:
        """Return the messages, or else the parameters, of the calls of a name."""
        return [given.get("body", given) for each, given in self.fake.calls if each == name]

    def set(self, *, locked: bool, vault: bool = True) -> Status:
        """Lock it, or open it."""
        self.status = changed(OPEN, locked=locked, vault=vault)
        return self.status

    def happen(self, kind: EventKind) -> None:
        """Tell of an event."""
        with self._change:
            self._news.append(Event(number=len(self._news) + 1, kind=kind, at=BEGAN))
            self._change.notify_all()

    def end(self) -> None:
        """Tell of nothing more."""
        with self._change:
            self.ended = True
            self._change.notify_all()

    def _unlock(self, body: object) -> Status:
        """Open with one secret."""
        if getattr(body, "secret", None) != "right":
            raise UsageError("that is not the passphrase", "try again")
        return self.set(locked=False)

    def _events(self) -> Iterator[Event]:
        """Yield what happens, until the end."""
        at = len(self._news)
        with self._change:
            while self._change.wait_for(partial(self._is_more, at), PATIENCE) and not self.ended:
                yield self._news[at]
                at += 1

    def _is_more(self, at: int) -> bool:
        return self.ended or at < len(self._news)


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
