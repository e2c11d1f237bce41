"""The screen of the user's own values over a real daemon: every action of it."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import DataTable, Input, Static

from agent.tui.asked import Choice, Confirm
from agent.tui.screens.profile.page import ProfilePage
from agent.tui.screens.profile.picking import MANY, Filtered, picking
from agent.tui.unlock import Unlocking
from agent.wire.asking import Ask
from agent.wire.keeping import Profile, ProfileChange
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import OPEN, Live, living
from tests.tui.running import LARGE, SMALL, USUAL, Running, running
from tests.tui.running import run as going
from tests.tui.test_app import Double
from tests.tui.test_profile_rows import attribute
from tests.wire.fake import FakeDaemon, says, short_folder

POLICY = """\
preset = "balanced"
[attributes]
region = "always"
[daemon]
lock_after_minutes = 0
"""
FIRST = "gender"
OWN = "west_europe"  # a value that stands nowhere else on the screen


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """Yield a daemon whose vault is open."""
    with living(POLICY) as found:
        yield found


def page(shown: Running) -> ProfilePage:
    """Return the screen."""
    found = shown.app.page()
    assert isinstance(found, ProfilePage)
    return found


def row(shown: Running, name: str) -> list[str]:
    """Return what stands in a row."""
    return [cell.plain.strip() for cell in page(shown).query_one(DataTable).get_row(name)]


def told(shown: Running, part: str) -> str:
    """Return what a part of the screen says, in one line."""
    return str(page(shown).query_one(part, Static).content)


def notes(shown: Running) -> str:
    """Return what was said at the edge of the screen."""
    return "\n".join(each.message for each in shown.app._notifications)  # noqa: SLF001  (not wrapped)


async def come(shown: Running, name: str = FIRST) -> None:
    """Go to the screen, and to an attribute."""
    await shown.pilot.press("4")
    await shown.until(lambda: isinstance(shown.app.page(), ProfilePage))
    table = page(shown).query_one(DataTable)
    await shown.until(lambda: table.row_count > 1)
    await shown.settled()
    table.move_cursor(row=table.get_row_index(name))
    await shown.until(lambda: row(shown, name)[0].startswith("›"))


def values(live: Live) -> dict[str, str]:
    """Return the values that are kept."""
    with live.client() as client:
        found: Profile = client.call("profile")
    [own] = found.values.values()
    return own


def ruled(live: Live, name: str) -> Any:  # noqa: ANN401  (as TOML has it)
    """Return what the policy file says of an attribute."""
    return tomllib.loads(live.paths.policy.read_text()).get("attributes", {}).get(name)


@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE], ids=str)
def test_values_are_hidden_until_they_are_asked_for_and_again(
    live: Live, size: tuple[int, int]
) -> None:
    """And that one is set, what may leave, and by which rule, is seen all the same."""

    async def test() -> None:
        async with running(live.paths.control, size) as shown:
            await come(shown, "region")
            assert row(shown, "region")[1] == "•••"
            assert row(shown, "race")[1] == "not set"
            assert row(shown, "region")[2] == "always"
            assert OWN not in shown.text().split("Its values")[0]
            for part in ("#profile-foot", "#profile-detail Static"):
                assert "by attributes.region, line 3" in told(shown, part)
            await shown.pilot.press("m")
            await shown.until(lambda: row(shown, "region")[1] == OWN)
            await shown.pilot.press("m")
            await shown.until(lambda: row(shown, "region")[1] == "•••")
            assert OWN not in told(shown, "#profile-detail Static").split("Its values")[0]

    going(test())


def test_a_value_is_set_and_taken_away(live: Live) -> None:
    """And nothing of it stands in what is said."""

    async def test() -> None:
        async with running(live.paths.control) as shown:
            await come(shown, "education")
            await shown.pilot.press("s")
            await shown.until(lambda: isinstance(shown.app.screen, Choice))
            await shown.pilot.press("down", "down", "enter")  # below: not specified, bachelor
            await shown.until(lambda: values(live)["education"] == "doctoral")
            await shown.until(lambda: "highest level of education: set." in notes(shown))
            assert "doctoral" not in notes(shown) + shown.text()
            await shown.pilot.press("s")
            await shown.until(lambda: isinstance(shown.app.screen, Choice))
            await shown.pilot.press("escape")
            await shown.settled()
            assert values(live)["education"] == "doctoral"
            await shown.pilot.press("s")
            await shown.until(lambda: isinstance(shown.app.screen, Choice))
            await shown.pilot.press("home", "enter")
            await shown.until(lambda: "education" not in values(live))
            await shown.until(lambda: row(shown, "education")[1] == "not set")

    going(test())


def test_who_holds_an_older_value_is_said(live: Live) -> None:
    """It was disclosed, and is changed."""
    with live.client(QUERY) as client:
        client.call("decide", Ask(query="job_site", recipient="holder.example"))

    async def test() -> None:
        async with running(live.paths.control, LARGE) as shown:
            await come(shown, "region")
            await shown.until(lambda: "Held by holder.example." in shown.text())
            await shown.pilot.press("s")
            await shown.until(lambda: isinstance(shown.app.screen, Choice))
            await shown.pilot.press("down", "enter")
            await shown.until(lambda: "holder.example holds your older value" in notes(shown))

    try:
        going(test())
    finally:
        with live.client() as client:
            client.call("change_profile", ProfileChange(set={"region": OWN}))


def test_whether_it_may_leave_is_chosen(live: Live) -> None:
    """It is in the policy, and in the row; leaving the question changes nothing."""

    async def test() -> None:
        async with running(live.paths.control) as shown:
            await come(shown, "major")
            before = live.paths.policy.read_text()
            await shown.pilot.press("d")
            await shown.until(lambda: isinstance(shown.app.screen, Choice))
            assert "for what it is, not for" in shown.text()
            await shown.pilot.press("escape")
            await shown.settled()
            assert live.paths.policy.read_text() == before
            await shown.pilot.press("d")
            await shown.until(lambda: isinstance(shown.app.screen, Choice))
            await shown.pilot.press("home", "enter")
            await shown.until(lambda: row(shown, "major")[2] == "never")
            assert ruled(live, "major") == "never"

    going(test())


def test_it_is_guarded_and_guarded_no_more(live: Live) -> None:
    """Then it may leave as before."""

    async def test() -> None:
        async with running(live.paths.control) as shown:
            await come(shown, "student")
            was = row(shown, "student")[2]
            assert was != "guarded"
            await shown.pilot.press("g")
            await shown.until(lambda: row(shown, "student")[2] == "guarded")
            assert ruled(live, "student")["guard"] == 1
            await shown.pilot.press("d")
            await shown.until(lambda: isinstance(shown.app.screen, Choice))
            await shown.pilot.press("end", "enter")
            said = "Still decided otherwise by attributes.student"
            await shown.until(lambda: said in notes(shown))
            await shown.pilot.press("g")
            await shown.until(lambda: row(shown, "student")[2] == "always")

    going(test())


def test_a_slider_is_written_with_enter_and_when_its_row_is_left(live: Live) -> None:
    """Not at each key; the mark says so."""

    async def test() -> None:
        async with running(live.paths.control) as shown:
            await come(shown, "hobby")
            await shown.pilot.press("right", "plus", "right", "left")
            await shown.until(lambda: row(shown, "hobby")[3].endswith(" 0.02*"))
            assert ruled(live, "hobby") is None
            await shown.pilot.press("enter")
            await shown.until(lambda: row(shown, "hobby")[3].endswith(" 0.02"))
            assert ruled(live, "hobby")["sensitivity"] == 0.02
            await shown.pilot.press("minus", "down")
            await shown.until(lambda: ruled(live, "hobby")["sensitivity"] == 0.01)
            await shown.until(lambda: row(shown, "hobby")[3].endswith(" 0.01"))

    going(test())


def test_a_slider_is_put_back_and_never_written_by_leaving(live: Live) -> None:
    """Neither by escape, nor by another screen, nor by what covers it."""

    async def test() -> None:
        async with running(live.paths.control) as shown:
            await come(shown, "remote")
            before = live.paths.policy.read_text()
            await shown.pilot.press("right", "escape")
            await shown.until(lambda: row(shown, "remote")[3].endswith(" 0"))
            await shown.pilot.press("right", "6")
            await shown.until(lambda: not isinstance(shown.app.page(), ProfilePage))
            await shown.pilot.press("4")
            await shown.until(lambda: isinstance(shown.app.page(), ProfilePage))
            shown.app.cover()
            await shown.settled()
            await shown.pilot.press("space")
            await shown.until(lambda: row(shown, "remote")[3].endswith(" 0.01*"))
            assert live.paths.policy.read_text() == before

    going(test())


def test_the_mouse_puts_the_slider_where_it_is(live: Live) -> None:
    """A click is a step of it."""

    async def test() -> None:
        async with running(live.paths.control, LARGE) as shown:
            await come(shown, "gender")
            line = next(at for at, text in enumerate(shown.text().splitlines()) if "race" in text)
            start = shown.text().splitlines()[line].index("●")
            await shown.pilot.click(offset=(start + 4, line))
            await shown.until(lambda: row(shown, "race")[3].endswith(" 0.1*"))
            await shown.pilot.press("escape")
            await shown.until(lambda: row(shown, "race")[3].endswith(" 0"))

    going(test())


def test_a_value_is_copied_after_asking(live: Live) -> None:
    """No is the usual answer; the value is shown nowhere."""

    async def test() -> None:
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
            assert OWN not in shown.text()

    going(test())


def test_what_is_not_set_is_not_copied(live: Live) -> None:
    """It is said, and nothing is asked."""

    async def test() -> None:
        async with running(live.paths.control) as shown:
            await come(shown, "race")
            await shown.pilot.press("c")
            await shown.until(lambda: "there is nothing to copy" in notes(shown))
            assert shown.app.clipboard == ""

    going(test())


def test_a_text_leaves_only_what_has_it(live: Live) -> None:
    """Escape shows all again; what is typed are no actions."""

    async def test() -> None:
        async with running(live.paths.control) as shown:
            await come(shown)
            table = page(shown).query_one(DataTable)
            every = table.row_count
            await shown.pilot.press("slash", *"python")
            await shown.until(lambda: table.row_count == 1)
            await shown.pilot.press("enter")
            await shown.until(lambda: table.has_focus)
            await shown.pilot.press("escape")
            await shown.until(lambda: table.row_count == every)
            assert not page(shown).query_one(Input).display

    going(test())


def test_a_locked_vault_leaves_nothing_on_the_screen(live: Live) -> None:
    """Neither values nor which are set; they come back hidden."""

    async def test() -> None:
        async with running(live.paths.control, USUAL) as shown:
            await come(shown)
            await shown.pilot.press("m")
            await shown.until(lambda: row(shown, "region")[1] == OWN)
            await shown.pilot.press("ctrl+l")
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            assert page(shown).query_one(DataTable).row_count == 0
            with live.client() as client:
                client.call("unlock", OPEN)
            await shown.until(lambda: isinstance(shown.app.screen, ProfilePage))
            await shown.until(lambda: page(shown).query_one(DataTable).row_count > 1)
            assert row(shown, "region")[1] == "•••"

    try:
        going(test())
    finally:
        live.unlock()


def test_many_values_are_filtered_by_what_is_typed(live: Live) -> None:
    """The only one that is left is chosen with Enter; the arrow goes to the list."""
    many = [(f"value {at}", str(at)) for at in range(MANY + 1)]

    async def test() -> None:
        async with running(live.paths.control) as shown:
            found: list[str | None] = []
            for keys in (("1", "1", "enter"), ("1", "enter", "down", "enter"), ("escape",)):
                await shown.until(lambda: len(shown.app.screen_stack) == 1)
                shown.app.push_screen(picking("Which?", many), found.append)
                await shown.until(lambda: isinstance(shown.app.screen, Filtered))
                await shown.pilot.press(*keys)
                await shown.until(lambda: len(shown.app.screen_stack) == 1)
            assert found == ["11", "10", None]
            assert not isinstance(picking("Which?", many[1:]), Filtered)

    going(test())


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
            assert isinstance(shown.app.screen, ProfilePage)

    with short_folder() as folder, FakeDaemon(folder / "control.sock", handlers):
        try:
            going(test(folder / "control.sock"))
        finally:
            daemon.events.set()
