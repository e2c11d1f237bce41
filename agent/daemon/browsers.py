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
from typing import Any, Literal

from agent.daemon.service import Manager
from agent.errors import UsageError, reason
from agent.files import PRIVATE_FOLDER, check_way, private_folder, read_bytes, replace_bytes
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
LARGEST = 64 * 1024  # bytes of a manifest
_LAUNCHER = f"#!/bin/sh\n# {OURS}\nexec {{command}}\n"


def chromium_id(key: str) -> str:
    """Return the id of the extension whose manifest has this key: DER in base64."""
    digest = hashlib.sha256(b64decode(key, validate=True)).digest()[:_BYTES]
    return "".join(_LETTERS[byte >> 4] + _LETTERS[byte & 15] for byte in digest)


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser; ``linux``: its folder below the user's configuration, ``mac``: below theirs.

    ``programs``: what it is started by; ``snap`` and ``flatpak``: what it is called there.
    """

    name: str
    title: str
    kind: Kind
    linux: str
    mac: str
    programs: tuple[str, ...]
    snap: str
    flatpak: str


@dataclass(frozen=True, slots=True)
class System:
    """Whose browsers: launchd is of macOS; ``environment``: the user's."""

    manager: Manager
    environment: Mapping[str, str]

    @property
    def home(self) -> Path:
        """The user's own folder."""
        return Path(self.environment.get("HOME") or Path.home())


BROWSERS = (
    Browser(
        "chromium",
        "Chromium",
        "chromium",
        "chromium",
        "Chromium",
        ("chromium", "chromium-browser"),
        "chromium",
        "org.chromium.Chromium",
    ),
    Browser(
        "chrome",
        "Chrome",
        "chromium",
        "google-chrome",
        "Google/Chrome",
        ("google-chrome", "google-chrome-stable"),
        "",
        "com.google.Chrome",
    ),
    Browser(
        "brave",
        "Brave",
        "chromium",
        "BraveSoftware/Brave-Browser",
        "BraveSoftware/Brave-Browser",
        ("brave-browser", "brave-browser-stable"),
        "brave",
        "com.brave.Browser",
    ),
    Browser(
        "edge",
        "Edge",
        "chromium",
        "microsoft-edge",
        "Microsoft Edge",
        ("microsoft-edge", "microsoft-edge-stable"),
        "",
        "com.microsoft.Edge",
    ),
    Browser(
        "vivaldi",
        "Vivaldi",
        "chromium",
        "vivaldi",
        "Vivaldi",
        ("vivaldi", "vivaldi-stable"),
        "vivaldi",
        "com.vivaldi.Vivaldi",
    ),
    Browser(
        "firefox",
        "Firefox",
        "firefox",
        ".mozilla",
        "Mozilla",
        ("firefox", "firefox-esr"),
        "firefox",
        "org.mozilla.firefox",
    ),
)


def manifest_path(browser: Browser, system: System) -> Path:
    """Return where a browser looks for the manifest of our relay."""
    lower = browser.kind == "firefox" and system.manager != "launchd"
    return _folder(browser, system) / (_FIREFOX_HOSTS if lower else _HOSTS) / f"{HOST}.json"


def is_here(browser: Browser, system: System) -> bool:
    """Return whether a browser was run here, or can be, outside of a sandbox."""
    programs = (
        shutil.which(each, path=system.environment.get("PATH", "")) for each in browser.programs
    )
    whole = [each for each in programs if each and not {"snap", "flatpak"} & {*Path(each).parts}]
    folder = _folder(browser, system)
    used = folder.is_dir() and any(
        each.name not in {_HOSTS, _FIREFOX_HOSTS} for each in folder.iterdir()
    )
    return bool(whole) or used


def sandboxes(browser: Browser, system: System) -> Iterator[Sandbox]:
    """Yield the sandboxes in which a browser is here: it can start no program outside of them."""
    home = system.home
    if browser.snap and _any(home / "snap" / browser.snap, SYSTEM_WIDE / "snap" / browser.snap):
        yield "snap"
    applications = (home / ".local/share/flatpak/app", SYSTEM_WIDE / "var/lib/flatpak/app")
    if _any(
        home / ".var/app" / browser.flatpak, *(each / browser.flatpak for each in applications)
    ):
        yield "flatpak"


def _folder(browser: Browser, system: System) -> Path:
    """Return the folder in which a browser keeps what is the user's."""
    if system.manager == "launchd":
        return system.home / "Library" / "Application Support" / browser.mac
    if browser.kind == "firefox":
        return system.home / browser.linux
    config = Path(system.environment.get("XDG_CONFIG_HOME") or "")
    return (config if config.is_absolute() else system.home / ".config") / browser.linux


def _any(*places: Path) -> bool:
    return any(each.is_dir() for each in places)


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
    told: dict[str, Any] = {
        "name": HOST,
        "description": OURS,
        "path": str(paths.relay),
        "type": "stdio",
    }
    if browser.kind == "firefox":
        told["allowed_extensions"] = [FIREFOX_ID]
    else:
        told["allowed_origins"] = [f"chrome-extension://{chromium_id(KEY)}/"]
    return json.dumps(told, indent=2) + "\n"


def look_at_manifests(
    system: System, paths: Paths, browsers: Iterable[Browser] = BROWSERS
) -> tuple[Seen, ...]:
    """Return what there is of each browser's manifest."""
    return tuple(_seen(each, manifest_path(each, system), paths) for each in browsers)


def look_at_launcher(paths: Paths, interpreter: str) -> ManifestState:
    """Return what there is of the launcher."""
    text = _text(paths.relay)
    if text is None:
        return "absent" if not os.path.lexists(paths.relay) else "foreign"
    if text == launcher(paths, interpreter) and os.access(paths.relay, os.X_OK):
        return "installed"
    return "differing" if OURS in text else "foreign"


def program_of(paths: Paths) -> str | None:
    """Return the interpreter that the launcher starts, None if there is no launcher of ours."""
    lines = (_text(paths.relay) or "").splitlines()
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
    removed = [each.path for each in seen if each.mine]
    for path in removed:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(reason(error), "fix that and try again", str(path)) from error
    return removed


def _seen(browser: Browser, path: Path, paths: Paths) -> Seen:
    """Return what there is at the place of a manifest."""
    text = _text(path)
    if text is None:
        return Seen(browser, path, "foreign" if os.path.lexists(path) else "absent", mine=False)
    if text == manifest(browser, paths):
        return Seen(browser, path, "installed", mine=True)
    told = _told(text)
    if told.get("name") != HOST or told.get("description") != OURS:
        return Seen(browser, path, "foreign", mine=False)
    return Seen(browser, path, "differing", mine=told.get("path") == str(paths.relay))


def _told(text: str) -> dict[str, Any]:
    """Return what a manifest says, nothing where it is none."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _text(path: Path) -> str | None:
    """Return the text of a file, None if it cannot be read."""
    try:
        return read_bytes(path, LARGEST).decode("utf-8", "replace")
    except UsageError:
        return None
