"""The daemon from when it listens to its end."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from agent.daemon.autolock import EVERY, Autolock, watch, watcher
from agent.daemon.boundary import web
from agent.daemon.lifetime import Lifetime, Options
from agent.daemon.log import LOG, kind_and_place
from agent.daemon.loopback import TOKEN, UNASKED, admitted, token_of
from agent.daemon.server import Daemon, application, runner
from agent.daemon.sockets import ADDRESS, BACKLOG, at_port, notify
from agent.errors import ReplacedVaultError, ReticentError
from agent.paths import Paths
from agent.wire.routes import QUERY, Door

if TYPE_CHECKING:
    from agent.daemon.agent import Agent
    from agent.daemon.api import Calls

LAST_TRIES, PAUSE = 5.0, 0.25  # seconds, to set a vault aside that was replaced; between two
Sites = list[tuple[web.AppRunner, socket.socket]]


def live(
    paths: Paths,
    doors: Mapping[Door, socket.socket],
    options: Options,
    life: Lifetime,
    build: Callable[[Paths], Calls],
) -> None:
    """Answer at the doors, and at a port if that is asked for, until the end; then lock.

    Raises DaemonError or UsageError where the port or its token must not be used.
    """
    with ExitStack() as stack:
        port, token = None, ""
        if options.listen is not None:
            token = token_of(paths.state / TOKEN)
            port = stack.enter_context(at_port(options.listen))
            at = f"http://{ADDRESS}:{port.getsockname()[1]}"
            LOG.info("listening at %s, with the token in %s", at, paths.state / TOKEN)
        calls = build(paths)
        agent = calls.agent
        stack.callback(_close, agent)  # after the last thread that could open the vault
        gc.freeze()  # what is there now stays, and need not be looked through again
        gc.enable()
        autolock = Autolock(
            lambda: agent.settings.lock_after_minutes, lambda: agent.vault is None, agent.lock
        )
        daemon = Daemon(calls, autolock, partial(_end, agent, life))
        sites = [(runner(application(door, daemon)), each) for door, each in doors.items()]
        if port is not None:
            made = admitted(application(QUERY, daemon), port, options.origins, token)
            sites.append((runner(made, UNASKED), port))
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


def _close(agent: Agent) -> None:
    """Close the vault; where all of it is in memory alone, try again before that is lost."""
    until = time.monotonic() + LAST_TRIES
    while True:
        try:
            agent.lock()
        except ReplacedVaultError as error:
            if time.monotonic() > until:
                LOG.error("the contents of the open vault are lost: %s", error.what)
                raise
            time.sleep(PAUSE)
        else:
            return


async def _answer(daemon: Daemon, life: Lifetime, sites: Sites) -> None:
    """Answer at all sites until the end comes; then let what is being answered finish."""
    try:
        for each, listening in sites:
            await each.setup()
            await web.SockSite(each, listening, backlog=BACKLOG).start()
        LOG.info("ready (process %d)", os.getpid())
        notify("READY=1", os.environ)
        await _until_over(daemon, life)
        LOG.info("ending")
        notify("STOPPING=1", os.environ)
    finally:
        daemon.calls.agent.bus.close()
        await asyncio.gather(*[each.cleanup() for each, _ in sites])


async def _until_over(daemon: Daemon, life: Lifetime) -> None:
    """Wait for the end, and look from time to time whether to lock and whether files have changed.

    A defect in what is done meanwhile is an end too, since it locks.
    """

    async def look() -> None:
        while True:
            daemon.autolock.check()
            await daemon.calls.look()
            await asyncio.sleep(EVERY)

    looking = asyncio.create_task(look())
    waiting = asyncio.create_task(life.until_over(daemon.calls.refresh))
    watching = asyncio.create_task(watch(daemon.autolock.end, watcher()))  # it may end at once
    done, _ = await asyncio.wait({looking, waiting}, return_when=asyncio.FIRST_COMPLETED)
    for each in (looking, waiting, watching):
        each.cancel()
    await asyncio.wait({watching})  # which ends its program
    for each in done:
        each.result()
