"""One HTTP connection over a Unix socket, to a daemon that runs as the same user."""

import http.client
import os
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from agent.errors import DaemonError
from agent.wire.address import check_address
from agent.wire.peer import peer_uid

HOST = "localhost"  # what the header Host says; no name is looked up
ABSENT = "the daemon does not run"
START = "start it with `reticent daemon`, or `reticent service install`"
RESTART = "stop the daemon, and start it again with `reticent daemon`"


class Connection(http.client.HTTPConnection):
    """HTTP/1.1 over a Unix socket; ``timeout``: seconds of silence, None to wait for ever."""

    def __init__(self, path: Path, timeout: float | None) -> None:
        """Keep where the socket is; nothing is opened yet."""
        super().__init__(HOST, timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Open the socket; DaemonError if another user listens there, OSError as the system has.

        UsageError where its path is too long.
        """
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with ExitStack() as undo:
            undo.callback(opened.close)
            opened.settimeout(self.timeout)
            opened.connect(check_address(self._path))
            _check_owner(opened)
            self.sock = opened
            undo.pop_all()

    def renew(self) -> None:
        """Close what the daemon has closed meanwhile, or where it said more than was asked."""
        opened: socket.socket | None = self.sock
        if opened is None:
            return
        waiting = select.poll()
        waiting.register(opened, select.POLLIN)
        if waiting.poll(0):
            self.close()


@contextmanager
def spoken() -> Iterator[None]:
    """Turn all that can go wrong with a connection into a DaemonError."""
    try:
        yield
    except (FileNotFoundError, ConnectionRefusedError):
        raise DaemonError(ABSENT, START) from None
    except PermissionError:
        raise _foreign() from None
    except BlockingIOError:  # what a Unix socket says whose queue of callers is full
        raise DaemonError("the daemon has too many callers at once", "try again") from None
    except TimeoutError:
        hint = f"try again; if it stays so, {RESTART}"
        raise DaemonError("the daemon said nothing in time", hint) from None
    except (http.client.HTTPException, OSError):
        what = "the daemon broke off, or does not speak HTTP"
        raise DaemonError(what, f"see its log; if it stays so, {RESTART}") from None


def _check_owner(opened: socket.socket) -> None:
    """Raise DaemonError where another user listens: a passphrase may be about to be sent."""
    if peer_uid(opened) != os.geteuid():
        raise _foreign()


def _foreign() -> DaemonError:
    return DaemonError("the daemon's socket is not ours", "run this as the user who started it")
