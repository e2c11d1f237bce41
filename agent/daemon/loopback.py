"""The query door on 127.0.0.1, for what cannot open a Unix socket: only where it is asked for.

Any program of this machine can connect, and any web page can try to: what has not the token is
refused, and so is every name for this address but two (rebinding), and every page not allowed.
"""

import hmac
import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from agent.daemon.boundary import boundary
from agent.daemon.sockets import BACKLOG, Proven
from agent.daemon.web import Handler, web
from agent.errors import DaemonError, RefusedError, reason
from agent.files import OTHERS, create_private, read_bytes

TOKEN = "listen.token"  # noqa: S105  (the name of its file)
_LONGEST = 200  # bytes
_SHORTEST = 32
ADDRESS = "127.0.0.1"
NAMES = (ADDRESS, "localhost")
MOST = 96  # connections, a third of them with the token: a browser opens six
UNASKED = 5.0  # seconds that one may stand open and ask nothing: anybody here can make one
_SCHEME = "Bearer "
_REMEMBER = "600"  # seconds that a browser may keep the answer to its preflight


def token_of(path: Path) -> str:
    """Return the token in a file, made if it is missing.

    Raises DaemonError for one that others can read or that holds too little, UsageError where
    the file cannot be read or made.
    """
    if not path.exists():
        create_private(secrets.token_urlsafe(_SHORTEST).encode() + b"\n", path)
    text = read_bytes(path, _LONGEST).strip()
    if path.stat().st_mode & OTHERS:
        raise DaemonError(
            "other users can read this token", "remove it; a new one is made", str(path)
        )
    if len(text) < _SHORTEST or not text.isascii():
        raise DaemonError("not a token", "remove it; a new one is made", str(path))
    return text.decode("ascii")


@dataclass(frozen=True, slots=True)
class Admission:
    """Who may ask: ``hosts`` as the header Host has them, ``origins`` of web pages.

    ``proven``: called with the address that the token came from.
    """

    hosts: Sequence[str]
    origins: Sequence[str]
    token: str
    proven: Callable[[object], object] = lambda _: None

    def __repr__(self) -> str:
        return f"Admission(hosts={self.hosts}, origins={self.origins}, token=***)"


class PortSocket(Proven):
    """A listening socket that programs of all users reach, and those with the token always."""

    most: ClassVar[int] = MOST


def bound(port: int) -> PortSocket:
    """Return a socket that listens at a port of this machine, 0 for any; DaemonError if not."""
    if port not in range(2**16):
        raise DaemonError(f"there is no port {port}", "choose one from 1024 to 65535")
    try:
        made = socket.create_server((ADDRESS, port), backlog=BACKLOG)
    except OSError as error:
        what = f"cannot listen at {ADDRESS}:{port}: {reason(error)}"
        raise DaemonError(what, "choose another") from None
    return PortSocket(fileno=made.detach())


def admission_of(listening: PortSocket, origins: Sequence[str], token: str) -> Admission:
    """Return who may ask at a socket that is bound."""
    port = listening.getsockname()[1]
    hosts = [f"{name}:{port}" for name in NAMES]
    return Admission(hosts, origins, token, listening.proven)


def admitted(made: web.Application, admission: Admission) -> web.Application:
    """Let an application answer only those who may ask."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        _check_host(request, admission)
        _check_origin(request, admission)
        if _is_preflight(request):
            return web.Response(status=204, headers=_allowed(request))
        _check_token(request, admission)
        if request.transport is not None:
            admission.proven(request.transport.get_extra_info("peername"))
        return await handler(request)

    async def readable(request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Vary"] = "Origin"
        if (origin := request.headers.get("Origin")) in admission.origins:
            response.headers["Access-Control-Allow-Origin"] = str(origin)

    position = made.middlewares.index(boundary) + 1
    made.middlewares.insert(position, check)
    made.on_response_prepare.append(readable)
    return made


def _check_host(request: web.Request, admission: Admission) -> None:
    if request.headers.getall("Host", []) not in [[host] for host in admission.hosts]:
        what = "the Host header does not name this address"
        raise RefusedError("refused", what, f"use http://{admission.hosts[0]}")


def _check_origin(request: web.Request, admission: Admission) -> None:
    given = request.headers.getall("Origin", [])
    if given and (len(given) > 1 or given[0] not in admission.origins):
        hint = "if you trust the page, start the daemon with --origin"
        raise RefusedError("refused", "this page may not ask", hint)


def _check_token(request: web.Request, admission: Admission) -> None:
    given = request.headers.getall("Authorization", [])
    token = given[0][len(_SCHEME) :] if len(given) == 1 and given[0].startswith(_SCHEME) else ""
    if not hmac.compare_digest(token.encode("utf-8", "replace"), admission.token.encode()):
        what, hint = "the token is missing or wrong", f"send Authorization: {_SCHEME}and the token"
        raise RefusedError("refused", what, hint, status=401)


def _is_preflight(request: web.Request) -> bool:
    """Return whether this is a preflight request (Fetch standard, section 3.2.2)."""
    asked = {"Origin", "Access-Control-Request-Method"}
    return request.method == "OPTIONS" and all(name in request.headers for name in asked)


def _allowed(request: web.Request) -> dict[str, str]:
    """Return what a page that is allowed may send."""
    headers = {
        "Access-Control-Allow-Methods": "GET, POST",
        "Access-Control-Allow-Headers": "Authorization, Content-Type",
        "Access-Control-Max-Age": _REMEMBER,
    }
    if request.headers.get("Access-Control-Request-Private-Network") == "true":
        headers["Access-Control-Allow-Private-Network"] = "true"
    return headers
