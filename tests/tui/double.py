"""A daemon that is none, of one vault, as the program's tests talk to it."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from msgspec.structs import replace as changed

from agent.errors import UsageError
from agent.wire.policy import Undone
from agent.wire.state import ModelStatus, PolicyStatus, Status
from tests.wire.fake import FakeDaemon, Handler, says, short_folder

POLICY = PolicyStatus(path="/p", in_use=True, rules=1, loaded_at=None, problems=[])
MODEL = ModelStatus(name="m", digest="0", shipped=True, attributes=1, queries=1)
OPEN = Status(
    version="1",
    process=1,
    started_at=datetime(2026, 3, 2, tzinfo=UTC),
    vault=True,
    locked=False,
    lock_after_minutes=15,
    policy=POLICY,
    models=[MODEL],
    waiting=2,
    entries=0,
    notes=[],
)


class Double:
    """A daemon of one vault, and the handlers of its calls."""

    def __init__(self) -> None:
        """Begin open, with nothing in it."""
        self.status = OPEN
        self.events = threading.Event()
        self.calls: dict[str, Handler] = {}  # that are answered otherwise than below

    def set(self, *, locked: bool, vault: bool = True) -> Status:
        """Lock it, or open it."""
        self.status = changed(OPEN, locked=locked, vault=vault)
        return self.status

    def unlock(self, body: object) -> Status:
        """Open with one secret."""
        if getattr(body, "secret", None) != "right":
            raise UsageError("that is not the passphrase", "try again")
        return self.set(locked=False)

    def quiet(self) -> Iterator[object]:
        """Yield no event until the test ends."""
        self.events.wait(20)
        yield from ()

    def handlers(self) -> dict[str, Handler]:
        """Return what answers the calls of the program."""
        return {
            "status": lambda: self.status,
            "lock": lambda: self.set(locked=True),
            "unlock": self.unlock,
            "requests": lambda **_: [],
            "attributes": lambda **_: [],
            "reviews": says([]),
            "undo": says(Undone(what="Denied region: undone.")),
            "events": self.quiet,
            **self.calls,
        }


@contextmanager
def double(calls: Mapping[str, Handler] = MappingProxyType({})) -> Iterator[tuple[Double, Path]]:
    """Yield a daemon that is none, and its socket; ``calls``: what answers some calls."""
    with ExitStack() as ends:
        path = ends.enter_context(short_folder()) / "control.sock"
        found = Double()
        found.calls.update(calls)
        ends.enter_context(FakeDaemon(path, found.handlers()))
        ends.callback(found.events.set)
        yield found, path
