"""The screen of the questions: every action of it."""

import pytest
from msgspec.structs import replace
from textual.widgets import OptionList, Static

from agent.tui.dialogs import Confirm
from agent.tui.privacy_lock import Cover, Unlocking
from agent.tui.screens.calibrate import CalibrateScreen
from agent.tui.screens.calibrate_questions import FIRST, GROUP_SIZES
from tests.tui.double import Double
from tests.tui.running import LARGE, Running
from tests.tui.test_calibrate_answers import FIT
from tests.tui.values import attribute
from tests.wire.fake import says

PRICES = ("2", "3") * (FIRST // 2)  # of the first attributes
KNOWN = ("5", "4", "3", "2", "1", "1")  # from one person to many
RETURN = ("1", "2", "3", "4", "5")  # for what is so sensitive, from hardly to highly


@pytest.fixture
def asks(daemon: Double) -> Double:
    """A daemon of a model with more attributes than are asked about at first."""
    daemon.calls |= {
        "attributes": says([attribute(f"a{at}") for at in range(FIRST + 4)]),
        "calibrate": lambda body: replace(FIT, written=body.write),
    }
    return daemon


def page(shown: Running) -> CalibrateScreen:
    """Return the screen."""
    found = shown.app.page()
    assert isinstance(found, CalibrateScreen)
    return found


def told(shown: Running, part: str) -> str:
    """Return what a part of the screen says."""
    return str(page(shown).query_one(part, Static).content)


def asked(shown: Running) -> int:
    """Return the number of the question."""
    return int(told(shown, "#calibrate-progress").split()[1])


async def come(shown: Running) -> None:
    """Go to the first question."""
    await shown.pilot.press("5")
    await shown.until(lambda: isinstance(shown.app.page(), CalibrateScreen))
    await shown.until(lambda: "question 1 " in told(shown, "#calibrate-progress"))
    await shown.until(lambda: page(shown).query_one(OptionList).has_focus)


async def answer(shown: Running) -> None:
    """Answer all questions."""
    await come(shown)
    await shown.pilot.press(*PRICES, *KNOWN, *RETURN)
    await shown.until(lambda: "λ = " in told(shown, "#calibrate-outcome Static"))


async def asked_whether(shown: Running, *keys: str) -> None:
    """Press a key that asks for a yes or a no, then others."""
    await shown.pilot.press(keys[0])
    await shown.until(lambda: isinstance(shown.app.screen, Confirm))
    await shown.pilot.press(*keys[1:])


async def test_numbers_answer_and_what_they_come_to_is_written_once_that_is_agreed_to(
    asks: Double,
) -> None:
    """λ, and a price for each attribute; digits switch no screen, also after the last question."""
    async with asks.shown() as shown:
        await answer(shown)
        said = told(shown, "#calibrate-outcome Static")
        for words in ("Nothing is written yet", "one of 1,000", "the a1"):
            assert words in said
        assert "λ = " in shown.text()
        await shown.pilot.press("2")
        await shown.until(lambda: "There is no question left" in shown.notes())
        await asked_whether(shown, "w", "enter")
        await shown.settled()
        assert [each.write for each in asks.asked("calibrate")] == [False]
        await asked_whether(shown, "w", "down", "enter")
        await shown.until(lambda: "√ Written" in told(shown, "#calibrate-outcome Static"))
        made = asks.asked("calibrate")[-1]
        assert made.write
        [answers] = made.answers
        assert sorted(answers.sensitivity.values()) == sorted(map(int, PRICES))
        assert [*answers.one_of.values()] == [*map(int, KNOWN)]
        await shown.pilot.press("w")  # there is nothing left to write
        await shown.settled()
        assert isinstance(shown.app.screen, CalibrateScreen)


async def test_the_way_back_changes_an_answer(asks: Double) -> None:
    """From a question and from the end; what was said stands there."""
    async with asks.shown(LARGE) as shown:
        await come(shown)
        await shown.pilot.press("4")
        await shown.until(lambda: asked(shown) == 2)
        assert "very sensitive" in told(shown, "#calibrate-answers Static")
        await shown.pilot.press("backspace")
        await shown.until(lambda: asked(shown) == 1)
        assert page(shown).query_one(OptionList).highlighted == 3
        await shown.pilot.press("up", "enter")
        await shown.until(lambda: asked(shown) == 2)
        assert "fairly sensitive" in told(shown, "#calibrate-answers Static")
        await shown.pilot.press(*PRICES[1:], *KNOWN, *RETURN)
        await shown.until(lambda: "λ = " in told(shown, "#calibrate-outcome Static"))
        await shown.pilot.press("b")
        await shown.until(lambda: page(shown).query_one(OptionList).has_focus)
        assert "highly sensitive" in told(shown, "#calibrate-question")


async def test_a_question_is_skipped_but_not_what_a_price_needs(asks: Double) -> None:
    """Without an answer at all there is nothing to show, nor to write."""
    async with asks.shown() as shown:
        await come(shown)
        await shown.pilot.press(*["s"] * (FIRST + len(GROUP_SIZES)))
        nothing = "without an answer there is no price"
        await shown.until(lambda: nothing in told(shown, "#calibrate-outcome Static"))
        await shown.pilot.press("w")
        await shown.settled()
        assert isinstance(shown.app.screen, CalibrateScreen)
        await shown.pilot.press("b", "3")
        await shown.until(lambda: "How much better" in told(shown, "#calibrate-question"))
        await shown.pilot.press("s")
        await shown.until(lambda: "This one is needed" in shown.text())
        assert page(shown).query_one(OptionList).has_focus


async def test_leaving_asks_where_answers_would_be_lost(asks: Double) -> None:
    """Another screen loses none; the end of it does, and asks; without answers it does not."""
    async with asks.shown() as shown:
        await come(shown)
        assert "o asks about 4 more attributes" in told(shown, "#calibrate-progress")
        await shown.pilot.press("o")
        await shown.until(lambda: " of 23," in told(shown, "#calibrate-progress"))
        await shown.pilot.press("4")
        await shown.until(lambda: asked(shown) == 2)
        await shown.pilot.press("6")
        await shown.until(lambda: not isinstance(shown.app.page(), CalibrateScreen))
        await shown.pilot.press("5")
        await shown.until(lambda: isinstance(shown.app.page(), CalibrateScreen))
        for key in ("q", "escape", "ctrl+q"):
            await asked_whether(shown, key, "enter")
            await shown.until(lambda: isinstance(shown.app.screen, CalibrateScreen))
            assert asked(shown) == 2
        await asked_whether(shown, "q", "down", "enter")
        await shown.until(lambda: shown.app.current_mode == "requests")
        await come(shown)
        await shown.pilot.press("escape")
        await shown.until(lambda: shown.app.current_mode == "requests")
        await come(shown)
        await shown.pilot.press("4")
        await shown.until(lambda: asked(shown) == 2)
        await asked_whether(shown, "ctrl+q", "down", "enter")
        await shown.until(lambda: not shown.app.is_running)


async def test_a_lock_forgets_the_answers_and_a_cover_does_not(
    asks: Double,
) -> None:
    """They are about the user, and stand in memory only."""
    async with asks.shown() as shown:
        await come(shown)
        await shown.pilot.press("4")
        await shown.until(lambda: asked(shown) == 2)
        shown.app.cover()
        await shown.until(lambda: isinstance(shown.app.screen, Cover))
        assert "sensitive" not in shown.text()
        await shown.pilot.press("1")
        await shown.until(lambda: isinstance(shown.app.screen, CalibrateScreen))
        assert asked(shown) == 2
        await shown.pilot.press("ctrl+l")
        await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
        assert told(shown, "#calibrate-question") == ""
        assert page(shown).query_one(OptionList).option_count == 0
        await shown.pilot.press(*"right", "enter")
        await shown.until(lambda: isinstance(shown.app.screen, CalibrateScreen))
        await shown.until(lambda: asked(shown) == 1)
        assert page(shown).query_one(OptionList).highlighted is None


async def test_another_model_has_questions_of_its_own(daemon: Double) -> None:
    """Answers about attributes that are gone are no answers; those of the same model stay."""
    daemon.calls["attributes"] = says([attribute("region"), attribute("age")])
    async with daemon.shown() as shown:
        await come(shown)
        await shown.pilot.press("2", "f5")
        await shown.settled()
        assert asked(shown) == 2
        daemon.calls["attributes"] = says([attribute("salary")])
        await shown.pilot.press("f5")
        await shown.until(lambda: asked(shown) == 1)
        assert "the salary" in told(shown, "#calibrate-question")
