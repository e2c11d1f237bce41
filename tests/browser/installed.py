"""What a browser needs to reach a socket: the relay's launcher, and the manifest that names it."""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from agent.daemon.browsers.manifests import RELAY, Seen, install
from agent.daemon.browsers.places import BROWSERS, Browser
from agent.paths import Paths
from tests.house.tree import ROOT

EXTENSION = ROOT / "examples" / "browser_extension"


def browser(name: str) -> Browser:
    """Return one of the browsers that we know."""
    return next(each for each in BROWSERS if each.name == name)


def told(name: str, manifest: Path, places: Paths) -> None:
    """Tell a browser, that looks for a manifest there, of the relay to a daemon's socket."""
    install([Seen(browser(name), manifest, "absent", mine=False)], places, sys.executable)


def moved(places: Paths, folder: Path) -> Paths:
    """Return paths whose data, and so the launcher, lie in another folder."""
    return replace(places, data=folder)


def relays(socket: Path) -> list[int]:
    """Return the processes that relay to a socket."""
    return [int(each.name) for each in Path("/proc").iterdir() if _relays(each, socket)]


def killed(socket: Path) -> int:
    """Kill the relays to a socket; return how many there were."""
    found = relays(socket)
    for each in found:
        os.kill(each, signal.SIGKILL)
    return len(found)


def _relays(process: Path, socket: Path) -> bool:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
    except OSError:  # it has ended meanwhile, or is none
        return False
    return str(RELAY).encode() in words and str(socket).encode() in words
