"""The screen of recipients: who knows what, and a word on one of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from textual.widgets import Input

from agent.tui.screens.recipients import (
    LEAST_NAME,
    PEOPLE,
    REQUESTS,
    RecipientsScreen,
    lines,
    matches,
)
from agent.wire.base import Done
from agent.wire.decide import Allowed
from agent.words.figures import people
from tests.tui.double import LARGE, SMALL, Double, Running
from tests.wire.fake import says
from tests.worlds.messages import HELD, SHOP, recipient


@pytest.fixture
def told(daemon: Double) -> Double:
    """A daemon of a recipient, and of a group that a rule by hand blocks."""
    group = replace(SHOP, pool="@ads", sites=["a.example", "b.example"], blocked=True)
    daemon.calls |= {
        "recipients": lambda recipient=None: (
            [replace(HELD, pool=recipient)] if recipient else [SHOP, group]
        ),
        "allow": says(Allowed(done=False, rule="my own")),
        "refuse": says(Done()),
        "forget": says(Done(done=False)),
    }
    return daemon


async def opened(shown: Running, name: str) -> RecipientsScreen:
    await shown.pilot.press("2")
    await shown.until(lambda: isinstance(shown.app.screen, RecipientsScreen))
    await shown.until(lambda: name in shown.text())
    found = shown.app.screen
    assert isinstance(found, RecipientsScreen)
    return found


def flat(shown: Running) -> str:
    """Return what stands in the detail, as one line."""
    lines = (line.rpartition("│")[2].rstrip("▁▂▃▄▅▆▇█ ") for line in shown.text().splitlines())
    return " ".join(" ".join(lines).split())


async def test_a_group_is_ruled_site_by_site_and_its_requests_are_those_of_all(
    told: Double,
) -> None:
    """A rule that is not ours is named as such."""
    async with told.shown() as shown:
        await opened(shown, "@ads")
        await shown.pilot.press("down", "b")
        wins = "b.example still gets nothing, by 'my own'"
        await shown.until(lambda: wins in shown.notes())
        assert [each.recipient for each in told.asked("allow")] == ["a.example", "b.example"]
        told.calls["allow"] = says(Allowed())
        await shown.pilot.press("b")
        await shown.until(
            lambda: "a.example is treated like others again from now on. b" in shown.notes()
        )
        await shown.pilot.press("up", "b")
        await shown.until(lambda: "Blocked: shop.example" in shown.notes())
        await shown.pilot.press("down", "l")
        await shown.until(lambda: shown.app.current_mode == "requests")
        find = shown.app.screen.query_one("#find", Input)
        await shown.until(lambda: find.value == "@ads")


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=str)
async def test_it_shows_who_knows_what_and_how_few_are_left(
    told: Double, size: tuple[int, int]
) -> None:
    """Values while they are seen; a step back where it is narrow."""
    async with told.shown(size) as shown:
        page = await opened(shown, "@ads")
        assert "people like you" in shown.text()
        await shown.pilot.press("down", "up", "enter")
        await shown.until(lambda: "2 facts about you. To it, you blend in with" in flat(shown))
        assert ("@ads" in shown.text()) is (size == LARGE)
        assert "•••" in shown.text()
        await shown.pilot.press("m")
        await shown.until(lambda: "chess" in shown.text())
        await shown.pilot.press("m")
        await shown.until(lambda: "•••" in shown.text())
        assert page.looked_into is not None
        assert not any(page.looked_into[1].values.values())
        await shown.pilot.press("escape")
        assert "@ads" in shown.text()
        assert max(map(len, shown.text().splitlines())) <= size[0]


async def test_that_it_forgot_is_stated_after_a_yes_alone(told: Double) -> None:
    """Leaving the question states nothing; the daemon says where it knew nothing."""
    async with told.shown(LARGE) as shown:
        await opened(shown, "@ads")
        for leave in ("enter", "escape"):
            await shown.pilot.press("f")
            await shown.until(lambda: "having forgotten you?" in shown.text())
            await shown.pilot.press(leave)
            await shown.until(lambda: isinstance(shown.app.screen, RecipientsScreen))
        assert not told.asked("forget")
        await shown.pilot.press("f", "down", "enter")
        await shown.until(lambda: "already knows nothing" in shown.notes())
        told.calls["forget"] = says(Done())
        await shown.pilot.press("f", "down", "enter")
        await shown.until(lambda: "counts as knowing nothing" in shown.notes())


COUNTS = st.lists(st.integers(0, 20_000), min_size=1, max_size=60)
NAMES = st.lists(st.text(min_size=1, max_size=12), max_size=8, unique=True)


@given(COUNTS, NAMES, st.booleans(), st.integers(LEAST_NAME + PEOPLE + REQUESTS, 150))
def test_a_recipient_is_as_wide_as_the_list(
    counts: list[int], held: list[str], refused: bool, width: int
) -> None:
    """Two lines, with the numbers in their columns, whatever it is called."""
    one = recipient(counts, held=held, blocked=refused, pool="例え" * 30)
    first, second = ("".join(part.text for part in line) for line in lines(one, width))
    assert (first + second).isprintable()
    assert first.rstrip().endswith(f"{len(counts):,}")
    assert people(counts[-1]) in first
    assert ("×" in first and "blocked" in second) is refused


def test_it_is_found_by_its_name_a_fact_or_its_state() -> None:
    """All words count, in any order."""
    group = replace(SHOP, pool="@shops", sites=["a.example"], blocked=True)
    for text in ("", "SHOP", "hobby shop", "a.example", "blocked"):
        assert matches(group, text)
    assert not matches(SHOP, "blocked")
    assert not matches(SHOP, "shop salary")
