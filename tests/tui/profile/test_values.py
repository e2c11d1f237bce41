"""The user's own values over a real daemon: shown, set, copied, and hidden."""

from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from agent.tui.dialogs import MANY, Choice, Confirm
from agent.tui.privacy_lock import Unlocking
from agent.tui.screens.profile import ProfileScreen
from agent.wire.decide import Ask
from agent.wire.records import Profile, ProfileChange
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import OPEN, Live
from tests.tui.double import Double
from tests.tui.profile.world import (
    OWN,
    SHOWN,
    attribute,
    choose,
    come,
    notes,
    page,
    row,
    told,
    values,
)
from tests.tui.running import LARGE, SMALL, USUAL, running
from tests.tui.running import run as going
from tests.wire.fake import FakeDaemon, says, short_folder


@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE], ids=str)
async def test_values_are_hidden_until_they_are_asked_for_and_again(
    live: Live, size: tuple[int, int]
) -> None:
    """And that one is set, what may leave, and by which rule, is seen all the same."""
    async with running(live.paths.control, size) as shown:
        await come(shown, "region")
        assert row(shown, "region")[1] == "•••"
        assert row(shown, "race")[1] == "not set"
        assert row(shown, "region")[2] == "always"
        assert SHOWN not in shown.text().split("Its values")[0]
        assert "by attributes.region, line 3" in told(shown)
        await shown.pilot.press("m")
        await shown.until(lambda: row(shown, "region")[1] == SHOWN)
        await shown.pilot.press("m")
        await shown.until(lambda: row(shown, "region")[1] == "•••")
        assert SHOWN not in told(shown).split("Its values")[0]


async def test_a_value_is_set_and_taken_away_and_taken_back(live: Live) -> None:
    """And nothing of it stands in what is said; to take it away is asked about."""
    async with running(live.paths.control) as shown:
        await come(shown, "education")
        await choose(shown, "end", "up", "up", "enter")  # the last value: doctorate
        await shown.until(lambda: values(live)["education"] == "doctoral")
        await shown.until(lambda: "highest level of education: set." in notes(shown))
        assert "doctorate" not in notes(shown) + shown.text().split("Its values")[0]
        await choose(shown, "escape")
        await shown.settled()
        assert values(live)["education"] == "doctoral"
        await choose(shown, "end", "enter")
        await shown.until(lambda: isinstance(shown.app.screen, Confirm))
        await shown.pilot.press("enter")
        await shown.settled()
        assert values(live)["education"] == "doctoral"
        await choose(shown, "end", "enter")
        await shown.until(lambda: isinstance(shown.app.screen, Confirm))
        await shown.pilot.press("down", "enter")
        await shown.until(lambda: row(shown, "education")[1] == "not set")
        assert "education" not in values(live)
        await shown.pilot.press("u")
        await shown.until(lambda: row(shown, "education")[1] == "•••")
        assert values(live)["education"] == "doctoral"


@pytest.mark.parametrize("masked", [True, False])
async def test_enter_in_the_list_of_values_changes_nothing(live: Live, masked: bool) -> None:
    """It begins on the present value, and on none while that is hidden: it would show it."""
    async with running(live.paths.control) as shown:
        await come(shown, "region")
        if not masked:
            await shown.pilot.press("m")
            await shown.until(lambda: row(shown, "region")[1] == SHOWN)
        before = values(live)
        await choose(shown)
        at = shown.app.screen.query_one(OptionList)
        if masked:
            assert at.highlighted is None
            await shown.pilot.press("enter")
            assert isinstance(shown.app.screen, Choice)
            await shown.pilot.press("escape")
            await shown.settled()
        else:
            assert at.highlighted_option is not None
            assert str(at.highlighted_option.prompt) == SHOWN
            await shown.pilot.press("enter")
            await shown.until(lambda: "nothing changed" in notes(shown))
        assert values(live) == before


async def test_a_value_is_taken_back_while_it_was_done_last(live: Live) -> None:
    """Not once a rule was made since; on whatever screen, and what left meanwhile is said."""
    async with running(live.paths.control) as shown:
        await come(shown, "gender")
        await choose(shown, "down", "enter")
        await shown.until(lambda: row(shown, "gender")[1] == "•••")
        value = values(live)["gender"]
        await shown.pilot.press("g")
        await shown.until(lambda: row(shown, "gender")[2] == "guarded")
        await shown.pilot.press("u")
        await shown.settled()
        assert values(live)["gender"] == value
        assert "nothing to undo" in notes(shown)
        await choose(shown, "down", "down", "enter")
        await shown.until(lambda: values(live)["gender"] != value)
        await shown.pilot.press("6", "u")
        await shown.until(lambda: "None of it was sent in the meantime." in notes(shown))
        assert values(live)["gender"] == value


async def test_who_holds_an_older_value_is_said(live: Live) -> None:
    """It was disclosed, and is changed."""
    with live.client(QUERY) as client:
        client.call("decide", Ask(query="job_site", recipient="holder.example"))

    try:
        async with running(live.paths.control, LARGE) as shown:
            await come(shown, "region")
            await shown.until(lambda: "Known to: holder.example" in shown.text())
            await choose(shown, "down", "enter")
            await shown.until(lambda: "holder.example has your older value" in notes(shown))
    finally:
        with live.client() as client:
            client.call("change_profile", ProfileChange(set={"region": OWN}))


async def test_a_value_is_copied_after_asking(live: Live) -> None:
    """No is the usual answer; the value is shown nowhere."""
    async with running(live.paths.control) as shown:
        await come(shown, "region")
        await shown.pilot.press("c")
        await shown.until(lambda: isinstance(shown.app.screen, Confirm))
        await shown.pilot.press("enter")
        await shown.settled()
        assert shown.app.clipboard == ""
        await shown.pilot.press("c")
        await shown.until(lambda: isinstance(shown.app.screen, Confirm))
        await shown.pilot.press("down", "enter")
        await shown.until(lambda: shown.app.clipboard == OWN)
        assert SHOWN not in shown.text()


async def test_what_is_not_set_is_not_copied(live: Live) -> None:
    """It is said, and nothing is asked."""
    async with running(live.paths.control) as shown:
        await come(shown, "race")
        await shown.pilot.press("c")
        await shown.until(lambda: "there is nothing to copy" in notes(shown))
        assert shown.app.clipboard == ""


async def test_a_text_leaves_only_what_has_it(live: Live) -> None:
    """Escape shows all again; what is typed are no actions."""
    async with running(live.paths.control) as shown:
        await come(shown)
        listing = page(shown).listing
        every = len(listing.items)
        await shown.pilot.press("slash", *"python")
        await shown.until(lambda: len(listing.items) == 1)
        await shown.pilot.press("enter")
        await shown.until(lambda: listing.has_focus)
        await shown.pilot.press("escape")
        await shown.until(lambda: len(listing.items) == every)
        assert not page(shown).query_one(Input).display


async def test_a_locked_vault_leaves_nothing_on_the_screen(live: Live) -> None:
    """Neither values nor which are set; they come back hidden."""
    try:
        async with running(live.paths.control, USUAL) as shown:
            await come(shown)
            await shown.pilot.press("m")
            await shown.until(lambda: row(shown, "region")[1] == SHOWN)
            await shown.pilot.press("ctrl+l")
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            assert not page(shown).listing.items
            with live.client() as client:
                client.call("unlock", OPEN)
            await shown.until(lambda: isinstance(shown.app.screen, ProfileScreen))
            await shown.until(lambda: len(page(shown).listing.items) > 1)
            assert row(shown, "region")[1] == "•••"
    finally:
        live.unlock()


async def test_many_values_are_filtered_by_what_is_typed(live: Live) -> None:
    """The only one that is left is chosen with Enter; the arrow goes to the list."""
    many = [(f"value {at}", str(at)) for at in range(MANY + 1)]

    async with running(live.paths.control) as shown:
        found: list[str | None] = []
        for keys in (("1", "1", "enter"), ("1", "enter", "down", "enter"), ("escape",)):
            await shown.until(lambda: len(shown.app.screen_stack) == 1)
            shown.app.push_screen(Choice("Which?", many, find=True), found.append)
            await shown.until(lambda: isinstance(shown.app.screen, Choice))
            await shown.pilot.press(*keys)
            await shown.until(lambda: len(shown.app.screen_stack) == 1)
        assert found == ["11", "10", None]


def test_what_is_set_for_each_request_has_no_value_to_set() -> None:
    """It stands below what it refines, and says so."""
    rows = [attribute("work", scope="request"), attribute("city", "region"), attribute("region")]
    daemon = Double()
    handlers = daemon.handlers() | {
        "attributes": lambda **_: rows,
        "recipients": says([]),
        "profile": says(Profile(values={"world": {"city": "b"}})),
    }

    async def test(path: Path) -> None:
        async with running(path, LARGE) as shown:
            await come(shown, "work")
            assert row(shown, "city")[0] == "└ the city"
            await shown.pilot.press("s")
            await shown.until(lambda: "set for each request" in notes(shown))
            assert isinstance(shown.app.screen, ProfileScreen)

    with short_folder() as folder, FakeDaemon(folder / "control.sock", handlers):
        try:
            going(test(folder / "control.sock"))
        finally:
            daemon.events.set()
