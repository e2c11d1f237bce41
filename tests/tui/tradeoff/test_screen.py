"""Walking along the curve, asking for others, applying a lambda: over a real daemon."""

import pytest

from agent.tui.screens.tradeoff_view import Plot
from tests.daemon.whole_daemon import Live
from tests.tui.running import LARGE, SMALL, USUAL, running
from tests.tui.tradeoff.world import SHOP, drawn, opened

NEW = "new.example"  # which holds nothing yet: what it holds is free at any lambda


@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE])
async def test_it_begins_with_the_latest_request_at_the_present_lambda(
    live: Live, size: tuple[int, int]
) -> None:
    """At every size: the curve, its signs, and what leaves."""
    async with running(live.paths.control, size) as shown:
        await opened(shown)
        text = shown.text()
        assert "“editor”, asked of anybody" in text
        assert "●N" in text or "N●" in text
        assert "K" in text
        assert "instead" not in text
        assert "shares" in text
        assert max(map(len, text.splitlines())) <= size[0]


async def test_the_arrows_walk_along_the_curve(live: Live) -> None:
    """Less leaves to the left; k and n go where they say."""
    async with running(live.paths.control, LARGE) as shown:
        await opened(shown)
        assert "instead" not in shown.text()
        await shown.pilot.press("left")
        assert "instead" in shown.text()
        assert "drops" in shown.text()
        await shown.pilot.press("right")
        assert "instead" not in shown.text()
        await shown.pilot.press("k")
        assert "Beyond it" in shown.text()
        await shown.pilot.press("n")
        assert "instead" not in shown.text()
        for _ in range(15):
            await shown.pilot.press("left")
        assert "shares      nothing" in shown.text()
        for _ in range(15):
            await shown.pilot.press("right")
        await shown.pilot.press("v")
        beside = " ".join(line.rpartition("│")[2].strip() for line in shown.text().splitlines())
        assert "the same set from 0 to" in beside


async def test_a_click_selects_the_point_that_is_there(live: Live) -> None:
    """In the corner nothing leaves."""
    async with running(live.paths.control, LARGE) as shown:
        await opened(shown)
        plot = shown.app.screen.query_one(Plot)
        await shown.pilot.click(Plot, offset=(9, plot.size.height - 3))
        await shown.until(lambda: "shares      nothing" in shown.text())


async def test_an_unknown_query_says_the_way_out_and_another_is_drawn(live: Live) -> None:
    """Where the curve would be."""
    async with running(live.paths.control) as shown:
        await opened(shown)
        await shown.pilot.press("e", *["backspace"] * 10, *"zebra", "enter")
        await shown.until(lambda: "the model does not know this query" in shown.text())
        assert "o shows the average of all" in shown.text()
        await shown.pilot.press("e", *["backspace"] * 10, *"gif", "enter")
        await drawn(shown)
        assert "“gif”" in shown.text()


async def test_all_queries_and_then_those_of_a_recipient(live: Live) -> None:
    """What it knows counts; nothing typed is anybody again."""
    async with running(live.paths.control) as shown:
        await opened(shown)
        await shown.pilot.press("o")
        await drawn(shown)
        assert "All queries, on average" in shown.text()
        await shown.pilot.press("e", *"editor", "enter")
        await drawn(shown)
        await shown.pilot.press("r", *SHOP, "enter")
        await drawn(shown)
        assert f"“editor”, asked of {SHOP}" in shown.text()
        await shown.pilot.press("r", *["backspace"] * len(SHOP), "enter")
        await drawn(shown)
        assert "asked of anybody" in shown.text()


async def test_a_lambda_is_applied_to_a_recipient_or_to_everyone(live: Live) -> None:
    """The policy file says it, and the curve has it as the present one."""
    policy = live.paths.policy

    async with running(live.paths.control, LARGE) as shown:
        await opened(shown)
        await shown.pilot.press("r", *NEW, "enter")
        await drawn(shown)
        await shown.pilot.press("left", "a", "down", "enter")
        await shown.until(lambda: f'recipient = "{NEW}"\nlambda = ' in policy.read_text())
        await shown.until(lambda: "instead" not in shown.text())
        await shown.pilot.press("a")
        await shown.until(lambda: "Your policy does this already" in shown.notes())
        await shown.pilot.press("right", "a", "enter")  # leaves it
        assert policy.read_text().count("lambda") == 1
        await shown.pilot.press("a", "down", "down", "enter")
        await shown.until(lambda: policy.read_text().count("lambda") == 2)
        await shown.until(lambda: "for everyone" in shown.notes())
