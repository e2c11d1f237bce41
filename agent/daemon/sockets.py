"""The daemon's own sockets: one daemon, for one user, with a limited number of connections."""

import fcntl
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

from agent.daemon.events import LOG
from agent.errors import DaemonError, UsageError, reason
from agent.files import PRIVATE
from agent.paths import Paths
from agent.wire.client import check_address, peer_uid, tcp_owner
from agent.wire.routes import CONTROL, QUERY, Door

MOST = 256  # connections of a listener: files are left for the others, and for our own
BACKLOG = 1024  # connections that may wait to be taken
SECONDS = 2.0  # for a socket of ours to answer


class Listener(socket.socket):
    """A listening socket with MOST connections at a time: more are closed unread.

    It takes those of this user only, and closes others unread; at a TCP port on Linux alone.
    """

    def __init__(self, family: int = -1, kind: int = -1, *, fileno: int | None = None) -> None:
        """Make a socket of a family and kind, or take the one that a number stands for."""
        super().__init__(family, kind, fileno=fileno)
        self._taken: WeakSet[socket.socket] = WeakSet()
        self._warned = False

    def accept(self) -> tuple[socket.socket, Any]:
        """Take a connection; ConnectionAbortedError, which asyncio passes over, for a refused.

        To let one too many wait would be kinder, but asyncio asks again at once for what waits.
        """
        opened, address = super().accept()
        unix = self.family == socket.AF_UNIX
        peer = peer_uid(opened) if unix else tcp_owner(address, opened.getsockname())
        if peer not in {os.geteuid(), None}:
            opened.close()
            LOG.warning("refused a connection from another user")
            raise ConnectionAbortedError
        full = sum(each.fileno() >= 0 for each in self._taken) >= MOST
        if full and not self._warned:
            LOG.warning("too many connections: refusing more")
        self._warned = full
        if full:
            opened.close()
            raise ConnectionAbortedError
        self._taken.add(opened)
        return opened, address


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
            stack.callback(os.ftruncate, descriptor, 0)  # at the end, while it is held
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
        except BlockingIOError:
            what, number = "a daemon is already running", os.pread(descriptor, 32, 0).strip()
            if not number.isdigit():  # it has only just begun
                raise DaemonError(what, "use that one") from None
            hint = "use it, or run: reticent daemon stop"
            raise DaemonError(f"{what} (process {number.decode()})", hint) from None
        except OSError as error:
            raise DaemonError(reason(error), "fix that, or set RETICENT_HOME", str(path)) from error
        yield


@contextmanager
def doors(paths: Paths) -> Iterator[dict[Door, Listener]]:
    """Listen at both doors, which are removed at the end.

    Call it only within `alone`: it replaces what an earlier daemon left. Raises DaemonError, or
    UsageError for a path that is too long.
    """
    places: dict[Door, Path] = {CONTROL: paths.control, QUERY: paths.query}
    with ExitStack() as stack:
        yield {door: stack.enter_context(_own(path)) for door, path in places.items()}


@contextmanager
def _own(path: Path) -> Iterator[Listener]:
    """Listen at a path, replacing a stale socket; remove it at the end.

    The socket is 0600 from the moment it exists. DaemonError where something else lies there.
    """
    address = check_address(path)
    with Listener(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        try:
            if os.path.lexists(path):
                if not stat.S_ISSOCK(path.lstat().st_mode):
                    what = "a file that is not a socket is in the way"
                    raise DaemonError(what, "move it away", str(path))
                path.unlink()
            before = os.umask(0o177)
            try:
                listening.bind(address)
            finally:
                os.umask(before)
            listening.listen(BACKLOG)
        except OSError as error:
            what = f"cannot listen here: {reason(error)}"
            raise DaemonError(what, "fix that, or set RETICENT_HOME", str(path)) from error
        try:
            yield listening
        finally:
            path.unlink(missing_ok=True)


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
