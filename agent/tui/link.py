"""The way from the screens to the daemon: calls beside the drawing, and what happens there."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
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
        self._start, self._pool = start, ThreadPoolExecutor(CALLERS, "reticent-call")
        self._ended = threading.Event()
        self._clients = {each: Client(path, attended=each) for each in (True, False)}
        self._followed = Client(path, attended=False)  # closed whenever the daemon is lost
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
        call = self._clients[attended].call
        future: Future[Any] = self._pool.submit(partial(call, name, body, **given))
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
        for each in (*self._clients.values(), self._followed):
            each.close()
        if self._follower is not None:
            self._follower.join(GRACE)

    def _following(self, tell: Callable[[Message], object]) -> None:
        client = self._followed
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
