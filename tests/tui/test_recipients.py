"""The screen of recipients: who knows what, and a word on one of them."""

import pytest
from msgspec.structs import replace
from textual.widgets import Input

from agent.errors import UsageError
from agent.tui.privacy_lock import Unlocking
from agent.tui.screens.recipients import RecipientsScreen
from agent.wire.base import Done
from agent.wire.decide import Allowed
from tests.tui.double import Double
from tests.tui.running import LARGE, SMALL, Running
from tests.tui.values import HELD, SHOP, row, weighed
from tests.wire.fake import says


@pytest.fixture
def told(daemon: Double) -> Double:
    """A daemon of a recipient, and of a group that a rule by hand blocks."""
    group = replace(SHOP, pool="@ads", sites=["a.example", "b.example"], blocked=True)
    daemon.calls |= {
        "recipients": says([SHOP, group]),
        "knowledge": lambda recipient: replace(HELD, pool=recipient),
        "whatif": says(weighed(rows=[row("age")])),
        "allow": says(Allowed(done=False, rule="my own", line=3)),
        "refuse": says(Done()),
        "forget": says(Done(done=False)),
    }
    return daemon


async def opened(shown: Running, name: str) -> RecipientsScreen:
    """Go to the screen, and wait for a recipient."""
    await shown.pilot.press("2")
    await shown.until(lambda: isinstance(shown.app.screen, RecipientsScreen))
    await shown.until(lambda: name in shown.text())
    found = shown.app.screen
    assert isinstance(found, RecipientsScreen)
    return found


def flat(shown: Running) -> str:
    """Return what stands in the detail, as one line."""
    lines = (line.rpartition("│")[2].rstrip("▁▂▃▄▅▆▇█ ") for line in shown.text().splitlines())
    return " ".join(" ".join(lines).split())


async def test_nobody_yet_says_how_the_list_fills(daemon: Double) -> None:
    """And no key does anything."""
    async with daemon.shown() as shown:
        await shown.pilot.press("2")
        await shown.until(lambda: "Nobody knows anything about you yet" in shown.text())
        await shown.pilot.press("enter", "w", "f", "b", "l")
        assert isinstance(shown.app.screen, RecipientsScreen)


async def test_a_group_is_ruled_site_by_site_and_its_requests_are_those_of_all(
    told: Double,
) -> None:
    """A rule that is not ours is named as such; the palette has what has no key of its own."""
    async with told.shown() as shown:
        await opened(shown, "@ads")
        await shown.pilot.press("down", "b")
        wins = "is still sent nothing: your rule 'my own', line 3"
        await shown.until(lambda: wins in shown.notes())
        assert [each.recipient for each in told.asked("allow")] == ["a.example", "b.example"]
        told.calls["allow"] = says(Allowed())
        await shown.pilot.press("ctrl+p", *"unblock")
        await shown.until(lambda: "Unblock" in shown.text())
        await shown.pilot.press("down", "enter")
        await shown.until(lambda: "are treated like any other" in shown.notes())
        await shown.pilot.press("up", "b")
        await shown.until(lambda: "is blocked" in shown.notes())
        await shown.pilot.press("down", "l")
        await shown.until(lambda: shown.app.current_mode == "requests")
        find = shown.app.screen.query_one("#find", Input)
        await shown.until(lambda: find.value == "@ads")


async def test_what_cannot_be_weighed_leaves_the_rest(told: Double) -> None:
    """With the reason in its place."""
    told.calls["whatif"] = fails
    async with told.shown(LARGE) as shown:
        await opened(shown, "@ads")
        await shown.until(lambda: "there is no model" in flat(shown))
        assert "what it knows" in shown.text()
        told.calls["whatif"] = says(weighed(rows=[], headline="Nothing is decided: no model."))
        await shown.pilot.press("down")
        await shown.until(lambda: "Nothing is decided: no model." in flat(shown))


def fails(**_: object) -> None:
    """Say that nothing can be weighed."""
    raise UsageError("there is no model", "add one")


async def test_locking_takes_everybody_off_the_screen(told: Double) -> None:
    """Also what was looked for, and who was looked into."""
    async with told.shown(LARGE) as shown:
        page = await opened(shown, "@ads")
        await shown.until(lambda: "what it knows" in shown.text())
        await shown.pilot.press("slash", *"shop", "ctrl+l")
        await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
        assert page.query_one(Input).value == ""
        assert page.findings is None
        assert not page.listing.items


async def test_nothing_that_is_shown_steers_the_terminal(told: Double) -> None:
    """A name may be of a model of anybody's."""
    hostile = "\x1b]0;title\x07"
    told.calls["recipients"] = says([replace(SHOP, pool=hostile, sites=[hostile], held=[hostile])])
    async with told.shown(LARGE) as shown:
        await opened(shown, "title")
        await shown.until(lambda: "what it knows" in shown.text())
        await shown.pilot.press("f")
        await shown.until(lambda: "you state that" in shown.text())
        assert "\x1b" not in shown.text()


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=str)
async def test_it_shows_who_knows_what_and_how_few_are_left(
    told: Double, size: tuple[int, int]
) -> None:
    """Values while they are seen, and with w what more would do; a step back where it is narrow."""
    async with told.shown(size) as shown:
        page = await opened(shown, "@ads")
        assert "people like you" in shown.text()
        await shown.pilot.press("down", "up", "enter")
        await shown.until(lambda: "2 facts about you. To it, you blend in with" in flat(shown))
        assert ("@ads" in shown.text()) is (size == LARGE)
        assert "•••" in shown.text()
        await shown.pilot.press("m")
        await shown.until(lambda: "chess" in shown.text())
        await shown.pilot.press("m")
        await shown.until(lambda: "•••" in shown.text())
        assert page.findings is not None
        assert not any(page.findings.held.values.values())
        await shown.pilot.press("w")
        await shown.until(lambda: "helps costs" in flat(shown))
        await shown.pilot.press("escape")
        assert "@ads" in shown.text()
        assert max(map(len, shown.text().splitlines())) <= size[0]


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=str)
async def test_what_more_would_do_takes_one_key(told: Double, size: tuple[int, int]) -> None:
    """Also where nothing was looked into before; a step back, and it is not asked for any more."""
    async with told.shown(size) as shown:
        page = await opened(shown, "@ads")
        await shown.pilot.press("w")
        await shown.until(lambda: "helps costs" in flat(shown))
        await shown.pilot.press("escape", "down", "enter")
        await shown.until(lambda: page.findings is not None and "@ads" in str(page.findings.held))
        await shown.until(lambda: "helps costs" not in flat(shown))


async def test_that_it_forgot_is_stated_after_a_yes_alone(told: Double) -> None:
    """Leaving the question states nothing; the daemon says where it knew nothing."""
    async with told.shown(LARGE) as shown:
        await opened(shown, "@ads")
        for leave in ("enter", "escape"):
            await shown.pilot.press("f")
            await shown.until(lambda: "Has" in shown.text() and "you state that" in shown.text())
            await shown.pilot.press(leave)
            await shown.until(lambda: isinstance(shown.app.screen, RecipientsScreen))
        assert not told.asked("forget")
        await shown.pilot.press("f", "down", "enter")
        await shown.until(lambda: "already knew nothing" in shown.notes())
        told.calls["forget"] = says(Done())
        await shown.pilot.press("f", "down", "enter")
        await shown.until(lambda: "is now assumed to know nothing" in shown.notes())


async def test_one_is_found_by_words(told: Double) -> None:
    """Enter goes on in what is found; Escape shows all again."""
    async with told.shown() as shown:
        page = await opened(shown, "@ads")
        await shown.pilot.press("slash", *"shop", "enter")
        await shown.until(lambda: "@ads" not in shown.text())
        assert "›" in shown.text()
        await shown.pilot.press("slash", *"zebra")
        await shown.until(lambda: "No matches" in shown.text())
        await shown.pilot.press("escape")
        await shown.until(lambda: "@ads" in shown.text() and "shop.example" in shown.text())
        assert not page.query_one(Input).display
