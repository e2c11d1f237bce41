"""A real daemon behind a real browser: what a site gets is what the ledger says it was told."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import http_sf
import pytest

from agent.wire.policy import Review, Word
from agent.wire.state import Entry
from tests.browser.chromium import chromium
from tests.browser.driver import Driver, listing
from tests.browser.world import World
from tests.developer import PROFILE
from tests.examples.searxng.serving import answers, free
from tests.house.tree import ROOT
from tests.newcomer import COMMAND, DAEMON, SOCKETS, commands, daemon, home_of, typed
from tests.waiting import bounded, until
from tests.worlds.daemons import Live, furnish, started

pytestmark = pytest.mark.browser

NAMES = ["dev_web", "int_javascript", "int_python", "region"]
GIT = "version control"
ALWAYS = Word(disclose="auto", lasting="always")


@contextmanager
def real(world: World) -> Iterator[Live]:
    """Yield a real daemon in place of the stand-in, unlocked, that lists one search."""
    world.daemon.stop()
    search = world.recipient.url("search", "/search?q={query}")
    if not world.places.policy.exists():
        furnish(world.places)
    world.places.policy.write_text(listing(search))
    with started(world.places) as live:
        live.unlock()
        world.learn()
        yield live


def told(header: str | None) -> dict[str, str]:
    """Return the values in a header: of names that have no and yes, Booleans (DESIGN.md 5)."""
    assert header is not None
    words = {True: "yes", False: "no"}
    items: Any = http_sf.parse(header.encode(), tltype="dictionary")
    return {name: words.get(value, value) for name, (value, _) in items.items()}


def entries(live: Live) -> list[Entry]:
    """Return what the ledger has."""
    with live.client() as client:
        return list(client.call("ledger"))


def test_from_the_offer_to_the_ranking(world: World) -> None:
    """A listed site gets what was decided; another one after it offered, and the user agreed."""
    with real(world) as live:
        came = until(lambda: carried(world, "search"), "a header")
        [*_, entry] = entries(live)
        assert (entry.recipient, entry.query) == ("search.localhost", GIT)
        assert told(came) == {name: PROFILE[name] for name in entry.disclosed if name in PROFILE}
        world.recipient.accepts["fresh"] = ", ".join(NAMES)
        assert carried(world, "fresh") is None
        [review] = until(lambda: waiting(live, "fresh.localhost"), "an offer")
        assert review.names == NAMES
        with live.client() as client:
            client.call("verdict", ALWAYS, id=review.id)
        came = until(lambda: carried(world, "fresh"), "a header")
        assert {*told(came)} <= {*NAMES}
        assert live.stop() == 0
        assert carried(world, "search") is None
        world.browser.says("off")


def carried(world: World, host: str) -> str | None:
    """Search there, and return the header."""
    return world.search(GIT, host).header


def waiting(live: Live, recipient: str) -> list[Review]:
    """Return what waits for the user of a recipient."""
    with live.client() as client:
        return [each for each in client.call("reviews") if each.recipient == recipient]


INSTALL, SERVICE, PENDING, APPROVE, EVALUATE, PACKAGE, SEARX = commands("In your browser")
BEFORE = [each for each in commands("Set it up") if "ask" not in each]
PYTHON = ".venv/bin/python"
SEARCH = "search?q=find+work+as+a+nurse"
UNPACKED = Path(SOCKETS).parent / "data/browser-extension"
KNOWS = "reticent requests recipients searx.localhost"
EVERYONE, RANKED = "ranked for everyone", "ranked for: "


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The home of a newcomer."""
    with home_of(monkeypatch) as home:
        yield home


def test_a_page_is_ranked_for_whom_it_does_not_know(home: Path) -> None:
    """Every command as typed, but for the port, which others may have."""
    port = free()
    with serving(port), living(home) as browser:
        address = f"http://127.0.0.1:{port}/{SEARCH}"
        until(
            lambda: shown(browser, address, EVERYONE) and "127.0.0.1" in typed(PENDING),
            "a page for everyone, and the offer",  # which a daemon that is slow may miss
        )
        assert "nothing else" in " ".join(typed(APPROVE).split())
        until(partial(shown, browser, address, RANKED), "a page for this person")
        assert int(browser.badge()) > 0


def test_its_commands_are_those_of_the_checkout() -> None:
    """Of what is not typed above, that it is there to be run, and is the same on every page."""
    modules = ("search_service", "search_service.evaluate", "searxng")
    assert [f"{PYTHON} -m examples.{each}" for each in modules] == [SERVICE, EVALUATE, SEARX]
    assert {each.stem for each in (ROOT / "examples/search_service").iterdir()} > {"evaluate"}
    page = (ROOT / "examples/searxng/README.md").read_text()
    typed_there = COMMAND.findall(page.partition("## What it makes")[0])
    assert typed_there == [PACKAGE, SEARX, PENDING, APPROVE, KNOWS]


@contextmanager
def living(home: Path) -> Iterator[Driver]:
    """Let the daemon answer for the newcomer, and yield a browser that is connected to it."""
    with ExitStack() as ends:
        for command in BEFORE:
            if command == DAEMON:
                ends.enter_context(daemon(home / SOCKETS))
            elif "knows" not in command:
                typed(command)
        typed(INSTALL)
        yield ends.enter_context(searching(home))


@contextmanager
def serving(port: int) -> Iterator[None]:
    """Let the service run meanwhile."""
    command = [sys.executable, *SERVICE.split()[1:], "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        until(partial(answers, port), "the service")
        yield
    finally:
        process.terminate()
        with bounded(process.kill):
            process.wait()


@contextmanager
def searching(home: Path) -> Iterator[Driver]:
    """Yield a Chromium that finds what `reticent connect browsers` wrote, and nothing else.

    The extension as well: it is loaded from where that says.
    """
    folder = home / "browser"
    folder.mkdir()
    told = home / ".config" / "chromium" / "NativeMessagingHosts"
    (folder / told.name).symlink_to(told)
    with chromium(folder, None, home / UNPACKED) as browser:
        yield browser


def shown(browser: Driver, address: str, text: str) -> bool:
    """Go there, and say whether a text is on the page; a moment later, if it goes by the gate."""
    browser.go(address)
    time.sleep(1)
    return text in str(browser.tried("return document.body.innerText"))
