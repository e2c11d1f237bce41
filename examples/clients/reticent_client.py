"""Ask Reticent's daemon what a request may carry: Python alone, this file is all you need.

    answer = decide("version control", "forge.example")
    headers = {"Shared-Attributes": answer.header} if answer.header else {}

`decide_async` and `offer_async` do the same in a loop of asyncio. None of them raises anything or
takes longer than ``limit`` seconds: whatever fails attaches nothing. Nothing is asked twice, and
an answer that came too late stands in the ledger as told.

    python examples/clients/reticent_client.py "version control" forge.example [ATTRIBUTE...]
"""

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPException, HTTPResponse
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

LIMIT = 2.0  # seconds
LARGEST = 1 << 20  # bytes of an answer
OK = 200
ABSENT = "no daemon runs; start it with `reticent daemon`"
BROKEN = "the daemon did not answer in time, or not as it should"
_ABSENCE = (FileNotFoundError, ConnectionRefusedError)
_DAMAGE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)  # of an answer
_FAILURE = (OSError, HTTPException, *_DAMAGE)


class Answer(NamedTuple):
    """What to attach: the value of Shared-Attributes, empty for nothing, and the same by name.

    ``said``: the daemon's code, "answered" in the ordinary case, or a sentence on what is wrong.
    """

    header: str = ""
    attributes: Mapping[str, str] = {}
    said: str = BROKEN


def socket_path(variables: Mapping[str, str] = os.environ) -> str:
    """Return where the daemon listens, on Linux, as these variables of the environment say."""
    if home := variables.get("RETICENT_HOME"):
        return str(Path(home).absolute() / "run" / "query.sock")
    runtime = Path(variables.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute():
        return str(runtime / "reticent" / "query.sock")
    state = Path(variables.get("XDG_STATE_HOME", ""))
    base = state if state.is_absolute() else Path("~/.local/state").expanduser()
    return str(base / "reticent" / "run" / "query.sock")


def decide(
    query: str, recipient: str, asked: Sequence[str] | None = None, limit: float = LIMIT
) -> Answer:
    """Return what a request may carry; ``asked``: names the recipient can use, None for any."""
    try:
        return _answer(_exchange(_asking(query, recipient, asked), limit))
    except _ABSENCE:
        return Answer(said=ABSENT)
    except _FAILURE:
        return Answer()


async def decide_async(
    query: str, recipient: str, asked: Sequence[str] | None = None, limit: float = LIMIT
) -> Answer:
    """Return the same as `decide`, while others run."""
    try:
        return _answer(await _exchange_async(_asking(query, recipient, asked), limit))
    except _ABSENCE:
        return Answer(said=ABSENT)
    except _FAILURE:
        return Answer()


def offer(recipient: str, names: Sequence[str], limit: float = LIMIT) -> bool:
    """Queue what a recipient says it can use, for the user's consent; return whether it is."""
    try:
        return _reply(_exchange(_offering(recipient, names), limit))[0] == OK
    except _FAILURE:
        return False


async def offer_async(recipient: str, names: Sequence[str], limit: float = LIMIT) -> bool:
    """Return the same as `offer`, while others run."""
    try:
        return _reply(await _exchange_async(_offering(recipient, names), limit))[0] == OK
    except _FAILURE:
        return False


def _asking(query: str, recipient: str, asked: Sequence[str] | None) -> bytes:
    names = None if asked is None else [*asked]
    return _request("decide", {"query": query, "recipient": recipient, "asked": names})


def _offering(recipient: str, names: Sequence[str]) -> bytes:
    return _request("offer", {"recipient": recipient, "names": [*names]})


def _request(call: str, message: Mapping[str, Any]) -> bytes:
    body = json.dumps(message).encode()
    head = f"POST /v1/{call} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + kind).encode() + body


def _exchange(request: bytes, limit: float) -> bytes:
    """Send a request, and return what comes until the daemon closes; TimeoutError after that."""
    until = time.monotonic() + limit
    with socket.socket(socket.AF_UNIX) as opened:
        opened.settimeout(limit)
        opened.connect(socket_path())
        opened.sendall(request)
        raw = part = opened.recv(LARGEST)
        while part and len(raw) < LARGEST:
            if (left := until - time.monotonic()) <= 0:
                raise TimeoutError
            opened.settimeout(left)
            raw += (part := opened.recv(LARGEST))
        return raw


async def _exchange_async(request: bytes, limit: float) -> bytes:
    async with asyncio.timeout(limit):
        reader, writer = await asyncio.open_unix_connection(socket_path())
        try:
            writer.write(request)
            return await reader.readexactly(LARGEST)
        except asyncio.IncompleteReadError as ended:  # as every answer does
            return ended.partial
        finally:
            writer.transport.abort()


def _reply(raw: bytes) -> tuple[int, Any]:
    """Return the status and the message of an answer that is whole."""
    opened: Any = SimpleNamespace(makefile=lambda _mode: BytesIO(raw))
    with HTTPResponse(opened, method="POST") as response:
        response.begin()
        return response.status, json.loads(response.read())


def _answer(raw: bytes) -> Answer:
    """Return what an answer says, nothing to attach unless all of it is text as it should be."""
    status, said = _reply(raw)
    if status != OK:
        return Answer(said=f"the daemon refused: {said['what']}")
    header, attributes = said["header"], said["attributes"]
    "".join([said["code"], header, *attributes.values()])  # a TypeError where one is no text
    if not (header.isascii() and header.isprintable()):
        raise ValueError(BROKEN)
    return Answer(header, attributes, said["code"])


def main(query: str = "", recipient: str = "", *asked: str) -> None:
    """Print the header for a request, or else say why there is none."""
    answer = decide(query, recipient, asked or None)
    if answer.header:
        print(f"Shared-Attributes: {answer.header}")
    if answer.said != "answered":
        print(f"reticent: {answer.said}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
