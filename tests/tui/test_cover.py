"""What is hidden: by a lock and by nobody's being there, on all screens, whichever is in front."""

import io
import re
from collections.abc import Iterator

import pytest
from rich.console import Console
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from agent.cli.demo import PROFILE
from agent.tui.app import Review
from agent.tui.dialogs import Help
from agent.tui.page import Page
from agent.tui.privacy_lock import Cover, Unlocking
from agent.tui.screens.health import HealthScreen
from agent.tui.virtual_list import Listing
from agent.wire.decide import Ask
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import Live, living
from tests.tui.double import double
from tests.tui.running import Running, running
from tests.tui.running import run as going

SCREENS = "1234567"
SITE, WORDS = "somebody-told.example", "job site"
POLICY = f"""\
preset = "balanced"
disclose = "always"

[daemon]
lock_after_minutes = 0

[[rule]]
name = "a rule about somebody"
recipient = "{SITE}"
lambda = 0.1
"""


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A daemon that told somebody something."""
    with living(POLICY) as made:
        with made.client(QUERY) as client:
            answer = client.call("decide", Ask(query=WORDS, recipient=SITE))
            assert answer.attributes
        yield made


@pytest.fixture(autouse=True)
def _open(live: Live) -> None:
    """The vault is open as each test begins."""
    live.unlock()


def pages(app: Review) -> list[Page]:
    """Return the screens that stand, shown or not."""
    stacks = app._screen_stacks.values()  # noqa: SLF001  (Textual shows none but the present)
    return [each for stack in stacks for each in stack if isinstance(each, Page)]


def held(page: Page) -> str:
    """Return all text that the parts of a screen hold, seen or not."""
    texts: list[str] = []
    for each in page.query("*"):
        if isinstance(each, Static):
            texts.append(_plain(each.content))
        elif isinstance(each, Listing):
            texts += [str(getattr(item, "value", item)) for item in each.items]
        elif isinstance(each, Input):
            texts.append(each.value)
        elif isinstance(each, OptionList):
            texts += [str(option.prompt) for option in each.options]
    return "\n".join(texts)


def _plain(content: object) -> str:
    if isinstance(content, Content | str):
        return str(content)
    console = Console(file=io.StringIO(), width=200, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(content)
    return captured.get()


def whole(app: Review) -> dict[str, str]:
    """Return what each screen holds, but for what no vault hides."""
    return {each.where: held(each) for each in pages(app) if not isinstance(each, HealthScreen)}


def words(app: Review) -> set[str]:
    """Return each word that is held."""
    return {word for text in whole(app).values() for word in re.findall(r"\w+", text)}


async def visited(shown: Running) -> None:
    """Look at each screen."""
    for number in SCREENS:
        await shown.pilot.press(number)
        await shown.settled()


async def test_a_lock_clears_all_screens_shown_or_not(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No recipient, no query, no value stays anywhere in the program; and they come back."""
    monkeypatch.setattr("agent.tui.privacy_lock.QUIET", 60.0)  # however slow the machine

    async with running(live.paths.control) as shown:
        await visited(shown)
        await shown.pilot.press("4", "m")
        await shown.settled()
        before = whole(shown.app)
        assert len(before) == len(SCREENS) - 1
        for words in (SITE, WORDS, PROFILE["education"]):
            assert any(words in text for text in before.values()), words
        await shown.pilot.press("ctrl+l")
        await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
        await shown.settled()
        for where, text in whole(shown.app).items():
            for words in (SITE, WORDS, PROFILE["education"], "a rule about somebody"):
                assert words not in text, (where, words)
        assert shown.app.masked
        live.unlock()
        await shown.until(lambda: not isinstance(shown.app.screen, Unlocking))
        await shown.pilot.press("q", "enter")  # of the passphrase that somebody still types
        await shown.pilot.press("1")
        await shown.until(lambda: SITE in whole(shown.app)["requests"])


async def test_nobody_there_drops_the_values_of_all_screens(live: Live) -> None:
    """No word that came with them is held any more; the key that uncovers brings none."""
    async with running(live.paths.control) as shown:
        await visited(shown)
        before = words(shown.app)
        await shown.pilot.press("4", "m")
        await visited(shown)
        shown_then = words(shown.app) - before
        assert PROFILE["education"] in shown_then
        shown.app.cover()
        await shown.until(lambda: isinstance(shown.app.screen, Cover))
        await shown.settled()
        assert not words(shown.app) & shown_then
        await shown.pilot.press("x")
        await shown.until(lambda: not isinstance(shown.app.screen, Cover))
        await visited(shown)
        assert not words(shown.app) & shown_then
        assert shown.app.masked


@pytest.mark.parametrize("way", ["key", "mouse"])
def test_it_covers_a_question_too_and_that_stands_there_after(way: str) -> None:
    """Whatever was in front; the mouse uncovers as a key does, and does nothing else."""

    async def test(shown: Running) -> None:
        await shown.pilot.press("question_mark")
        await shown.until(lambda: isinstance(shown.app.screen, Help))
        shown.app.cover()
        await shown.until(lambda: isinstance(shown.app.screen, Cover))
        assert "Hidden" in shown.text()
        assert "Help" not in shown.text()
        await (shown.pilot.press("escape") if way == "key" else shown.pilot.click(offset=(1, 0)))
        await shown.until(lambda: isinstance(shown.app.screen, Help))

    async def run() -> None:
        with double() as (_, path):
            async with running(path) as shown:
                await test(shown)

    going(run())


async def test_the_question_for_the_key_is_covered_by_nothing() -> None:
    """There is nothing to hide, and something to do."""
    with double() as (found, path):
        found.set(locked=True)
        async with running(path) as shown:
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            shown.app.cover()
            await shown.pilot.pause()
            assert isinstance(shown.app.screen, Unlocking)
