"""The list of requests over a real daemon: what stands in it, and what moves it."""

from functools import partial

import pytest
from textual.widgets import Input

from agent.tui.screens.requests_list import Title
from agent.wire.policy import Review
from agent.wire.records import Handled
from tests.tui.requests.world import World, at, on, opened, page, told, weighed, words
from tests.tui.running import LARGE, SMALL, USUAL
from tests.tui.running import run as going


@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE], ids=str)
async def test_what_waits_stands_on_top_and_what_left_below(
    world: World, size: tuple[int, int]
) -> None:
    """Each with its recipient, its names and its figures; how many wait is counted."""
    world.ask("top.example")
    async with on(world, size) as shown:
        await shown.until(at(shown, "top.example", Review))
        await shown.pilot.press("end", "home")
        assert "for your approval" in shown.text()
        assert "Waits for your approval: region of the world" in shown.text()
        items = page(shown).listing.items
        assert isinstance(items[0], Title)
        kinds = [type(each) for each in items if not isinstance(each, Title)]
        assert kinds == sorted(kinds, key=lambda kind: kind is Handled)
        times = [each.at for each in items if isinstance(each, Handled)]
        assert times == sorted(times, reverse=True)


async def test_words_and_kinds_leave_out_the_rest(world: World) -> None:
    """As they are typed; Escape shows all again."""
    world.ask("find.example")
    async with on(world) as shown:
        await shown.until(at(shown, "find.example", Handled))
        every = len(page(shown).listing.items)
        await shown.pilot.press("slash", *"find region 1q")
        await shown.until(lambda: "No matches" in shown.text())
        await shown.pilot.press("backspace", "backspace", "backspace")
        await shown.until(lambda: len(page(shown).listing.items) == 2)
        assert "Only requests with these words: 1 of" in shown.text()
        assert isinstance(page(shown).listing.under, Review)
        assert "Waits for your approval: region" in shown.text()
        await shown.pilot.press("enter", "w")
        await shown.until(lambda: "approval with these words: 1 of" in words(shown))
        await shown.pilot.press("w")
        await shown.until(lambda: "No matches" in shown.text())
        await shown.pilot.press("w", "w", "escape")
        await shown.until(lambda: len(page(shown).listing.items) == every)
        assert page(shown).query_one(Input).value == ""
        await shown.pilot.press("slash", "x", "escape")
        await shown.until(lambda: not page(shown).query_one("#find").display)
        assert page(shown).listing.has_focus


async def test_what_comes_in_does_not_move_the_cursor(world: World) -> None:
    """It stands there at once, and what is under the cursor stays."""
    world.ask("still.example")
    async with on(world) as shown:
        await shown.until(at(shown, "still.example", Handled))
        under = page(shown).listing.under
        world.ask("new.example")
        await shown.until(
            lambda: any(
                isinstance(each, Handled) and each.recipient == "new.example"
                for each in page(shown).listing.items
            )
        )
        assert page(shown).listing.under == under


async def test_a_locked_vault_leaves_nothing_on_the_screen(world: World) -> None:
    """Neither in the list nor in the detail."""
    world.ask("locked.example")
    try:
        async with on(world, LARGE) as shown:
            await opened(shown, "locked.example", Handled)
            found = page(shown)
            await shown.pilot.press("ctrl+l")
            await shown.until(lambda: not found.listing.items)
            assert found.detail.trial is None
            assert found.detail.rows.items == ()
            assert "locked.example" not in shown.text()
    finally:
        world.live.unlock()


async def test_the_mouse_opens_and_tries(world: World) -> None:
    """A click goes there, another does what Enter, and in the detail what Space does."""
    world.ask("mouse.example")
    async with on(world) as shown:
        await shown.until(at(shown, "mouse.example", Handled))
        await shown.settled()
        lines = [*enumerate(shown.text().splitlines())]
        line = next(n for n, text in lines if text.startswith("›") and "mouse" in text)
        listing = page(shown).listing
        await shown.pilot.click(listing, offset=(5, line - listing.region.y))
        await shown.until(lambda: weighed(shown, "mouse.example"))
        await shown.pilot.click(page(shown).detail.rows, offset=(2, 0))
        await shown.until(lambda: "Without years since" in words(shown))


def test_the_detail_follows_where_there_is_room(world: World) -> None:
    """Beside the list, without a key."""

    async def test() -> None:
        async with on(world, LARGE) as shown:

            def follows(recipient: str) -> bool:
                trial = page(shown).detail.trial
                return trial is not None and trial.subject.recipient == recipient

            for recipient in ("follow.example", "follows.example"):
                await shown.until(at(shown, recipient, Handled))
                await shown.until(partial(follows, recipient))
            assert page(shown).listing.has_focus

    world.ask("follow.example")
    world.ask("follows.example")
    going(test())


async def test_keys_without_anything_to_do_say_so(world: World) -> None:
    """And do nothing."""
    world.ask("idle.example")
    before = world.policy()
    async with on(world) as shown:
        await shown.until(at(shown, "idle.example", Handled))
        for key, said in (
            ("space", "no attribute chosen"),
            ("a", "open a request with Enter"),
            ("d", "nothing waits here"),
            ("x", "space tries an attribute"),
        ):
            await shown.pilot.press(key)
            await shown.until(partial(told, shown, said))
    assert world.policy() == before
