"""Checks of the machine: Python, clock, disk, user, environment, folders and sockets."""

import os
import shutil
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from agent.daemon.artifacts import Machine
from agent.errors import UsageError, reason
from agent.files import OTHERS, OTHERS_WRITE, PRIVATE_FOLDER, check_way
from agent.paths import HOME, RUNTIME
from agent.vault import secrets
from agent.vault.seal import OPENSSL
from agent.wire.client import check_address
from agent.wire.state import Finding

AT_MOST = 10  # findings about single files: the rest is of the same kind
ELSEWHERE = "fix that, or choose another folder with RETICENT_HOME"
SECONDS = 2.0  # for a socket to answer
OLDEST = (3, 11)  # of Python, as pyproject.toml asks for
FREE = {"folder": "does not exist yet; it is created when needed", "socket": "is free"}
READ = {"folder": "look into", "socket": "connect to"}
USED = {"folder": "private", "socket": "open"}
LITTLE, LEAST = 100 << 20, 5 << 20  # bytes that are free


def ok(name: str, what: str) -> Finding:
    """Report something that is in order."""
    return Finding(name, "ok", what)


def warn(name: str, what: str, fix: str) -> Finding:
    """Report something that could be better."""
    return Finding(name, "warn", what, fix)


def bad(name: str, what: str, fix: str) -> Finding:
    """Report something that does not work, or is not safe."""
    return Finding(name, "bad", what, fix)


def check_folders(here: Machine) -> Iterator[Finding]:
    """Yield a finding for each of our folders."""
    for name in ("config", "data", "state", "runtime"):
        yield _place(f"folder {name}", getattr(here.paths, name), is_folder=True)


def check_files(here: Machine) -> Iterator[Finding]:
    """Yield which of our files other users can read."""
    places = (here.paths.data, here.paths.models, here.paths.state)
    readable = [each for place in places for each in _files(place)]
    for path in readable[:AT_MOST]:
        yield bad("files", f"other users can read {path}", f"chmod 600 '{path}'")
    if not readable:
        yield ok("files", "no other user can read them")


def check_sockets(here: Machine) -> Iterator[Finding]:
    """Yield whether each socket can be created, and what is in its way."""
    for name, path in (("control", here.paths.control), ("query", here.paths.query)):
        yield _place(f"socket {name}", path, is_folder=False)


def listens(path: Path) -> bool:
    """Say whether somebody listens at a Unix socket; nobody can if its path is too long."""
    try:
        address = check_address(path)
    except UsageError:
        return False
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        probe.settimeout(SECONDS)
        try:
            probe.connect(address)
        except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
            return False
        except OSError:
            return True  # it is there, and something is wrong with it
    return True


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files right in a folder that others can read."""
    if not os.access(folder, os.R_OK | os.X_OK) or not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_mode & OTHERS:
            yield path


def _place(name: str, path: Path, *, is_folder: bool) -> Finding:
    """Look at a folder or a socket of ours."""
    kind, close = ("folder", "700") if is_folder else ("socket", "600")
    close = f"chmod {close} '{path}'"
    try:
        (check_way if is_folder else check_address)(path)
        status = path.stat() if is_folder else path.lstat()
    except UsageError as error:
        return bad(name, str(error), error.hint)
    except FileNotFoundError:
        return ok(name, f"{path} {FREE[kind]}")
    except OSError as error:
        return bad(name, f"{path}: {reason(error)}", ELSEWHERE)
    mode, owner = stat.S_IMODE(status.st_mode), status.st_uid
    is_kind = (stat.S_ISDIR if is_folder else stat.S_ISSOCK)(status.st_mode)
    foreign = f"{path} belongs to another user (id {owner})"
    written = bad(name, f"other users can write to {path}", f"check its contents, then: {close}")
    stale = f"{path} was left by a daemon that has ended"
    read = (warn if is_folder else bad)(name, f"other users can {READ[kind]} {path}", close)
    wrong = (
        (not is_kind, bad(name, f"{path} is not a {kind}", "move it away")),
        (owner != os.geteuid(), bad(name, foreign, "move it away, or run this as that user")),
        (is_folder and mode & OTHERS_WRITE, written),
        (
            not is_folder and not listens(path),
            warn(name, stale, "nothing to do: the next daemon replaces it"),
        ),
        (mode & OTHERS, read),
        (
            is_folder and mode != PRIVATE_FOLDER,
            bad(name, f"you lack full access to {path}", close),
        ),
    )
    return next((finding for is_so, finding in wrong if is_so), ok(name, f"{path} is {USED[kind]}"))


def check_python(here: Machine) -> Iterator[Finding]:
    """Yield which Python runs, and whether its cryptography has what the vault needs."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        yield bad("python", f"Python {version} is too old", f"install Python {oldest} or newer")
    else:
        yield ok("python", f"Python {version}, {here.interpreter}")
    try:
        Argon2id(salt=bytes(16), length=32, iterations=1, lanes=1, memory_cost=8)
    except UnsupportedAlgorithm:
        what = "the system's OpenSSL lacks Argon2id, so no vault can be opened"
        yield bad("python", what, OPENSSL)


def check_disk(here: Machine) -> Iterator[Finding]:
    """Yield how much space is free; nothing is disclosed without a record."""
    place = next(each for each in (here.paths.data, *here.paths.data.parents) if each.is_dir())
    free = shutil.disk_usage(place).free
    if free < LITTLE:
        what = f"only {free >> 20} MiB are free at {place}"
        make = bad if free < LEAST else warn
        yield make("disk", what, "free some space: nothing is disclosed without a record")
    else:
        yield ok("disk", f"{free >> 20:,} MiB free at {place}")


def check_user(here: Machine) -> Iterator[Finding]:
    """Yield whether this runs as the user whose agent it is, not through sudo."""
    sudo = here.environment.get("SUDO_USER")
    if os.geteuid() == 0 and sudo and sudo != "root":
        what = "run through sudo: its files belong to root, and the user cannot open them"
        yield bad("user", what, f"run it as {sudo}, without sudo")
    else:
        yield ok("user", f"user id {os.geteuid()}")


def check_environment(here: Machine) -> Iterator[Finding]:
    """Yield where the environment puts our files."""
    home = here.environment.get(HOME)
    if home and not os.path.isabs(home):  # noqa: PTH117  (a text may be empty)
        what = f"{HOME} is {home!r}: a different folder depending on where it runs"
        yield bad("environment", what, "set it to an absolute path")
    elif home:
        yield ok("environment", f"everything is stored under {HOME}")
    elif here.manager == "systemd" and not here.environment.get(RUNTIME):
        what = f"{RUNTIME} is not set: sockets are expected in {here.paths.runtime}"
        fix = f"log in as the user, or set {RUNTIME} to /run/user/{os.geteuid()}"
        yield warn("environment", what, f"{fix}: the service listens there")
    else:
        yield ok("environment", f"sockets are in {here.paths.runtime}")


def check_keyring(here: Machine) -> Iterator[Finding]:
    """Yield whether the desktop's keyring can hold a key; it is never needed."""
    del here
    if not secrets.installed():
        yield ok("keyring", "the extra is not installed, and not needed")
    elif (name := secrets.backend()) is None:
        fix = "start the desktop's keyring, or unlock with the passphrase"
        yield warn("keyring", "the extra is installed, but this session has no keyring", fix)
    else:
        yield ok("keyring", name)
