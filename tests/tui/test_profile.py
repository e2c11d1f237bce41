"""The screen of the profile over a real daemon: values, and which of them may be sent."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from textual.widgets import Input, OptionList, Static

from agent.tui.dialogs import MANY, Choice, Confirm
from agent.tui.screens.profile import ProfileScreen, cells
from agent.wire.decide import Ask
from agent.wire.records import Profile, ProfileChange
from agent.wire.routes import QUERY
from agent.words.titles import value_title
from tests.daemon.whole_daemon import Live, living
from tests.tui.double import Double
from tests.tui.running import LARGE, Running, running
from tests.tui.values import attribute
from tests.wire.fake import says

POLICY = """\
preset = "balanced"
[attributes]
region = "always"
[daemon]
lock_after_minutes = 0
"""
OWN = "west_europe"  # a value that stands nowhere else on the screen
SHOWN = value_title(OWN)


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """Yield a daemon whose vault is open; each test has attributes of its own."""
    with living(POLICY) as found:
        yield found


def page(shown: Running) -> ProfileScreen:
    """Return the screen."""
    found = shown.app.page()
    assert isinstance(found, ProfileScreen)
    return found


def row(shown: Running, name: str) -> list[str]:
    """Return what stands in a row."""
    listing = page(shown).listing
    found = next(each for each in listing.items if each.attribute.name == name)
    return [cell.strip() for cell in cells(found, listing.size.width)]


def told(shown: Running) -> str:
    """Return what is said of the attribute under the cursor."""
    return str(page(shown).query_one("#detail Static", Static).content)


async def come(shown: Running, name: str = "gender") -> None:
    """Go to the screen, and to an attribute."""
    await shown.pilot.press("4")
    await shown.until(lambda: isinstance(shown.app.page(), ProfileScreen))
    await shown.until(lambda: len(page(shown).listing.items) > 1)
    await shown.settled()
    await go(shown, name)


async def go(shown: Running, name: str) -> None:
    """Put the cursor on an attribute."""
    listing = page(shown).listing
    listing.put(name)
    await shown.pilot.pause()
    assert listing.under is not None
    assert listing.under.attribute.name == name


async def choose(shown: Running, key: str, *keys: str) -> None:
    """Ask for the answers that there are, and press keys among them."""
    await shown.pilot.press(key)
    await shown.until(lambda: isinstance(shown.app.screen, Choice))
    await shown.pilot.press(*keys)


def values(live: Live) -> dict[str, str]:
    """Return the values that are kept."""
    with live.client() as client:
        found: Profile = client.call("profile")
    [own] = found.values.values()
    return own


def ruled(live: Live, name: str) -> Any:  # noqa: ANN401  (as TOML has it)
    """Return what the policy file says of an attribute."""
    return tomllib.loads(live.paths.policy.read_text()).get("attributes", {}).get(name)


async def test_values_are_hidden_until_they_are_asked_for_and_copied_after_asking(
    live: Live,
) -> None:
    """That one is set, what may leave, and by which rule, is seen; no is the usual answer."""
    async with running(live.paths.control) as shown:
        await come(shown, "region")
        assert row(shown, "region")[1] == "•••"
        assert row(shown, "race")[1] == "not set"
        assert row(shown, "region")[2] == "always"
        assert SHOWN not in shown.text().split("Its values")[0]
        assert "by attributes.region, line 3" in told(shown)
        await choose(shown, "c", "enter")
        await shown.settled()
        assert shown.app.clipboard == ""
        await choose(shown, "c", "down", "enter")
        await shown.until(lambda: shown.app.clipboard == OWN)
        assert SHOWN not in shown.text().split("Its values")[0]
        await shown.pilot.press("m")
        await shown.until(lambda: row(shown, "region")[1] == SHOWN)
        await shown.pilot.press("m")
        await shown.until(lambda: row(shown, "region")[1] == "•••")
        assert SHOWN not in told(shown).split("Its values")[0]


async def test_a_value_is_set_and_taken_away_and_taken_back(live: Live) -> None:
    """And nothing of it stands in what is said; to take it away is asked about."""
    async with running(live.paths.control) as shown:
        await come(shown, "education")
        await choose(shown, "s", "end", "up", "up", "enter")  # the last value: doctorate
        await shown.until(lambda: values(live)["education"] == "doctoral")
        await shown.until(lambda: "highest level of education: set." in shown.notes())
        assert "doctorate" not in shown.notes() + shown.text().split("Its values")[0]
        await choose(shown, "s", "escape")
        await choose(shown, "s", "end", "enter")
        await shown.until(lambda: isinstance(shown.app.screen, Confirm))
        await shown.pilot.press("enter")
        await shown.settled()
        assert values(live)["education"] == "doctoral"
        await choose(shown, "s", "end", "enter")
        await shown.until(lambda: isinstance(shown.app.screen, Confirm))
        await shown.pilot.press("down", "enter")
        await shown.until(lambda: row(shown, "education")[1] == "not set")
        assert "education" not in values(live)
        await shown.pilot.press("c")
        await shown.until(lambda: "there is nothing to copy" in shown.notes())
        await shown.pilot.press("u")
        await shown.until(lambda: row(shown, "education")[1] == "•••")
        assert values(live)["education"] == "doctoral"


async def test_enter_in_the_list_of_values_changes_nothing(live: Live) -> None:
    """It begins on the present value, and on none while that is hidden: it would show it."""
    async with running(live.paths.control) as shown:
        await come(shown, "region")
        before = values(live)
        await choose(shown, "s")
        assert shown.app.screen.query_one(OptionList).highlighted is None
        await shown.pilot.press("enter")
        assert isinstance(shown.app.screen, Choice)
        await shown.pilot.press("escape", "m")
        await shown.until(lambda: row(shown, "region")[1] == SHOWN)
        await choose(shown, "s")
        at = shown.app.screen.query_one(OptionList)
        assert at.highlighted_option is not None
        assert str(at.highlighted_option.prompt) == SHOWN
        await shown.pilot.press("enter")
        await shown.until(lambda: "nothing changed" in shown.notes())
        assert values(live) == before


async def test_a_value_is_taken_back_while_it_was_done_last(live: Live) -> None:
    """Not once a rule was made since; on whatever screen, and what left meanwhile is said."""
    async with running(live.paths.control) as shown:
        await come(shown, "gender")
        await choose(shown, "s", "down", "enter")
        await shown.until(lambda: row(shown, "gender")[1] == "•••")
        value, was = values(live)["gender"], row(shown, "gender")[2]
        await shown.pilot.press("g")
        await shown.until(lambda: row(shown, "gender")[2] == "guarded")
        assert ruled(live, "gender")["guard"] == 1
        await shown.pilot.press("d")
        await shown.until(lambda: "g stops guarding it" in shown.notes())
        await shown.pilot.press("u")
        await shown.until(lambda: "nothing to undo" in shown.notes())
        assert values(live)["gender"] == value
        await shown.pilot.press("g")
        await shown.until(lambda: row(shown, "gender")[2] == was != "guarded")
        await choose(shown, "s", "down", "down", "enter")
        await shown.until(lambda: values(live)["gender"] != value)
        await shown.pilot.press("6", "u")
        await shown.until(lambda: "None of it was sent in the meantime." in shown.notes())
        assert values(live)["gender"] == value


async def test_who_holds_an_older_value_is_said(live: Live) -> None:
    """It was disclosed, and is changed."""
    with live.client(QUERY) as client:
        client.call("decide", Ask(query="job_site", recipient="holder.example"))

    try:
        async with running(live.paths.control, LARGE) as shown:
            await come(shown, "region")
            await shown.until(lambda: "Known to: holder.example" in shown.text())
            await choose(shown, "s", "down", "enter")
            await shown.until(lambda: "holder.example has your older value" in shown.notes())
    finally:
        with live.client() as client:
            client.call("change_profile", ProfileChange(set={"region": OWN}))


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


async def test_whether_it_may_leave_is_chosen(live: Live) -> None:
    """It is in the policy, and in the row; leaving the question changes nothing."""
    async with running(live.paths.control) as shown:
        await come(shown, "major")
        before = live.paths.policy.read_text()
        for leave in ("escape", "enter"):
            await choose(shown, "d")
            assert "for what it is, not for" in shown.text()
            await shown.pilot.press(leave)
            await shown.settled()
            assert live.paths.policy.read_text() == before
        await choose(shown, "d", "home", "enter")
        await shown.until(lambda: row(shown, "major")[2] == "never")
        assert ruled(live, "major") == "never"


async def test_a_slider_is_written_with_enter_alone(live: Live) -> None:
    """Not at each key, nor when its row or the screen is left, nor by what covers it."""
    async with running(live.paths.control) as shown:
        await come(shown, "hobby")
        await shown.pilot.press("right", "plus", "right", "left")
        await shown.until(lambda: row(shown, "hobby")[3].endswith(" 0.02*"))
        assert ruled(live, "hobby") is None
        await shown.pilot.press("enter")
        await shown.until(lambda: row(shown, "hobby")[3].endswith(" 0.02"))
        assert ruled(live, "hobby")["sensitivity"] == 0.02
        await shown.pilot.press("minus", "down")
        await shown.until(lambda: "Not saved yet (*): " in told(shown))
        await shown.pilot.press("right", "6")
        await shown.until(lambda: not isinstance(shown.app.page(), ProfileScreen))
        await shown.pilot.press("4")
        await shown.until(lambda: isinstance(shown.app.page(), ProfileScreen))
        shown.app.cover()
        await shown.settled()
        await shown.pilot.press("space")
        await shown.until(lambda: row(shown, "hobby")[3].endswith(" 0.01*"))
        assert ruled(live, "hobby")["sensitivity"] == 0.02
        await shown.pilot.press("up", "enter")
        await shown.until(lambda: row(shown, "hobby")[3].endswith(" 0.01"))
        assert ruled(live, "hobby")["sensitivity"] == 0.01
        await shown.until(lambda: "Not saved yet (*): " in told(shown))


async def test_the_mouse_puts_the_slider_where_it_is_and_escape_back(live: Live) -> None:
    """A click is a step of it."""
    async with running(live.paths.control, LARGE) as shown:
        await come(shown, "gender")
        line = next(at for at, text in enumerate(shown.text().splitlines()) if "race" in text)
        start = shown.text().splitlines()[line].index("●")
        await shown.pilot.click(offset=(start + 4, line))
        await shown.until(lambda: row(shown, "race")[3].endswith(" 0.1*"))
        await shown.pilot.press("escape")
        await shown.until(lambda: row(shown, "race")[3].endswith(" 0"))


async def test_many_values_are_filtered_by_what_is_typed(daemon: Double) -> None:
    """The only one that is left is chosen with Enter; the arrow goes to the list."""
    many = [(f"value {at}", str(at)) for at in range(MANY + 1)]
    async with daemon.shown() as shown:
        found: list[str | None] = []
        for keys in (("1", "1", "enter"), ("1", "enter", "down", "enter"), ("escape",)):
            await shown.until(lambda: len(shown.app.screen_stack) == 1)
            shown.app.push_screen(Choice("Which?", many, find=True), found.append)
            await shown.until(lambda: isinstance(shown.app.screen, Choice))
            await shown.pilot.press(*keys)
            await shown.until(lambda: len(shown.app.screen_stack) == 1)
        assert found == ["11", "10", None]


async def test_what_is_set_for_each_request_has_no_value_to_set(daemon: Double) -> None:
    """It stands below what it refines, and says so."""
    rows = [attribute("work", scope="request"), attribute("city", "region"), attribute("region")]
    daemon.calls |= {
        "attributes": says(rows),
        "profile": says(Profile(values={"world": {"city": "b"}})),
    }
    async with daemon.shown(LARGE) as shown:
        await come(shown, "work")
        assert row(shown, "city")[0] == "└ the city"
        await shown.pilot.press("s")
        await shown.until(lambda: "set for each request" in shown.notes())
        assert isinstance(shown.app.screen, ProfileScreen)
