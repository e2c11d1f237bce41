"""What is seldom so: nobody yet, groups, rules written by hand, no model, a lock."""

from msgspec.structs import replace
from textual.widgets import Input

from agent.errors import UsageError
from agent.tui.privacy_lock import Unlocking
from agent.tui.screens.recipients import RecipientsScreen
from agent.wire.decide import Allowed
from tests.tui.recipients.values import SHOP, weighed
from tests.tui.recipients.world import flat, opened, told
from tests.tui.running import LARGE, running


async def test_nobody_yet_says_how_the_list_fills() -> None:
    """And no key does anything."""
    with told() as (found, _, path):
        found.recipients = []
        async with running(path) as shown:
            await shown.pilot.press("2")
            await shown.until(lambda: "Nobody knows anything about you yet" in shown.text())
            await shown.pilot.press("enter", "w", "f", "b", "l")
            assert isinstance(shown.app.screen, RecipientsScreen)


async def test_the_requests_of_a_group_are_those_of_all_its_sites() -> None:
    """They are found by its name."""
    with told() as (_, _, path):
        async with running(path) as shown:
            await opened(shown, "@ads")
            await shown.pilot.press("down", "l")
            await shown.until(lambda: shown.app.current_mode == "requests")
            find = shown.app.screen.query_one("#find", Input)
            await shown.until(lambda: find.value == "@ads")


async def test_a_group_is_ruled_site_by_site() -> None:
    """A rule that is not ours is named as such."""
    with told() as (found, fake, path):
        async with running(path) as shown:
            await opened(shown, "@ads")
            await shown.pilot.press("down", "b")
            wins = "is still sent nothing: your rule 'my own', line 3"
            await shown.until(lambda: wins in shown.notes())
            asked = [given["body"].recipient for name, given in fake.calls if name == "allow"]
            assert asked == ["a.example", "b.example"]
            found.allowed = Allowed()
            await shown.pilot.press("b")
            await shown.until(lambda: "are treated like any other" in shown.notes())
            await shown.pilot.press("up", "b")
            await shown.until(lambda: "is blocked" in shown.notes())


async def test_the_palette_unblocks() -> None:
    """What has no key of its own."""
    with told() as (found, _, path):
        found.allowed = Allowed()
        async with running(path) as shown:
            await opened(shown, "@ads")
            await shown.pilot.press("down", "ctrl+p", *"unblock")
            await shown.until(lambda: "Unblock" in shown.text())
            await shown.pilot.press("down", "enter")
            await shown.until(lambda: "treated like any other" in shown.notes())


async def test_one_that_was_never_told_has_nothing_to_forget() -> None:
    """The daemon says so."""
    with told() as (_, _, path):
        async with running(path) as shown:
            await opened(shown, "@ads")
            await shown.pilot.press("f", "down", "enter")
            await shown.until(lambda: "already knew nothing" in shown.notes())


async def test_what_cannot_be_weighed_leaves_the_rest() -> None:
    """With the reason in its place."""
    with told() as (found, _, path):
        found.whatif = UsageError("there is no model", "add one")
        async with running(path, LARGE) as shown:
            await opened(shown, "@ads")
            await shown.until(lambda: "there is no model" in flat(shown))
            assert "what it knows" in shown.text()
            found.whatif = replace(weighed(), headline="Nothing is decided: no model.")
            await shown.pilot.press("down")
            await shown.until(lambda: "Nothing is decided: no model." in flat(shown))


async def test_locking_takes_everybody_off_the_screen() -> None:
    """Also what was looked for, and who was looked into."""
    with told() as (_, _, path):
        async with running(path, LARGE) as shown:
            await opened(shown, "@ads")
            await shown.until(lambda: "what it knows" in shown.text())
            page = shown.app.screen
            await shown.pilot.press("slash", *"shop", "ctrl+l")
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            assert page.query_one(Input).value == ""
            assert isinstance(page, RecipientsScreen)
            assert page.findings is None
            assert not page.listing.items


async def test_nothing_that_is_shown_steers_the_terminal() -> None:
    """A name may be of a model of anybody's."""
    with told() as (found, _, path):
        hostile = "\x1b]0;title\x07"
        found.recipients = [replace(SHOP, pool=hostile, sites=[hostile], held=[hostile])]
        async with running(path, LARGE) as shown:
            await opened(shown, "title")
            await shown.until(lambda: "what it knows" in shown.text())
            await shown.pilot.press("f")
            await shown.until(lambda: "you state that" in shown.text())
            assert "\x1b" not in shown.text()
