"""The server of assistants: how soon the first answer is there, and what a call adds to a decision.

Each call is timed beside the same request at the daemon's own socket, of a recipient of its own.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from tempfile import TemporaryDirectory

import numpy as np

from agent.wire.decide import Ask
from agent.wire.routes import QUERY
from tests.bench.timing import at, timed
from tests.daemon.crowd import request
from tests.daemon.whole_daemon import BALANCED, Live, environment, living

STARTS = 9
CALLS = 250  # and as many at the socket: the query door has 600 a minute recorded
QUESTION = "job site"
COMMAND = [sys.executable, "-P", "-m", "agent.cli", "mcp", "--recipient"]
POLICY = f"page_requests_per_minute = 100000\n{BALANCED}"
LARGEST = 65_536  # bytes of an answer
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "personal_context",
        "arguments": {"question": QUESTION},
        "_meta": META,
    },
}
LINE = json.dumps(CALL).encode() + b"\n"


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    with living(POLICY) as live:
        yield _starting(live)
        yield _calling(live)


def _starting(live: Live) -> str:
    """Time from the start of a server until the answer to its first question is there."""
    with TemporaryDirectory() as compiled:  # as pip leaves it, whatever the environment says
        told = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": compiled}
        env = {**environment(live.paths), **told}
        times = [timed(partial(_first, env)) for _ in range(1 + STARTS)]
    p50, worst = at(times[1:], 50), at(times[1:], 100)  # the first has compiled the modules
    return (
        f"reticent mcp, from its start until the first answer: p50 {p50} ms, worst {worst} "
        "(bar: 1500)"
    )


def _first(env: dict[str, str]) -> None:
    with _server(env, "start.example") as server:
        _exchange(server)


def _server(env: dict[str, str], recipient: str) -> "subprocess.Popen[bytes]":
    """Return a server of its own."""
    pipe = subprocess.PIPE
    return subprocess.Popen([*COMMAND, recipient], stdin=pipe, stdout=pipe, env=env)


def _exchange(server: "subprocess.Popen[bytes]") -> None:
    """Send a question, and wait for the answer, which has facts."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(LINE)
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["result"]["structuredContent"]["facts"]


def _calling(live: Live) -> str:
    """Time, by turns, a call and the same request at the socket."""
    decide = request(Ask(query=QUESTION, recipient="socket.example"))
    env = environment(live.paths)
    with _server(env, "call.example") as server, closing(live.connect(QUERY)) as opened:

        def ask() -> None:
            opened.sendall(decide)
            assert opened.recv(LARGEST)

        _exchange(server)
        ask()
        times = [(timed(partial(_exchange, server)), timed(ask)) for _ in range(CALLS)]
    calls, decisions = ([*each] for each in zip(*times, strict=True))
    more = float(np.median(calls) - np.median(decisions))
    return (
        f"a call of an assistant, warm: p50 {at(calls, 50)} ms, p99 {at(calls, 99)}; /v1/decide at "
        f"the same socket p50 {at(decisions, 50)}: {more:.2f} ms more (bar: 3)"
    )
