"""The screen of requests: what stands there, what is tried, and what the keys decide."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from textual.widgets import Input, OptionList

from agent.decision.values import Reading
from agent.errors import UsageError
from agent.tui.dialogs import Choice
from agent.tui.screens.requests_detail import MATTER
from agent.wire.policy import Review, Word
from agent.wire.state import Corrected, Entry, ReadingEdit
from tests.tui.double import LARGE, SMALL, Double, Many, Running, at, names, opened, page
from tests.wire.fake import says
from tests.worlds.messages import ASSISTANT, AT, handled, review, row

TOPIC = Reading(query="trip", title="planning a trip", probability=1.0, model="m")


@pytest.fixture
def found(daemon: Double) -> Many:
    """A daemon that has nothing yet."""
    return Many(daemon)


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=str)
async def test_text_from_outside_steers_nothing(found: Many, size: tuple[int, int]) -> None:
    """Nor is it taken for markup."""
    strange = {"recipient": "[b]x\x1b[2J", "pool": "@\x1b", "query": "[red]\n\x07 é 語"}
    found.past = [handled(1, disclosed=["a\x1b"], **strange)]
    found.waits = [review(1, names=["[/b]"], **strange)]
    found.rows[0] = row("region", disclosed=True, title="\x1b[31mthe region")
    async with found.shown(size) as shown:
        await shown.pilot.press("enter")
        await shown.until(lambda: "the region" in shown.text())
        text = shown.text()
        assert "[b]x" in text
        assert all(each.isprintable() for each in text.split("\n"))


async def test_what_cannot_be_weighed_is_said_and_the_rest_stays(found: Many) -> None:
    """With the way out; what was forgotten is not weighed at all."""
    found.past = [handled(1), handled(2, kind="forgotten", query="", disclosed=[])]
    found.error = UsageError("the model is gone", "add it again")
    async with found.shown() as shown:
        assert "~" in shown.text()
        await shown.pilot.press("enter")
        await shown.until(lambda: "The ledger still lists what it was sent." in shown.words())
        await shown.settled()
        assert not found.daemon.asked("whatif")
        await shown.pilot.press("escape", "down", "enter")
        await shown.until(lambda: "the model is gone" in shown.notes())
        assert "add it" in shown.notes()
        assert "shop.example: region" in shown.words()
        await shown.pilot.press("space")
        await shown.until(lambda: "no attribute chosen" in shown.notes())


async def test_another_rule_weighs_the_detail_anew_and_keeps_what_is_tried(found: Many) -> None:
    """The cursor stays, too; what breaks a limit says so."""
    found.past = [handled(1)]
    async with found.shown() as shown:
        await shown.pilot.press("enter")
        await shown.until(lambda: "[x]" in shown.text())
        await shown.pilot.press("down", "space")
        await shown.until(lambda: "breaks the limit k" in shown.words())
        count = len(found.daemon.asked("whatif"))
        found.daemon.happen("policy")
        await shown.until(lambda: found.daemon.asked("whatif")[count:])
        assert found.daemon.asked("whatif")[count].add == ["gender"]
        await shown.settled()
        assert page(shown).detail.row() == "gender"
        assert "[+]" in shown.text()


async def test_values_are_seen_with_their_request_alone_until_they_are_hidden(found: Many) -> None:
    """By the key that is everywhere; a list has none of them."""
    found.past = [handled(1), handled(2, at=AT + timedelta(minutes=1))]
    async with found.shown(LARGE) as shown:
        assert "value of" not in shown.text()
        await shown.pilot.press("m")
        await shown.until(lambda: "value of 2" in shown.text())
        await shown.pilot.press("down")
        await shown.until(lambda: "value of 1" in shown.text())
        assert "value of 2" not in shown.text()
        await shown.pilot.press("m")
        await shown.until(lambda: "value of" not in shown.text())


async def test_a_review_that_goes_by_itself_leaves_no_other_under_the_key(found: Many) -> None:
    """A yes that was meant for it is said to nobody."""
    found.waits = [review(1, names=["race"]), review(2)]
    async with found.shown() as shown:
        assert isinstance(page(shown).listing.under, Review)
        found.waits = [found.waits[0]]
        found.daemon.happen("review")
        await shown.until(lambda: page(shown).listing.under is None)
        for key in ("a", "enter"):
            await shown.pilot.press(key)
            await shown.until(lambda: "has left the list" in shown.notes())
        assert not found.daemon.asked("verdict")
        assert not page(shown).has_class("opened")
        await shown.pilot.press("down", "enter")
        await shown.until(lambda: page(shown).has_class("opened"))


async def test_a_key_is_not_meant_for_what_is_out_of_view(found: Many) -> None:
    """It brings it into view; the next one is, and says which rule wins over it."""
    found.waits = [review(1)]
    async with found.shown() as shown:
        found.waits = [*found.waits, *(review(n, recipient="b.example") for n in range(2, 60))]
        found.daemon.happen("review")
        await shown.until(lambda: len(page(shown).listing.items) == 60)
        await shown.pilot.press("a")
        await shown.until(lambda: "was out of view" in shown.notes())
        assert not found.daemon.asked("verdict")
        await shown.pilot.press("a")
        await shown.until(lambda: "No effect on gender: 'strict' still wins." in shown.notes())


async def test_words_leave_out_the_rest(found: Many) -> None:
    """As they are typed; Escape shows all again."""
    found.past = [handled(n, query="other") for n in range(1, 9)]
    found.waits = [review()]
    async with found.shown() as shown:
        every = len(page(shown).listing.items)
        await shown.pilot.press("slash", *"shop gender 1q")
        await shown.until(lambda: "No matches" in shown.text())
        await shown.pilot.press("backspace", "backspace", "backspace")
        await shown.until(lambda: len(page(shown).listing.items) == 2)
        assert "Only requests with these words: 1 of 9" in shown.text()
        assert isinstance(page(shown).listing.under, Review)
        await shown.pilot.press("enter", "escape")
        await shown.until(lambda: len(page(shown).listing.items) == every)
        assert page(shown).query_one(Input).value == ""


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=str)
async def test_one_in_detail_says_to_whom_what_and_at_what_cost(
    found: Many, size: tuple[int, int]
) -> None:
    """And each attribute with why; Escape goes back and rules nothing."""
    found.past = [handled(1)]
    async with found.shown(size) as shown:
        await opened(shown, Entry)
        assert len(names(shown)) == MATTER
        if size != LARGE:  # where the list stands between
            assert "Sent 1 fact to shop.example: the region; about 310 people" in shown.words()
        assert "[x] the region" in shown.words()
        assert "helps more than it costs" in shown.words()
        assert "λ" not in shown.words()
        await shown.pilot.press("end", "space")
        await shown.until(lambda: len(names(shown)) == len(found.rows))
        await shown.pilot.press("escape")
        await shown.until(lambda: page(shown).listing.has_focus)
        assert not page(shown).has_class("opened")
    assert not found.decided()


async def test_what_is_tried_holds_for_as_long_as_is_chosen(found: Many) -> None:
    """A key, or a question, of which Enter alone changes nothing."""
    week: dict[str, Any] = {"lasting": "days", "days": 7}
    cases = {"a": {"lasting": "always"}, "o": {"lasting": "once"}, "enter": week}
    found.past = [handled(1)]
    async with found.shown() as shown:
        await opened(shown, Entry)
        for count, (key, wanted) in enumerate(cases.items()):
            shown.app.clear_notifications()
            page(shown).detail.rows.put(("row", "gender"))
            await shown.pilot.press("space")
            await shown.until(lambda: "more useful" in shown.words())
            for keys in (["enter"], ["down", "down", "enter"]) if wanted is week else ():
                assert len(found.decided()) == count
                await shown.choose(key)
                assert "For 7 days, for shop.example" in shown.text()
                assert "From now on, for everyone" in shown.text()
                assert "With gender, to shop.example" in shown.words()
                await shown.pilot.press(*keys)
                await shown.until(lambda: not isinstance(shown.app.screen, Choice))
            await shown.pilot.press(*([] if wanted is week else [key]))
            await shown.until(lambda: "will be sent to shop.example" in shown.notes())
            await shown.until(lambda: "[+]" not in shown.text())
            made = Word(recipient="shop.example", names=["gender"], disclose="always", **wanted)
            assert found.decided()[count:] == [made]


async def test_a_decision_on_what_waits_holds_as_its_key_says(found: Many) -> None:
    """For good or once, yes or no, or none; the cursor goes on to what comes after."""
    wanted: dict[str, dict[str, Any]] = {
        "a": {"disclose": "auto", "lasting": "always"},
        "o": {"disclose": "auto"},
        "d": {"disclose": "never", "lasting": "always"},
        "n": {"disclose": "never"},
        "x": {},
    }
    found.past = [handled(1)]
    async with found.shown() as shown:
        for number, key in enumerate(wanted):
            found.waits = [review(2 * number + 1), review(2 * number + 2, names=["race"])]
            found.daemon.happen("review")
            await shown.until(lambda: [e.id for e in reviews(shown)][1:] == [found.waits[0].id])
            at(shown, Review)
            await shown.pilot.press("down", key)
            await shown.until(lambda: len(found.waits) == 1 == len(reviews(shown)))
            assert isinstance(page(shown).listing.under, Entry)
    chosen = filter(None, wanted.values())
    made = [Word(names=["gender"], recipient="shop.example", **each) for each in chosen]
    assert found.decided() == made


def reviews(shown: Running) -> list[Review]:
    return [each for each in page(shown).listing.items if isinstance(each, Review)]


async def test_a_part_of_what_waits_is_let_go_in_the_detail(found: Many) -> None:
    """What is taken out of the yes goes on waiting; what is added goes along."""
    found.waits = [review(names=["gender", "age"])]
    async with found.shown() as shown:
        await opened(shown, Review)
        assert "[+] the gender" in shown.text()
        await shown.pilot.press("space")
        await shown.until(lambda: "[ ] the gender" in shown.text())
        page(shown).detail.rows.put(("row", "age"))
        await shown.pilot.press("space")
        await shown.until(lambda: "[ ] the age" in shown.text())
        await shown.pilot.press("a")
        await shown.until(lambda: "nothing tried yet" in shown.notes())
        page(shown).detail.unfold()
        page(shown).detail.rows.put(("row", "hobby"))
        await shown.pilot.press("space")
        await shown.until(lambda: "With the hobby" in shown.words())
        await shown.pilot.press("a")
        await shown.until(lambda: "will be sent to shop.example" in shown.notes())
    [made] = found.decided()
    assert (made.names, made.disclose, made.lasting) == (["hobby"], "always", "always")
    assert found.waits


async def test_an_assistant_is_listed_or_not(found: Many) -> None:
    """From the list and from its page; no figures are asked for."""
    found.waits = [ASSISTANT]
    async with found.shown() as shown:
        await shown.until(lambda: "Chat box: https://chat.example/" in shown.words())
        await shown.pilot.press("enter")
        await shown.until(lambda: "Use Reticent in the chat box at" in shown.words())
        await shown.pilot.press("a")
        await shown.until(lambda: "works in the chat box" in shown.notes())
    [made] = found.decided()
    assert (made.disclose, made.lasting, made.names) == ("auto", "always", None)


async def test_what_a_text_means_is_chosen_from_a_list(found: Many) -> None:
    """The likeliest first, fewer as one types; Escape changes nothing."""
    topics = [TOPIC, *(replace(TOPIC, query=f"t{n}", title=f"topic {n}") for n in range(40))]
    found.past = [handled(7)]
    found.daemon.calls |= {
        "topics": says(topics),
        "correct": says(Corrected(query="jobs", read_as=[TOPIC], now=TOPIC)),
    }
    async with found.shown() as shown:
        await shown.choose("i", "escape")
        await shown.until(lambda: not isinstance(shown.app.screen, Choice))
        assert not found.daemon.asked("correct")
        await shown.choose("i")
        assert shown.app.screen.query_one(OptionList).option_count == 41
        await shown.pilot.press(*"trip", "enter")
        await shown.until(lambda: "It means 'planning a trip' from now on" in shown.notes())
    assert found.daemon.asked("correct") == [ReadingEdit(entry=7, topic="trip")]


async def test_what_a_program_says_that_a_text_means_waits(found: Many) -> None:
    """No figures are asked for; there is only yes and no, for good."""
    waits = review(kind="means", names=[], model="", query="rome in may", topic=TOPIC)
    found.waits = [waits, replace(waits, id=2)]
    async with found.shown() as shown:
        await shown.until(lambda: "Means 'planning a trip'?" in shown.words())
        await shown.pilot.press("enter")
        await shown.until(lambda: "Read 'rome in may' as 'planning a trip'" in shown.words())
        await shown.choose("enter")
        assert shown.app.screen.query_one(OptionList).option_count == 3
        await shown.pilot.press("escape")
        await shown.until(lambda: not isinstance(shown.app.screen, Choice))
        await shown.pilot.press("a")
        await shown.until(lambda: "is read as 'planning a trip' from now on" in shown.notes())
        await shown.pilot.press("d")
        await shown.until(lambda: "The text is read as before." in shown.notes())
        assert not found.daemon.asked("whatif")
    assert [(e.disclose, e.names) for e in found.decided()] == [("auto", None), ("never", None)]


async def test_an_offer_is_settled_for_good_or_for_days(found: Many) -> None:
    """Never once; denied, its recipient gets nothing."""
    found.waits = [review(kind="offer", query="")]
    async with found.shown() as shown:
        await shown.pilot.press("o")
        await shown.until(lambda: "an offer cannot be settled for one request" in shown.notes())
        await opened(shown, Review)
        await shown.choose("enter")
        assert shown.app.screen.query_one(OptionList).option_count == 5
        await shown.pilot.press("escape")
        await shown.until(lambda: not isinstance(shown.app.screen, Choice))
        assert not found.decided()
        assert "shop.example asks for the gender" in shown.words()
        await shown.pilot.press("d")
        await shown.until(lambda: "shop.example gets nothing from now on." in shown.notes())
    assert [(e.disclose, e.lasting) for e in found.decided()] == [("never", "always")]
