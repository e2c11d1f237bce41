"""The daemon from its start to its end."""

import asyncio
import os
import socket
from contextlib import ExitStack
from dataclasses import dataclass

from aiohttp import web

from agent.daemon.autolock import EVERY, Autolock
from agent.daemon.events import Bus
from agent.daemon.inside import Build, Inside, assembled, now
from agent.daemon.lifetime import Lifetime, lifetime
from agent.daemon.listen import TOKEN, Guard, bound, guard_of, guarded, token_of
from agent.daemon.log import LOG, logging_to
from agent.daemon.server import Served, application, runner
from agent.daemon.sockets import BACKLOG, alone, doors
from agent.daemon.systemd import adopted, notify
from agent.paths import Paths
from agent.vault.folders import private_folder
from agent.wire.routes import QUERY

PRIVATE = 0o077  # the umask: nothing that the daemon makes is for others


_Site = tuple[web.Application, socket.socket]


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: ``listen``: a port of 127.0.0.1 for the query door, None for no such door.

    ``origins``: of the web pages that may ask there.
    """

    listen: int | None = None
    origins: tuple[str, ...] = ()


def run(paths: Paths, options: Options, build: Build = assembled) -> None:
    """Run the daemon in the foreground, until a signal or a call ends it.

    Raises DaemonError where one runs already or a socket cannot be made, UsageError for a folder
    or a file that must not be used.
    """
    with ExitStack() as stack:
        life = stack.enter_context(lifetime())
        _prepare(paths, stack)
        opened = stack.enter_context(doors(paths, adopted(os.environ, os.getpid())))
        loopback = _loopback(paths, options, stack)
        bus = Bus(now)
        inside = build(paths, bus)
        stack.callback(inside.lock)  # when no thread of ours can open the vault any more
        autolock = Autolock(inside.minutes, inside.locked, inside.lock)
        served = Served(inside.calls, bus, autolock.before, life.end)
        sites: list[_Site] = [(application(door, served), opened[door]) for door in opened]
        if loopback is not None:
            sites.append((guarded(application(QUERY, served), loopback[1]), loopback[0]))
        asyncio.run(_live(_Life(life, inside, autolock, bus), sites))


@dataclass(frozen=True, slots=True)
class _Life:
    """What goes on while the daemon runs."""

    life: Lifetime
    inside: Inside
    autolock: Autolock
    bus: Bus


def _prepare(paths: Paths, stack: ExitStack) -> None:
    """Make the folders, be the only daemon, and begin the log."""
    before = os.umask(PRIVATE)
    stack.callback(os.umask, before)
    for folder in (paths.config, paths.data, paths.state, paths.runtime):
        private_folder(folder)
    stack.enter_context(alone(paths.daemon_lock))
    stack.enter_context(logging_to(paths.log))


def _loopback(
    paths: Paths, options: Options, stack: ExitStack
) -> tuple[socket.socket, Guard] | None:
    """Return the socket on 127.0.0.1 and its guard, if that was asked for."""
    if options.listen is None:
        return None
    place = paths.state / TOKEN
    token = token_of(place)
    listening = stack.enter_context(bound(options.listen))
    guard = guard_of(listening, options.origins, token)
    LOG.info("listening at http://%s, with the token in %s", guard.hosts[0], place)
    return listening, guard


async def _live(parts: _Life, sites: list[_Site]) -> None:
    """Answer at all sites until the end comes; then let what is being answered finish."""
    runners = [runner(made) for made, _ in sites]
    try:
        for each, (_, listening) in zip(runners, sites, strict=True):
            await each.setup()
            await web.SockSite(each, listening, backlog=BACKLOG).start()
        LOG.info("ready (process %d)", os.getpid())
        notify("READY=1", os.environ)
        await _until_over(parts)
        LOG.info("ending")
        notify("STOPPING=1", os.environ)
    finally:
        parts.bus.close()
        await asyncio.gather(*[each.cleanup() for each in runners])


async def _until_over(parts: _Life) -> None:
    """Wait for the end; a defect in what is done meanwhile is an end too, since it locks."""
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(_look(parts))
        await parts.life.until_over(parts.inside.reload)
        looking.cancel()


async def _look(parts: _Life) -> None:
    """Look from time to time whether to lock, and whether files have changed."""
    while True:
        parts.autolock.check()
        parts.inside.look()
        await asyncio.sleep(EVERY)
