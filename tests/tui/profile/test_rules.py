"""What may leave, and for how much, over a real daemon and its policy."""

from agent.tui.dialogs import Choice
from agent.tui.screens.profile import ProfileScreen
from tests.daemon.whole_daemon import Live
from tests.tui.profile.world import come, notes, row, ruled, told
from tests.tui.running import LARGE, running


async def test_whether_it_may_leave_is_chosen(live: Live) -> None:
    """It is in the policy, and in the row; leaving the question changes nothing."""
    async with running(live.paths.control) as shown:
        await come(shown, "major")
        before = live.paths.policy.read_text()
        await shown.pilot.press("d")
        await shown.until(lambda: isinstance(shown.app.screen, Choice))
        assert "for what it is, not for" in shown.text()
        await shown.pilot.press("escape")
        await shown.settled()
        assert live.paths.policy.read_text() == before
        await shown.pilot.press("d")
        await shown.until(lambda: isinstance(shown.app.screen, Choice))
        await shown.pilot.press("enter")
        await shown.settled()
        assert live.paths.policy.read_text() == before
        await shown.pilot.press("d")
        await shown.until(lambda: isinstance(shown.app.screen, Choice))
        await shown.pilot.press("home", "enter")
        await shown.until(lambda: row(shown, "major")[2] == "never")
        assert ruled(live, "major") == "never"


async def test_it_is_guarded_and_guarded_no_more(live: Live) -> None:
    """Then it may leave as before."""
    async with running(live.paths.control) as shown:
        await come(shown, "student")
        was = row(shown, "student")[2]
        assert was != "guarded"
        await shown.pilot.press("g")
        await shown.until(lambda: row(shown, "student")[2] == "guarded")
        assert ruled(live, "student")["guard"] == 1
        await shown.pilot.press("d")
        await shown.until(lambda: "g stops guarding it" in notes(shown))
        assert isinstance(shown.app.screen, ProfileScreen)
        await shown.pilot.press("g")
        await shown.until(lambda: row(shown, "student")[2] == was)


async def test_a_slider_is_written_with_enter_alone(live: Live) -> None:
    """Not at each key, nor when its row is left; the mark says so, and the line below."""
    async with running(live.paths.control) as shown:
        await come(shown, "hobby")
        await shown.pilot.press("right", "plus", "right", "left")
        await shown.until(lambda: row(shown, "hobby")[3].endswith(" 0.02*"))
        assert ruled(live, "hobby") is None
        await shown.pilot.press("enter")
        await shown.until(lambda: row(shown, "hobby")[3].endswith(" 0.02"))
        assert ruled(live, "hobby")["sensitivity"] == 0.02
        await shown.pilot.press("minus", "down")
        await shown.until(lambda: "Not saved yet (*): " in told(shown))
        assert row(shown, "hobby")[3].endswith(" 0.01*")
        assert ruled(live, "hobby")["sensitivity"] == 0.02
        await shown.pilot.press("right", "up", "enter")
        await shown.until(lambda: row(shown, "hobby")[3].endswith(" 0.01"))
        assert ruled(live, "hobby")["sensitivity"] == 0.01
        await shown.until(lambda: "Not saved yet (*): " in told(shown))


async def test_a_slider_is_put_back_and_never_written_by_leaving(live: Live) -> None:
    """Neither by escape, nor by another screen, nor by what covers it."""
    async with running(live.paths.control) as shown:
        await come(shown, "remote")
        before = live.paths.policy.read_text()
        await shown.pilot.press("right", "escape")
        await shown.until(lambda: row(shown, "remote")[3].endswith(" 0"))
        await shown.pilot.press("right", "6")
        await shown.until(lambda: not isinstance(shown.app.page(), ProfileScreen))
        await shown.pilot.press("4")
        await shown.until(lambda: isinstance(shown.app.page(), ProfileScreen))
        shown.app.cover()
        await shown.settled()
        await shown.pilot.press("space")
        await shown.until(lambda: row(shown, "remote")[3].endswith(" 0.01*"))
        assert live.paths.policy.read_text() == before


async def test_the_mouse_puts_the_slider_where_it_is(live: Live) -> None:
    """A click is a step of it."""
    async with running(live.paths.control, LARGE) as shown:
        await come(shown, "gender")
        line = next(at for at, text in enumerate(shown.text().splitlines()) if "race" in text)
        start = shown.text().splitlines()[line].index("●")
        await shown.pilot.click(offset=(start + 4, line))
        await shown.until(lambda: row(shown, "race")[3].endswith(" 0.1*"))
        await shown.pilot.press("escape")
        await shown.until(lambda: row(shown, "race")[3].endswith(" 0"))
