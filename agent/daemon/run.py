"""The daemon from its start to its end: light at first, then listening, and only then heavy."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from agent.daemon import sockets
from agent.daemon.events import LOG, Bus, kind_and_place, logging_to
from agent.errors import ReticentError
from agent.files import private_folder
from agent.paths import Paths
from agent.vault.secrets import forbid_dumps
from agent.wire.routes import Door

if TYPE_CHECKING:
    import socket
    from types import FrameType

    from agent.daemon.agent import Agent
    from agent.daemon.api import Api
    from agent.daemon.boundary import web
    from agent.daemon.server import Daemon

UMASK = 0o077  # the umask: nothing that the daemon makes is for others
ENDS = (signal.SIGTERM, signal.SIGINT)
RELOADS = signal.SIGHUP
Build = Callable[[Paths], "Api"]


class Lifetime:
    """Whether the daemon is to end, or to read its files again; asked from signals and calls."""

    def __init__(self) -> None:
        self.over = False
        self._reload = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()

    def end(self) -> None:
        """Let the daemon end."""
        self.over = True
        self._wake()

    def reload(self) -> None:
        """Let the daemon read its files again."""
        self._reload = True
        self._wake()

    async def until_over(self, reload: Callable[[], object]) -> None:
        """Wait for the end, and call ``reload`` whenever that is asked for."""
        self._loop = asyncio.get_running_loop()
        while not self.over:
            if self._reload:
                self._reload = False
                reload()
            self._woken.clear()
            if not (self.over or self._reload):
                await self._woken.wait()

    def _wake(self) -> None:
        """Wake the one who waits; a signal may come at any instruction of the event loop."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)


@contextmanager
def lifetime() -> Iterator[Lifetime]:
    """Record signals in flags from here on, so that none interrupts a request.

    asyncio's own handlers would leave the time before and after its loop to chance.
    """
    life = Lifetime()

    def note(number: int, _frame: FrameType | None) -> None:
        if number == RELOADS:
            life.reload()
        else:
            life.end()

    before = {number: signal.signal(number, note) for number in (*ENDS, RELOADS)}
    try:
        yield life
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def assembled(paths: Paths) -> Api:
    """Assemble the API of this machine, with the vault locked; nothing is read but the policy."""
    from agent.daemon.agent import assemble, now
    from agent.daemon.api import Api

    return Api(assemble(paths, Bus(now)))


def run(
    paths: Paths,
    announce: Callable[[], None] = lambda: None,
    build: Build = assembled,
) -> None:
    """Run the daemon in the foreground, until a signal or a call ends it.

    ``announce``: called once it listens, and before it looks at policy and models.
    No core file is made of this process from then on. Raises DaemonError where one runs already
    or a socket cannot be made, UsageError for a folder or a file that must not be used.
    """
    forbid_dumps()
    with ExitStack() as stack:
        life = stack.enter_context(lifetime())
        stack.callback(os.umask, os.umask(UMASK))
        stack.enter_context(sockets.more_files())
        for folder in (paths.config, paths.data, paths.state, paths.runtime):
            private_folder(folder)
        stack.enter_context(sockets.alone(paths.daemon_lock))
        stack.enter_context(logging_to(paths.log))
        listening = stack.enter_context(
            sockets.doors(paths, sockets.adopted(os.environ, os.getpid()))
        )
        gc.disable()  # it would look through modules that all stay, a tenth of the start
        stack.callback(gc.enable)

        def begun(paths: Paths) -> Api:
            announce()
            return build(paths)

        live(paths, listening, life, begun)


def live(
    paths: Paths,
    listening: Mapping[Door, socket.socket],
    life: Lifetime,
    build: Build,
) -> None:
    """Answer at the listening sockets until the end; then lock."""
    from agent.daemon.autolock import Autolock
    from agent.daemon.server import Daemon, application, runner

    with ExitStack() as stack:
        api = build(paths)
        agent = api.agent
        stack.callback(agent.lock)  # after the last thread that could open the vault
        gc.freeze()  # what is there now stays, and need not be looked through again
        gc.enable()
        autolock = Autolock(
            lambda: agent.settings.lock_after_minutes, lambda: agent.vault is None, agent.lock
        )
        agent.commanded = autolock.commanded
        daemon = Daemon(api, autolock, partial(_end, agent, life))
        sites = [(runner(application(door, daemon)), each) for door, each in listening.items()]
        asyncio.run(_answer(daemon, life, sites))


def _end(agent: Agent, life: Lifetime) -> None:
    """Let the daemon end, once the vault is closed; ReplacedVaultError where it stays open."""
    try:
        agent.lock()
    except ReticentError as error:
        if agent.vault is not None:
            raise
        LOG.warning("locking failed: %s", kind_and_place(error))
    life.end()


async def _answer(
    daemon: Daemon, life: Lifetime, sites: list[tuple[web.AppRunner, socket.socket]]
) -> None:
    """Answer at all sites until the end comes; then let what is being answered finish."""
    from agent.daemon.boundary import web

    try:
        for each, opened in sites:
            await each.setup()
            await web.SockSite(each, opened, backlog=sockets.BACKLOG).start()
        LOG.info("ready (process %d)", os.getpid())
        sockets.notify("READY=1", os.environ)
        await _until_over(daemon, life)
        LOG.info("ending")
        sockets.notify("STOPPING=1", os.environ)
    finally:
        daemon.api.agent.bus.close()
        await asyncio.gather(*[each.cleanup() for each, _ in sites])


async def _until_over(daemon: Daemon, life: Lifetime) -> None:
    """Wait for the end, and look from time to time whether to lock and whether files have changed.

    A defect in what is done meanwhile is an end too, since it locks.
    """
    from agent.daemon.autolock import EVERY, watch, watcher

    async def look() -> None:
        while True:
            daemon.autolock.check()
            daemon.api.agent.look_at_all()
            await asyncio.sleep(EVERY)

    looking = asyncio.create_task(look())
    waiting = asyncio.create_task(life.until_over(daemon.api.refresh))
    watching = asyncio.create_task(watch(daemon.autolock.end, watcher()))  # it may end at once
    done, _ = await asyncio.wait({looking, waiting}, return_when=asyncio.FIRST_COMPLETED)
    for each in (looking, waiting, watching):
        each.cancel()
    await asyncio.wait({watching})  # which ends its program
    for each in done:
        each.result()
