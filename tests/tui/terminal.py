"""The real program in a real terminal: tmux, with a server of the test's own."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from agent.paths import HOME, Paths
from tests.house.tree import ROOT
from tests.programs import needs

PATIENCE = 60.0  # seconds, for what takes one
LOOK = 0.05  # seconds between two looks at the screen
COLUMNS, LINES = "80", "24"
PROGRAM = [sys.executable, "-m", "agent.cli"]


class Terminal:
    """A terminal of tmux in which one command runs."""

    def __init__(self, server: Path) -> None:
        """Take where the socket of the server is."""
        self._server = server

    def tmux(self, *words: str) -> str:
        """Return what a command of tmux prints."""
        said = subprocess.run(
            ["tmux", "-S", str(self._server), "-f", "/dev/null", *words],  # noqa: S607  (on PATH)
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env={**os.environ},  # without the COLUMNS that readline puts below Python
        )
        return said.stdout

    def press(self, *keys: str) -> None:
        """Press keys, by the names that tmux has for them."""
        self.tmux("send-keys", *keys)

    def title(self) -> str:
        """Return the title of the window."""
        return self.tmux("display-message", "-p", "#{pane_title}")

    def text(self) -> str:
        """Return what stands on the screen."""
        return self.tmux("capture-pane", "-p")

    def everything(self) -> str:
        """Return all that was ever printed and has not been scrolled away for good."""
        return self.tmux("capture-pane", "-p", "-J", "-S", "-")

    def resize(self, columns: int, lines: int) -> None:
        """Have a window of another size."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def until(self, holds: Callable[[str], bool]) -> str:
        """Wait until the screen is as wanted, and return it."""
        end = time.monotonic() + PATIENCE
        while not holds(text := self.text()):
            assert time.monotonic() < end, text
            time.sleep(LOOK)
        return text

    def shows(self, *words: str) -> str:
        """Wait until the screen has these words, and return it."""
        return self.until(lambda text: all(each in text for each in words))


@contextmanager
def terminal(
    places: Paths, *arguments: str, told: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Terminal]:
    """Yield a terminal in which `reticent` runs with these arguments; a shell is below it.

    ``told``: more of its environment.
    """
    needs("tmux")
    with TemporaryDirectory(prefix="r") as folder:
        shown = Terminal(Path(folder) / "tmux")
        more = [f"{name}={value}" for name, value in told.items()]
        home = f"{HOME}={places.config.parent}"
        command = shlex.join(["env", home, *more, *PROGRAM, *arguments])
        shown.tmux("new-session", "-d", "-x", COLUMNS, "-y", LINES, "-c", str(ROOT), "/bin/sh")
        try:
            shown.press(command, "Enter")
            yield shown
        finally:
            shown.tmux("kill-server")
