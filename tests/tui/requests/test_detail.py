"""One request in detail over a real daemon: what left, why, and trying it otherwise."""

import pytest

from agent.tui.dialogs import Choice
from agent.tui.screens.requests_detail import MATTER, Note, Shown
from agent.wire.records import Handled
from agent.words.titles import value_title
from tests.tui.requests.world import World, on, opened, page, row, told, words
from tests.tui.running import LARGE, SMALL, USUAL, Running


def names(shown: Running) -> list[str]:
    """Return the attributes in the order in which they stand."""
    return [each.row.name for each in page(shown).detail.rows.items if isinstance(each, Shown)]


@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE], ids=str)
async def test_one_in_detail_says_to_whom_what_and_at_what_cost(
    world: World, size: tuple[int, int]
) -> None:
    """And each attribute with why; Escape goes back and rules nothing."""
    recipient = f"told{size[0]}.example"

    world.ask(recipient)
    before = world.policy()
    async with on(world, size) as shown:
        await opened(shown, recipient, Handled)
        trial = page(shown).detail.trial
        assert trial is not None
        assert trial.weighed is not None
        every = len(trial.weighed.rows)
        assert len(names(shown)) == MATTER
        if size != LARGE:  # where the list stands between
            assert f"Sent 1 fact to {recipient}: years since" in words(shown)
            assert "about 5,156 people still look like you" in words(shown)
        assert "[x] years since" in words(shown)
        assert "helps more than it costs" in words(shown)
        assert "λ" not in words(shown)
        await shown.pilot.press("v", "end", "space")
        await shown.until(lambda: len(names(shown)) == every)
        assert any(isinstance(each, Note) for each in page(shown).detail.rows.items)
        await shown.pilot.press("escape")
        await shown.until(lambda: page(shown).listing.has_focus)
        assert not page(shown).has_class("opened")
    assert world.policy() == before
    assert world.reviews(recipient)


async def test_two_keys_change_what_leaves_from_now_on(world: World) -> None:
    """Space says what it would change; a makes it hold, in the policy."""
    assert "region" not in world.ask("two.example").attributes
    async with on(world) as shown:
        await opened(shown, "two.example", Handled)
        row(shown, "region")
        await shown.pilot.press("space")
        await shown.until(lambda: "With region of the world: serves you better" in words(shown))
        assert "[+] region of the world" in words(shown)
        await shown.pilot.press("a")
        await shown.until(
            lambda: told(
                shown,
                "region of the world will be sent to two.example",
            )
        )
        await shown.until(lambda: "[ ] region of the world" in words(shown))
    assert "two.example" in world.policy()
    assert "region" in world.ask("two.example").attributes


async def test_several_changes_add_up_and_go_back(world: World) -> None:
    """Each is weighed with the others; r tries nothing any more, and no row moves meanwhile."""
    world.ask("several.example")
    before = world.policy()
    async with on(world) as shown:
        await opened(shown, "several.example", Handled)
        row(shown, "region")
        order = names(shown)
        await shown.pilot.press("space")
        row(shown, "years_program")
        await shown.pilot.press("space")
        await shown.until(lambda: "the world and without years since" in words(shown))
        assert names(shown) == order
        await shown.pilot.press("space")
        await shown.until(lambda: "With region of the world: serves" in words(shown))
        await shown.pilot.press("r")
        await shown.until(lambda: "With region" not in words(shown))
    assert world.policy() == before


@pytest.mark.parametrize("key", ["a", "o", "enter", "c", "A"])
async def test_with_nothing_tried_nothing_is_ruled(world: World, key: str) -> None:
    """It says that space tries it first."""
    recipient = f"untried-{key.lower()}.example"

    world.ask(recipient)
    before = world.policy()
    async with on(world) as shown:
        await opened(shown, recipient, Handled)
        row(shown, "years_program")
        await shown.pilot.press(key)
        await shown.until(lambda: told(shown, "nothing tried yet"))
        await shown.settled()
    assert world.policy() == before
    assert "years_program" in world.ask(recipient).attributes


async def test_once_holds_for_the_next_request_alone(world: World) -> None:
    """It is tried, and then o makes it hold."""
    world.ask("once.example")
    before = world.policy()
    async with on(world) as shown:
        await opened(shown, "once.example", Handled)
        row(shown, "years_program")
        await shown.pilot.press("space", "o")
        await shown.until(lambda: told(shown, "will not be sent to once.example"))
    assert world.policy() == before
    assert "years_program" not in world.ask("once.example").attributes
    assert "years_program" in world.ask("once.example").attributes


@pytest.mark.parametrize("key", ["enter", "c", "A"])
async def test_for_how_long_and_for_whom_is_chosen(world: World, key: str) -> None:
    """Once, until a restart, for a week or always; for it or for everyone."""
    recipient = f"choice-{key.lower()}.example"

    world.ask(recipient)
    before = world.policy()
    async with on(world) as shown:
        await opened(shown, recipient, Handled)
        row(shown, "region")
        await shown.pilot.press("space", key)
        await shown.until(lambda: isinstance(shown.app.screen, Choice))
        assert f"Until the daemon restarts, for {recipient}" in shown.text()
        assert "Always, for everyone" in shown.text()
        assert f"With region of the world, to {recipient}" in words(shown)
        await shown.pilot.press("enter")
        await shown.until(lambda: not isinstance(shown.app.screen, Choice))
        assert world.policy() == before
        await shown.pilot.press(key)
        await shown.until(lambda: isinstance(shown.app.screen, Choice))
        await shown.pilot.press("down", "down", "down", "enter")
        await shown.until(lambda: told(shown, f"sent to {recipient} for 7 days"))
    assert "expires" in world.policy()
    assert "region" in world.ask(recipient).attributes


async def test_values_are_seen_in_the_detail_alone_and_until_they_are_hidden(world: World) -> None:
    """By the key that is everywhere."""
    shown_value = value_title(world.ask("value.example").attributes["years_program"], "years")
    async with on(world) as shown:
        await opened(shown, "value.example", Handled)
        assert shown_value not in words(shown)
        await shown.pilot.press("m")
        await shown.until(lambda: shown_value in words(shown))
        await shown.pilot.press("m")
        await shown.until(lambda: shown_value not in words(shown))
        await shown.pilot.press("m", "escape")
        await shown.until(lambda: page(shown).listing.has_focus)
        assert shown_value not in words(shown)
