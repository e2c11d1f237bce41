"""The README's way from a clone to a page that is ranked for its reader."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.browser.chromium import chromium
from tests.browser.driver import Driver
from tests.examples.searxng.serving import answers, free, searx
from tests.house.tree import ROOT
from tests.newcomer import (
    BROWSING,
    COMMAND,
    DAEMON,
    LIVING,
    SOCKETS,
    commands,
    daemon,
    home_of,
    typed,
)
from tests.waiting import bounded, until

INSTALL, SERVICE, PENDING, APPROVE, EVALUATE, PACKAGE, SEARX = commands(BROWSING)
BEFORE = [each for each in commands(LIVING) if "ask" not in each]
PYTHON = ".venv/bin/python"
SEARCH = "search?q=find+work+as+a+nurse"
UNPACKED = Path(SOCKETS).parent / "data/browser-extension"
EDITOR = "search?q=code+editor"
EDITORS = ("A code editor for children", "Which code editor for Python?")
KNOWS = "reticent requests recipients searx.localhost"
ADAPTED = 'Adapted to what you shared: category "it" added'
EVERYONE, RANKED = "ranked for everyone", "ranked for: "

pytestmark = pytest.mark.browser


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


def test_a_search_engine_that_one_can_run_listens(home: Path) -> None:
    """As its page says, up to what it knows then; the package is there."""
    with searx() as port, living(home) as browser:
        address = f"http://searx.localhost:{port}/{EDITOR}"
        until(
            lambda: shown(browser, address, EDITORS[0]) and "searx.localhost" in typed(PENDING),
            "a page for everyone, and the offer",
        )
        assert "nothing else" in " ".join(typed(APPROVE).split())
        until(partial(shown, browser, address, ADAPTED), "a page for this person")
        page = str(browser.run("return document.body.innerText"))
        assert page.index(EDITORS[1]) < page.index(EDITORS[0])
        assert "web developer" in typed(KNOWS)


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
