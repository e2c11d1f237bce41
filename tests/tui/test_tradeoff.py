"""The screen of the trade-off, over a daemon that says what would be sent."""

import threading

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.tui.screens.tradeoff import IN_FORCE, REQUESTS, TOPICS, choices
from agent.tui.unlocking import Unlocking
from agent.wire.decide import Weighed, WhatIf
from agent.wire.policy import Edited, Win
from tests.cli.daemon import RULES
from tests.tui.double import LARGE, Double, Running
from tests.waiting import PATIENCE
from tests.wire.fake import says
from tests.worlds.messages import KNOWN, PEOPLE, handled, weighed, weight

WIN = Win(key="people", value=9, names=[], rule="for shops", line=4)


def weigh(body: WhatIf) -> Weighed:
    """Send less where more people must look alike."""
    names, helps = (("age", "region"), 0.4) if (body.people or 0) < 1_000 else (("age",), 0.3)
    return weighed(chosen=weight(*names, utility=helps))


def ready(daemon: Double) -> None:
    rules = replace(RULES, effective=[*RULES.effective, PEOPLE])
    wins = Edited(changed=True, wins=[WIN], replayed=9, differ=4)
    daemon.calls |= {"rules": says(rules), "edit_policy": says(wins), "whatif": weigh}
    asked = [handled(at, query=each, read_as=KNOWN) for at, each in enumerate(("vi", "ed", "vi"))]
    daemon.calls["requests"] = says([*asked, handled(9, query="unread")])


async def opened(shown: Running) -> None:
    await shown.pilot.press("3")
    await shown.until(lambda: "As now" in shown.text())


@given(st.none() | st.integers(1, 10**10))
def test_there_are_a_few_choices_with_the_present_one_among_them(now: int | None) -> None:
    """Further down more people look alike; each is called otherwise."""
    every = choices(now)
    assert [each.people for each in every if each.label == IN_FORCE] == [now]
    assert 3 <= len(every) <= 5
    people = [each.people or 0 for each in every]
    assert people == sorted({*people})
    assert len({each.label for each in every}) == len(every)


async def test_a_choice_says_what_it_does_and_is_written_after_a_yes(daemon: Double) -> None:
    """The latest requests once each, those that change first; which rule wins is said, too."""
    ready(daemon)
    async with daemon.shown(LARGE) as shown:
        await opened(shown)
        assert REQUESTS in shown.words()
        for words in (
            "Send more: at least 100 real people look like you",
            "0 of 2 requests answered better; 100% of the help that you get now",
            "As now: at least 700 real people look like you",
            "2 of 2 requests carry facts",
            "2 of 2 requests answered less well; 75% of the help that you get now",
        ):
            assert words in shown.words()
        assert [each.query for each in daemon.asked("whatif")[1:3]] == ["vi", "ed"]
        await shown.pilot.press("a")
        await shown.until(lambda: "does this already" in shown.notes())
        await shown.pilot.press("down")
        await shown.until(lambda: "“vi”: age (now: age and region)" in shown.words())
        await shown.pilot.press("a")
        await shown.until(lambda: "write this rule" in shown.words())
        await shown.pilot.press("down", "enter")
        await shown.until(lambda: "for shops (line 4) still wins" in shown.notes())
    trial, edit = daemon.asked("edit_policy")
    assert (trial.dry_run, edit.dry_run) == (True, False)
    assert edit.set == {"people": 5_000}


async def test_before_any_request_topics_stand_in(daemon: Double) -> None:
    """Some of each kind, by their titles."""
    ready(daemon)
    topics = [replace(KNOWN, query=f"q{each}", title=f"topic {each}") for each in range(20)]
    daemon.calls |= {"requests": says([]), "topics": says(topics)}
    async with daemon.shown(LARGE) as shown:
        await opened(shown)
        assert TOPICS in shown.words()
        assert "“topic 18”: age" not in shown.words()
        assert {each.query for each in daemon.asked("whatif")} >= {"q0", "q2", "q14"}


async def test_an_answer_that_comes_after_the_lock_is_not_shown(daemon: Double) -> None:
    """Nor is what was asked."""
    ready(daemon)
    free = threading.Event()

    def slow(body: WhatIf) -> Weighed:
        assert free.wait(PATIENCE)
        return weigh(body)

    daemon.calls["whatif"] = slow
    async with daemon.shown() as shown:
        await shown.pilot.press("3")
        await shown.until(lambda: daemon.asked("whatif"))
        await shown.pilot.press("ctrl+l")
        await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
        free.set()
        await shown.settled()
        assert "“vi”" not in shown.text()
