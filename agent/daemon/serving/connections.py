"""How many connections there may be: whoever opens all that he can must not shut out the rest."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, ClassVar
from weakref import WeakSet

from agent.daemon.process.log import LOG

WANTED = 4096  # files that may be open at once, connections among them
PARTS = 4  # of these: one for each of three listeners, and one for our own files
MOST = 512  # connections of a listener that only this user reaches


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
            LOG.warning("there are too many connections: more are refused")
        self._told = full
        if not full:
            self._taken.add(opened)
            return opened, address
        opened.close()
        raise ConnectionAbortedError


class Proven(Capped):
    """A listening socket that anybody reaches, where those who may ask have places of their own.

    A connection is a stranger's until it is `proven`. Where strangers have all their places, the
    one that has stood longest is closed for the next: whoever proves himself at once is answered.
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
