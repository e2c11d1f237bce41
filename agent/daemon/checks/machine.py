"""The machine: Python, the clock, the disk, who runs this, and what the environment says."""

import os
import shutil
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

import agent
from agent.daemon.checks.finding import Finding, Machine, bad, ok, warn
from agent.daemon.process.screen import watcher
from agent.paths import HOME, RUNTIME
from agent.vault import secrets
from agent.vault.seal import OPENSSL

OLDEST = (3, 11)  # of Python, as pyproject.toml asks for
LITTLE, LEAST = 100 << 20, 5 << 20  # bytes that are free


def python(here: Machine) -> Iterator[Finding]:
    """Yield which Python runs, and whether the cryptography that it brings is enough."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        yield bad("python", f"Python {version} is too old", f"install Python {wanted} or newer")
    else:
        yield ok("python", f"Python {version}, {here.interpreter}")
    try:
        Argon2id(salt=bytes(16), length=32, iterations=1, lanes=1, memory_cost=8)
    except UnsupportedAlgorithm:
        what = "the system's OpenSSL has no Argon2id: no vault can be opened"
        yield bad("python", what, OPENSSL)


def clock(here: Machine) -> Iterator[Finding]:
    """Yield whether the clock can be right: rules expire, and new facts are counted, by it."""
    installed = Path(agent.__file__).stat().st_mtime
    if here.now.timestamp() < installed:
        since = datetime.fromtimestamp(installed, here.now.tzinfo)
        what = (
            f"the clock says {here.now:%Y-%m-%d}, before reticent was installed ({since:%Y-%m-%d})"
        )
        yield bad("clock", what, "set the clock: rules expire by it")
    else:
        yield ok("clock", f"{here.now:%Y-%m-%d %H:%M %Z}".rstrip())


def disk(here: Machine) -> Iterator[Finding]:
    """Yield how much can be written; what cannot be recorded is not disclosed."""
    place = next(each for each in (here.paths.data, *here.paths.data.parents) if each.is_dir())
    free = shutil.disk_usage(place).free
    if free < LITTLE:
        what = f"only {free >> 20} MiB are free at {place}"
        make = bad if free < LEAST else warn
        yield make("disk", what, "make room: what cannot be recorded is not disclosed")
    else:
        yield ok("disk", f"{free >> 20:,} MiB free at {place}")


def user(here: Machine) -> Iterator[Finding]:
    """Yield whether this runs as the user whose agent it is."""
    sudo = here.environment.get("SUDO_USER")
    if os.geteuid() == 0 and sudo and sudo != "root":
        what = "run by sudo: what it makes belongs to root, and the user cannot open it"
        yield bad("user", what, f"run it as {sudo}, without sudo")
    else:
        yield ok("user", f"number {os.geteuid()}")


def environment(here: Machine) -> Iterator[Finding]:
    """Yield what the environment says of where things lie."""
    home = here.environment.get(HOME)
    if home and not os.path.isabs(home):  # noqa: PTH117  (a text may be empty)
        what = f"{HOME} is {home!r}: another folder wherever it is run"
        yield bad("environment", what, "set it to an absolute path")
    elif home:
        yield ok("environment", f"everything lies under {HOME}")
    elif here.manager == "systemd" and not here.environment.get(RUNTIME):
        what = f"{RUNTIME} is not set: sockets are looked for at {here.paths.runtime}"
        fix = f"log in as the user, or set {RUNTIME} to /run/user/{os.geteuid()}"
        yield warn("environment", what, f"{fix}: the service listens there")
    else:
        yield ok("environment", f"sockets belong at {here.paths.runtime}")


def screen(here: Machine) -> Iterator[Finding]:
    """Yield whether the vault locks with the screen; with a sleep it does anyway."""
    del here
    if watcher() is None:
        what = "its lock is not watched (no `gdbus`, or no system bus): the vault locks by time"
        yield ok("screen", f"{what}, and when the machine sleeps")
    else:
        yield ok("screen", "the vault locks with it, if the desktop tells, and before a sleep")


def keyring(here: Machine) -> Iterator[Finding]:
    """Yield whether the desktop's keyring can hold a key; it is never needed."""
    del here
    if not secrets.installed():
        yield ok("keyring", "the extra is not installed, and not needed")
    elif (name := secrets.backend()) is None:
        fix = "start the desktop's keyring, or unlock with the passphrase"
        yield warn("keyring", "the extra is installed, but this session has no keyring", fix)
    else:
        yield ok("keyring", name)
