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
from tests.browser.chromium import chromium
from tests.browser.driver import Driver
from tests.browser.world import World
from tests.developer import PROFILE
from tests.examples.searxng.serving import answers, free
from tests.house.tree import ROOT
from tests.newcomer import COMMAND, DAEMON, SOCKETS, commands, daemon, home_of, typed
from tests.waiting import LOOK, bounded, until
from tests.worlds.daemons import BALANCED, Live, furnish, started

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
    rule = f'[[rule]]\nrecipient = "search.localhost"\nsearch = "{search}"\n'
    world.places.policy.write_text(f"{BALANCED}\n{rule}")
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


def test_from_the_offer_to_the_ranking(world: World) -> None:
    """A listed site gets what was decided; another one after it offered, and the user agreed."""

    def carried(host: str) -> str | None:
        return world.search(GIT, host).header

    with real(world) as live:
        came = until(lambda: carried("search"), "a header")
        [*_, entry] = live.call("ledger")
        assert (entry.recipient, entry.query) == ("search.localhost", GIT)
        assert told(came) == {name: PROFILE[name] for name in entry.disclosed if name in PROFILE}
        world.recipient.accepts["fresh"] = ", ".join(NAMES)
        assert carried("fresh") is None
        [review] = until(lambda: waiting(live, "fresh.localhost"), "an offer")
        assert review.names == NAMES
        live.call("verdict", ALWAYS, id=review.id)
        came = until(lambda: carried("fresh"), "a header")
        assert {*told(came)} <= {*NAMES}
        assert live.stop() == 0
        assert carried("search") is None
        world.browser.says("off")


def waiting(live: Live, recipient: str) -> list[Review]:
    return [each for each in live.call("reviews") if each.recipient == recipient]


INSTALL, SERVICE, PENDING, APPROVE, EVALUATE, PACKAGE, SEARX = commands("In your browser")
BEFORE = [each for each in commands("Set it up") if "ask" not in each]
PYTHON = ".venv/bin/python"
SEARCH = "search?q=code+editor"
UNPACKED = Path(SOCKETS).parent / "data/browser-extension"
KNOWS = "reticent requests recipients searx.localhost"
TITLES = "return [...document.querySelectorAll('%s a')].map((each) => each.textContent)"
CAME = "return [document.querySelector('h1').textContent, document.referrer]"
EVERYONE, RANKED = "ranked for everyone", "ranked for: "


def test_a_page_is_ranked_for_whom_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command as typed, but for the port, which others may have."""
    port = free()
    with home_of(monkeypatch) as home, serving(port), living(home) as browser:
        address = f"http://127.0.0.1:{port}/{SEARCH}"
        until(
            lambda: shown(browser, address, EVERYONE) and "127.0.0.1" in typed(PENDING),
            "a page for everyone, and the offer",  # which a daemon that is slow may miss
        )
        assert "nothing else" in " ".join(typed(APPROVE).split())
        until(partial(shown, browser, address, RANKED), "a page for this person")
        assert int(browser.badge()) > 0
        typed("reticent policy set results=rerank --recipient 127.0.0.1")
        until(partial(shown, browser, address, EVERYONE), "a page for everyone")
        page = f"{TITLES % '.results h2'}.concat(document.documentElement.outerHTML)"
        *titles, whole = browser.run(page)
        with browser.popup() as (here, popup):
            mine = until(lambda: browser.tried(TITLES % "#results"), "results in this order")
            browser.switch(here)
            assert browser.run(page)[-1] == whole  # which cannot tell that they are shown
            browser.switch(popup)
            browser.tried("document.querySelector('#results a').click()")
        assert (mine == titles, sorted(mine)) == (False, sorted(titles))
        until(lambda: browser.tried(CAME) == [mine[0], ""], "the page of the first, from nowhere")


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
        # The browser finds what this wrote, and nothing else; the extension where that says it is.
        folder = home / "browser"
        folder.mkdir()
        told = home / ".config" / "chromium" / "NativeMessagingHosts"
        (folder / told.name).symlink_to(told)
        yield ends.enter_context(chromium(folder, None, home / UNPACKED))


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


def shown(browser: Driver, address: str, text: str) -> bool:
    """Go there, and say whether a text is on the page; a moment later, if it goes by the gate."""
    browser.go(address)
    end = time.monotonic() + 1
    while text not in str(browser.tried("return document.body.innerText")):
        if time.monotonic() > end:
            return False
        time.sleep(LOOK)
    return True
