"""What happens at the daemon is told, for as long as somebody follows it, and not longer."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from typing import Any, Self

import pytest
from textual.message import Message

from agent.errors import DaemonError, ReticentError, UsageError
from agent.tui import link as module
from agent.tui.link import CALLERS, Connected, DaemonEvent, Disconnected, Link
from agent.wire.client import Client
from agent.wire.state import Event
from tests.tui.double import OPEN
from tests.tui.test_link import never, ours, wait
from tests.wire.fake import FakeDaemon, Handler, says

PATIENCE = 20.0  # seconds, for what takes a fraction of one
EVENT = Event(number=7, kind="answer", at=datetime(2026, 3, 2, tzinfo=UTC), id=3)


async def test_only_what_a_person_asked_for_keeps_the_vault_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon is told which calls nobody made; to follow it is one of them."""
    made: Queue[bool] = Queue()

    class Noting(Client):
        def __init__(self, path: Path, *, attended: bool) -> None:
            super().__init__(path, PATIENCE, attended=attended)
            self.of_person = attended

        def call(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401  (as the client's)
            made.put(self.of_person)
            return super().call(*given, **named)

    monkeypatch.setattr(module, "Client", Noting)

    with (
        FakeDaemon(path, {"status": says(OPEN), "events": lambda: iter(())}),
        Following(path) as told,
    ):
        assert isinstance(told(), Connected)
        assert not made.get(timeout=PATIENCE)
        told.link.close()
        while not made.empty():
            assert not made.get()
        link = Link(path, never)
        for attended in (True, False, True):
            await link.call("status", attended=attended)
        await link.call("status")
        link.close()
    assert [made.get() for _ in range(4)] == [True, False, True, False]


class Following:
    """A link that follows, and what it tells."""

    def __init__(self, path: Path) -> None:
        """Take the socket."""
        self.link = Link(path, never)
        self._told: Queue[Message] = Queue()

    def __enter__(self) -> Self:
        self.link.follow(self._told.put)
        return self

    def __exit__(self, *_: object) -> None:
        self.link.close()

    def __call__(self) -> Message:
        """Return the next that is told."""
        return self._told.get(timeout=PATIENCE)

    def until(self, kind: type[Message]) -> Message:
        """Return the next of a kind."""
        while not isinstance(told := self(), kind):
            pass
        return told


def following(handlers: Mapping[str, Handler]) -> dict[str, Handler]:
    """Return the handlers of a daemon that can be followed."""
    return {"status": says(OPEN), **handlers}


def test_what_happens_is_told_and_an_end_and_that_it_is_back(path: Path) -> None:
    """In this order, for as long as it lasts."""
    with Following(path) as told:
        with FakeDaemon(path, following({"events": lambda: iter((EVENT,))})):
            heard, happened, lost = told.until(Connected), told(), told()
            assert isinstance(heard, Connected)
            assert heard.status == OPEN
            assert isinstance(happened, DaemonEvent)
            assert happened.event == EVENT
            assert isinstance(lost, Disconnected)
            assert str(lost.error) == "the daemon ended"
            told.until(Connected)
        assert isinstance(told.until(Disconnected), Disconnected)


@pytest.mark.parametrize(
    "error", [UsageError("there is no such call", "update it"), DaemonError("busy", "wait")]
)
def test_a_daemon_that_does_not_let_itself_be_followed_is_said(
    path: Path, error: ReticentError
) -> None:
    """An older one, say; the thread lives on, and prints nothing onto the screen."""

    def refuse() -> Iterator[object]:
        raise error

    with FakeDaemon(path, following({"events": refuse})), Following(path) as told:
        for _ in range(2):
            lost = told.until(Disconnected)
            assert isinstance(lost, Disconnected)
            assert str(lost.error) == str(error)


def test_a_path_that_is_too_long_is_said() -> None:
    """To whoever follows, too."""
    with Following(Path("/" + "x" * 300)) as told:
        lost = told.until(Disconnected)
        assert isinstance(lost, Disconnected)
        assert isinstance(lost.error, UsageError)


def test_closing_ends_every_thread(path: Path) -> None:
    """Also one that waits for the next event, and those that made calls."""
    quiet = threading.Event()

    def events() -> Iterator[object]:
        yield EVENT
        quiet.wait(PATIENCE)

    with FakeDaemon(path, following({"events": events})):
        with Following(path) as told:
            told.until(DaemonEvent)
            asyncio.run(_called(told.link))
            assert ours()
        wait(lambda: not ours())
        quiet.set()


async def _called(link: Link) -> None:
    await asyncio.gather(*(link.call("status") for _ in range(CALLERS)))
