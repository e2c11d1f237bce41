"""The daemon's own sockets: one daemon, for one user, with a limited number of connections."""

import fcntl
import os
import resource
import socket
import stat
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

from agent.daemon.log import LOG
from agent.errors import DaemonError, reason
from agent.files import PRIVATE
from agent.paths import Paths
from agent.wire.client import check_address, peer_uid
from agent.wire.routes import CONTROL, QUERY, Door

WANTED = 4096  # files that may be open at once, connections among them
PARTS = 4  # of these: one for each of three listeners, and one for our own files
MOST = 512  # connections of a listener that only this user reaches
BACKLOG = 1024  # connections that may wait to be taken
FIRST = 3  # the descriptor of the first socket that is handed over
_HINT = "set FileDescriptorName to control in one socket unit, to query in the other"


@contextmanager
def more_files() -> Iterator[None]:
    """Let more files be open at once for as long as this lasts, as many as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(WANTED, _count(hard))
    with ExitStack() as stack:
        if wanted > _count(soft):
            with suppress(OSError, ValueError):  # macOS has a limit of its own below
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
                stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        yield


def share() -> int:
    """Return how many connections one listener may have, so that files are left for the others."""
    return _count(resource.getrlimit(resource.RLIMIT_NOFILE)[0]) // PARTS


class Capped(socket.socket):
    """A listening socket with ``most`` connections at a time: more are closed unread."""

    most: ClassVar[int] = MOST

    def __init__(
        self, family: int = -1, kind: int = -1, protocol: int = -1, fileno: int | None = None
    ) -> None:
        """Make a socket, or take one that is open."""
        super().__init__(family, kind, protocol, fileno)
        self._taken: WeakSet[socket.socket] = WeakSet()
        self._told = False

    def accept(self) -> tuple[socket.socket, Any]:
        """Take a connection; ConnectionAbortedError, which asyncio passes over, for one too many.

        To let it wait would be kinder, but asyncio asks again at once for what waits.
        """
        opened, address = super().accept()
        standing = sum(each.fileno() >= 0 for each in self._taken)
        full = standing >= min(self.most, share())
        if full and not self._told:
            LOG.warning("too many connections: refusing more")
        self._told = full
        if not full:
            self._taken.add(opened)
            return opened, address
        opened.close()
        raise ConnectionAbortedError


class Proven(Capped):
    """A listening socket that anybody reaches, where those who may ask have places of their own.

    A connection is a stranger's until it is `proven`. Where strangers have all their places, the
    oldest is closed for the next: a caller that proves itself at once is answered.
    """

    def __init__(
        self, family: int = -1, kind: int = -1, protocol: int = -1, fileno: int | None = None
    ) -> None:
        """Make a socket, or take one that is open."""
        super().__init__(family, kind, protocol, fileno)
        self._strangers: dict[Any, socket.socket] = {}  # by their addresses, oldest first
        self._known: dict[Any, socket.socket] = {}

    @property
    def places(self) -> int:
        """How many there are for strangers, for those who may ask, and for what is being closed."""
        return min(self.most, share()) // 3

    def accept(self) -> tuple[socket.socket, Any]:
        """Take a connection, as in `Capped`; a stranger in the place of the oldest, if need be."""
        opened, address = super().accept()
        self._strangers = _open(self._strangers)
        if len(self._strangers) >= self.places:
            oldest = self._strangers.pop(next(iter(self._strangers)))
            with suppress(OSError):  # it may have gone by itself
                oldest.shutdown(socket.SHUT_RDWR)  # and asyncio closes it
        self._strangers[address] = opened
        return opened, address

    def proven(self, address: object) -> None:
        """Give a connection a place that no stranger can take, as long as there is one."""
        self._known = _open(self._known)
        if address in self._strangers and len(self._known) < self.places:
            self._known[address] = self._strangers.pop(address)


def _open(all_: dict[Any, socket.socket]) -> dict[Any, socket.socket]:
    """Return those of some connections that are open."""
    return {address: each for address, each in all_.items() if each.fileno() >= 0}


def _count(limit: int) -> int:
    """Return a limit of the system as a number that can be compared."""
    return WANTED if limit == resource.RLIM_INFINITY else limit


class OwnSocket(Capped):
    """A listening socket whose connections are all of this user: others are closed unread."""

    def accept(self) -> tuple[socket.socket, object]:
        """Take a connection; ConnectionAbortedError, which asyncio passes over, for a refused."""
        opened, address = super().accept()
        if peer_uid(opened) == os.geteuid():
            return opened, address
        opened.close()
        LOG.warning("refused a connection from another user")
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
            raise _already_running(os.pread(descriptor, 32, 0)) from None
        except OSError as error:
            raise DaemonError(reason(error), "fix that, or set RETICENT_HOME", str(path)) from error
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
        raise DaemonError(what, "fix that, or set RETICENT_HOME", str(path)) from error


def _remove_stale(path: Path) -> None:
    """Remove the socket of a daemon that is gone; DaemonError if it is something else."""
    if not stat.S_ISSOCK(path.lstat().st_mode):
        raise DaemonError("a file that is not a socket is in the way", "move it away", str(path))
    path.unlink()


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells one file from another of the same name."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _already_running(written: bytes) -> DaemonError:
    """Return the error for a daemon that runs already, naming it by what it wrote."""
    text = written.decode("ascii", "replace").strip()
    if not text.isdecimal():  # it has only just begun
        return DaemonError("a daemon is already running", "use that one")
    return DaemonError(
        f"a daemon is already running (process {text})", f"use it, or run: kill {text}"
    )


def adopted(
    environment: MutableMapping[str, str], process: int, first: int = FIRST
) -> dict[str, OwnSocket]:
    """Return the sockets that were handed to this process, by name; none where it was not.

    The variables that say so are taken away, so that no child believes them. Raises DaemonError
    for one that is not named after a door, or is no Unix socket that listens.
    """
    given = [environment.pop(f"LISTEN_{name}", "") for name in ("PID", "FDS", "FDNAMES")]
    environment.pop("LISTEN_PIDFDID", None)
    if given[0] != str(process) or not given[1].isdecimal():
        return {}
    names = given[2].split(":")
    count = int(given[1])
    if len(names) != count or not {*names} <= {CONTROL, QUERY} or len({*names}) < count:
        what = f"systemd passed sockets with unexpected names: {given[2] or 'none'}"
        raise DaemonError(what, _HINT)
    return {name: _adopted(first + index, name) for index, name in enumerate(names)}


def notify(text: str, environment: Mapping[str, str]) -> None:
    """Tell systemd how this service is, if it wants to know; one that is gone is no error."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # an abstract address
        address = "\0" + address[1:]
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(text.encode(), address)


def _adopted(descriptor: int, name: str) -> OwnSocket:
    """Return the socket behind a descriptor, kept from our children."""
    with ExitStack() as refused:
        try:
            taken = refused.enter_context(OwnSocket(fileno=descriptor))
            listens = taken.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        except OSError as error:
            raise DaemonError(f"what systemd passed as {name} is not a socket", _HINT) from error
        if (taken.family, taken.type) != (socket.AF_UNIX, socket.SOCK_STREAM) or not listens:
            hint = "set ListenStream to a path in that socket unit, and leave out Accept"
            what = f"what systemd passed as {name} is not a Unix stream socket"
            raise DaemonError(what, hint)
        os.set_inheritable(descriptor, False)  # noqa: FBT003  (os takes it by place)
        refused.pop_all()
    return taken
