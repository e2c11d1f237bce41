"""The screen of the policy over a real daemon: its rules, and what is wrong."""

import pytest
from textual.screen import Screen
from textual.widgets import Static

from agent.tui.privacy_lock import Unlocking
from tests.tui.policy.world import POLICY, WRONG, World, go_to, shows, under
from tests.tui.running import LARGE, SMALL, USUAL, running


@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE])
async def test_each_rule_is_shown_with_what_is_to_be_said_of_it(
    world: World, size: tuple[int, int]
) -> None:
    """What is never used, and what is over, by its sign and whole in a sentence."""
    async with running(world.live.paths.control, size, environment=world.outside()) as shown:
        listing = await shows(shown)
        said = "\n".join(each.text for each in listing.items)
        for words in ("never decides: 'open'", "expired on 2020-01-01", "preset balanced"):
            assert words in said
        await go_to(shown, "shut")
        assert "recipient shop.example:" in shown.text()
        assert "! shut" in " ".join(shown.text().replace("–", " ").split())


async def test_what_decided_last_moves_with_a_request(world: World) -> None:
    """By itself, with the cursor where it was."""
    async with running(world.live.paths.control, LARGE, environment=world.outside()) as shown:
        await shows(shown)
        await go_to(shown, "open")
        assert "It has decided nothing since" in shown.text()
        world.ask("shop.example")
        await shown.until(lambda: "It last decided something at" in shown.text())
        assert under(shown).text.startswith("open")
        assert "*" in under(shown).cells[0].text
        top = next(line for line in shown.text().splitlines() if "Decided last, at" in line)
        assert "open" in top
        world.ask("elsewhere.example")
        await shown.until(lambda: "*" not in under(shown).cells[0].text)


def texts(page: Screen[object]) -> str:
    """Return what all texts of a screen hold, seen or not."""
    return "\n".join(str(each.content) for each in page.query(Static))


async def test_reading_again_says_what_came_of_it(world: World) -> None:
    """Also where there is something to mend: the old rules hold."""
    async with running(world.live.paths.control, LARGE, environment=world.outside()) as shown:
        await shows(shown)
        world.live.paths.policy.write_text(WRONG)
        await shown.pilot.press("r")
        await shown.until(lambda: "Read: 1 to mend; the last good rules stay" in shown.text())
        await go_to(shown, "shut")
        assert "k = 3" in under(shown).text


async def test_one_key_goes_from_part_to_part_and_round(world: World) -> None:
    """It stands on the first of each, never on a title."""
    async with running(world.live.paths.control, environment=world.outside()) as shown:
        listing = await shows(shown)
        firsts = [
            after.key
            for before, after in zip(listing.items, listing.items[1:], strict=False)
            if before.title
        ]
        assert len(firsts) == len(("file", "preset", "what holds"))
        seen = [under(shown).key]
        for _ in firsts:
            await shown.pilot.press("b")
            seen.append(under(shown).key)
        assert seen == [*firsts, firsts[0]]


async def test_the_cursor_stays_as_rules_come(world: World) -> None:
    """Before it and after it; where its own is gone, it is on none."""
    async with running(world.live.paths.control, environment=world.outside()) as shown:
        listing = await shows(shown)
        await go_to(shown, "open")
        more = '[[rule]]\nname = "new"\nrecipient = "a.example"\nk = 9\n\n[[rule]]\nname = "shut"'
        world.write(POLICY.replace('[[rule]]\nname = "shut"', more))
        await shown.until(lambda: any(each.text.startswith("new") for each in listing.items))
        assert under(shown).text.startswith("open")
        world.write(POLICY.replace('"open"', '"ajar"'))
        await shown.until(lambda: listing.under is None)


async def test_a_lock_takes_the_rules_away(world: World) -> None:
    """They name recipients."""
    async with running(world.live.paths.control, environment=world.outside()) as shown:
        listing = await shows(shown)
        await go_to(shown, "shut")
        page = shown.app.screen
        assert texts(page).count("shut")
        await shown.pilot.press("ctrl+l")
        await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
        assert listing.items == []
        assert not texts(page).count("shut")
