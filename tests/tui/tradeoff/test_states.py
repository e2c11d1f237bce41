"""What a daemon seldom does: long curves, locks in the middle, rules that win."""

from msgspec.structs import replace

from agent.errors import LockedError, UsageError
from agent.tui.dialogs import Help
from agent.tui.privacy_lock import Unlocking
from agent.tui.screens.tradeoff import TradeoffScreen
from agent.wire.policy import Edited, Win
from tests.tui.running import running
from tests.tui.tradeoff.values import CURVE
from tests.tui.tradeoff.world import curves, drawn, opened


async def test_one_curve_is_computed_at_a_time_and_keys_go_on() -> None:
    """Of what was asked meanwhile only the last is computed, and shown."""
    with curves() as (found, path):
        async with running(path) as shown:
            await opened(shown)
            found.free.clear()
            await shown.pilot.press("o")
            await shown.until(lambda: len(found.asked) == 2)
            for word in ("one", "two"):
                await shown.pilot.press("e", *["backspace"] * 9, *word, "enter")
            assert "computing" in shown.text()
            await shown.pilot.press("question_mark")
            await shown.until(lambda: isinstance(shown.app.screen, Help))
            await shown.pilot.press("escape")
            found.free.set()
            await drawn(shown)
            assert found.most == 1
            assert [each.query for each in found.asked[1:]] == [None, "two"]


async def test_a_curve_that_comes_after_the_lock_is_not_shown() -> None:
    """Nor is what was asked."""
    with curves() as (found, path):
        async with running(path) as shown:
            await opened(shown)
            found.free.clear()
            await shown.pilot.press("e", *"secret", "enter")
            await shown.until(lambda: len(found.asked) == 2)
            await shown.pilot.press("ctrl+l")
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            found.curve = LockedError()
            found.free.set()
            await shown.pilot.press(*"right", "enter")
            await shown.until(lambda: isinstance(shown.app.screen, TradeoffScreen))
            assert "secret" not in shown.text()


async def test_nothing_is_computed_again_that_is_not_old() -> None:
    """Only another policy or model makes it so."""
    with curves() as (found, path):
        async with running(path) as shown:
            await opened(shown)
            await shown.pilot.press("1", "3", "f5")
            await shown.until(lambda: isinstance(shown.app.screen, TradeoffScreen))
            assert len(found.asked) == 1
            loaded = found.status.started_at
            found.status = replace(
                found.status, policy=replace(found.status.policy, loaded_at=loaded)
            )
            await shown.pilot.press("left", "f5")
            await shown.until(lambda: len(found.asked) == 2)
            await drawn(shown)
            assert "drops" in shown.text()  # what was selected is selected still


async def test_what_wins_over_a_lambda_is_said() -> None:
    """And which rule does."""
    with curves() as (found, path):
        win = Win(key="lambda", value=9.0, names=[], rule="for shops", line=4)
        found.edited = Edited(changed=True, wins=[win])
        async with running(path) as shown:
            await opened(shown)
            await shown.pilot.press("left", "a", "down", "enter")
            wins = "for shops (line 4) still wins"
            await shown.until(lambda: wins in shown.notes())
            assert [each.set for each in found.edits] == [{"lambda": 11.3}]
            assert found.edits[0].recipient is None


async def test_a_curve_without_a_knee_says_so() -> None:
    """It is one point, or a straight line."""
    with curves() as (found, path):
        found.curve = replace(CURVE, knee=None)
        async with running(path) as shown:
            await opened(shown)
            await shown.pilot.press("k")
            await shown.until(lambda: "This curve has no knee" in shown.text())


async def test_an_error_leaves_the_keys_alone() -> None:
    """There is nothing to walk along, or to apply."""
    with curves() as (found, path):
        found.curve = UsageError("there is no curve", "`reticent daemon doctor` says how to fix it")
        async with running(path) as shown:
            await shown.pilot.press("3")
            await shown.until(lambda: "reticent daemon doctor" in shown.text())
            await shown.pilot.press("left", "right", "k", "n", "a")
            assert isinstance(shown.app.screen, TradeoffScreen)
            assert found.edits == []


async def test_nothing_that_is_shown_steers_the_terminal() -> None:
    """Neither what was asked, nor what the daemon says of it."""
    with curves() as (found, path):
        hostile = [replace(each, disclosed=["\x1b[2J"]) for each in CURVE.points]
        found.curve = replace(CURVE, matched_query="\x1b[31m", points=hostile)
        async with running(path) as shown:
            await opened(shown)
            assert "\x1b" not in shown.text()
            found.curve = UsageError("\x1b]0;title", "\x1b[2J")
            await shown.pilot.press("e", *"other", "enter")
            await shown.until(lambda: "title" in shown.text())
            assert "\x1b" not in shown.text()
