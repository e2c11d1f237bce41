"""Looking, finding, and a person's word on a recipient: over a real daemon."""

import pytest
from textual.widgets import Input

from agent.tui.screens.recipients import RecipientsScreen
from agent.tui.screens.requests import RequestsScreen
from tests.daemon.whole_daemon import Live
from tests.tui.recipients.world import NEWS, SEARCH, flat, opened
from tests.tui.running import LARGE, SMALL, USUAL, Running, running


def screen(shown: Running) -> RecipientsScreen:
    """Return the screen."""
    found = shown.app.screen
    assert isinstance(found, RecipientsScreen)
    return found


@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE])
async def test_it_shows_who_knows_what_and_how_few_are_left(
    live: Live, size: tuple[int, int]
) -> None:
    """In the detail at every size; one step to it and back where there is no room."""
    async with running(live.paths.control, size) as shown:
        await opened(shown, NEWS)
        assert SEARCH in shown.text()
        assert "of 18,991" in shown.text()
        await shown.pilot.press("down", "up", "enter")
        await shown.until(lambda: "facts about you. To it, you blend in with" in flat(shown))
        assert (NEWS in shown.text()) is (size == LARGE)
        await shown.pilot.press("escape")
        assert NEWS in shown.text()
        assert max(map(len, shown.text().splitlines())) <= size[0]


async def test_what_is_guarded_and_what_more_would_do(live: Live) -> None:
    """In the detail, the latter further down: a key leads there."""
    async with running(live.paths.control, LARGE) as shown:
        await opened(shown, NEWS)
        await shown.until(lambda: "its best guess is right for" in flat(shown))
        await shown.pilot.press("w")
        await shown.until(lambda: "its best guess" not in flat(shown))
        assert "helps costs" in flat(shown)


async def test_values_are_shown_only_while_unmasked(live: Live) -> None:
    """They are dropped, not only hidden."""
    async with running(live.paths.control, LARGE) as shown:
        await opened(shown, NEWS)
        await shown.until(lambda: "•••" in shown.text())
        await shown.pilot.press("m")
        await shown.until(lambda: "•••" not in shown.text())
        kept = screen(shown).findings
        assert kept is not None
        assert any(kept.held.values.values())
        await shown.pilot.press("m")
        await shown.until(lambda: "•••" in shown.text())
        kept = screen(shown).findings
        assert kept is not None
        assert not any(kept.held.values.values())


async def test_values_are_dropped_wherever_they_are_hidden(live: Live) -> None:
    """Also from a screen that is not looked at just then."""
    async with running(live.paths.control, LARGE) as shown:
        await opened(shown, NEWS)
        await shown.pilot.press("m")
        recipients = screen(shown)
        await shown.until(lambda: "what it knows" in shown.text() and "•••" not in shown.text())
        await shown.pilot.press("1", "m")
        kept = recipients.findings
        assert kept is not None
        assert not any(kept.held.values.values())
        await shown.pilot.press("2")
        await shown.until(lambda: "•••" in shown.text())


async def test_blocking_and_unblocking_write_the_policy(live: Live) -> None:
    """With one key, in words on the screen."""
    policy = live.paths.policy

    async with running(live.paths.control, LARGE) as shown:
        await opened(shown, NEWS)
        await shown.pilot.press("end")
        await shown.until(lambda: f"{SEARCH} knows" in shown.text() or "To it" in shown.text())
        await shown.pilot.press("b")
        await shown.until(lambda: "nothing = true" in policy.read_text())
        await shown.until(lambda: "blocked · knows" in shown.text())
        await shown.pilot.press("b")
        await shown.until(lambda: "nothing = true" not in policy.read_text())
        await shown.until(lambda: "blocked · knows" not in shown.text())


async def test_forgetting_is_asked_and_stated(live: Live) -> None:
    """Leaving the question states nothing."""
    async with running(live.paths.control, LARGE) as shown:
        await opened(shown, NEWS)
        await shown.pilot.press("home", "f")
        await shown.until(lambda: "Has" in shown.text() and "you state that" in shown.text())
        await shown.pilot.press("enter")
        await shown.until(lambda: isinstance(shown.app.screen, RecipientsScreen))
        await shown.pilot.press("f", "escape")
        assert "nothing about you" not in shown.text()
        await shown.pilot.press("f", "down", "enter")
        await shown.until(lambda: "knows nothing about you" in shown.text())


async def test_one_is_found_by_words(live: Live) -> None:
    """Enter goes on in what is found; Escape shows all again."""
    async with running(live.paths.control) as shown:
        await opened(shown, NEWS)
        await shown.pilot.press("slash", *"search", "enter")
        await shown.until(lambda: NEWS not in shown.text())
        assert "›" in shown.text()
        await shown.pilot.press("slash", *"zebra")
        await shown.until(lambda: "No matches" in shown.text())
        await shown.pilot.press("escape")
        await shown.until(lambda: NEWS in shown.text() and SEARCH in shown.text())
        assert not shown.app.screen.query_one(Input).display


async def test_its_requests_are_a_key_away(live: Live) -> None:
    """On the screen of requests, only those."""
    async with running(live.paths.control, LARGE) as shown:
        await opened(shown, NEWS)
        await shown.pilot.press("home", "l")
        await shown.until(lambda: isinstance(shown.app.screen, RequestsScreen))
        await shown.until(lambda: shown.app.screen.query_one("#find", Input).value)
        first = shown.app.screen.query_one("#find", Input).value
        other = NEWS if first == SEARCH else SEARCH
        await shown.until(lambda: first in shown.text() and other not in shown.text())
