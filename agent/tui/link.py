"""The way from the screens to the daemon: calls beside the drawing, and what happens there."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from textual.message import Message

from agent.errors import AbsentError, DaemonError, ReticentError
from agent.wire.client import Client
from agent.wire.state import Event, Status

CALLERS = 3  # at once: a long curve holds nothing up
SILENCE = 30.0  # seconds; a daemon that runs sends a comment every five
AGAIN = 0.5  # seconds between two tries to reach a daemon
GRACE = 1.0  # seconds for calls that were made, and for the thread that follows the daemon, to end
BEGINS = 15.0  # seconds that a daemon may take to begin


@dataclass(eq=False)
class DaemonNews(Message):
    """What the daemon reports: how it is once it answers, an event, or why it is lost."""

    news: Status | Event | ReticentError


class Link:
    """Calls to the daemon from an event loop, and a thread that follows it.

    ``path``: of the control socket; ``start``: starts a daemon that outlives this program.
    """

    def __init__(self, path: Path, start: Callable[[], None]) -> None:
        self._path = path
        self._start = start
        self._pool = ThreadPoolExecutor(CALLERS, "reticent-call")
        self._ended = threading.Event()
        self._clients: dict[tuple[int, bool], Client] = {}  # of a thread, attended or not
        self._running: set[Future[Any]] = set()
        self._follower: threading.Thread | None = None

    async def call(
        self,
        name: str,
        body: msgspec.Struct | None = None,
        /,
        *,
        attended: bool = False,
        **given: str | int | None,
    ) -> Any:  # noqa: ANN401  (of the route's types)
        """Make a call; it raises what `Client.call` raises.

        ``attended``: a person asked for it, so that the vault stays open for a while.
        """

        def made_call() -> Any:  # noqa: ANN401  (of the route's types)
            return self._client(attended=attended).call(name, body, **given)

        future = self._pool.submit(made_call)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return await asyncio.wrap_future(future)

    async def begin(self) -> bool:
        """Start the daemon if none runs, and wait until it answers; return whether it was started.

        DaemonError where it does not begin.
        """
        started, until = False, time.monotonic() + BEGINS
        while True:
            try:
                await self.call("status")
            except DaemonError as error:
                if time.monotonic() > until or not (started or isinstance(error, AbsentError)):
                    raise
            else:
                return started
            if not started:
                await asyncio.to_thread(self._start)
                started = True
            await asyncio.sleep(AGAIN / 5)

    def follow(self, tell: Callable[[Message], object]) -> None:
        """Report what happens, from a thread of its own, until `close`."""
        self._follower = threading.Thread(
            target=self._following, args=(tell,), name="reticent-follow", daemon=True
        )
        self._follower.start()

    def close(self) -> None:
        """Report nothing more, and take no further call; those that take long fail.

        The interpreter waits for their threads before it ends.
        """
        self._ended.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        wait([*self._running], GRACE)
        for each in [*self._clients.values()]:
            each.close()
        if self._follower is not None:
            self._follower.join(GRACE)

    def _client(self, *, attended: bool) -> Client:
        """Make this thread's client for calls of a kind once; `close` closes it."""
        key = threading.get_ident(), attended
        if key not in self._clients:
            self._clients[key] = Client(self._path, attended=attended)
        return self._clients[key]

    def _following(self, tell: Callable[[Message], object]) -> None:
        client = self._client(attended=False)
        error: ReticentError
        while not self._ended.is_set():
            try:
                tell(DaemonNews(client.call("status")))
                for event in client.events(SILENCE):
                    if self._ended.is_set():
                        return
                    tell(DaemonNews(event))
                error = DaemonError("the daemon ended", "this waits until it is back")
            except ReticentError as broken:
                error = broken
            client.close()
            if not self._ended.is_set():
                tell(DaemonNews(error))
            self._ended.wait(AGAIN)
