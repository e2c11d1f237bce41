"""Ask Reticent's daemon what a request may carry: Python alone, this file is all you need.

    answer = decide("version control", "forge.example")
    headers = {"Shared-Attributes": answer.header} if answer.header else {}

In a loop of asyncio, await `decide_async` and `offer_async` instead. None of them raises anything
or takes longer than ``limit`` seconds: whatever fails attaches nothing. Nothing is asked twice,
and an answer that came too late stands in the ledger as told.

    python examples/clients/reticent_client.py forge.example "version control" [FACT...]

With - in place of the query it is read from the standard input: every user of the machine can read
the arguments of a running command.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

LIMIT = 2.0  # seconds
LARGEST = 1 << 20  # bytes of an answer
USAGE = "reticent: expected RECIPIENT QUERY [FACT...]; - reads the query from standard input"
BROKEN = "the daemon did not answer in time, or not as it should"
_DAMAGE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)  # of an answer
_FAILURE = (OSError, EOFError, asyncio.LimitOverrunError, *_DAMAGE)
Names = Sequence[str]


class Answer(NamedTuple):
    """What to attach: the value of Shared-Attributes, empty for nothing, and the same by name.

    ``said``: the daemon's code, "answered" in the ordinary case, or a sentence on what is wrong.
    """

    header: str = ""
    attributes: Mapping[str, str] = {}
    said: str = BROKEN


def decide(query: str, recipient: str, asked: Names | None = None, limit: float = LIMIT) -> Answer:
    """Ask what a request may carry; ``asked``: names the recipient can use, None for any."""
    return asyncio.run(decide_async(query, recipient, asked, limit))


async def decide_async(
    query: str, recipient: str, asked: Names | None = None, limit: float = LIMIT
) -> Answer:
    """Do the same as `decide`, while others run."""
    message = {"query": query, "recipient": recipient, "asked": asked and [*asked]}
    try:
        return _answer(*await _call("decide", message, limit))
    except (FileNotFoundError, ConnectionRefusedError):
        return Answer(said="no daemon runs; start it with `reticent daemon`")
    except _FAILURE:
        return Answer()


def offer(recipient: str, names: Names, limit: float = LIMIT) -> bool:
    """Queue what a recipient says it can use, for the user's consent; return whether it is."""
    return asyncio.run(offer_async(recipient, names, limit))


async def offer_async(recipient: str, names: Names, limit: float = LIMIT) -> bool:
    """Do the same as `offer`, while others run."""
    try:
        return (await _call("offer", {"recipient": recipient, "names": [*names]}, limit))[0]
    except _FAILURE:
        return False


def socket_path(variables: Mapping[str, str] = os.environ) -> str:
    """Find where the daemon listens, on Linux, as these variables of the environment say."""
    if home := variables.get("RETICENT_HOME"):
        return str(Path(home, "run", "query.sock").absolute())
    if (runtime := Path(variables.get("XDG_RUNTIME_DIR", ""))).is_absolute():
        return str(runtime / "reticent" / "query.sock")
    state = Path(variables.get("XDG_STATE_HOME", ""))
    base = state if state.is_absolute() else Path("~/.local/state").expanduser()
    return str(base / "reticent" / "run" / "query.sock")


async def _call(name: str, message: Mapping[str, Any], limit: float) -> tuple[bool, Any]:
    """Say whether the daemon did it, and the message of its answer, which came whole."""
    body = json.dumps(message)
    head = f"POST /v1/{name} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    async with asyncio.timeout(limit):
        reader, writer = await asyncio.open_unix_connection(socket_path())
        try:
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            said = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(said.partition("\ncontent-length:")[2].split()[0])
            whole = await reader.readexactly(length if length < LARGEST else -1)  # -1: ValueError
        finally:
            writer.transport.abort()
    return said.split()[1] == "200", json.loads(whole)


def _answer(done: bool, said: Any) -> Answer:  # noqa: ANN401, FBT001  (any JSON)
    """Read what an answer says, nothing to attach unless all of it is text as it should be."""
    if not done:
        return Answer(said=f"the daemon refused: {said['what']}")
    answer = Answer(said["header"], said["attributes"], said["code"])
    "".join([answer.said, answer.header, *answer.attributes.values()])  # texts, or a TypeError
    return answer if answer.header.isascii() and answer.header.isprintable() else Answer()


if __name__ == "__main__":
    if len(sys.argv) < 3:  # noqa: PLR2004  (its own name, and two)
        print(USAGE, file=sys.stderr)
        sys.exit(2)
    _recipient, _query, *_asked = sys.argv[1:]
    _query = sys.stdin.read().rstrip("\r\n") if _query == "-" else _query
    _told = decide(_query, _recipient, _asked or None)
    if _told.header:
        print(f"Shared-Attributes: {_told.header}")
    if _told.said != "answered":
        print(f"reticent: {_told.said}", file=sys.stderr)
