"""The screen of recipients: looking, finding, and a person's word on one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.widgets import Input

from agent.errors import UsageError
from agent.tui.screens.recipients.detail import Detail
from agent.tui.screens.recipients.screen import Recipients
from agent.tui.screens.requests import Requests
from agent.tui.unlock import Unlocking
from agent.wire.asking import Ask
from agent.wire.base import Done
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import BALANCED, Live, living
from tests.tui.running import LARGE, SMALL, USUAL, Running, running
from tests.tui.running import run as going
from tests.tui.test_app import Double
from tests.tui.test_recipients_words import HELD, SHOP, row, weighed
from tests.wire.fake import FakeDaemon, Handler, says, short_folder

NEWS, SEARCH = "news.example", "search.example"
ASKED = (("editor", SEARCH), ("database used", NEWS), ("version control", SEARCH))
GUARDED = f"{BALANCED}[attributes]\ngender = {{ guard = 1.0 }}\n"


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A daemon that answered a few requests, and guards a fact."""
    with living(GUARDED) as found, found.client(QUERY) as client:
        for query, recipient in ASKED:
            client.call("decide", Ask(query=query, recipient=recipient))
        yield found


class Told(Double):
    """A daemon whose recipients are as a test wants."""

    def __init__(self) -> None:
        """Begin with one."""
        super().__init__()
        group = replace(SHOP, pool="@ads", sites=["a.example", "b.example"], blocked=True)
        self.recipients = [SHOP, group]
        self.allowed = Done(done=False)
        self.whatif: object = weighed(row("age", 0.5, 0.1))

    def weigh(self, body: object) -> object:  # noqa: ARG002  (the name that a handler is given)
        """Return what one more attribute would do, or fail."""
        if isinstance(self.whatif, Exception):
            raise self.whatif
        return self.whatif

    def handlers(self) -> dict[str, Handler]:
        """Return what answers the calls of the screen too."""
        mine: dict[str, Handler] = {
            "recipients": lambda: self.recipients,
            "knowledge": lambda recipient: replace(HELD, pool=recipient),
            "attributes": lambda **_: [],
            "whatif": self.weigh,
            "allow": lambda body: self.allowed,  # noqa: ARG005  (the route's word)
            "refuse": says(Done()),
            "forget": says(Done(done=False)),
        }
        return {**super().handlers(), **mine}


@contextmanager
def told() -> Iterator[tuple[Told, FakeDaemon, Path]]:
    """Yield a daemon that is none, and its socket."""
    with ExitStack() as ends:
        path = ends.enter_context(short_folder()) / "control.sock"
        found = Told()
        fake = ends.enter_context(FakeDaemon(path, found.handlers()))
        ends.callback(found.events.set)
        yield found, fake, path


async def opened(shown: Running, name: str) -> None:
    """Go to the screen, and wait for a recipient."""
    await shown.pilot.press("2")
    await shown.until(lambda: isinstance(shown.app.screen, Recipients) and name in shown.text())


def flat(shown: Running) -> str:
    """Return what stands in the detail, as one line."""
    lines = (line.rpartition("│")[2].rstrip("▁▂▃▄▅▆▇█ ") for line in shown.text().splitlines())
    return " ".join(" ".join(lines).split())


def notes(shown: Running) -> list[str]:
    """Return what was said in passing."""
    return [each.message for each in shown.app._notifications]  # noqa: SLF001  (as shown)


@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE])
def test_it_shows_who_knows_what_and_how_few_are_left(live: Live, size: tuple[int, int]) -> None:
    """In the detail at every size; one step to it and back where there is no room."""

    async def test() -> None:
        async with running(live.paths.control, size) as shown:
            await opened(shown, NEWS)
            assert SEARCH in shown.text()
            assert "of 18,991" in shown.text()
            await shown.pilot.press("down", "up", "enter")
            await shown.until(lambda: "facts about you. You are 1 of" in flat(shown))
            assert (NEWS in shown.text()) is (size == LARGE)
            await shown.pilot.press("escape")
            assert NEWS in shown.text()
            assert max(map(len, shown.text().splitlines())) <= size[0]

    going(test())


def test_what_is_guarded_and_what_more_would_do(live: Live) -> None:
    """In the detail, the latter further down: a key leads there."""

    async def test() -> None:
        async with running(live.paths.control, LARGE) as shown:
            await opened(shown, NEWS)
            await shown.until(lambda: "its best guess is right for" in flat(shown))
            await shown.pilot.press("w")
            await shown.until(lambda: "its best guess" not in flat(shown))
            assert "helps costs" in flat(shown)

    going(test())


def test_values_are_shown_only_while_unmasked(live: Live) -> None:
    """They are dropped, not only hidden."""

    async def test() -> None:
        async with running(live.paths.control, LARGE) as shown:
            await opened(shown, NEWS)
            await shown.until(lambda: "•••" in shown.text())
            await shown.pilot.press("m")
            await shown.until(lambda: "•••" not in shown.text())
            kept = shown.app.screen.query_one(Detail)._told  # noqa: SLF001  (no value is kept)
            assert kept is not None
            assert any(kept.held.values.values())
            await shown.pilot.press("m")
            await shown.until(lambda: "•••" in shown.text())
            kept = shown.app.screen.query_one(Detail)._told  # noqa: SLF001  (no value is kept)
            assert kept is not None
            assert not any(kept.held.values.values())

    going(test())


def test_blocking_and_unblocking_write_the_policy(live: Live) -> None:
    """With one key, in words on the screen."""
    policy = live.paths.policy

    async def test() -> None:
        async with running(live.paths.control, LARGE) as shown:
            await opened(shown, NEWS)
            await shown.pilot.press("end")
            await shown.until(lambda: f"{SEARCH} knows" in shown.text() or "to it" in shown.text())
            await shown.pilot.press("b")
            await shown.until(lambda: "nothing = true" in policy.read_text())
            await shown.until(lambda: "blocked · holds" in shown.text())
            await shown.pilot.press("b")
            await shown.until(lambda: "nothing = true" not in policy.read_text())
            await shown.until(lambda: "blocked · holds" not in shown.text())

    going(test())


def test_forgetting_is_asked_and_stated(live: Live) -> None:
    """Leaving the question states nothing."""

    async def test() -> None:
        async with running(live.paths.control, LARGE) as shown:
            await opened(shown, NEWS)
            await shown.pilot.press("home", "f")
            await shown.until(lambda: "Has" in shown.text() and "your statement" in shown.text())
            await shown.pilot.press("enter")
            await shown.until(lambda: isinstance(shown.app.screen, Recipients))
            await shown.pilot.press("f", "escape")
            assert "nothing about you" not in shown.text()
            await shown.pilot.press("f", "down", "enter")
            await shown.until(lambda: "holds nothing about you" in shown.text())

    going(test())


def test_one_is_found_by_words(live: Live) -> None:
    """Enter goes on in what is found; Escape shows all again."""

    async def test() -> None:
        async with running(live.paths.control) as shown:
            await opened(shown, NEWS)
            await shown.pilot.press("slash", *"search", "enter")
            await shown.until(lambda: NEWS not in shown.text())
            assert "›" in shown.text()
            await shown.pilot.press("slash", *"zebra")
            await shown.until(lambda: "Nobody is like that" in shown.text())
            await shown.pilot.press("escape")
            await shown.until(lambda: NEWS in shown.text() and SEARCH in shown.text())
            assert not shown.app.screen.query_one(Input).display

    going(test())


def test_its_requests_are_a_key_away(live: Live) -> None:
    """On the screen of requests, only those."""

    async def test() -> None:
        async with running(live.paths.control, LARGE) as shown:
            await opened(shown, NEWS)
            await shown.pilot.press("home", "l")
            await shown.until(lambda: isinstance(shown.app.screen, Requests))
            await shown.until(lambda: shown.app.screen.query_one("#find", Input).value)
            first = shown.app.screen.query_one("#find", Input).value
            other = NEWS if first == SEARCH else SEARCH
            await shown.until(lambda: first in shown.text() and other not in shown.text())

    going(test())


def test_nobody_yet_says_how_the_list_fills() -> None:
    """And no key does anything."""

    async def test(found: Told, path: Path) -> None:
        found.recipients = []
        async with running(path) as shown:
            await shown.pilot.press("2")
            await shown.until(lambda: "Nobody was told anything about you yet" in shown.text())
            await shown.pilot.press("enter", "w", "f", "b", "l")
            assert isinstance(shown.app.screen, Recipients)

    with told() as (found, _, path):
        going(test(found, path))


def test_a_group_is_ruled_site_by_site() -> None:
    """A rule that is not ours is named as such."""

    async def test(found: Told, fake: FakeDaemon, path: Path) -> None:
        async with running(path) as shown:
            await opened(shown, "@ads")
            await shown.pilot.press("down", "b")
            await shown.until(lambda: any("written by hand" in each for each in notes(shown)))
            asked = [given["body"].recipient for name, given in fake.calls if name == "allow"]
            assert asked == ["a.example", "b.example"]
            found.allowed = Done()
            await shown.pilot.press("b")
            await shown.until(
                lambda: any("are treated like others" in each for each in notes(shown))
            )
            await shown.pilot.press("up", "b")
            await shown.until(lambda: any("is blocked" in each for each in notes(shown)))

    with told() as (found, fake, path):
        going(test(found, fake, path))


def test_the_palette_unblocks() -> None:
    """What has no key of its own."""

    async def test(found: Told, path: Path) -> None:
        found.allowed = Done()
        async with running(path) as shown:
            await opened(shown, "@ads")
            await shown.pilot.press("down", "ctrl+p", *"unblock")
            await shown.until(lambda: "Unblock" in shown.text())
            await shown.pilot.press("down", "enter")
            await shown.until(lambda: any("treated like others" in each for each in notes(shown)))

    with told() as (found, _, path):
        going(test(found, path))


def test_one_that_was_never_told_has_nothing_to_forget() -> None:
    """The daemon says so."""

    async def test(path: Path) -> None:
        async with running(path) as shown:
            await opened(shown, "@ads")
            await shown.pilot.press("f", "down", "enter")
            await shown.until(lambda: any("never told anything" in each for each in notes(shown)))

    with told() as (_, _, path):
        going(test(path))


def test_what_cannot_be_weighed_leaves_the_rest() -> None:
    """With the reason in its place."""

    async def test(found: Told, path: Path) -> None:
        found.whatif = UsageError("there is no model", "add one")
        async with running(path, LARGE) as shown:
            await opened(shown, "@ads")
            await shown.until(lambda: "there is no model" in flat(shown))
            assert "what it knows" in shown.text()
            found.whatif = replace(weighed(), headline="Nothing is decided: no model.")
            await shown.pilot.press("down")
            await shown.until(lambda: "Nothing is decided: no model." in flat(shown))

    with told() as (found, _, path):
        going(test(found, path))


def test_locking_takes_everybody_off_the_screen() -> None:
    """Also what was looked for, and who was looked into."""

    async def test(path: Path) -> None:
        async with running(path, LARGE) as shown:
            await opened(shown, "@ads")
            await shown.until(lambda: "what it knows" in shown.text())
            page = shown.app.screen
            await shown.pilot.press("slash", *"shop", "ctrl+l")
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            assert page.query_one(Input).value == ""
            assert page.query_one(Detail).pool is None
            assert isinstance(page, Recipients)
            assert not page.listing.items

    with told() as (_, _, path):
        going(test(path))
