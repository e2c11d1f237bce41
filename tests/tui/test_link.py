"""The way to the daemon: begun where none runs, called from threads, followed, and left."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any, Self
from unittest.mock import Mock

import pytest

from agent.errors import DaemonError, UsageError
from agent.tui import link as module
from agent.tui.link import CALLERS, DaemonNews, Link
from agent.wire.client import Client
from agent.wire.state import Event, Status
from tests import waiting
from tests.tui.double import BEGAN, OPEN
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon, Raw, says

SHORT = 0.2
STATUS = {"status": says(OPEN)}
EVENT = Event(number=7, kind="answer", at=BEGAN, id=3)
never = Mock(side_effect=AssertionError("it was started"))


def of_links() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name.startswith("reticent-")]


def begun(link: Link) -> bool:
    """Begin, and leave it again."""
    try:
        return asyncio.run(link.begin())
    finally:
        link.close()


@pytest.mark.parametrize("answer", [OPEN, Raw(200, b"no JSON"), Raw(500, b"", "text/html")])
def test_a_daemon_that_runs_is_not_started(path: Path, answer: object) -> None:
    """However it answers: something listens there, and two daemons would be one too many."""
    with FakeDaemon(path, {"status": says(answer)}):
        if answer == OPEN:
            assert not begun(Link(path, never))
        else:
            with pytest.raises(DaemonError):
                begun(Link(path, never))


def test_one_that_does_not_run_is_started_and_waited_for(path: Path) -> None:
    """Once, however long it takes to listen."""
    timers: list[threading.Timer] = []
    daemon = FakeDaemon(path.with_name("later"), STATUS)

    def start() -> None:
        timers.append(threading.Timer(SHORT, path.symlink_to, ["later"]))
        timers[-1].start()

    with daemon:
        assert begun(Link(path, start))
    assert len(timers) == 1


async def test_closing_waits_for_no_long_call(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever leaves is not kept by a curve; it fails, and none comes after it."""
    monkeypatch.setattr(module, "GRACE", SHORT)
    free, inside = threading.Event(), threading.Event()

    def answer() -> list[object]:
        inside.set()
        assert free.wait(PATIENCE)
        return []

    with FakeDaemon(path, {**STATUS, "reviews": answer}):
        link = Link(path, never)
        try:
            waiting = asyncio.create_task(link.call("reviews"))
            await asyncio.to_thread(inside.wait, PATIENCE)
            assert await link.call("status") == OPEN  # beside it
            link.close()
            with pytest.raises(DaemonError):
                await waiting
            with pytest.raises(RuntimeError):
                await link.call("status")
        finally:
            free.set()
            link.close()


class Following:
    """A link that follows, and what it tells."""

    def __init__(self, path: Path) -> None:
        self.link = Link(path, never)
        self._told: Queue[DaemonNews] = Queue()

    def __enter__(self) -> Self:
        self.link.follow(self._told.put)  # type: ignore[arg-type]  # it tells nothing else
        return self

    def __exit__(self, *_: object) -> None:
        self.link.close()

    def __call__(self) -> Any:  # noqa: ANN401  (any of them)
        return self._told.get(timeout=PATIENCE).news

    def until(self, kind: type) -> Any:  # noqa: ANN401  (as above)
        end = time.monotonic() + PATIENCE
        while not isinstance(news := self(), kind):
            assert time.monotonic() < end, news
        return news


def test_what_happens_is_told_and_an_end_and_that_it_is_back(path: Path) -> None:
    """In this order, for as long as it lasts."""
    with Following(path) as told:
        with FakeDaemon(path, {**STATUS, "events": lambda: iter((EVENT,))}):
            assert (told.until(Status), told()) == (OPEN, EVENT)
            assert str(told()) == "the daemon ended"
            told.until(Status)
        told.until(DaemonError)


def test_a_daemon_that_refuses_to_be_followed_is_said(path: Path) -> None:
    """An older one, say; the thread lives on."""
    refuse = Mock(side_effect=UsageError("there is no such call", "update it"))
    with FakeDaemon(path, {**STATUS, "events": refuse}), Following(path) as told:
        assert [told.until(UsageError).hint for _ in range(2)] == ["update it"] * 2


async def test_closing_ends_every_thread(path: Path) -> None:
    """Also one that waits for the next event, and those that made calls."""
    quiet = threading.Event()

    def events() -> Iterator[object]:
        yield EVENT
        quiet.wait(PATIENCE)

    with FakeDaemon(path, {**STATUS, "events": events}):
        try:
            with Following(path) as told:
                await asyncio.to_thread(told.until, Event)
                await asyncio.gather(*(told.link.call("status") for _ in range(CALLERS)))
                assert of_links()
            await asyncio.to_thread(waiting.until, lambda: not of_links())
        finally:
            quiet.set()


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
    with FakeDaemon(path, {**STATUS, "events": lambda: iter(())}):
        with Following(path) as told:
            assert isinstance(await asyncio.to_thread(told), Status)
        while not made.empty():
            assert not made.get()
        link = Link(path, never)
        try:
            for attended in (True, False, True):
                await link.call("status", attended=attended)
            await link.call("status")
        finally:
            link.close()
    assert [made.get(timeout=PATIENCE) for _ in range(4)] == [True, False, True, False]
