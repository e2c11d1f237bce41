"""The way to the daemon: it is begun where none runs, called from threads, followed, and left."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from typing import Any, Self

import pytest
from textual.message import Message

from agent.errors import DaemonError, ReticentError, UsageError
from agent.tui import link as module
from agent.tui.link import CALLERS, Happened, Heard, Link, Lost
from agent.wire.client import Client
from agent.wire.connection import ABSENT
from agent.wire.state import Event
from tests.tui.test_app import OPEN
from tests.wire.fake import FakeDaemon, Handler, Raw, says, short_folder

PATIENCE = 20.0  # seconds, for what takes a fraction of one
SHORT = 0.2
EVENT = Event(number=7, kind="answer", at=datetime(2026, 3, 2, tzinfo=UTC), id=3)


@pytest.fixture
def path() -> Iterator[Path]:
    """Where a daemon would listen."""
    with short_folder() as folder:
        yield folder / "control.sock"


def never() -> None:
    """Be started by nobody."""
    raise AssertionError("it was started")


def begun(link: Link) -> bool:
    """Begin, and leave it again."""
    try:
        return asyncio.run(link.begin())
    finally:
        link.close()


def test_a_daemon_that_runs_is_not_started(path: Path) -> None:
    """It is there already."""
    with FakeDaemon(path, {"status": says(OPEN)}):
        assert not begun(Link(path, never))


def test_one_that_does_not_run_is_started_and_waited_for(path: Path) -> None:
    """Once, however long it takes to listen."""
    made: list[FakeDaemon] = []

    def start() -> None:
        made.append(FakeDaemon(path, {"status": says(OPEN)}))
        threading.Timer(SHORT, made[0].__enter__).start()

    assert begun(Link(path, start))
    [daemon] = made
    daemon.__exit__(None, None, None)


def test_a_start_that_fails_is_said(path: Path) -> None:
    """As the one who starts it says it, and at once."""

    def start() -> None:
        raise DaemonError("it cannot be started", "mend it")

    with pytest.raises(DaemonError, match="it cannot be started"):
        begun(Link(path, start))


def test_one_that_never_begins_is_waited_for_no_longer(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said to be absent, with what starts it."""
    monkeypatch.setattr(module, "BEGINS", SHORT)
    starts: list[None] = []
    with pytest.raises(DaemonError, match=ABSENT) as raised:
        begun(Link(path, lambda: starts.append(None)))
    assert "reticent daemon" in raised.value.hint
    assert len(starts) == 1


@pytest.mark.parametrize("answer", [Raw(200, b"no JSON"), Raw(500, b"", "text/html")])
def test_what_answers_otherwise_is_not_started_over(path: Path, answer: Raw) -> None:
    """Something listens there: two daemons would be one too many."""
    with FakeDaemon(path, {"status": says(answer)}), pytest.raises(DaemonError):
        begun(Link(path, never))


def test_calls_run_beside_one_another(path: Path) -> None:
    """One that takes long holds none of the others up, as long as a caller is left."""
    free = threading.Event()
    inside = threading.Barrier(CALLERS)

    def slow() -> list[object]:
        inside.wait(PATIENCE)
        assert free.wait(PATIENCE)
        return []

    async def test(link: Link) -> None:
        waiting = [asyncio.create_task(link.call("reviews")) for _ in range(CALLERS - 1)]
        await asyncio.to_thread(inside.wait, PATIENCE)
        assert await link.call("status") == OPEN
        assert not any(each.done() for each in waiting)
        free.set()
        assert await asyncio.gather(*waiting) == [[]] * (CALLERS - 1)

    link = Link(path, never)
    try:
        with FakeDaemon(path, {"status": says(OPEN), "reviews": slow}):
            asyncio.run(test(link))
            link.close()
    finally:
        free.set()
        inside.abort()
        link.close()


def test_only_what_a_person_asked_for_keeps_the_vault_open(
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

    async def test(link: Link) -> None:
        for attended in (True, False, True):
            await link.call("status", attended=attended)
        await link.call("status")

    with (
        FakeDaemon(path, {"status": says(OPEN), "events": lambda: iter(())}),
        Following(path) as told,
    ):
        assert isinstance(told(), Heard)
        assert not made.get(timeout=PATIENCE)
        told.link.close()
        while not made.empty():
            assert not made.get()
        link = Link(path, never)
        asyncio.run(test(link))
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
            heard, happened, lost = told.until(Heard), told(), told()
            assert isinstance(heard, Heard)
            assert heard.status == OPEN
            assert isinstance(happened, Happened)
            assert happened.event == EVENT
            assert isinstance(lost, Lost)
            assert str(lost.error) == "the daemon ended"
            told.until(Heard)
        assert isinstance(told.until(Lost), Lost)


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
            lost = told.until(Lost)
            assert isinstance(lost, Lost)
            assert str(lost.error) == str(error)


def test_a_path_that_is_too_long_is_said() -> None:
    """To whoever follows, too."""
    with Following(Path("/" + "x" * 300)) as told:
        lost = told.until(Lost)
        assert isinstance(lost, Lost)
        assert isinstance(lost.error, UsageError)


def test_closing_ends_every_thread(path: Path) -> None:
    """Also one that waits for the next event, and those that made calls."""
    quiet = threading.Event()

    def events() -> Iterator[object]:
        yield EVENT
        quiet.wait(PATIENCE)

    with FakeDaemon(path, following({"events": events})):
        with Following(path) as told:
            told.until(Happened)
            asyncio.run(_called(told.link))
            assert ours()
        wait(lambda: not ours())
        quiet.set()


def test_closing_waits_for_no_long_call(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever leaves is not kept by a curve; it fails, and none comes after it."""
    monkeypatch.setattr(module, "GRACE", SHORT)
    free = threading.Event()
    inside = threading.Event()

    def slow() -> list[object]:
        inside.set()
        free.wait(PATIENCE)
        return []

    async def test(link: Link) -> None:
        waiting = asyncio.create_task(link.call("reviews"))
        await asyncio.to_thread(inside.wait, PATIENCE)
        link.close()
        with pytest.raises(DaemonError):
            await waiting
        assert not free.is_set()
        with pytest.raises(RuntimeError):
            await link.call("status")

    with FakeDaemon(path, {"status": says(OPEN), "reviews": slow}):
        asyncio.run(test(Link(path, never)))
        wait(lambda: not ours())
        free.set()


def test_closing_lets_a_word_arrive_that_was_said(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verdict, say, just before one leaves."""
    monkeypatch.setattr(module, "GRACE", PATIENCE)
    inside = threading.Event()

    def soon() -> list[object]:
        inside.set()
        time.sleep(SHORT)
        return []

    async def test(link: Link) -> None:
        waiting = asyncio.create_task(link.call("reviews"))
        await asyncio.to_thread(inside.wait, PATIENCE)
        link.close()
        assert await waiting == []

    with FakeDaemon(path, {"reviews": soon}):
        asyncio.run(test(Link(path, never)))


async def _called(link: Link) -> None:
    await asyncio.gather(*(link.call("status") for _ in range(CALLERS)))


def ours() -> list[str]:
    """Return the threads of links."""
    names = [each.name for each in threading.enumerate()]
    return [each for each in names if each.startswith("reticent-")]


def wait(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
