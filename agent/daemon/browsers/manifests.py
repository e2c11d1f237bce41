"""What tells a browser of the relay: a manifest in its folder, and a launcher in ours.

A manifest names a program and no arguments, so the launcher has them: an interpreter by its
absolute path, as a version manager's would take longer than all the rest, and our socket.
"""

import json
import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agent.daemon.browsers.ids import FIREFOX_ID, HOST, KEY, chromium_id
from agent.daemon.browsers.places import BROWSERS, Browser, System, manifest_path
from agent.errors import UsageError, reason
from agent.files import PRIVATE_FOLDER, check_way, private_folder, read_bytes, replace_bytes
from agent.paths import Paths
from agent.wire.client import check_address

State = Literal["absent", "installed", "differing", "foreign"]

RELAY = Path(__file__).with_name("relay.py")
# What is ours is known by it: a later version that says another thing could take nothing away.
OURS = "Reticent's relay. Written by `reticent browser install`; `remove` takes it away."
LARGEST = 64 * 1024  # bytes of a manifest
_LAUNCHER = f"#!/bin/sh\n# {OURS}\nexec {{command}}\n"


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is of a manifest; ``mine``: it names our own launcher, whatever else it says.

    absent; installed: as it would be written now; differing: ours, but other; foreign: not ours.
    """

    browser: Browser
    path: Path
    state: State
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


def look(system: System, paths: Paths, browsers: Iterable[Browser] = BROWSERS) -> tuple[Seen, ...]:
    """Return what there is of each browser's manifest."""
    return tuple(_seen(each, manifest_path(each, system), paths) for each in browsers)


def look_at_launcher(paths: Paths, interpreter: str) -> State:
    """Return what there is of the launcher."""
    text = _text(paths.relay)
    if text is None:
        return "absent" if not os.path.lexists(paths.relay) else "foreign"
    if text == launcher(paths, interpreter) and os.access(paths.relay, os.X_OK):
        return "installed"
    return "differing" if OURS in text else "foreign"


def program_of(paths: Paths) -> str | None:
    """Return the interpreter that the launcher starts, None where there is none of ours."""
    lines = (_text(paths.relay) or "").splitlines()
    try:
        words = shlex.split(lines[-1]) if OURS in "".join(lines) else []
    except ValueError:
        return None
    return words[1] if words[:1] == ["exec"] and len(words) > 1 else None


def install(seen: Sequence[Seen], paths: Paths, interpreter: str) -> list[Path]:
    """Write the launcher and manifests; return them. UsageError where one there is not ours.

    Then nothing is written. Also where a folder or a file cannot be.
    """
    text = launcher(paths, interpreter)
    foreign = [each.path for each in seen if each.state == "foreign"]
    if look_at_launcher(paths, interpreter) == "foreign":
        foreign.append(paths.relay)
    if foreign:
        what = "this is there already, and not reticent's"
        raise UsageError(what, "move it away, and run this again", str(foreign[0]))
    private_folder(paths.data)
    replace_bytes(text.encode(), paths.relay, PRIVATE_FOLDER)
    for each in seen:
        if not each.path.parent.is_dir():  # what is there may be for others as well
            private_folder(each.path.parent)
        check_way(each.path)
        replace_bytes(manifest(each.browser, paths).encode(), each.path)
    return [paths.relay, *(each.path for each in seen)]


def remove(seen: Sequence[Seen]) -> list[Path]:
    """Remove manifests that name our launcher; return them."""
    removed = [each.path for each in seen if each.mine]
    for path in removed:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(reason(error), "mend that, and run it again", str(path)) from error
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
    """Return the text of a file, None if there is none to read."""
    try:
        return read_bytes(path, LARGEST).decode("utf-8", "replace")
    except UsageError:
        return None
