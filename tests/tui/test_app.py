"""The program: reaching the daemon, locking, hiding, and the end of it."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace as changed
from textual.worker import WorkerFailed

from agent.errors import DaemonError
from agent.tui.app import Review
from agent.tui.dialogs import Help
from agent.tui.link import Connected, DaemonEvent, Disconnected
from agent.tui.page import Page
from agent.tui.privacy_lock import Cover, Unlocking
from agent.tui.screens.requests import RequestsScreen
from agent.wire.state import Event
from tests.tui.double import OPEN, POLICY, Double, double
from tests.tui.running import LARGE, running
from tests.tui.running import run as going
from tests.wire.fake import FakeDaemon, short_folder


async def test_the_state_is_said_in_words_and_signs() -> None:
    """Open, waiting, locked: nobody needs the colour."""
    with double() as (_, path):
        async with running(path) as shown:
            assert "● 2 √ open" in shown.text()
            assert "Requests" in shown.text()
            await shown.pilot.resize_terminal(*LARGE)
            await shown.until(lambda: "● 2 waiting · √ open" in shown.text())


async def test_one_key_locks_from_anywhere() -> None:
    """Also while something is typed, and while help stands in front."""
    with double() as (_, path):
        async with running(path) as shown:
            await shown.pilot.press("question_mark")
            await shown.until(lambda: isinstance(shown.app.screen, Help))
            await shown.pilot.press("ctrl+l")
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            assert "waiting" not in shown.text()


async def test_no_vault_says_what_makes_one() -> None:
    """There is nothing to unlock."""
    with double() as (found, path):
        found.set(locked=True, vault=False)
        async with running(path) as shown:
            await shown.until(lambda: "reticent init" in shown.text())
            assert isinstance(shown.app.screen, RequestsScreen)


async def test_nobody_there_hides_everything() -> None:
    """Values are masked again."""
    with double() as (_, path):
        async with running(path, idle=0.2) as shown:
            shown.app.action_mask()
            await shown.until(lambda: isinstance(shown.app.screen, Cover))
            assert shown.app.masked
            shown.app.action_mask()
            assert shown.app.masked  # nothing shows them from there
            assert "Hidden while nobody is here" in shown.text()
            assert "Requests" not in shown.text()


async def test_the_key_that_uncovers_does_nothing_else() -> None:
    """It was pressed by somebody who did not see what it would do."""
    with double() as (_, path):
        async with running(path) as shown:
            shown.app.cover()
            await shown.until(lambda: isinstance(shown.app.screen, Cover))
            await shown.pilot.press("q")
            await shown.until(lambda: isinstance(shown.app.screen, RequestsScreen))
            assert shown.app.is_running


async def test_what_nobody_tells_is_asked_for_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A daemon looks at its policy when it is asked something."""
    monkeypatch.setattr("agent.tui.privacy_lock.LOOKS", 0.05)

    with double() as (found, path):
        async with running(path) as shown:
            await shown.until(lambda: "√ open" in shown.text())
            found.status = changed(OPEN, policy=changed(POLICY, in_use=False))
            await shown.until(lambda: "! no policy" in shown.text())


async def test_undo_says_what_was_taken_back() -> None:
    """From any screen."""
    with double() as (_, path):
        async with running(path) as shown:
            await shown.pilot.press("u")
            await shown.until(lambda: "Denied region: undone." in shown.text())


def test_it_starts_a_daemon_if_none_runs_and_survives_its_end() -> None:
    """A banner says that what is shown is old; it goes when the daemon is back."""

    async def test(path: Path, found: Double, ends: ExitStack) -> None:
        begun: list[FakeDaemon] = []

        def start() -> None:
            begun.append(FakeDaemon(path, found.handlers()).__enter__())

        async with running(path, start=start) as shown:
            ends.callback(lambda: begun[-1].__exit__(None, None, None))
            await shown.until(lambda: "√ open" in shown.text())
            found.events.set()
            begun[0].__exit__(None, None, None)
            begun.clear()
            await shown.until(lambda: "STALE" in shown.text() and "✗ stale" in shown.text())
            found.events.clear()
            start()
            await shown.until(lambda: "STALE" not in shown.text())
            found.events.set()

    with short_folder() as folder, ExitStack() as ends:
        going(test(folder / "control.sock", Double(), ends))


def taken_away(then: Callable[[Review, Page], None]) -> None:
    """Do something to the program and its screen once that has lost its parts."""

    async def test(path: Path) -> None:
        async with running(path) as shown:
            app, page = shown.app, shown.app.page()
            assert page is not None

            async def late() -> None:
                while app.is_running or page.query("#first"):  # noqa: ASYNC110  (nobody tells of it)
                    await asyncio.sleep(0)
                then(app, page)

            ending = asyncio.create_task(late())
        await ending

    with double() as (_, path):
        going(test(path))


def test_a_screen_that_is_taken_away_shows_nothing_more() -> None:
    """What it asked for may come when it has lost its parts, and is no defect then."""
    came: list[bool] = []

    def asks(_: Review, page: Page) -> None:
        async def shows() -> None:
            came.append(bool(page.query("#first")))
            page.query_one("#first")

        page.do(shows)

    taken_away(asks)
    assert came == [False]


def test_what_the_daemon_tells_at_the_end_is_let_pass() -> None:
    """Screens that have lost their parts can neither be hidden nor be cleared any more."""
    same: list[bool] = []

    def tells(app: Review, _: Page) -> None:
        before = app.state
        app.on_disconnected(Disconnected(DaemonError("it ended", hint="start it")))
        app.on_connected(Connected(changed(OPEN, locked=True)))
        app.on_daemon_event(DaemonEvent(Event(number=1, kind="lock", at=OPEN.started_at)))
        same.append(app.state is before)

    taken_away(tells)
    assert same == [True]


async def test_what_a_screen_has_not_is_a_defect_while_it_stands() -> None:
    """It would otherwise go by unseen."""

    async def test(path: Path) -> None:
        async with running(path) as shown:
            page = shown.app.page()
            assert page is not None

            async def shows() -> None:
                page.query_one("#nowhere")

            page.do(shows)
            await shown.until(lambda: shown.app.defect is not None)

    with double() as (_, path), pytest.raises(WorkerFailed):
        await test(path)


async def test_a_defect_ends_it_without_a_word_about_values(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whoever ran it gets the error, and says it in a sentence."""

    async def test(path: Path) -> None:
        async with running(path) as shown:
            values = "secret value"

            def fails() -> None:
                raise RuntimeError(values)

            shown.app.call_later(fails)
            await shown.until(lambda: shown.app.defect is not None)
            assert str(shown.app.defect) == values

    with double() as (_, path), pytest.raises(RuntimeError):
        await test(path)
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err
