"""The query door on 127.0.0.1, for what cannot open a Unix socket: only where it is asked for.

Any program on this machine can connect, and any web page can try. A call needs the token, one of
two names for this address (against DNS rebinding), and no origin or one that is allowed.
"""

import hmac
import secrets
from collections.abc import Sequence
from pathlib import Path

from agent.daemon.boundary import Handler, web
from agent.daemon.sockets import ADDRESS, PortSocket
from agent.errors import DaemonError, RefusedError
from agent.files import OTHERS, create_private, read_bytes

TOKEN = "listen.token"  # noqa: S105  (the name of its file)
_LONGEST = 200  # bytes
_SHORTEST = 32
UNASKED = 5.0  # seconds that one may stand open and ask nothing: anybody here can make one
_SCHEME = "Bearer "
_PREFLIGHT = {"Origin", "Access-Control-Request-Method"}  # Fetch standard, section 3.2.2
_PRIVATE_NETWORK = "Access-Control-{}-Private-Network"
_MAY_SEND = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",  # seconds that a browser may keep this answer
}


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


def admitted(
    made: web.Application, listening: PortSocket, origins: Sequence[str], token: str
) -> web.Application:
    """Let an application at a socket that is bound answer only those who may ask.

    ``origins``: of the web pages that may.
    """
    hosts = [f"{name}:{listening.getsockname()[1]}" for name in (ADDRESS, "localhost")]

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        headers = request.headers
        if headers.getall("Host", []) not in [[host] for host in hosts]:
            what = "the Host header does not name this address"
            raise RefusedError("refused", what, f"use http://{hosts[0]}")
        pages = headers.getall("Origin", [])
        if len(pages) > 1 or not {*pages} <= {*origins}:
            hint = "if you trust the page, start the daemon with --origin"
            raise RefusedError("refused", "this page may not ask", hint)
        if request.method == "OPTIONS" and all(name in headers for name in _PREFLIGHT):
            answer = web.Response(status=204, headers=_MAY_SEND)
            if headers.get(_PRIVATE_NETWORK.format("Request")) == "true":
                answer.headers[_PRIVATE_NETWORK.format("Allow")] = "true"
            return answer
        if not _has(headers.getall("Authorization", []), token):
            hint = f"send Authorization: {_SCHEME}and the token"
            raise RefusedError("refused", "the token is missing or wrong", hint, status=401)
        if request.transport is not None:
            listening.proven(request.transport.get_extra_info("peername"))
        return await handler(request)

    async def readable(request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Vary"] = "Origin"
        if (origin := request.headers.get("Origin")) in origins:
            response.headers["Access-Control-Allow-Origin"] = str(origin)

    made.middlewares.append(check)  # within the boundary
    made.on_response_prepare.append(readable)
    return made


def _has(given: Sequence[str], token: str) -> bool:
    """Return whether the headers Authorization are one, with the token; in constant time."""
    text = given[0] if len(given) == 1 and given[0].startswith(_SCHEME) else ""
    sent = text.removeprefix(_SCHEME).encode("utf-8", "replace")
    return hmac.compare_digest(sent, token.encode())
