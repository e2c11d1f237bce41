"""Closing the vault from the screens: at once, whatever the daemon does; and what comes after."""

import threading
from contextlib import ExitStack
from functools import partial

import pytest
from textual.widgets import Button, Input, Static

from agent.errors import DaemonError
from agent.tui.dialogs import Confirm
from agent.tui.privacy_lock import LOCKED, Cover, Unlocking
from agent.tui.screens.requests import RequestsScreen
from agent.wire.state import Status
from tests.daemon.whole_daemon import home, started
from tests.tui.double import OPEN, Double, double
from tests.tui.running import LARGE, SMALL, Running, running

TOO_LATE = DaemonError("the daemon does not answer", "look at its log")
TYPED = "quit me, u and m"  # a passphrase, as keys


def said(shown: Running, part: str) -> str:
    """Return what a part of the question for the key says."""
    return str(shown.app.screen.query_one(part, Static).content)


@pytest.mark.parametrize(
    ("before", "size"),
    [("ctrl+l", SMALL), ("question_mark", LARGE), ("slash", SMALL), ("ctrl+r", LARGE)],
)
async def test_ctrl_q_leaves_from_anywhere(before: str, size: tuple[int, int]) -> None:
    """Also where the key is asked for, in help, in a field, and in front of a question."""
    with double() as (_, path):
        async with running(path, size) as shown:
            await shown.pilot.press(before)
            if before == "ctrl+r":
                shown.app.push_screen(Confirm("Sure?", "do it"))
            await shown.settled()
            assert shown.app.is_running
            assert not shown.app._exit  # noqa: SLF001  (nothing public says it)
            await shown.pilot.press("ctrl+q")
            await shown.until(lambda: shown.app._exit)  # noqa: SLF001  (as above)


async def test_the_key_blanks_the_screen_before_the_daemon_answers() -> None:
    """Nothing is asked of it meanwhile; and that the vault is locked is said once it is."""
    answers, asked = threading.Event(), threading.Event()

    def lock() -> Status:
        asked.set()
        answers.wait(20)
        return Double().set(locked=True)

    with double({"lock": lock}) as (_, path):
        async with running(path) as shown:
            await shown.pilot.press("ctrl+l")
            await shown.until(asked.is_set)
            assert isinstance(shown.app.screen, Unlocking)
            assert said(shown, "#locked") != LOCKED
            assert not shown.app.reachable
            answers.set()
            await shown.until(lambda: said(shown, "#locked") == LOCKED)


async def test_a_daemon_that_cannot_lock_is_said_and_asked_again_once_it_is_heard() -> None:
    """Nothing is shown until then."""
    tries: list[bool] = []

    def lock(found: list[Double]) -> Status:
        tries.append(True)
        if len(tries) == 1:
            raise TOO_LATE
        return found[0].set(locked=True)

    made: list[Double] = []
    with double({"lock": partial(lock, made)}) as (found, path):
        made.append(found)
        async with running(path) as shown:
            await shown.pilot.press("ctrl+l")
            await shown.until(lambda: TOO_LATE.what in shown.text())
            assert TOO_LATE.hint in shown.text()
            shown.app.take(OPEN)
            await shown.until(lambda: said(shown, "#locked") == LOCKED)
            assert len(tries) == 2
            await shown.pilot.press(*"right", "enter")
            await shown.until(lambda: isinstance(shown.app.screen, RequestsScreen))


async def test_a_lock_takes_open_questions_and_sentences_along() -> None:
    """They name recipients and facts; none comes back with the key."""
    with double() as (found, path):
        async with running(path) as shown:
            answers: list[bool | None] = []
            shown.app.push_screen(Confirm("Tell somebody.example?", "tell"), answers.append)
            shown.app.tell("Told somebody.example.")
            await shown.until(lambda: "Told somebody" in shown.text())
            await shown.pilot.press("ctrl+l")
            shown.app.tell("Told another.example.")
            await shown.until(lambda: said(shown, "#locked") == LOCKED)
            assert answers == [None]
            assert shown.notes() == ""
            assert ".example" not in shown.text()
            await shown.pilot.press(*"right", "enter")
            await shown.until(lambda: isinstance(shown.app.screen, RequestsScreen))
            assert not found.status.locked


async def test_nobody_there_hides_sentences_too() -> None:
    """They would stand before the cover."""
    with double() as (_, path):
        async with running(path) as shown:
            shown.app.tell("Told somebody.example.")
            shown.app.cover()
            await shown.until(lambda: isinstance(shown.app.screen, Cover))
            shown.app.tell("Told another.example.")
            await shown.pilot.pause()
            assert shown.notes() == ""
            assert ".example" not in shown.text()


async def test_a_lost_daemon_hides_the_values_and_a_key_starts_another() -> None:
    """Nobody can say whether its vault is open; none is shown until it is heard."""
    with home() as places, ExitStack() as ends:
        live = ends.enter_context(started(places))
        live.unlock()

        def start() -> None:
            ends.enter_context(started(places))

        async with running(places.control, start=start) as shown:
            await shown.until(lambda: shown.app.reachable)
            shown.app.action_mask()
            live.kill()
            await shown.until(lambda: shown.app.masked and "F9" in shown.text())
            await shown.pilot.press("m")
            assert "stay hidden" in shown.notes()
            assert shown.app.masked
            await shown.pilot.press("f9")
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))


async def test_what_was_typed_for_the_passphrase_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another terminal was faster; what comes after Enter counts again."""
    monkeypatch.setattr("agent.tui.privacy_lock.QUIET", 60.0)  # however slow the machine

    with double() as (found, path):
        found.set(locked=True)
        async with running(path) as shown:
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            await shown.pilot.press("a", "b")
            shown.app.take(found.set(locked=False))
            await shown.until(lambda: isinstance(shown.app.screen, RequestsScreen))
            await shown.pilot.press(*(each if each != " " else "space" for each in TYPED))
            assert "Unlocked elsewhere." in shown.notes()
            assert shown.app.masked
            assert shown.app.is_running
            await shown.pilot.press("enter", "m")
            await shown.until(lambda: not shown.app.masked)


@pytest.mark.parametrize("size", [(20, 5), (40, 12), (60, 20), (80, 24)])
async def test_the_field_is_in_sight_at_any_size(size: tuple[int, int]) -> None:
    """Whole, and the buttons are not cut at the side."""
    with double() as (found, path):
        found.set(locked=True)
        async with running(path, size) as shown:
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            await shown.pilot.pause()
            field = shown.app.screen.query_one("#secret")
            await shown.until(lambda: shown.app.screen.region.contains_region(field.region))
            for each in shown.app.screen.query(Button):
                assert len(str(each.label)) <= each.content_size.width
                assert each.region.right <= size[0]


async def test_a_refusal_is_said_the_other_way_is_named_and_the_right_secret_opens() -> None:
    """The button says what it leads to, an old refusal goes, and no secret stays."""
    with double() as (found, path):
        found.set(locked=True)
        async with running(path) as shown:
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            await shown.pilot.press(*"wrong", "enter")
            await shown.until(lambda: "not the passphrase" in said(shown, "#wrong"))
            assert shown.app.screen.query_one(Input).value == ""
            await shown.pilot.press("ctrl+r")
            assert said(shown, "#wrong") == ""
            assert "Passphrase (^r)" in str(shown.app.screen.query_one("#other", Button).label)
            await shown.pilot.press("ctrl+r", *"right", "enter")
            await shown.until(lambda: isinstance(shown.app.screen, RequestsScreen))
