"""The README's way from a clone to a page that is ranked for its reader."""

import socket
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
from tests.house.tree import ROOT
from tests.newcomer import BROWSING, DAEMON, LIVING, SOCKETS, commands, daemon, home_of, typed
from tests.waiting import PATIENCE, bounded, until

INSTALL, SERVICE, PENDING, APPROVE, EVALUATE = commands(BROWSING)
BEFORE = [each for each in commands(LIVING) if "ask" not in each and "curl" not in each]
PYTHON = ".venv/bin/python"
SEARCH = "search?q=find+work+as+a+nurse"
UNPACKED = Path(SOCKETS).parent / "data/browser-extension"
EVERYONE, RANKED = "ranked for everyone", "ranked for: "

pytestmark = pytest.mark.browser


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The home of a newcomer."""
    with home_of(monkeypatch) as home:
        yield home


def test_a_page_is_ranked_for_whom_it_does_not_know(home: Path) -> None:
    """Every command as typed, but for the port, which others may have."""
    with ExitStack() as ends:
        for command in BEFORE:
            if command == DAEMON:
                ends.enter_context(daemon(home / SOCKETS))
            elif "knows" not in command:
                typed(command)
        typed(INSTALL)
        port = free()
        ends.enter_context(serving(port))
        browser = ends.enter_context(searching(home))
        address = f"http://127.0.0.1:{port}/{SEARCH}"
        until(
            lambda: shown(browser, address, EVERYONE) and "127.0.0.1" in typed(PENDING),
            "a page for everyone, and the offer",  # which a daemon that is slow may miss
        )
        assert "nothing else" in typed(APPROVE)
        until(partial(shown, browser, address, RANKED), "a page for this person")
        assert int(browser.badge()) > 0


def test_its_commands_are_those_of_the_checkout() -> None:
    """Of what is not typed above, that it is there to be run."""
    modules = [f"{PYTHON} -m examples.search_service{part}" for part in ("", ".evaluate")]
    assert modules == [SERVICE, EVALUATE]
    assert {each.stem for each in (ROOT / "examples/search_service").iterdir()} > {"evaluate"}


def free() -> int:
    """Return a port that nobody has."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        port: int = opened.getsockname()[1]
        return port


@contextmanager
def serving(port: int) -> Iterator[None]:
    """Let the service run meanwhile."""
    command = [sys.executable, *SERVICE.split()[1:], "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        until(partial(_answers, port), "the service")
        yield
    finally:
        process.terminate()
        with bounded(process.kill):
            process.wait()


@contextmanager
def searching(home: Path) -> Iterator[Driver]:
    """Yield a Chromium that finds what `reticent browser install` wrote, and nothing else.

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


def _answers(port: int) -> bool:
    with socket.socket() as opened:
        opened.settimeout(PATIENCE)
        return opened.connect_ex(("127.0.0.1", port)) == 0
