"""Help: what the focused part is for, and every action of the screen with its command."""

import pytest
from rich.console import Console
from textual.containers import VerticalScroll

from agent.tui.actions import TITLES, Where, actions_of
from agent.tui.dialogs import WAY_OUT, Help, listed, typed
from tests.tui.double import double
from tests.tui.running import SMALL, USUAL, Running, running

NARROW, BROAD = 40, 400  # columns


def printed(where: Where, width: int) -> str:
    """Return the list of a screen as lines of so many columns."""
    console = Console(width=width, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(listed(actions_of(where)))
    return captured.get()


@pytest.mark.parametrize("where", TITLES)
def test_every_action_has_its_keys_its_words_and_its_command(where: Where) -> None:
    """In a line of its own, however narrow; what has no key is in the palette."""
    lines = printed(where, BROAD).splitlines()
    for line, action in zip(lines, actions_of(where), strict=True):
        keys, words = (
            line.split("  ", 1) if not line.startswith(" ") else line.strip().split("  ", 1)
        )
        assert keys == typed(action)
        assert words.strip().startswith(f"{action.label}: {action.help}")
        assert (f"(reticent {action.command})" in words) == bool(action.command)
    narrow = printed(where, NARROW)
    assert max(map(len, narrow.splitlines())) <= NARROW
    for action in actions_of(where):
        assert set(action.help.split()) <= set(narrow.replace("(", " ").split())


async def opened(shown: Running) -> VerticalScroll:
    """Ask for help, and return what it stands in."""
    await shown.pilot.press("question_mark")
    await shown.until(lambda: isinstance(shown.app.screen, Help))
    return shown.app.screen.query_one(VerticalScroll)


async def test_it_begins_with_what_is_focused() -> None:
    """Its tooltip, on every screen: nobody needs a mouse to read it."""
    with double() as (_, path):
        async with running(path) as shown:
            for where, title in TITLES.items():
                await shown.go(where)
                await shown.until(lambda: shown.app.focused)
                assert shown.app.focused is not None
                tooltip = str(shown.app.focused.tooltip or "")
                assert tooltip
                await opened(shown)
                first = " ".join(tooltip.split()[:4])
                assert first in shown.text()
                assert title in shown.text().splitlines()[0]
                await shown.pilot.press("escape")
                await shown.until(lambda: not isinstance(shown.app.screen, Help))


@pytest.mark.parametrize("size", [SMALL, USUAL])
async def test_it_fits_and_is_scrolled_by_keys(size: tuple[int, int]) -> None:
    """The way out is seen all the time; a key that is no other leads back."""
    with double() as (_, path):
        async with running(path, size) as shown:
            dialog = await opened(shown)
            assert dialog.max_scroll_y > 0
            assert dialog.size.height <= size[1]
            assert WAY_OUT in shown.text()
            last = actions_of("requests")[-1]
            assert last.help not in shown.text()
            await shown.pilot.press("end")
            await shown.until(lambda: last.help in shown.text())
            assert WAY_OUT in shown.text()
            await shown.pilot.press("escape")
            await shown.until(lambda: not isinstance(shown.app.screen, Help))


async def test_a_key_leads_back_and_nothing_else() -> None:
    """The one that opened it, too; q leaves the help and not the program."""
    with double() as (_, path):
        async with running(path) as shown:
            for key in ("escape", "q", "question_mark", "f1"):
                await opened(shown)
                await shown.pilot.press(key)
                await shown.until(lambda: shown.app.screen is shown.app.page())
                assert shown.app.is_running
