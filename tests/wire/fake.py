"""A daemon that is none: it answers by the name of a route, over a real Unix socket.

    with FakeDaemon(path, {"status": lambda: STATUS, "verdict": lambda body, id: RULED}) as fake:
        Client(path).call("status")
    fake.calls == [("status", {})]

A handler gets the message as ``body``, if the route takes one, and the parameters by their names.
It returns a message, an iterable of events, or `Raw`; a ReticentError that it raises is answered
as its fault.
"""

import re
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from agent.errors import ReticentError
from agent.wire.base import Fault
from agent.wire.client import MEDIA_TYPE
from agent.wire.routes import CONTROL, ROUTES, Door, Route, fault_of, http_status

Handler = Callable[..., Any]


class Raw(NamedTuple):
    """An answer that is no message: a status and bytes."""

    status: int
    data: bytes
    kind: str = "application/json"


def says(message: object) -> Handler:
    """Return a handler that answers the same whatever is asked."""
    return lambda *_, **__: message


class FakeDaemon:
    """Answers at one door until its `with` ends.

    ``calls``: what was asked, oldest first.
    """

    def __init__(self, path: Path, handlers: Mapping[str, Handler], door: Door = CONTROL) -> None:
        """Take where the socket is to be, and the handlers by the names of their routes."""
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.handlers, self.door = dict(handlers), door
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path, self._server = path, _Server(str(path), _Handler)
        self._server.daemon_threads = True  # a client may keep its connection
        self._server.fake = self
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._thread.join(60)
        assert not self._thread.is_alive()
        self._server.server_close()
        self._path.unlink()

    def answer(self, method: str, target: str, data: bytes) -> Any:  # noqa: ANN401  (any of the messages)
        """Return what the handler of a call does, or a fault."""
        parts = urlsplit(target)
        for route in ROUTES:
            if route.method == method and self.door in route.doors and route.name in self.handlers:
                segments = _matched(route, parts.path)
                if segments is not None:
                    given = {**segments, **dict(parse_qsl(parts.query, strict_parsing=True))}
                    return self._handled(route, _typed(route.parameters, given), data)
        return Fault(code="not found", what="there is no such call", hint="none")

    def _handled(self, route: Route, given: dict[str, Any], data: bytes) -> Any:  # noqa: ANN401  (any of the messages)
        if route.takes is not None:
            given["body"] = msgspec.json.decode(data, type=route.takes)
        self.calls.append((route.name, given))
        try:
            return self.handlers[route.name](**given)
        except ReticentError as error:
            return fault_of(error)


@contextmanager
def short_folder() -> Iterator[Path]:
    """Yield a new folder in which the path of a socket is short enough."""
    folder = Path(tempfile.mkdtemp(prefix="r"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _matched(route: Route, path: str) -> dict[str, str] | None:
    """Return the parameters in a path, None if it is not that of the route."""
    found = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]*)", route.path), path)
    return found and {name: unquote(text) for name, text in found.groupdict().items()}


def _typed(parameters: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    return {
        name: msgspec.convert(text, parameters[name], strict=False) for name, text in given.items()
    }


class _Server(ThreadingUnixStreamServer):
    fake: FakeDaemon

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  (of socketserver)
        """Say nothing of a client that has left: by now another test reads what is printed."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def address_string(self) -> str:
        return "a test"  # a Unix socket has no address to take apart

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401  (http.server's name)
        """Say nothing."""

    def do_GET(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        given = self.server.fake.answer(self.command, self.path, data)
        if isinstance(given, Fault):
            given = Raw(http_status(given.code), msgspec.json.encode(given))
        elif isinstance(given, Iterator):
            self.stream(given)
            return
        elif not isinstance(given, Raw):
            given = Raw(200, msgspec.json.encode(given))
        self.send_response(given.status)
        self.send_header("Content-Type", given.kind)
        self.send_header("Content-Length", str(len(given.data)))
        self.end_headers()
        self.wfile.write(given.data)

    do_POST = do_DELETE = do_GET  # noqa: N815 - names of http.server

    def stream(self, events: Iterator[Any]) -> None:
        """Send events as they come, then end."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", MEDIA_TYPE)
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(b"event: " + event.kind.encode() + b"\ndata: ")
            self.wfile.write(msgspec.json.encode(event) + b"\n\n")
            self.wfile.flush()


PATIENCE = 30.0  # seconds, for a client that never comes
END = b"\r\n\r\n"


@contextmanager
def saying(path: Path, *answers: bytes, hold: bool = False) -> Iterator[list[bytes]]:
    """Answer each connection with the next of the answers, then close it.

    ``hold``: keep the connections open instead. Yields the requests as they come.
    """
    requests: list[bytes] = []
    kept: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.settimeout(PATIENCE)
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            for answer in answers:
                one, _ = listener.accept()
                one.settimeout(PATIENCE)
                kept.append(one)
                requests.append(_request(one))
                one.sendall(answer)
                if not hold:
                    one.close()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield requests
        finally:
            thread.join(PATIENCE)
            assert not thread.is_alive()
            for one in kept:
                one.close()


def _request(one: socket.socket) -> bytes:
    """Read the head of a request; the small bodies of tests come with it."""
    data = b""
    while END not in data and (more := one.recv(65536)):
        data += more
    return data
