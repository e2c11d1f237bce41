"""The daemon's own sockets: one daemon at a time, and only for the user who started it."""

import fcntl
import os
import socket
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from agent.daemon.process.log import LOG
from agent.daemon.serving.connections import Capped
from agent.errors import DaemonError, reason
from agent.files import PRIVATE
from agent.paths import Paths
from agent.wire.client import check_address, peer_uid
from agent.wire.routes import CONTROL, QUERY, Door

BACKLOG = 1024  # connections that may wait to be taken


class OwnSocket(Capped):
    """A listening socket whose connections are all of this user: others are closed unread."""

    def accept(self) -> tuple[socket.socket, object]:
        """Take a connection; ConnectionAbortedError, which asyncio passes over, for a refused."""
        opened, address = super().accept()
        if peer_uid(opened) == os.geteuid():
            return opened, address
        opened.close()
        LOG.warning("a connection of another user was refused")
        raise ConnectionAbortedError


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Be the only daemon for as long as this lasts; DaemonError where another one is.

    The system lets go of the lock however a process ends. The file stays: to remove it would let
    two daemons hold two files of one name.
    """
    with ExitStack() as stack:
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(path, flags, PRIVATE)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            stack.callback(os.ftruncate, descriptor, 0)  # in the end nobody's, while we hold it
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
        except BlockingIOError:
            raise _taken(os.pread(descriptor, 32, 0)) from None
        except OSError as error:
            raise DaemonError(
                reason(error), "mend that, or set RETICENT_HOME", str(path)
            ) from error
        yield


@contextmanager
def doors(paths: Paths, adopted: Mapping[str, OwnSocket]) -> Iterator[dict[Door, OwnSocket]]:
    """Listen at both doors: at the sockets adopted, and at our own for the rest.

    Our own are removed in the end. Only he who is `alone` may call it: it replaces what an
    earlier daemon left. Raises DaemonError, or UsageError for a path that is too long.
    """
    places: dict[Door, Path] = {CONTROL: paths.control, QUERY: paths.query}
    with ExitStack() as stack:
        yield {
            door: stack.enter_context(adopted[door] if door in adopted else _own(path))
            for door, path in places.items()
        }


@contextmanager
def _own(path: Path) -> Iterator[OwnSocket]:
    """Listen at a path; in the end, remove it if what lies there is still ours."""
    with OwnSocket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        _bind(made, path)
        ours = _identity(path)
        try:
            yield made
        finally:
            if _identity(path) == ours:
                path.unlink(missing_ok=True)


def _bind(made: OwnSocket, path: Path) -> None:
    """Bind a socket that is 0600 from the moment it exists, over one that nobody listens at."""
    address = check_address(path)
    try:
        if path.is_symlink() or path.exists():
            _remove_stale(path)
        before = os.umask(0o177)
        try:
            made.bind(address)
        finally:
            os.umask(before)
        made.listen(BACKLOG)
    except OSError as error:
        what = f"cannot listen here: {reason(error)}"
        raise DaemonError(what, "mend that, or set RETICENT_HOME", str(path)) from error


def _remove_stale(path: Path) -> None:
    """Remove the socket of a daemon that is gone; DaemonError if it is something else."""
    if not stat.S_ISSOCK(path.lstat().st_mode):
        raise DaemonError("something that is no socket is in the way", "move it away", str(path))
    path.unlink()


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells one file from another of the same name."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _taken(written: bytes) -> DaemonError:
    """Return the error for a daemon that runs already, naming it by what it wrote."""
    text = written.decode("ascii", "replace").strip()
    if not text.isdecimal():  # it has only just begun
        return DaemonError("a daemon runs already", "use that one")
    return DaemonError(f"a daemon runs already (process {text})", f"use it, or run: kill {text}")
