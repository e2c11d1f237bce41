"""What a lock, or nobody's being there, hides: at once, on all screens; and what comes after."""

import io
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from msgspec import Struct, to_builtins
from rich.console import Console
from textual import events
from textual.content import Content
from textual.widgets import Button, Input, OptionList, Static

from agent.errors import DaemonError
from agent.tui.app import ReviewApp
from agent.tui.dialogs import Help, confirm
from agent.tui.page import mounted_pages
from agent.tui.screens.health import HealthScreen
from agent.tui.screens.requests import RequestsScreen
from agent.tui.unlocking import LOCKED, Cover, Unlocking
from agent.tui.virtual_list import Listing
from agent.wire.decide import Ask
from agent.wire.state import Status
from tests.developer import PROFILE
from tests.tui.double import OPEN, Double, Running, running
from tests.waiting import PATIENCE
from tests.worlds.daemons import Live, home, living, started

TOO_LATE = DaemonError("the daemon does not answer", "look at its log")
TYPED = "quit me, u and m"  # a passphrase, as keys


def said(shown: Running, part: str) -> str:
    return str(shown.app.screen.query_one(part, Static).content)


async def comes(shown: Running, screen: type) -> None:
    await shown.until(lambda: isinstance(shown.app.screen, screen))


async def test_the_key_blanks_the_screen_before_the_daemon_answers(daemon: Double) -> None:
    """From help, too. Nothing is asked meanwhile; that it is locked is said once it is."""
    answers, asked = threading.Event(), threading.Event()

    def lock() -> Status:
        asked.set()
        assert answers.wait(PATIENCE)
        return daemon.set(locked=True)

    daemon.calls["lock"] = lock
    try:
        async with daemon.shown() as shown:
            await shown.pilot.press("question_mark")
            await comes(shown, Help)
            await shown.pilot.press("ctrl+l")
            await shown.until(asked.is_set)
            await comes(shown, Unlocking)
            assert "waiting" not in shown.text()
            assert said(shown, "#locked") != LOCKED
            assert not shown.app.reachable
            answers.set()
            await shown.until(lambda: said(shown, "#locked") == LOCKED)
    finally:
        answers.set()


async def test_the_field_is_in_sight_at_any_size(daemon: Double) -> None:
    """Whole, and the buttons are not cut at the side."""
    daemon.set(locked=True)
    for size in ((20, 5), (60, 20)):
        async with daemon.shown(size) as shown:
            await comes(shown, Unlocking)
            field, screen = shown.app.screen.query_one("#secret"), shown.app.screen
            await shown.until(lambda: screen.region.contains_region(field.region))  # noqa: B023  (waited for here)
            for each in screen.query(Button).exclude("#start"):
                assert len(str(each.label)) <= each.content_size.width
                assert each.region.right <= size[0]


async def test_a_daemon_that_cannot_lock_is_said_and_asked_again_once_it_is_heard(
    daemon: Double,
) -> None:
    """Nothing is shown until then."""

    def lock() -> Status:
        if len(daemon.asked("lock")) == 1:
            raise TOO_LATE
        return daemon.set(locked=True)

    daemon.calls["lock"] = lock
    async with daemon.shown() as shown:
        await shown.pilot.press("ctrl+l")
        await shown.until(lambda: TOO_LATE.what in shown.text())
        assert TOO_LATE.hint in shown.text()
        shown.app.take(OPEN)
        await shown.until(lambda: said(shown, "#locked") == LOCKED)
        assert len(daemon.asked("lock")) == 2
        await shown.pilot.press(*"right", "enter")
        await comes(shown, RequestsScreen)


async def test_a_lock_takes_open_questions_and_sentences_along(daemon: Double) -> None:
    """They name recipients and facts; none comes back with the key."""
    async with daemon.shown() as shown:
        answers: list[bool | None] = []
        shown.app.push_screen(confirm("Tell somebody.example?", "tell"), answers.append)
        shown.app.tell("Told somebody.example.")
        await shown.until(lambda: "Told somebody" in shown.text())
        await shown.pilot.press("ctrl+l")
        shown.app.tell("Told another.example.")
        await shown.until(lambda: said(shown, "#locked") == LOCKED)
        assert answers == [None]
        assert shown.notes() == ""
        assert ".example" not in shown.text()
        await shown.pilot.press(*"right", "enter")
        await comes(shown, RequestsScreen)
        assert not daemon.status.locked


async def test_nobody_there_hides_everything_and_the_key_that_uncovers_does_nothing_else(
    daemon: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values, sentences, and what was in front, which stands there after; a click is a key."""
    monkeypatch.setattr("agent.tui.app.QUIET", 60.0)  # however slow the machine
    async with daemon.shown(idle=0.2) as shown:
        shown.app.tell("Told somebody.example.")
        shown.app.action_mask()
        await comes(shown, Cover)
        assert shown.app.masked
        shown.app.action_mask()
        assert shown.app.masked  # nothing shows them from there
        shown.app.tell("Told another.example.")
        await shown.pilot.pause()
        assert shown.notes() == ""
        assert "Hidden while nobody is here" in shown.text()
        for words in (".example", "Requests"):
            assert words not in shown.text()
    async with daemon.shown() as shown:
        for way in ("key", "keys", "mouse"):
            await shown.pilot.press("question_mark")
            await comes(shown, Help)
            shown.app.cover()
            await comes(shown, Cover)
            assert "Escape goes back" not in shown.text()
            if way == "mouse":
                cover = shown.app.screen
                for _ in range(2):  # before the screen changes
                    cover.post_message(events.MouseDown(cover, 1, 0, 0, 0, 1, False, False, False))
            else:
                await shown.pilot.press(*(TYPED if way == "keys" else "q"), "enter")
            await comes(shown, Help)
            await shown.pilot.pause()
            await shown.pilot.press("escape")
            await comes(shown, RequestsScreen)


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
            await comes(shown, Unlocking)
            assert "Passphrase" in shown.text()
            ends.pop_all().close()  # ends them again, while the key is asked for
            await shown.until(lambda: "Reticent is stopped" in shown.text())
            assert "Passphrase" not in shown.text()
            await shown.pilot.press("f9")
            await shown.until(lambda: "Passphrase" in shown.text())
            assert shown.app.focused is shown.app.screen.query_one("#secret")


async def test_what_was_typed_for_the_passphrase_is_no_key(
    daemon: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another terminal was faster; what comes after Enter counts again."""
    monkeypatch.setattr("agent.tui.app.QUIET", 60.0)  # however slow the machine
    daemon.set(locked=True)
    async with daemon.shown() as shown:
        await comes(shown, Unlocking)
        await shown.pilot.press("a", "b")
        shown.app.take(daemon.set(locked=False))
        await comes(shown, RequestsScreen)
        await shown.pilot.press(*(each if each != " " else "space" for each in TYPED))
        assert "Unlocked elsewhere." in shown.notes()
        assert shown.app.masked
        assert shown.app.is_running
        await shown.pilot.press("enter", "m")
        await shown.until(lambda: not shown.app.masked)


async def test_a_refusal_is_said_the_other_way_is_named_and_the_right_secret_opens(
    daemon: Double,
) -> None:
    """The button says what it leads to, an old refusal goes, and no secret stays."""
    daemon.set(locked=True)
    async with daemon.shown() as shown:
        await comes(shown, Unlocking)
        await shown.pilot.press(*"wrong", "enter")
        await shown.until(lambda: "not the passphrase" in said(shown, "#wrong"))
        assert shown.app.screen.query_one(Input).value == ""
        await shown.pilot.press("ctrl+r")
        assert said(shown, "#wrong") == ""
        assert "Passphrase (^r)" in str(shown.app.screen.query_one("#other", Button).label)
        await shown.pilot.press("ctrl+r", *"right", "enter")
        await comes(shown, RequestsScreen)


# what all screens hold, over a real daemon that told somebody something

SCREENS = "123456"
SITE, WORDS = "somebody-told.example", "job site"
POLICY = f"""\
preset = "balanced"
disclose = "always"

[daemon]
lock_after_minutes = 0

[[rule]]
name = "a rule about somebody"
recipient = "{SITE}"
anonymity_price = 0.0001
"""


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A daemon that told somebody something."""
    with living(POLICY) as made:
        assert made.call("decide", Ask(query=WORDS, recipient=SITE)).attributes
        yield made


def whole(app: ReviewApp) -> dict[str, str]:
    """Return all text that each screen holds, seen or not, but for what no vault hides."""
    found: dict[str, str] = {}
    for page in mounted_pages(app._screen_stacks.values()):  # noqa: SLF001  (Textual shows none but the present)
        texts: list[str] = []
        for each in [] if isinstance(page, HealthScreen) else page.query("*"):
            if isinstance(each, Static):
                texts.append(_plain(each.content))
            elif isinstance(each, Listing):  # what an item prints of itself may be masked
                plain = (to_builtins(e) if isinstance(e, Struct) else e for e in each.items)
                texts += [str(getattr(item, "value", item)) for item in plain]
            elif isinstance(each, Input):
                texts.append(each.value)
            elif isinstance(each, OptionList):
                texts += [str(option.prompt) for option in each.options]
        found[page.where] = "\n".join(texts)
    return found


def _plain(content: object) -> str:
    if isinstance(content, Content | str):
        return str(content)
    console = Console(file=io.StringIO(), width=200, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(content)
    return captured.get()


def words(app: ReviewApp) -> set[str]:
    return {word for text in whole(app).values() for word in re.findall(r"\w+", text)}


async def visited(shown: Running) -> None:
    for number in SCREENS:
        await shown.pilot.press(number)
        await shown.settled()


async def test_all_screens_are_cleared_shown_or_not(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody there: no value stays anywhere. A lock: no recipient, no query; and they come back."""
    monkeypatch.setattr("agent.tui.app.QUIET", 60.0)  # however slow the machine
    private = (SITE, WORDS, PROFILE["major"])

    async with running(live.paths.control) as shown:
        await visited(shown)
        before = words(shown.app)
        await shown.pilot.press("4", "m")
        await visited(shown)
        held, shown_then = whole(shown.app), words(shown.app) - before
        assert len(held) == len(SCREENS)
        for each in private:
            assert any(each in text for text in held.values()), each
        assert PROFILE["major"] in shown_then
        shown.app.cover()
        await comes(shown, Cover)
        await shown.settled()
        assert not words(shown.app) & shown_then
        await shown.pilot.press("x", "enter")
        await visited(shown)
        assert not words(shown.app) & shown_then
        assert shown.app.masked

        await shown.pilot.press("4", "m")
        await shown.until(lambda: PROFILE["major"] in whole(shown.app)["profile"])
        await shown.pilot.press("ctrl+l")
        await comes(shown, Unlocking)
        await shown.settled()
        for where, text in whole(shown.app).items():
            for each in (*private, "a rule about somebody"):
                assert each not in text, (where, each)
        assert shown.app.masked
        live.unlock()
        await shown.until(lambda: not isinstance(shown.app.screen, Unlocking))
        await shown.pilot.press("q", "enter")  # of the passphrase that somebody still types
        await shown.pilot.press("1")
        await shown.until(lambda: SITE in whole(shown.app)["requests"])
