"""The client: one call by the name of its route, over the daemon's Unix socket."""

import http.client
import os
import socket
import struct
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from agent.errors import AbsentError, DaemonError, ReticentError, UsageError
from agent.paths import HOME
from agent.wire.base import ASKER, JSON_TYPE, MOST_BYTES, UNATTENDED, Fault
from agent.wire.routes import ROUTES, error_of, target_of
from agent.wire.state import Event

LISTENS = "0A"  # as proc(5) has it
NOBODY = -1
_LINUX_PEER = struct.Struct("3i")  # process, user, group: unix(7)
_BSD_PEER = struct.Struct("2I")  # version, user: the start of struct xucred, sys/ucred.h
_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1  # of sys/un.h; Python does not name them
LONGEST = 100  # bytes; a system that we know takes 103 at least
HOST = "localhost"  # what the header Host says; no name is looked up
ABSENT = "the daemon is not running"
START = "start it with `reticent daemon`, or `reticent connect system`"
FOREIGN = "the daemon's socket belongs to another user", "run this as the user who started it"
RESTART = "stop the daemon, and start it again with `reticent daemon`"
MEDIA_TYPE = "text/event-stream"
MISUNDERSTOOD = (
    "this version does not understand the daemon's answer",
    f"it may be of another version: {RESTART}",
)
TIMEOUT = 60.0  # seconds; a key derivation takes about one
LARGEST = 64 << 20  # bytes of an answer; 10,000 entries of a ledger have fewer
OK = 200
_BY_NAME = {route.name: route for route in ROUTES}
_JSON = {"Content-Type": JSON_TYPE}
_ALONE = {UNATTENDED: "?1"}  # a Boolean of RFC 9651


def tcp_owner(near: tuple[str, int], far: tuple[str, int] | None = None) -> int | None:
    """Ask whose socket of this machine is connected from an IPv4 address to another.

    ``far``: that one, None for who listens at ``near``. NOBODY where there is none, None elsewhere
    than on Linux. Source: proc(5).
    """
    ends = [near] if far is None else [near, far]
    numbers = (int.from_bytes(socket.inet_aton(host), sys.byteorder) for host, _ in ends)
    wanted = [f"{each:08X}:{port:04X}" for each, (_, port) in zip(numbers, ends, strict=True)]
    for table in map(Path, ("/proc/net/tcp", "/proc/net/tcp6")):  # an IPv6 socket may speak IPv4
        for line in table.read_text().splitlines()[1:] if table.exists() else ():
            _, *both, state, _, _, _, uid = line.split()[:8]
            if all(map(str.endswith, both, wanted)) and (far is not None or state == LISTENS):
                return int(uid)
    return NOBODY if sys.platform == "linux" else None


def peer_uid(opened: socket.socket) -> int:
    """Ask who is at the other end of a Unix socket, NOBODY where the system does not say.

    Elsewhere than on Linux it is untried.
    """
    try:
        if sys.platform == "linux":
            raw = opened.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX_PEER.size)
            return int(_LINUX_PEER.unpack(raw)[1])
        else:  # noqa: RET505  (so that mypy sees a branch for another system)
            raw = opened.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _BSD_PEER.size)
            return int(_BSD_PEER.unpack(raw)[1])
    except (OSError, struct.error):
        return NOBODY


def check_address(path: Path) -> str:
    """Check the path of a socket, as the system takes it; UsageError if it is too long."""
    length = len(os.fsencode(path))
    if length <= LONGEST:
        return str(path)
    what = f"the path of the socket has {length} bytes, and the limit is {LONGEST}"
    raise UsageError(what, f"set {HOME} to a shorter path", str(path))


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
            if peer_uid(opened) != os.geteuid():  # a passphrase may be about to be sent
                raise DaemonError(*FOREIGN)
            self.sock = opened
            undo.pop_all()


@contextmanager
def daemon_errors() -> Iterator[None]:
    """Turn any failure of a connection into a DaemonError."""
    try:
        yield
    except (FileNotFoundError, ConnectionRefusedError):
        raise AbsentError(ABSENT, START) from None
    except PermissionError:
        raise DaemonError(*FOREIGN) from None
    except BlockingIOError:  # what a Unix socket says whose queue of callers is full
        raise DaemonError("the daemon has too many callers at once", "try again") from None
    except TimeoutError:
        hint = f"try again; if that does not help, {RESTART}"
        raise DaemonError("the daemon did not answer in time", hint) from None
    except (http.client.HTTPException, OSError):
        what = "the daemon broke off or does not speak HTTP"
        raise DaemonError(what, f"see its log; if that does not help, {RESTART}") from None


def event_data(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the data of each event, a line each, without one that is cut off at the end.

    Comments, which keep a quiet stream alive, and other fields are passed over. DaemonError for a
    line of over MOST_BYTES bytes.
    """
    for line in lines:
        if len(line) > MOST_BYTES:
            raise DaemonError("the daemon sent an event that is too large", RESTART)
        if line.startswith(b"data: ") and line.endswith(b"\n"):
            yield line[len(b"data: ") :]


class Client:
    """Calls to the daemon behind one socket, from any thread.

    ``path``: of the socket; ``timeout``: seconds of silence after which a call fails;
    ``attended``: false for calls without a user behind them, which do not keep the vault open;
    ``by``: who asks, which the query socket reads, None for a program.
    """

    def __init__(
        self,
        path: Path,
        timeout: float = TIMEOUT,
        *,
        attended: bool = True,
        by: str | None = None,
    ) -> None:
        """Keep where the socket is; each call opens a connection of its own."""
        self._path, self._timeout = path, timeout
        self._headers = ({} if attended else _ALONE) | ({} if by is None else {ASKER: by})
        self._opened: set[socket.socket] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let `events` end, and a call fail, which another thread waits for."""
        for opened in [*self._opened]:
            with suppress(OSError):  # it has ended meanwhile
                opened.shutdown(socket.SHUT_RDWR)

    def call(self, name: str, body: msgspec.Struct | None = None, /, **parameters: Any) -> Any:  # noqa: ANN401  (of the route's types)
        """Make the call of a route, and decode its answer as the type that it gives.

        ``body``: of the type that it takes; ``parameters``: of its path and query, None for one
        to leave out. Raises the error that the daemon answers with, DaemonError where it does not
        run or gives an invalid answer, UsageError where the call is too large or not text.
        """
        route = _BY_NAME[name]
        try:
            target = target_of(route, parameters)
            data = b"" if body is None else msgspec.json.encode(body)
        except UnicodeEncodeError:  # what is no UTF-8 comes into a program as lone surrogates
            hint = "type it in a terminal that uses UTF-8"
            raise UsageError("part of this is not text in UTF-8", hint) from None
        if len(data) > MOST_BYTES:
            what = f"this has {len(data):,} bytes, and the daemon takes at most {MOST_BYTES:,}"
            raise UsageError(what, "send less at once")
        with self._answer(route.method, target, data) as (response, _):
            return _decoded(_body(response), route.gives)

    def events(self, silence: float | None = None) -> Iterator[Event]:
        """Yield what happens, on a connection of its own, opened with the first event asked for.

        It ends when the daemon does, in whatever way; connecting again is the caller's.
        ``silence``: seconds without a word, not even a comment, after which it is a DaemonError;
        None for never.
        """
        route = _BY_NAME["events"]
        with self._answer(route.method, route.path) as (response, opened):
            if response.headers.get_content_type() != MEDIA_TYPE:
                raise DaemonError(*MISUNDERSTOOD)
            opened.settimeout(silence)
            lines = iter(lambda: response.readline(MOST_BYTES + 1), b"")
            for data in event_data(lines):
                yield _decoded(data, route.gives)

    @contextmanager
    def _answer(
        self, method: str, target: str, data: bytes = b""
    ) -> Iterator[tuple[http.client.HTTPResponse, socket.socket]]:
        """Make a request on a connection of its own; raises what the daemon refuses it with."""
        connection = Connection(self._path, self._timeout)
        headers = self._headers | (_JSON if data else {})
        with closing(connection), daemon_errors():
            connection.request(method, target, data or None, headers)
            opened = connection.sock  # which a response that ends with it would let go
            self._opened.add(opened)
            try:
                with connection.getresponse() as response:
                    if response.status != OK:
                        raise _refusal(response.status, _body(response))
                    yield response, opened
            finally:
                self._opened.discard(opened)


def _body(response: http.client.HTTPResponse) -> bytes:
    """Read the body of an answer, if it is whole and not too large."""
    if (response.length or 0) <= LARGEST:
        data = response.read(LARGEST + 1)
        if response.length:  # read() with a length accepts that fewer bytes come
            raise http.client.IncompleteRead(data, response.length)
        if len(data) <= LARGEST:
            return data
    raise DaemonError("the daemon's answer is too large", "ask for less at once")


def _decoded(data: bytes, kind: Any) -> Any:  # noqa: ANN401  (of the route's types)
    """Decode a message; an error does not quote it, for it may be private."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise DaemonError(*MISUNDERSTOOD) from None


def _refusal(status: int, answer: bytes) -> ReticentError:
    """Rebuild the error that an answer of some other status stands for."""
    try:
        return error_of(msgspec.json.decode(answer, type=Fault))
    except (msgspec.DecodeError, UnicodeDecodeError):
        what = f"the daemon answered with status {status} and no reason"
        return DaemonError(what, f"see its log; if that does not help, {RESTART}")
