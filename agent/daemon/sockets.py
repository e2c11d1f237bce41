"""The daemon's own sockets: one daemon, for one user, with a limited number of connections."""

import fcntl
import os
import resource
import secrets
import socket
import stat
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

from agent.daemon.events import LOG
from agent.errors import DaemonError, UsageError, reason
from agent.files import OTHERS, PRIVATE, create_private, read_bytes
from agent.paths import Paths
from agent.wire.client import check_address, peer_uid
from agent.wire.routes import CONTROL, QUERY, Door

WANTED = 4096  # files that may be open at once, connections among them
PARTS = 4  # of these: one for each of three listeners, and one for our own files
MOST = 512  # connections of a listener that only this user reaches
MOST_AT_PORT = 96  # a third of them with the token: a browser opens six
ADDRESS = "127.0.0.1"
BACKLOG = 1024  # connections that may wait to be taken
TOKEN = "listen.token"  # noqa: S105  (the name of its file)
_LONGEST, _SHORTEST = 200, 32  # bytes of a token
SECONDS = 2.0  # for a socket of ours to answer
FIRST = 3  # the descriptor of the first socket that is handed over
_HINT = "set FileDescriptorName to control in one socket unit, to query in the other"


@contextmanager
def more_files() -> Iterator[None]:
    """Raise the limit on open files, as far as the system allows and for as long as this lasts."""
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

    most: int = MOST

    def __init__(self, family: int = -1, kind: int = -1, *, fileno: int | None = None) -> None:
        """Make a socket of a family and kind, or take the one that a number stands for."""
        super().__init__(family, kind, fileno=fileno)
        self._taken: WeakSet[socket.socket] = WeakSet()
        self._warned = False

    def accept(self) -> tuple[socket.socket, Any]:
        """Take a connection; ConnectionAbortedError, which asyncio passes over, for one too many.

        To let it wait would be kinder, but asyncio asks again at once for what waits.
        """
        opened, address = super().accept()
        standing = sum(each.fileno() >= 0 for each in self._taken)
        full = standing >= min(self.most, share())
        if full and not self._warned:
            LOG.warning("too many connections: refusing more")
        self._warned = full
        if full:
            opened.close()
            raise ConnectionAbortedError
        self._taken.add(opened)
        return opened, address


class OwnSocket(Capped):
    """A listening socket whose connections are all of this user: others are closed unread."""

    def accept(self) -> tuple[socket.socket, Any]:
        """Take a connection; ConnectionAbortedError, which asyncio passes over, for a refused."""
        opened, address = super().accept()
        if peer_uid(opened) == os.geteuid():
            return opened, address
        opened.close()
        LOG.warning("refused a connection from another user")
        raise ConnectionAbortedError


class PortSocket(Capped):
    """A listening socket that anybody reaches, where those who may ask have places of their own.

    A connection is a stranger's until it is `proven`. Where strangers have all their places, the
    oldest is closed for the next: a caller that proves itself at once is answered.
    """

    def __init__(self, *, fileno: int, most: int = MOST_AT_PORT) -> None:
        """Take a socket that is open."""
        super().__init__(fileno=fileno)
        self.most = most
        self._strangers: dict[Any, socket.socket] = {}  # by their addresses, oldest first
        self._proven: dict[Any, socket.socket] = {}

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
        self._proven = _open(self._proven)
        if address in self._strangers and len(self._proven) < self.places:
            self._proven[address] = self._strangers.pop(address)


def _open(connections: dict[Any, socket.socket]) -> dict[Any, socket.socket]:
    """Return those of some connections that are open."""
    return {address: each for address, each in connections.items() if each.fileno() >= 0}


def _count(limit: int) -> int:
    """Return a limit of the system as a number that can be compared."""
    return WANTED if limit == resource.RLIM_INFINITY else limit


def at_port(port: int, most: int = MOST_AT_PORT) -> PortSocket:
    """Return a socket that listens at a port of this machine, 0 for any; DaemonError if not.

    ``most``: connections at a time.
    """
    if port not in range(2**16):
        raise DaemonError(f"there is no port {port}", "choose one from 1024 to 65535")
    try:
        listening = socket.create_server((ADDRESS, port), backlog=BACKLOG)
    except OSError as error:
        what = f"cannot listen at {ADDRESS}:{port}: {reason(error)}"
        raise DaemonError(what, "choose another") from None
    return PortSocket(fileno=listening.detach(), most=most)


def token_of(path: Path) -> str:
    """Return the token in a file, made if it is missing.

    Raises DaemonError for one that others can read or that holds too little, UsageError where
    the file cannot be read or made.
    """
    if not path.exists():
        create_private(secrets.token_urlsafe(_SHORTEST).encode() + b"\n", path)
    text, again = read_bytes(path, _LONGEST).strip(), "remove it; a new one is made"
    if path.stat().st_mode & OTHERS:
        raise DaemonError("other users can read this token", again, str(path))
    if len(text) < _SHORTEST or not text.isascii():
        raise DaemonError("not a token", again, str(path))
    return text.decode("ascii")


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
def doors(paths: Paths, adopted: Mapping[str, OwnSocket]) -> Iterator[dict[Door, OwnSocket]]:
    """Listen at both doors: at the sockets adopted, and at our own for the rest.

    Our own are removed at the end. Call it only within `alone`: it replaces what an
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
    """Listen at a path, replacing a stale socket; remove it at the end if it is still ours.

    The socket is 0600 from the moment it exists. DaemonError where something else lies there.
    """
    address = check_address(path)
    with OwnSocket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
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
        ours = path.lstat()
        try:
            yield listening
        finally:
            with suppress(FileNotFoundError):
                if os.path.samestat(path.lstat(), ours):
                    path.unlink()


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
    names, count = given[2].split(":"), int(given[1])
    if len(names) != count or not {*names} <= {CONTROL, QUERY} or len({*names}) < count:
        what = f"systemd passed sockets with unexpected names: {given[2] or 'none'}"
        raise DaemonError(what, _HINT)
    with ExitStack() as refused:
        sockets = {}
        for descriptor, name in enumerate(names, first):
            try:
                taken = refused.enter_context(OwnSocket(fileno=descriptor))
                listens = taken.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            except OSError as error:
                what = f"what systemd passed as {name} is not a socket"
                raise DaemonError(what, _HINT) from error
            if (taken.family, taken.type) != (socket.AF_UNIX, socket.SOCK_STREAM) or not listens:
                hint = "set ListenStream to a path in that socket unit, and leave out Accept"
                what = f"what systemd passed as {name} is not a Unix stream socket"
                raise DaemonError(what, hint)
            os.set_inheritable(descriptor, False)  # noqa: FBT003  (os takes it by place)
            sockets[name] = taken
        refused.pop_all()
    return sockets


def notify(text: str, environment: Mapping[str, str]) -> None:
    """Tell systemd how this service is, if it wants to know; one that is gone is no error."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # an abstract address
        address = "\0" + address[1:]
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(text.encode(), address)


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
