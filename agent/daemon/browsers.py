"""The browsers of this machine: where each looks for the relay's manifest, and what is there.

A manifest names a program and no arguments, so the launcher has them: an interpreter by its
absolute path, as a version manager's would take longer than all the rest, and our socket.
"""

import hashlib
import json
import os
import shlex
import shutil
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from agent.daemon.service import Manager, removed, text_of
from agent.errors import UsageError
from agent.files import PRIVATE_FOLDER, check_way, private_folder, replace_bytes
from agent.paths import Paths
from agent.wire.client import check_address

HOST = "reticent.relay"  # of letters, digits, _ and dots, as all browsers take it
FIREFOX_ID = "reticent@local"
KEY = (
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAuGJeOp0lfVOFtAvm4eNoIXe/hLTxtO4eGPeFP5rN530P+6"
    "ziW/gfeuYxt4J4dtJE+o2+W5qXeQkiK0k6/BNvl39hJ8RA3TnOIhj5hInFlj8amGutt5XZu9pZnPunJTck/xxJaQZ1"
    "OpivtG9hXhOwVlHDocVXsa5sQ2kKVkE538UdxPU5JZoMF+HRQhKVMPAqbagSL//nFT8ZV07N0ToiD7XnVjkXoGkRr1"
    "bZRX2idGlTJ27J9uSNyexJyMP5xrFmv7ODww0vSSsztl6EPbW0Pm/eDGrhdyLsTmNdX8wddlk/USggQFpUuPEsW920"
    "NEblf2czHGjgSHLS08qJ8N5EdwIDAQAB"
)
_LETTERS = "abcdefghijklmnop"
_BYTES = 16
Kind = Literal["chromium", "firefox"]
Sandbox = Literal["snap", "flatpak"]
SYSTEM_WIDE = Path("/")  # below it lies what snap and flatpak have for all users
_HOSTS, _FIREFOX_HOSTS = "NativeMessagingHosts", "native-messaging-hosts"
ManifestState = Literal["absent", "installed", "differing", "foreign"]
RELAY = Path(__file__).with_name("relay.py")
# What is ours is known by it: a later version that says another thing could take nothing away.
OURS = "Reticent's relay. Written by `reticent browser install`; `remove` takes it away."
_LAUNCHER = f"#!/bin/sh\n# {OURS}\nexec {{command}}\n"


def chromium_id(key: str) -> str:
    """Return the id of the extension whose manifest has this key: DER in base64."""
    digest = hashlib.sha256(b64decode(key, validate=True)).digest()[:_BYTES]
    return "".join(_LETTERS[byte >> 4] + _LETTERS[byte & 15] for byte in digest)


class Browser(NamedTuple):
    """A browser; ``folder``: its own below the user's configuration, ``mac``: below theirs.

    ``program``: what starts it, which some systems give one of `ENDINGS`; ``flatpak``: its name
    there; ``in_snap``: whether there is a snap of its name.
    """

    name: str
    folder: str
    mac: str
    program: str
    flatpak: str
    in_snap: bool = True

    @property
    def title(self) -> str:
        """What people call it."""
        return self.name.capitalize()

    @property
    def kind(self) -> Kind:
        """Whose manifests it reads."""
        return "firefox" if self.name == "firefox" else "chromium"


@dataclass(frozen=True, slots=True)
class System:
    """Whose browsers: launchd is of macOS; ``environment``: the user's."""

    manager: Manager
    environment: Mapping[str, str]

    @property
    def home(self) -> Path:
        """The user's own folder."""
        return Path(self.environment.get("HOME") or Path.home())


BRAVE, CHROME, EDGE = "BraveSoftware/Brave-Browser", "google-chrome", "microsoft-edge"
BROWSERS = (
    Browser("chromium", "chromium", "Chromium", "chromium", "org.chromium.Chromium"),
    Browser("chrome", CHROME, "Google/Chrome", CHROME, "com.google.Chrome", in_snap=False),
    Browser("brave", BRAVE, BRAVE, "brave-browser", "com.brave.Browser"),
    Browser("edge", EDGE, "Microsoft Edge", EDGE, "com.microsoft.Edge", in_snap=False),
    Browser("vivaldi", "vivaldi", "Vivaldi", "vivaldi", "com.vivaldi.Vivaldi"),
    Browser("firefox", ".mozilla", "Mozilla", "firefox", "org.mozilla.firefox"),
)
ENDINGS = ("", "-browser", "-stable", "-esr")  # of a program's name


def manifest_path(browser: Browser, system: System) -> Path:
    """Return where a browser looks for the manifest of our relay."""
    lower = browser.kind == "firefox" and system.manager != "launchd"
    return _folder(browser, system) / (_FIREFOX_HOSTS if lower else _HOSTS) / f"{HOST}.json"


def is_here(browser: Browser, system: System) -> bool:
    """Return whether a browser was run here, or can be, outside of a sandbox."""
    path = system.environment.get("PATH", "")
    programs = [shutil.which(browser.program + ending, path=path) for ending in ENDINGS]
    folder, hosts = _folder(browser, system), {_HOSTS, _FIREFOX_HOSTS}
    return any(each and not {"snap", "flatpak"} & {*Path(each).parts} for each in programs) or (
        folder.is_dir() and any(each.name not in hosts for each in folder.iterdir())
    )


def sandboxes(browser: Browser, system: System) -> Iterator[Sandbox]:
    """Yield the sandboxes in which a browser is here: it can start no program outside of them."""
    home = system.home
    snaps = (home, SYSTEM_WIDE) if browser.in_snap else ()
    if any((each / "snap" / browser.name).is_dir() for each in snaps):
        yield "snap"
    flatpaks = (
        home / ".var/app",
        home / ".local/share/flatpak/app",
        SYSTEM_WIDE / "var/lib/flatpak/app",
    )
    if any((each / browser.flatpak).is_dir() for each in flatpaks):
        yield "flatpak"


def _folder(browser: Browser, system: System) -> Path:
    """Return the folder in which a browser keeps what is the user's."""
    if system.manager == "launchd":
        return system.home / "Library" / "Application Support" / browser.mac
    if browser.kind == "firefox":
        return system.home / browser.folder
    config = Path(system.environment.get("XDG_CONFIG_HOME") or "")
    return (config if config.is_absolute() else system.home / ".config") / browser.folder


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is of a manifest; ``mine``: it names our own launcher, whatever else it says.

    absent; installed: as it would be written now; differing: ours, but other; foreign: not ours.
    """

    browser: Browser
    path: Path
    state: ManifestState
    mine: bool


def launcher(paths: Paths, interpreter: str) -> str:
    """Return the text of the launcher; UsageError where our socket's path is too long."""
    socket = check_address(paths.query)
    return _LAUNCHER.format(command=shlex.join([interpreter, "-I", "-S", str(RELAY), socket]))


def manifest(browser: Browser, paths: Paths) -> str:
    """Return the text of a manifest."""
    allowed = {
        "firefox": {"allowed_extensions": [FIREFOX_ID]},
        "chromium": {"allowed_origins": [f"chrome-extension://{chromium_id(KEY)}/"]},
    }
    told = {"name": HOST, "description": OURS, "path": str(paths.relay), "type": "stdio"}
    return json.dumps({**told, **allowed[browser.kind]}, indent=2) + "\n"


def look_at_manifests(
    system: System, paths: Paths, browsers: Iterable[Browser] = BROWSERS
) -> tuple[Seen, ...]:
    """Return what there is of each browser's manifest."""
    return tuple(_seen(each, manifest_path(each, system), paths) for each in browsers)


def look_at_launcher(paths: Paths, interpreter: str) -> ManifestState:
    """Return what there is of the launcher."""
    text = text_of(paths.relay)
    if text is None:
        return "absent" if not os.path.lexists(paths.relay) else "foreign"
    if text == launcher(paths, interpreter) and os.access(paths.relay, os.X_OK):
        return "installed"
    return "differing" if OURS in text else "foreign"


def program_of(paths: Paths) -> str | None:
    """Return the interpreter that the launcher starts, None without a launcher that we wrote."""
    lines = (text_of(paths.relay) or "").splitlines()
    try:
        words = shlex.split(lines[-1]) if OURS in "".join(lines) else []
    except ValueError:
        return None
    return words[1] if words[:1] == ["exec"] and len(words) > 1 else None


def install_manifests(seen: Sequence[Seen], paths: Paths, interpreter: str) -> list[Path]:
    """Write the launcher and manifests; return them. UsageError where one there is not ours.

    Then nothing is written. Also where a folder or a file cannot be.
    """
    text = launcher(paths, interpreter)
    foreign = [each.path for each in seen if each.state == "foreign"]
    if look_at_launcher(paths, interpreter) == "foreign":
        foreign.append(paths.relay)
    if foreign:
        what = "this file exists and was not written by Reticent"
        raise UsageError(what, "move it away and try again", str(foreign[0]))
    private_folder(paths.data)
    replace_bytes(text.encode(), paths.relay, PRIVATE_FOLDER)
    for each in seen:
        if not each.path.parent.is_dir():  # what is there may be for others as well
            private_folder(each.path.parent)
        check_way(each.path)
        replace_bytes(manifest(each.browser, paths).encode(), each.path)
    return [paths.relay, *(each.path for each in seen)]


def remove_manifests(seen: Sequence[Seen]) -> list[Path]:
    """Remove manifests that name our launcher; return them."""
    return removed([each.path for each in seen if each.mine])


def _seen(browser: Browser, path: Path, paths: Paths) -> Seen:
    """Return what there is at the place of a manifest."""
    text = text_of(path)
    if text is None:
        return Seen(browser, path, "foreign" if os.path.lexists(path) else "absent", mine=False)
    if text == manifest(browser, paths):
        return Seen(browser, path, "installed", mine=True)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or (found.get("name"), found.get("description")) != (HOST, OURS):
        return Seen(browser, path, "foreign", mine=False)
    return Seen(browser, path, "differing", mine=found.get("path") == str(paths.relay))
