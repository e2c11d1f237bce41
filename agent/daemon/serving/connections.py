"""How many connections there may be: whoever opens all that he can must not shut out the rest."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import ClassVar
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

    def accept(self) -> tuple[socket.socket, object]:
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


def _count(limit: int) -> int:
    """Return a limit of the system as a number that can be compared."""
    return WANTED if limit == resource.RLIM_INFINITY else limit
