"""The daemon from its start to its end: light at first, then listening, and only then heavy."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from agent.daemon import sockets
from agent.daemon.events import LOG, Bus, kind_and_place, logging_to
from agent.errors import ReticentError
from agent.files import private_folder
from agent.paths import Paths
from agent.vault.secrets import forbid_dumps
from agent.wire.routes import Door

if TYPE_CHECKING:
    import socket

    from agent.daemon.agent import Agent
    from agent.daemon.api import Api
    from agent.daemon.server import Daemon

UMASK = 0o077  # the umask: nothing that the daemon makes is for others
SOON = 0.05  # seconds from what is written to the witness of it: no answer waits for that
Build = Callable[[Paths], "Api"]


def assembled(paths: Paths) -> Api:
    """Assemble the API of this machine, with the vault locked; nothing is read but the policy."""
    from agent.daemon.agent import assemble, now
    from agent.daemon.api import Api

    return Api(assemble(paths, Bus(now)))


def run(
    paths: Paths, announce: Callable[[], None] = lambda: None, build: Build = assembled
) -> None:
    """Run the daemon in the foreground, until a signal or a call ends it.

    ``announce``: called once it listens, and before it looks at policy and models.
    No core file is made of this process from then on. Raises DaemonError where one runs already
    or a socket cannot be made, UsageError for a folder or a file that must not be used.
    """
    forbid_dumps()
    with ExitStack() as stack:
        stack.callback(os.umask, os.umask(UMASK))
        for folder in (paths.config, paths.data, paths.state, paths.runtime):
            private_folder(folder)
        stack.enter_context(sockets.alone(paths.daemon_lock))
        stack.enter_context(logging_to(paths.log))
        listening = stack.enter_context(sockets.doors(paths))
        gc.disable()  # it would look through modules that all stay, a tenth of the start
        stack.callback(gc.enable)

        def begun() -> Api:
            announce()
            return build(paths)

        asyncio.run(_live(listening, begun))


async def _live(listening: Mapping[Door, socket.socket], build: Callable[[], Api]) -> None:
    """Answer at the listening sockets until the end; then lock.

    Signals are heard from the first moment on, and taken between two steps of what runs: none
    interrupts a request, nor the start.
    """
    from agent.daemon.autolock import Autolock
    from agent.daemon.server import Daemon, application, runner, web

    loop, over, reload = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    for number, event in {signal.SIGTERM: over, signal.SIGINT: over, signal.SIGHUP: reload}.items():
        loop.add_signal_handler(number, event.set)
    api = build()
    agent, sites = api.agent, list[web.AppRunner]()
    agent.registry.in_thread = True
    gc.freeze()  # what is there now stays, and need not be looked through again
    gc.enable()
    autolock = Autolock(agent)
    agent.commanded, agent.afterwards = autolock.used, partial(loop.call_later, SOON)
    daemon = Daemon(api, autolock, partial(_end, agent, over.set))
    try:
        for door, opened in listening.items():
            sites.append(runner(application(door, daemon)))
            await sites[-1].setup()
            await web.SockSite(sites[-1], opened, backlog=sockets.BACKLOG).start()
        LOG.info("ready (process %d)", os.getpid())
        await _until(over, reload, daemon)
        LOG.info("ending")
    finally:
        agent.bus.close()
        await asyncio.gather(*[each.cleanup() for each in sites])
        await loop.shutdown_default_executor()  # and with it the last thread that opens the vault
        agent.lock()


def _end(agent: Agent, end: Callable[[], None]) -> None:
    """Let the daemon end, once the vault is closed; ReplacedVaultError where it stays open."""
    try:
        agent.lock()
    except ReticentError as error:
        if agent.vault is not None:
            raise
        LOG.warning("locking failed: %s", kind_and_place(error))
    end()


async def _until(over: asyncio.Event, reload: asyncio.Event, daemon: Daemon) -> None:
    """Wait for the end, and look from time to time whether to lock and whether files have changed.

    A defect in what is done meanwhile is an end too, since it locks.
    """
    from agent.daemon.autolock import EVERY, watch, watcher

    async def look() -> None:
        while True:
            daemon.autolock.check()
            await daemon.api.agent.registry.prepare()
            daemon.api.agent.look_at_all()
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await reload.wait()
                reload.clear()
                daemon.api.call("reload")

    looking, waiting = asyncio.create_task(look()), asyncio.create_task(over.wait())
    watching = asyncio.create_task(watch(daemon.autolock.end, watcher()))  # it may end at once
    ends: set[asyncio.Task[Any]] = {looking, waiting}
    done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    for each in (looking, waiting, watching):
        each.cancel()
    await asyncio.wait({watching})  # which ends its program
    for each in done:
        each.result()
