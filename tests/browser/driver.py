"""What a test does with a browser, whichever it is, and what a browser needs to ask a daemon."""

import json
import os
import re
import shutil
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.daemon.artifacts import Machine
from agent.daemon.programs import BROWSERS, launcher, manifest
from agent.paths import Paths
from tests.house.tree import ROOT
from tests.waiting import PATIENCE, until

EXTENSION = ROOT / "agent" / "browser_extension"
KEYWORD = "ret"
SLOWLY = 4  # times as long as for people: else a busy machine makes an answer one too many
WAITS = re.compile(r"(const (?:DECISION|SEEN|STATUS|TALK|PATIENCE|FRESH) = )(\d+)")


class Gone(Exception):  # noqa: N818  (what happens to a page is no error)
    """The page went away under a call."""


class Driver(ABC):
    """A browser with our extension in it; what it does, it does in its present tab."""

    name: str
    origin: str  # where the extension's own pages lie, without a slash at the end
    present: Any  # the tab; each browser's own

    @abstractmethod
    def go(self, url: str) -> None:
        """Go to an address, as if it were typed; do not wait for the page."""

    @abstractmethod
    def run(self, script: str) -> Any:  # noqa: ANN401  (any JSON)
        """Return what the body of a function returns in the page; Gone where that goes away."""

    @abstractmethod
    def click(self, selector: str) -> None:
        """Click with the mouse."""

    @abstractmethod
    def write(self, selector: str, text: str, *, enter: bool = False) -> None:
        """Write a text with the keyboard in an empty field, and press Enter."""

    @abstractmethod
    def types(self, text: str) -> None:
        """Type a text where the focus is."""

    @abstractmethod
    def undoes(self) -> None:
        """Press the keys that take back what was done last."""

    @abstractmethod
    def summon(self) -> None:
        """Open the popup over the present tab, as the shortcut does."""

    @abstractmethod
    def summoned(self, script: str) -> Any:  # noqa: ANN401  (any JSON)
        """Return what the body of a function returns in that popup; None where there is none."""

    @abstractmethod
    def keyword(self, text: str) -> None:
        """Enter a text behind the extension's keyword in the address bar."""

    @abstractmethod
    def tabs(self) -> list[Any]:
        """Return the tabs, oldest first."""

    @abstractmethod
    def switch(self, tab: Any) -> None:  # noqa: ANN401  (each browser's own)
        """Make a tab the present one."""

    @abstractmethod
    def opened(self) -> None:
        """Open an empty tab, in front, and make it the present one."""

    @abstractmethod
    def close(self) -> None:
        """Close the present tab; the last one that is left is then the present one."""

    @abstractmethod
    def front(self) -> None:
        """Have the present tab in front of the others."""

    @abstractmethod
    def inside(self, expression: str) -> Any:  # noqa: ANN401  (any JSON)
        """Return an expression's value, awaited, where the extension's ``api`` is."""

    @abstractmethod
    def end_worker(self) -> None:
        """End the extension's background, where a browser that is driven does not keep it."""

    def reload(self) -> None:
        """Load the page again; do not wait for it."""
        self.tried("setTimeout(() => location.reload())")

    def back(self) -> None:
        """Go a page back; do not wait for it."""
        self.tried("setTimeout(() => history.back())")

    def tried(self, script: str) -> Any:  # noqa: ANN401  (any JSON)
        """Return what a script returns, None where the page went away."""
        try:
            return self.run(script)
        except Gone:
            return None

    def shows(self, title: str, patience: float = PATIENCE) -> None:
        """Wait until a page of this title is whole."""
        whole = "return document.readyState === 'complete' && document.title"
        until(lambda: self.tried(whole) == title, f"a page that says {title!r}", patience)

    def is_shown(self, title: str) -> bool:
        """Wait a quarter of the time for the same, and say whether it came."""
        try:
            self.shows(title, PATIENCE / 4)
        except AssertionError:
            return False
        return True

    def arrive(self, url: str) -> None:
        """Go to another address, and wait until a page of the web is there and whole."""
        self.run("window.before = true")
        self.go(url)
        there = (
            "!window.before && location.protocol === 'http:' && document.readyState === 'complete'"
        )
        until(lambda: self.tried(f"return {there}"), "another page")

    def badge(self) -> str:
        badge = ".then(([tab]) => api.action.getBadgeText({tabId: tab.id}))"
        return str(self.inside(f"api.tabs.query({{active: true, lastFocusedWindow: true}}){badge}"))

    def says(self, *badges: str) -> None:
        """Wait until the badge says one of these."""
        seen = [""]

        def same() -> bool:
            seen[0] = self.badge()
            return seen[0] in badges

        until(same, f"a badge of {badges} instead of {seen}")

    @contextmanager
    def popup(self) -> Iterator[tuple[Any, Any]]:
        """Open the popup as it is for the tab in front, in a tab behind, and make that present.

        Yields both tabs: the one in front, and the popup's.
        """
        before = self.tabs()
        self.inside(
            "api.tabs.create({active: false, url: api.runtime.getURL("
            "api.runtime.getManifest().action.default_popup)})"
        )
        until(lambda: len(self.tabs()) > len(before), "the popup")
        here = self.present
        [popup] = [each for each in self.tabs() if each not in before]
        self.switch(popup)
        whole = "return document.readyState === 'complete' && location.origin"
        until(lambda: self.tried(whole) == self.origin, "the popup's page")
        try:
            yield here, popup
        finally:
            if popup in self.tabs():  # it may have closed itself
                self.close()
            self.switch(here)
            self.front()


def told(name: str, home: Path, places: Paths, at: Path | None = None) -> None:
    """Tell a browser of a user of the relay to a daemon's socket; ``at``: where it looks."""
    now = datetime.now().astimezone()
    machine = Machine(places, {"HOME": str(home)}, now, sys.executable)
    browser = next(each for each in BROWSERS if each.name == name)
    launcher(machine).write()
    made = manifest(browser, machine)
    (made if at is None else replace(made, path=at)).write()


def patient(folder: Path) -> Path:
    """Copy the extension to a folder, and return that; all its waits for the daemon are longer."""
    shutil.copytree(EXTENSION, folder)
    for file in folder.rglob("*.js"):
        text = WAITS.sub(lambda wait: f"{wait[1]}{SLOWLY * int(wait[2])}", file.read_text())
        file.write_text(text)
    return folder


def knowing(folder: Path, address: str, recipient: str) -> None:
    """Have an unpacked extension know one more assistant."""
    words = folder / "popup" / "words.js"
    more = json.dumps({address: {"name": "Test", "recipient": recipient}})[1:-1]
    begin = "export const ASSISTANTS = {"
    assert begin in words.read_text()
    words.write_text(words.read_text().replace(begin, f"{begin}{more},"))


def killed(*words: str) -> int:
    """Kill the processes that were started with all of these words; return how many."""
    found = [each for each in Path("/proc").iterdir() if {*words} <= _words(each)]
    for each in found:
        with suppress(ProcessLookupError):  # it has ended with another
            os.kill(int(each.name), signal.SIGKILL)
    return len(found)


def _words(process: Path) -> set[str]:
    try:
        return {*(process / "cmdline").read_bytes().decode(errors="replace").split("\0")}
    except OSError:  # it has ended meanwhile, or is none
        return set()
