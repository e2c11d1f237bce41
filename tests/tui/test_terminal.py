"""The real program in a real terminal, against a real daemon."""

import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from agent.paths import HOME, Paths
from agent.wire.client import Client
from agent.wire.policy import RulesStatus
from agent.wire.state import Status
from tests.house.tree import ROOT, ran
from tests.programs import needs
from tests.vault.worlds import PASSPHRASE
from tests.waiting import PATIENCE
from tests.worlds.daemons import end, home, living

LOOK = 0.05  # seconds between two looks at the screen
COLUMNS, LINES = "80", "24"
PROGRAM = [sys.executable, "-m", "agent.cli"]


class Terminal:
    """A terminal of tmux in which one command runs."""

    def __init__(self, server: Path) -> None:
        self._server = server

    def tmux(self, *words: str) -> str:
        server = ("tmux", "-S", self._server, "-f", "/dev/null")
        # This environment is without the COLUMNS that readline puts below Python.
        return ran(*server, *words, env={**os.environ}).stdout

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def title(self) -> str:
        return self.tmux("display-message", "-p", "#{pane_title}")

    def text(self) -> str:
        return self.tmux("capture-pane", "-p")

    def everything(self) -> str:
        """Return all that was ever printed and has not been scrolled away for good."""
        return self.tmux("capture-pane", "-p", "-S", "-")

    def styled(self) -> str:
        """Return what stands on the screen, with the codes of its styles."""
        return self.tmux("capture-pane", "-p", "-e")

    def until(self, holds: Callable[[str], object]) -> str:
        """Wait until the screen is as wanted, and return it."""
        end = time.monotonic() + PATIENCE
        while not holds(text := self.text()):
            assert time.monotonic() < end, text
            time.sleep(LOOK)
        return text

    def shows(self, *words: str) -> str:
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


def test_the_name_alone_starts_a_daemon_and_asks_for_the_passphrase() -> None:
    """The daemon goes on when the screens are left."""
    with home() as places, ExitStack() as ends, terminal(places) as shown:
        ends.callback(end, places)
        title = shown.title()
        shown.shows("The vault is locked")
        shown.press("-l", PASSPHRASE)
        shown.press("Enter")
        shown.shows("✓ open")
        assert PASSPHRASE not in shown.everything()
        assert shown.title() == title
        shown.press("C-l")
        shown.shows("The vault is locked")
        shown.press("Escape")
        shown.until(lambda text: "The vault is locked" not in text)
        with Client(places.control) as client:
            status: Status = client.call("status")
            assert status.locked
            assert os.getsid(status.process) == status.process  # no end of a terminal ends it


BROKEN = """\
preset = "balanced"

[daemon]
lock_after_minutes = 0

[[rule]]
name = "shop"
recipient = "shop.example"
k = 0
"""
EDITOR = """\
#!/bin/sh
echo "EDITING $1"
read line
sed -i 's/k = 0/k = 7/' "$2"
"""


def test_the_editor_has_the_terminal_and_what_it_saves_is_read(tmp_path: Path) -> None:
    """At the line of the mistake; then the screen is back, which leaves nothing in the terminal."""
    editor = tmp_path / "vi"  # by which name it takes a line
    editor.write_text(EDITOR)
    editor.chmod(0o700)
    with living() as live, terminal(live.paths, told={"EDITOR": str(editor)}) as shown:
        shown.shows("✓ open")
        live.paths.policy.write_text(BROKEN)
        shown.press("5")
        shown.shows("1 to mend", "✗ line 9")
        shown.press("Home", "Enter")
        shown.shows("EDITING +9")
        assert "to mend" not in shown.text()
        shown.press("Enter")
        shown.shows("Read.", "shop")
        shown.until(lambda text: "to mend" not in text)
        assert live.paths.policy.read_text() == BROKEN.replace("k = 0", "k = 7")
        rules: RulesStatus = live.call("rules")
        assert [each.settings for each in rules.rules if each.name == "shop"] == [{"k": "7"}]
        shown.press("q")
        shown.until(lambda text: "✓ open" not in text and "shop" not in text)
        assert "shop" not in shown.everything()


COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")


def test_without_colours_there_are_none_and_the_cursor_is_seen() -> None:
    """In no question either; the cursor has a sign, and the tab too."""
    with living() as live:
        with terminal(live.paths, "screens") as shown:
            shown.shows("✓ open")
            assert COLOUR.search(shown.styled())
        with terminal(live.paths, "screens", told={"NO_COLOR": "1"}) as shown:
            shown.shows("✓ open")
            shown.press("5")
            shown.until(lambda _: re.search(r"\x1b\[[\d;]*7m5 ?Policy", shown.styled()))
            shown.shows("›")
            assert "\x1b[7m" in shown.styled().replace("[0;7m", "[7m")
            for key, text in (("?", "Escape goes back"), ("C-l", "The vault is locked")):
                assert not COLOUR.search(shown.styled())
                shown.press(key)
                shown.shows(text)
                assert not COLOUR.search(shown.styled())
                shown.press("Escape")
