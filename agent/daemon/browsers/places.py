"""The browsers that start our relay: where each looks for its manifest, and whether it is here.

Source: Chromium's documents on user data directories and native messaging, Mozilla's on native
manifests. What is of macOS is untried.
"""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.daemon.browsers.ids import HOST
from agent.daemon.service.units import Manager

Kind = Literal["chromium", "firefox"]
Sandbox = Literal["snap", "flatpak"]

SYSTEM_WIDE = Path("/")  # below it lies what snap and flatpak have for all users
_HOSTS, _FIREFOX_HOSTS = "NativeMessagingHosts", "native-messaging-hosts"


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
    """Say whether a browser was run here, or can be, outside of a sandbox."""
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
