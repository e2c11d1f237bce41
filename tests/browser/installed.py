"""What a browser needs to ask a daemon: the relay, its manifest, and a site to ask about."""

import os
import signal
import sys
from pathlib import Path
from urllib.parse import urlsplit

from agent.daemon.browsers import BROWSERS, RELAY, Browser, Seen, install_manifests
from agent.paths import Paths
from tests.daemon.whole_daemon import BALANCED
from tests.house.tree import ROOT

EXTENSION = ROOT / "examples" / "browser_extension"
KEYWORD = "ret"


def browser(name: str) -> Browser:
    """Return one of the browsers that we know."""
    return next(each for each in BROWSERS if each.name == name)


def told(name: str, manifest: Path, places: Paths) -> None:
    """Tell a browser, that looks for a manifest there, of the relay to a daemon's socket."""
    install_manifests([Seen(browser(name), manifest, "absent", mine=False)], places, sys.executable)


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


def listing(search: str) -> str:
    """Return a policy that has a site searched at an address."""
    host = urlsplit(search).hostname
    return f'{BALANCED}\n[[rule]]\nrecipient = "{host}"\nsearch = "{search}"\n'
