"""The way to the daemon: it is begun where none runs, called from threads, and left."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.errors import DaemonError
from agent.tui import link as module
from agent.tui.link import CALLERS, Link
from agent.wire.client import ABSENT
from tests.tui.double import OPEN
from tests.wire.fake import FakeDaemon, Raw, says

PATIENCE = 20.0  # seconds, for what takes a fraction of one
SHORT = 0.2


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


async def test_calls_run_beside_one_another(path: Path) -> None:
    """One that takes long holds none of the others up, as long as a caller is left."""
    free = threading.Event()
    inside = threading.Barrier(CALLERS)

    def slow() -> list[object]:
        inside.wait(PATIENCE)
        assert free.wait(PATIENCE)
        return []

    link = Link(path, never)
    try:
        with FakeDaemon(path, {"status": says(OPEN), "reviews": slow}):
            waiting = [asyncio.create_task(link.call("reviews")) for _ in range(CALLERS - 1)]
            await asyncio.to_thread(inside.wait, PATIENCE)
            assert await link.call("status") == OPEN
            assert not any(each.done() for each in waiting)
            free.set()
            assert await asyncio.gather(*waiting) == [[]] * (CALLERS - 1)
            link.close()
    finally:
        free.set()
        inside.abort()
        link.close()


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
