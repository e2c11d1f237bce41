"""A daemon with a policy of its own, and what a test does on the screen of it."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from agent.tui.page import Environment
from agent.tui.screens.policy import LEGEND, Item
from agent.tui.virtual_list import Listing
from agent.wire.decide import Ask
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import Live
from tests.tui.running import Running

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

    def outside(self, writes: str | None = None) -> Environment:
        """Return an editor that notes what it is to open, and writes something, if anything."""

        def edit(path: str, line: int | None) -> None:
            self.edited.append((path, line))
            if writes is not None:
                Path(path).write_text(writes)

        return outside(edit)


def outside(edit: Edit) -> Environment:
    """Return what others do, with the time as it is."""
    return Environment(list, edit, lambda: datetime.now().astimezone())


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
    item: Item = next(each for each in listing.items if each.text.startswith(words))
    listing.put(item.key)
    await shown.pilot.pause()
    return item


def under(shown: Running) -> Item:
    """Return what the cursor is on."""
    item: Item | None = shown.app.screen.query_one(Listing).under
    assert item is not None
    return item
