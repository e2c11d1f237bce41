"""The user's word on what waits, over a real daemon, its vault and its policy."""

import pytest
from textual.widgets import OptionList

from agent.tui.dialogs import Choice
from agent.wire.policy import Review
from tests.tui.requests.world import World, at, on, opened, page, row, told, words


async def test_a_yes_for_good_is_written_and_can_be_taken_back(world: World) -> None:
    """The cursor goes on to what comes after; u brings the review back."""
    world.ask("yes.example")
    before = world.policy()
    async with on(world) as shown:
        await shown.until(at(shown, "yes.example", Review))
        await shown.pilot.press("a")
        await shown.until(lambda: told(shown, "may be sent to yes.example from now on."))
        await shown.until(lambda: not at(shown, "yes.example", Review)())
        assert page(shown).listing.under is not None
        assert "yes.example" in world.policy()
        await shown.pilot.press("u")
        await shown.until(at(shown, "yes.example", Review))
        assert world.policy() == before


async def test_a_yes_for_once_lets_it_leave_once(world: World) -> None:
    """By a key in the list; the policy stays as it is."""
    world.ask("next.example")
    before = world.policy()
    async with on(world) as shown:
        await shown.until(at(shown, "next.example", Review))
        await shown.pilot.press("o")
        await shown.until(lambda: not at(shown, "next.example", Review)())
    assert world.policy() == before
    assert "region" in world.ask("next.example").attributes


@pytest.mark.parametrize(("key", "lasts"), [("d", True), ("n", False)])
async def test_a_no_keeps_it(world: World, key: str, lasts: bool) -> None:
    """For good, or out of the next request."""
    recipient = f"no-{key}.example"

    world.ask(recipient)
    async with on(world) as shown:
        await shown.until(at(shown, recipient, Review))
        await shown.pilot.press(key)
        await shown.until(lambda: told(shown, f"will not be sent to {recipient}"))
        await shown.until(lambda: not at(shown, recipient, Review)())
    assert (recipient in world.policy()) == lasts
    assert "region" not in world.ask(recipient).attributes
    world.ask(recipient)
    waits = any("region" in each.names for each in world.reviews(recipient))
    assert waits != lasts


async def test_what_is_put_aside_is_not_ruled_on(world: World) -> None:
    """It waits again when it is met again."""
    world.ask("aside.example")
    before = world.policy()
    async with on(world) as shown:
        await shown.until(at(shown, "aside.example", Review))
        await shown.pilot.press("x")
        await shown.until(lambda: not at(shown, "aside.example", Review)())
    assert world.policy() == before
    world.ask("aside.example")
    assert world.reviews("aside.example")


async def test_all_that_waits_from_one_is_let_go(world: World) -> None:
    """After it is asked for how long; an answer of none rules nothing."""
    world.ask("all.example")
    world.ask("all.example", "version_control")
    async with on(world) as shown:
        await shown.until(at(shown, "all.example", Review))
        await shown.pilot.press("A")
        await shown.until(lambda: "Send everything that waits for all.example" in words(shown))
        await shown.pilot.press("escape")
        assert len(world.reviews("all.example")) == 2
        await shown.pilot.press("A")
        await shown.until(lambda: isinstance(shown.app.screen, Choice))
        await shown.pilot.press("down", "down", "enter")
        await shown.until(lambda: not at(shown, "all.example", Review)())
    assert not world.reviews("all.example")
    assert "all.example" in world.policy()


async def test_every_answer_can_be_reached_where_there_is_little_room(world: World) -> None:
    """From the one that changes nothing on; the question names what would leave."""
    world.ask("tiny.example")
    before = world.policy()
    async with on(world, (20, 5)) as shown:
        await shown.until(at(shown, "tiny.example", Review))
        await shown.pilot.press("c")
        await shown.until(lambda: isinstance(shown.app.screen, Choice))
        await shown.until(lambda: "Send region of the" in words(shown))
        assert "Leave it as it" in words(shown)
        assert "for everyone" not in words(shown)
        await shown.pilot.press("end")
        await shown.until(lambda: "No, always, for everyone" in words(shown))
        await shown.pilot.press("home", "enter")
        await shown.until(lambda: not isinstance(shown.app.screen, Choice))
    assert world.policy() == before
    assert world.reviews("tiny.example")


async def test_a_part_of_what_waits_is_let_go_in_the_detail(world: World) -> None:
    """What is taken out of the yes goes on waiting; what is added goes along."""
    world.ask("part.example")
    async with on(world) as shown:
        await opened(shown, "part.example", Review)
        assert "[+] region of the world" in shown.text()
        row(shown, "region")
        await shown.pilot.press("space")
        await shown.until(lambda: "[ ] region of the world" in shown.text())
        await shown.pilot.press("a")
        await shown.until(lambda: told(shown, "nothing tried yet"))
        row(shown, "hobby")
        await shown.pilot.press("space")
        await shown.until(lambda: "With programs as a hobby" in words(shown))
        await shown.pilot.press("a")
        await shown.until(lambda: told(shown, "will be sent to part.example"))
    assert [each.names for each in world.reviews("part.example")] == [["region"]]
    assert "hobby" in world.ask("part.example").attributes


async def test_an_offer_is_settled_for_good_or_for_days(world: World) -> None:
    """Never once; denied, its recipient gets nothing."""
    world.offer("offer.example", "region", "hobby")
    async with on(world) as shown:
        await shown.until(at(shown, "offer.example", Review))
        await shown.pilot.press("o")
        await shown.until(lambda: told(shown, "an offer cannot be settled for one request"))
        assert world.reviews("offer.example")
        await shown.pilot.press("c")
        await shown.until(lambda: isinstance(shown.app.screen, Choice))
        assert shown.app.screen.query_one(OptionList).option_count == 5
        await shown.pilot.press("escape")
        await opened(shown, "offer.example", Review)
        assert "offer.example asks for region of the world and" in words(shown)
        await shown.pilot.press("d")
        await shown.until(lambda: told(shown, "offer.example gets nothing from now on."))
    assert world.ask("offer.example").code == "blocked"
