"""What a browser needs to ask a daemon: the relay, its manifest, and a site to ask about."""

import json
import os
import re
import shutil
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from agent.daemon.artifacts import Machine
from agent.daemon.programs import BROWSERS, RELAY, launcher, manifest
from agent.paths import Paths
from tests.house.tree import ROOT
from tests.worlds.daemons import BALANCED

EXTENSION = ROOT / "agent" / "browser_extension"
KEYWORD = "ret"
SLOWLY = 4  # times as long as for people: else a busy machine makes an answer one too many
WAITS = re.compile(r"(const (?:DECISION|SEEN|STATUS|TALK|PATIENCE|FRESH) = )(\d+)")


def told(name: str, home: Path, places: Paths, at: Path | None = None) -> None:
    """Tell a browser of a user of the relay to a daemon's socket; ``at``: where it looks."""
    now = datetime.now().astimezone()
    machine = Machine(places, {"HOME": str(home)}, now, "systemd", sys.executable)
    browser = next(each for each in BROWSERS if each.name == name)
    launcher(places, sys.executable).write()
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


def killed_relays(socket: Path) -> int:
    """Kill the relays to a socket; return how many there were."""
    return killed(str(RELAY), str(socket))


def _words(process: Path) -> set[str]:
    try:
        return {*(process / "cmdline").read_bytes().decode(errors="replace").split("\0")}
    except OSError:  # it has ended meanwhile, or is none
        return set()


def listing(search: str) -> str:
    """Return a policy that has a site searched at an address."""
    host = urlsplit(search).hostname
    return f'{BALANCED}\n[[rule]]\nrecipient = "{host}"\nsearch = "{search}"\n'
