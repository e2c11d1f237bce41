"""The folders and the sockets: whose they are, and who else can look into them."""

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from agent.daemon.checks.finding import Finding, Machine, bad, ok, warn
from agent.errors import UnsafeError, UsageError, reason
from agent.files import OTHERS, OTHERS_WRITE, PRIVATE_FOLDER, check_way
from agent.wire.client import check_address

AT_MOST = 10  # findings about single files: the rest is of the same kind
ELSEWHERE = "mend that, or choose another by RETICENT_HOME"
SECONDS = 2.0  # for a socket to answer


def folders(here: Machine) -> Iterator[Finding]:
    """Yield what there is to say of each of our folders."""
    named = {
        "config": here.paths.config,
        "data": here.paths.data,
        "state": here.paths.state,
        "runtime": here.paths.runtime,
    }
    for name, path in named.items():
        yield _folder(f"folder {name}", path)


def files(here: Machine) -> Iterator[Finding]:
    """Yield which files of ours others can read or change; nothing if none."""
    places = (here.paths.data, here.paths.models, here.paths.state)
    found = [each for place in places for each in _files(place)]
    for path in found[:AT_MOST]:
        yield bad("files", f"others can read {path}", f"chmod 600 '{path}'")
    if not found:
        yield ok("files", "nobody else can read them")


def sockets(here: Machine) -> Iterator[Finding]:
    """Yield whether the sockets can be where they belong, and what lies there that should not."""
    for name, path in (("control", here.paths.control), ("query", here.paths.query)):
        yield _socket(f"socket {name}", path)


def listens(path: Path) -> bool:
    """Say whether somebody listens at a Unix socket; nobody can where its path is too long."""
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


def _folder(name: str, path: Path) -> Finding:
    try:
        check_way(path)
        status = path.stat()
    except UnsafeError as error:
        return bad(name, str(error), error.hint)
    except FileNotFoundError:
        return ok(name, f"{path} is not there yet, and is made when it is needed")
    except OSError as error:
        return bad(name, f"{path}: {reason(error)}", ELSEWHERE)
    mode, owner, close = stat.S_IMODE(status.st_mode), status.st_uid, f"chmod 700 '{path}'"
    foreign = f"{path} belongs to another user (number {owner})"
    open_to_all = f"others can put things into {path}"
    wrong = (
        (not stat.S_ISDIR(status.st_mode), bad(name, f"{path} is not a folder", "move it away")),
        (owner != os.geteuid(), bad(name, foreign, "move it away, or run this as that user")),
        (mode & OTHERS_WRITE, bad(name, open_to_all, f"look at what lies in it, then: {close}")),
        (mode & OTHERS, warn(name, f"others can look into {path}", close)),
        (mode != PRIVATE_FOLDER, bad(name, f"you cannot use {path} freely", close)),
    )
    return next((finding for is_so, finding in wrong if is_so), ok(name, f"{path}"))


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files right in a folder that others can read."""
    if not os.access(folder, os.R_OK | os.X_OK) or not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_mode & OTHERS:
            yield path


def _socket(name: str, path: Path) -> Finding:
    try:
        check_address(path)
        status = path.lstat()
    except UsageError as error:
        return bad(name, str(error), error.hint)
    except FileNotFoundError:
        return ok(name, f"{path} is free")
    except OSError as error:
        return bad(name, f"{path}: {reason(error)}", ELSEWHERE)
    if not stat.S_ISSOCK(status.st_mode):
        return bad(name, f"{path} is no socket, and in the way", "move it away")
    foreign, stale = f"{path} is another user's", f"{path} was left by a daemon that is gone"
    seen, close = f"others can connect to {path}", f"chmod 600 '{path}'"
    wrong = (
        (status.st_uid != os.geteuid(), bad(name, foreign, "move it away")),
        (not listens(path), warn(name, stale, "nothing: the next daemon replaces it")),
        (status.st_mode & OTHERS, bad(name, seen, close)),
    )
    return next((finding for is_so, finding in wrong if is_so), ok(name, f"{path} is listened to"))
