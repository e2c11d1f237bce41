"""The screen of the policy over a real daemon: its rules, what is wrong, and the user's editor."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

import pytest
from textual.screen import Screen
from textual.widgets import Static

from agent.errors import UsageError
from agent.tui.listing import Listing
from agent.tui.outside import Outside
from agent.tui.screens.policy.items import LEGEND, Item
from agent.tui.unlock import Unlocking
from agent.wire.asking import Ask
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import Live, living
from tests.tui.running import LARGE, SMALL, USUAL, Running, running
from tests.tui.running import run as going

POLICY = """\
preset = "balanced"

[daemon]
lock_after_minutes = 0

[[rule]]
name = "shut"
recipient = "shop.example"
k = 3

[[rule]]
name = "open"
recipient = "shop.example"
k = 5

[[rule]]
name = "for old times"
recipient = "old.example"
expires = 2020-01-01
k = 4
"""
SHUT = 6  # line
WRONG_LINE = 9
WRONG = POLICY.replace("k = 3", "k = 0")

Edit = Callable[[str, int | None], None]


class World:
    """A daemon that runs, and its policy."""

    def __init__(self, live: Live) -> None:
        """Take it."""
        self.live = live
        self.edited: list[tuple[str, int | None]] = []

    def write(self, text: str) -> None:
        """Have another policy."""
        self.live.paths.policy.write_text(text)
        with self.live.client() as client:
            client.call("reload")

    def ask(self, recipient: str) -> None:
        """Make a request."""
        with self.live.client(QUERY) as client:
            client.call("decide", Ask(query="job_site", recipient=recipient))

    def outside(self, writes: str | None = None) -> Outside:
        """Return an editor that notes what it is to open, and writes something, if anything."""

        def edit(path: str, line: int | None) -> None:
            self.edited.append((path, line))
            if writes is not None:
                Path(path).write_text(writes)

        return outside(edit)


def outside(edit: Edit) -> Outside:
    """Return what others do, with the time as it is."""
    return Outside(list, edit, lambda: datetime.now().astimezone())


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A daemon that runs for all tests."""
    with living(POLICY) as made:
        yield made


@pytest.fixture
def world(live: Live) -> Iterator[World]:
    """It, with the policy that it began with, and an open vault."""
    found = World(live)
    found.write(POLICY)
    live.unlock()
    yield found
    found.write(POLICY)


async def shows(shown: Running) -> Listing[Item]:
    """Go to the screen, and wait until the rules are there."""
    await shown.pilot.press("6")
    await shown.until(lambda: LEGEND in shown.text())
    listing = shown.app.screen.query_one(Listing)
    await shown.until(lambda: listing.items)
    return listing


async def go_to(shown: Running, words: str) -> Item:
    """Put the cursor on what begins with these words."""
    listing = shown.app.screen.query_one(Listing)
    item: Item = next(each for each in listing.items if each.said.startswith(words))
    listing.put(item.key)
    await shown.pilot.pause()
    return item


@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE])
def test_each_rule_is_shown_with_what_is_to_be_said_of_it(
    world: World, size: tuple[int, int]
) -> None:
    """What is never used, and what is over, by its sign and whole in a sentence."""

    async def test() -> None:
        async with running(world.live.paths.control, size, outside=world.outside()) as shown:
            listing = await shows(shown)
            said = "\n".join(each.said for each in listing.items)
            for words in ("never decides: 'open'", "expired on 2020-01-01", "preset balanced"):
                assert words in said
            await go_to(shown, "shut")
            assert "recipient shop.example:" in shown.text()
            assert "! shut" in " ".join(shown.text().replace("–", " ").split())

    going(test())


def test_what_decided_last_moves_with_a_request(world: World) -> None:
    """By itself, with the cursor where it was."""

    async def test() -> None:
        async with running(world.live.paths.control, LARGE, outside=world.outside()) as shown:
            await shows(shown)
            await go_to(shown, "open")
            assert "It has decided nothing since" in shown.text()
            world.ask("shop.example")
            await shown.until(lambda: "It last decided something at" in shown.text())
            under = shown.app.screen.query_one(Listing).under
            assert under is not None
            assert under.said.startswith("open")
            assert "*" in under.cells[0].text
            top = next(line for line in shown.text().splitlines() if "Last at" in line)
            assert "open" in top
            world.ask("elsewhere.example")
            await shown.until(lambda: "*" not in _under(shown).cells[0].text)

    going(test())


def texts(page: Screen[object]) -> str:
    """Return what all texts of a screen hold, seen or not."""
    return "\n".join(str(each.content) for each in page.query(Static))


def _under(shown: Running) -> Item:
    item: Item | None = shown.app.screen.query_one(Listing).under
    assert item is not None
    return item


def test_a_broken_file_shows_its_line_and_enter_opens_it_there(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user then saves is read; the cursor is on what else there is."""

    async def test() -> None:
        outside = world.outside(POLICY.replace("k = 3", "k = 4"))
        async with running(world.live.paths.control, LARGE, outside=outside) as shown:
            monkeypatch.setattr(shown.app, "suspend", nullcontext)
            await shows(shown)
            world.write(WRONG)
            await shown.until(lambda: "1 to mend" in shown.text())
            assert f"✗ line {WRONG_LINE}" in shown.text()
            await shown.pilot.press("home")
            await shown.until(lambda: "0 is not a whole number" in _under(shown).said)
            await shown.pilot.press("enter")
            await shown.until(lambda: "Read." in shown.text())
            await shown.until(lambda: "to mend" not in shown.text())
            assert world.edited == [(str(world.live.paths.policy), WRONG_LINE)]
            await go_to(shown, "shut")
            assert "k = 4" in _under(shown).said

    going(test())


def test_the_editor_opens_at_the_rule_under_the_cursor(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the other key too; what is of no file opens it where it begins."""

    async def test() -> None:
        async with running(world.live.paths.control, outside=world.outside()) as shown:
            monkeypatch.setattr(shown.app, "suspend", nullcontext)
            await shows(shown)
            await go_to(shown, "shut")
            await shown.pilot.press("e")
            await shown.until(lambda: "Read." in shown.text())
            await go_to(shown, "preset balanced")
            await shown.pilot.press("e")
            path = str(world.live.paths.policy)
            await shown.until(lambda: world.edited == [(path, SHUT), (path, None)])

    going(test())


def test_where_no_editor_can_be_shown_it_is_said(world: World) -> None:
    """With another way; nothing is read, and no editor began."""

    async def test() -> None:
        async with running(world.live.paths.control, LARGE, outside=world.outside()) as shown:
            await shows(shown)
            await shown.pilot.press("e")
            await shown.until(lambda: "no editor can be shown in this terminal" in shown.text())
            assert "reticent policy set" in shown.text()
            assert world.edited == []

    going(test())


def test_an_editor_that_does_not_run_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the way out that whoever runs the screens names."""

    def edit(_path: str, _line: int | None) -> None:
        raise UsageError("no editor is named", "name one")

    async def test() -> None:
        async with running(world.live.paths.control, LARGE, outside=outside(edit)) as shown:
            monkeypatch.setattr(shown.app, "suspend", nullcontext)
            await shows(shown)
            await shown.pilot.press("e")
            await shown.until(lambda: "no editor is named" in shown.text())
            assert "name one" in shown.text()

    going(test())


def test_reading_again_says_what_came_of_it(world: World) -> None:
    """Also where there is something to mend: the old rules hold."""

    async def test() -> None:
        async with running(world.live.paths.control, LARGE, outside=world.outside()) as shown:
            await shows(shown)
            world.live.paths.policy.write_text(WRONG)
            await shown.pilot.press("r")
            await shown.until(lambda: "Read: 1 to mend; the old rules hold." in shown.text())
            await go_to(shown, "shut")
            assert "k = 3" in _under(shown).said

    going(test())


def test_one_key_goes_from_part_to_part_and_round(world: World) -> None:
    """It stands on the first of each, never on a title."""

    async def test() -> None:
        async with running(world.live.paths.control, outside=world.outside()) as shown:
            listing = await shows(shown)
            firsts = [
                after.key
                for before, after in zip(listing.items, listing.items[1:], strict=False)
                if before.title
            ]
            assert len(firsts) == len(("file", "preset", "what holds"))
            seen = [_under(shown).key]
            for _ in firsts:
                await shown.pilot.press("b")
                seen.append(_under(shown).key)
            assert seen == [*firsts, firsts[0]]

    going(test())


def test_the_cursor_stays_as_rules_come(world: World) -> None:
    """Before it and after it; where its own is gone, it is on none."""

    async def test() -> None:
        async with running(world.live.paths.control, outside=world.outside()) as shown:
            listing = await shows(shown)
            await go_to(shown, "open")
            more = (
                '[[rule]]\nname = "new"\nrecipient = "a.example"\nk = 9\n\n[[rule]]\nname = "shut"'
            )
            world.write(POLICY.replace('[[rule]]\nname = "shut"', more))
            await shown.until(lambda: any(each.said.startswith("new") for each in listing.items))
            assert _under(shown).said.startswith("open")
            world.write(POLICY.replace('"open"', '"ajar"'))
            await shown.until(lambda: listing.under is None)

    going(test())


def test_a_lock_takes_the_rules_away(world: World) -> None:
    """They name recipients."""

    async def test() -> None:
        async with running(world.live.paths.control, outside=world.outside()) as shown:
            listing = await shows(shown)
            await go_to(shown, "shut")
            page = shown.app.screen
            assert texts(page).count("shut")
            await shown.pilot.press("ctrl+l")
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            assert listing.items == []
            assert not texts(page).count("shut")

    going(test())
