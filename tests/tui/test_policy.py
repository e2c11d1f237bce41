"""The screen of the policy over a real daemon: its rules, what is wrong, and the user's editor."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path

import pytest

from agent.errors import UsageError
from agent.tui.page import Environment
from agent.tui.screens.policy import LEGEND, Item
from agent.tui.virtual_list import Listing
from agent.wire.decide import Ask
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import Live, living
from tests.tui.running import LARGE, SMALL, Running, running

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
SHUT, WRONG_LINE = 6, 9
WRONG = POLICY.replace("k = 3", "k = 0")
NEW = '[[rule]]\nname = "new"\nrecipient = "a.example"\nk = 9\n\n[[rule]]\nname = "shut"'


class World:
    """A daemon that runs, its policy, and an editor that notes what it is to open."""

    def __init__(self, live: Live) -> None:
        """Take it."""
        self.live = live
        self.edited: list[tuple[str, int | None]] = []
        self.saves: str | None = None  # what the editor writes, if anything

    def write(self, text: str) -> None:
        """Have another policy."""
        self.live.paths.policy.write_text(text)
        with self.live.client() as client:
            client.call("reload")

    def ask(self, recipient: str) -> None:
        """Make a request."""
        with self.live.client(QUERY) as client:
            client.call("decide", Ask(query="job_site", recipient=recipient))

    def edit(self, path: str, line: int | None) -> None:
        """Do as an editor does."""
        self.edited.append((path, line))
        if self.saves is not None:
            Path(path).write_text(self.saves)

    @property
    def outside(self) -> Environment:
        """What others do, with the time as it is."""
        return outside(self.edit)


def outside(edit: Callable[[str, int | None], None]) -> Environment:
    """Return what others do, with an editor."""
    return Environment(list, edit, lambda: datetime.now().astimezone())


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A daemon that runs for all tests."""
    with living(POLICY) as made:
        yield made


@pytest.fixture
def world(live: Live) -> World:
    """It, with the policy that it began with, and an open vault."""
    found = World(live)
    found.write(POLICY)
    live.unlock()
    return found


async def shows(shown: Running) -> Listing[Item]:
    """Go to the screen, and wait until the rules are there."""
    await shown.pilot.press("6")
    await shown.until(lambda: LEGEND in shown.text())
    listing = shown.app.screen.query_one(Listing)
    await shown.until(lambda: listing.items)
    return listing


async def go_to(shown: Running, words: str) -> None:
    """Put the cursor on what begins with these words."""
    listing = shown.app.screen.query_one(Listing)
    listing.put(next(each for each in listing.items if each.text.startswith(words)).key)
    await shown.pilot.pause()


def under(shown: Running) -> Item:
    """Return what the cursor is on."""
    item: Item | None = shown.app.screen.query_one(Listing).under
    assert item is not None
    return item


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=str)
async def test_each_rule_is_shown_with_what_is_to_be_said_of_it(
    world: World, size: tuple[int, int]
) -> None:
    """What is never used, and what is over, by its sign and whole in a sentence."""
    async with running(world.live.paths.control, size, environment=world.outside) as shown:
        listing = await shows(shown)
        said = "\n".join(each.text for each in listing.items)
        for words in ("never decides: 'open'", "expired on 2020-01-01", "preset balanced"):
            assert words in said
        await go_to(shown, "shut")
        assert "recipient shop.example:" in shown.text()
        assert "! shut" in " ".join(shown.text().replace("–", " ").split())


async def test_what_decided_last_moves_with_a_request_and_the_cursor_stays(world: World) -> None:
    """By itself; also as rules come around its own; where that is gone, it is on none."""
    async with running(world.live.paths.control, LARGE, environment=world.outside) as shown:
        listing = await shows(shown)
        await go_to(shown, "open")
        assert "It has decided nothing since" in shown.text()
        world.ask("shop.example")
        await shown.until(lambda: "It last decided something at" in shown.text())
        assert under(shown).text.startswith("open")
        assert "*" in under(shown).cells[0].text
        top = next(line for line in shown.text().splitlines() if "Decided last, at" in line)
        assert "open" in top
        world.ask("elsewhere.example")
        await shown.until(lambda: "*" not in under(shown).cells[0].text)
        world.write(POLICY.replace('[[rule]]\nname = "shut"', NEW))
        await shown.until(lambda: any(each.text.startswith("new") for each in listing.items))
        assert under(shown).text.startswith("open")
        world.write(POLICY.replace('"open"', '"ajar"'))
        await shown.until(lambda: listing.under is None)


async def test_one_key_goes_from_part_to_part_and_round(world: World) -> None:
    """It stands on the first of each, never on a title."""
    async with running(world.live.paths.control, environment=world.outside) as shown:
        listing = await shows(shown)
        pairs = zip(listing.items, listing.items[1:], strict=False)
        firsts = [after.key for before, after in pairs if before.title]
        assert len(firsts) == len(("file", "preset", "what holds"))
        seen = [under(shown).key]
        for _ in firsts:
            await shown.pilot.press("b")
            seen.append(under(shown).key)
        assert seen == [*firsts, firsts[0]]


async def test_a_broken_file_shows_its_line_and_the_editor_opens_there(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old rules hold until what the user saves is read; what is of no file opens it."""
    path = str(world.live.paths.policy)
    async with running(world.live.paths.control, LARGE, environment=world.outside) as shown:
        monkeypatch.setattr(shown.app, "suspend", nullcontext)
        await shows(shown)
        world.live.paths.policy.write_text(WRONG)
        await shown.pilot.press("r")
        await shown.until(lambda: "Read: 1 to mend; the last good rules stay" in shown.text())
        await go_to(shown, "shut")
        assert "k = 3" in under(shown).text
        assert f"✗ line {WRONG_LINE}" in shown.text()
        await shown.pilot.press("home")
        await shown.until(lambda: "0 is not a whole number" in under(shown).text)
        world.saves = POLICY.replace("k = 3", "k = 4")
        await shown.pilot.press("enter")
        await shown.until(lambda: "to mend" not in shown.text())
        await go_to(shown, "shut")
        assert "k = 4" in under(shown).text
        await shown.pilot.press("e")
        await shown.until(lambda: len(world.edited) == 2)
        await go_to(shown, "preset balanced")
        await shown.pilot.press("e")
        await shown.until(lambda: world.edited == [(path, WRONG_LINE), (path, SHUT), (path, None)])


async def test_where_no_editor_can_be_shown_it_is_said(world: World) -> None:
    """With another way; nothing is read, and no editor began."""
    async with running(world.live.paths.control, LARGE, environment=world.outside) as shown:
        await shows(shown)
        await shown.pilot.press("e")
        await shown.until(lambda: "no editor can be shown in this terminal" in shown.text())
        assert "reticent policy set" in shown.text()
        assert world.edited == []


async def test_an_editor_that_does_not_run_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the way out that whoever runs the screens names."""

    def edit(_path: str, _line: int | None) -> None:
        raise UsageError("no editor is named", "name one")

    resumed = []

    @contextmanager
    def suspend() -> Iterator[None]:
        """Resume as Textual does: not where an error leaves it."""
        yield
        resumed.append(True)

    async with running(world.live.paths.control, LARGE, environment=outside(edit)) as shown:
        monkeypatch.setattr(shown.app, "suspend", suspend)
        await shows(shown)
        await shown.pilot.press("e")
        await shown.until(lambda: "no editor is named" in shown.text())
        assert "name one" in shown.text()
        assert resumed
