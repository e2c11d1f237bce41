"""Checks of the machine: environment, folders and files."""

import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from agent.daemon.artifacts import Machine
from agent.errors import UsageError, reason
from agent.files import OTHERS, OTHERS_WRITE, PRIVATE_FOLDER, check_way
from agent.paths import HOME, RUNTIME
from agent.wire.client import check_address
from agent.wire.state import Finding

AT_MOST = 10  # findings about single files: the rest is of the same kind
ELSEWHERE = "fix that, or choose another folder with RETICENT_HOME"
SECONDS = 2.0  # for a socket to answer


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
        yield _folder(f"folder {name}", getattr(here.paths, name))


def _folder(name: str, path: Path) -> Finding:
    try:
        check_way(path)
        status = path.stat()
    except UsageError as error:
        return bad(name, str(error), error.hint)
    except FileNotFoundError:
        return ok(name, f"{path} does not exist yet; it is created when needed")
    except OSError as error:
        return bad(name, f"{path}: {reason(error)}", ELSEWHERE)
    mode, owner, close = stat.S_IMODE(status.st_mode), status.st_uid, f"chmod 700 '{path}'"
    theirs = f"{path} belongs to another user (id {owner})"
    check = f"check its contents, then: {close}"
    wrong = (
        (not stat.S_ISDIR(status.st_mode), bad, f"{path} is not a folder", "move it away"),
        (owner != os.geteuid(), bad, theirs, "move it away, or run this as that user"),
        (mode & OTHERS_WRITE, bad, f"other users can write to {path}", check),
        (mode & OTHERS, warn, f"other users can look into {path}", close),
        (mode != PRIVATE_FOLDER, bad, f"you lack full access to {path}", close),
    )
    found = (make(name, what, fix) for is_so, make, what, fix in wrong if is_so)
    return next(found, ok(name, f"{path} is private"))


def check_files(here: Machine) -> Iterator[Finding]:
    """Yield which of our files other users can read."""
    places = (here.paths.data, here.paths.models, here.paths.state)
    readable = [each for place in places for each in _readable(place)]
    for path in readable[:AT_MOST]:
        yield bad("files", f"other users can read {path}", f"chmod 600 '{path}'")
    if not readable:
        yield ok("files", "no other user can read them")


def _readable(folder: Path) -> Iterator[Path]:
    """Yield the files right in a folder that others can read."""
    if os.access(folder, os.R_OK | os.X_OK) and folder.is_dir():
        for path in sorted(folder.iterdir()):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and status.st_mode & OTHERS:
                yield path


def listens(path: Path) -> bool:
    """Say whether somebody listens at a Unix socket; nobody can if its path is too long."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        probe.settimeout(SECONDS)
        try:
            probe.connect(check_address(path))
        except (UsageError, FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
            return False
        except OSError:
            return True  # it is there, and something is wrong with it
    return True


def check_environment(here: Machine) -> Iterator[Finding]:
    """Yield what runs us, where the environment puts our files, and whether they become root's."""
    yield ok("python", f"Python {sys.version.split()[0]}, {here.interpreter}")
    home, sudo = here.environment.get(HOME), here.environment.get("SUDO_USER", "root")
    if os.geteuid() == 0 and sudo != "root":
        what = "run through sudo: its files belong to root, and the user cannot open them"
        yield bad("environment", what, f"run it as {sudo}, without sudo")
    if home and not os.path.isabs(home):  # noqa: PTH117  (a text may be empty)
        what = f"{HOME} is {home!r}: a different folder depending on where it runs"
        yield bad("environment", what, "set it to an absolute path")
    elif home or here.mac or here.environment.get(RUNTIME):
        yield ok("environment", f"everything is under {home}" if home else "sockets have a folder")
    else:
        what = f"{RUNTIME} is not set: sockets are expected in {here.paths.runtime}"
        fix = f"log in as the user, or set {RUNTIME} to /run/user/{os.geteuid()}"
        yield warn("environment", what, f"{fix}: the service listens there")
