"""The daemon from when it listens to its end."""

import asyncio
import gc
import os
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from agent.daemon.autolock import EVERY, Autolock, watch, watcher
from agent.daemon.events import Bus
from agent.daemon.log import LOG, kind_and_place
from agent.daemon.loopback import TOKEN, UNASKED, Admission, admission_of, admitted, bound, token_of
from agent.daemon.server import IDLE, Served, application, runner
from agent.daemon.services import Build, Lifetime, Services, now
from agent.daemon.sockets import BACKLOG, notify
from agent.daemon.web import web
from agent.errors import ReplacedVaultError, ReticentError
from agent.paths import Paths
from agent.wire.routes import QUERY, Door

LAST_TRIES, PAUSE = 5.0, 0.25  # seconds, to set a vault aside that was replaced; between two


class _Site(NamedTuple):
    """What answers at which socket; ``idle``: seconds that a connection may ask nothing."""

    made: web.Application
    listening: socket.socket
    idle: float = IDLE


@dataclass(frozen=True, slots=True)
class Openings:
    """Where to answer: at the ``doors``, and for pages of ``origins`` at a ``port``, if any."""

    doors: Mapping[Door, socket.socket]
    port: int | None
    origins: tuple[str, ...]


def live(paths: Paths, openings: Openings, life: Lifetime, build: Build) -> None:
    """Answer at all openings until the end of a life; then close the vault.

    Raises DaemonError or UsageError where the port or its token must not be used.
    """
    with ExitStack() as stack:
        loopback = _loopback(paths, openings, stack)
        bus = Bus(now)
        inside = build(paths, bus)
        stack.callback(_close, inside)  # when no thread of ours can open the vault any more
        gc.freeze()  # what is there now stays, and need not be looked through again
        gc.enable()
        autolock = Autolock(inside.minutes, inside.locked, inside.lock)
        served = Served(
            inside.calls,
            bus,
            autolock.before,
            partial(_end, inside, life),
            inside.fresh,
            inside.guard,
            used=autolock.used,
        )
        sites = [_Site(application(door, served), each) for door, each in openings.doors.items()]
        if loopback is not None:
            listening, admission = loopback
            made = admitted(application(QUERY, served), admission)
            sites.append(_Site(made, listening, UNASKED))
        asyncio.run(_live(_Life(life, inside, autolock, bus), sites))


def _end(inside: Services, life: Lifetime) -> None:
    """Let the daemon end, once the vault is closed; ReplacedVaultError where it stays open."""
    try:
        inside.lock()
    except ReticentError as error:
        if not inside.locked():
            raise
        LOG.warning("locking failed: %s", kind_and_place(error))
    life.end()


def _close(inside: Services) -> None:
    """Close the vault; where all of it is in memory alone, try again before that is lost."""
    until = time.monotonic() + LAST_TRIES
    while True:
        try:
            inside.lock()
        except ReplacedVaultError as error:
            if time.monotonic() > until:
                LOG.error("the contents of the open vault are lost: %s", error.what)
                raise
            time.sleep(PAUSE)
        else:
            return


@dataclass(frozen=True, slots=True)
class _Life:
    """What goes on while the daemon runs."""

    life: Lifetime
    inside: Services
    autolock: Autolock
    bus: Bus


def _loopback(
    paths: Paths, openings: Openings, stack: ExitStack
) -> tuple[socket.socket, Admission] | None:
    """Return the socket on 127.0.0.1 and who may ask there, if that was asked for."""
    if openings.port is None:
        return None
    place = paths.state / TOKEN
    token = token_of(place)
    listening = stack.enter_context(bound(openings.port))
    admission = admission_of(listening, openings.origins, token)
    LOG.info("listening at http://%s, with the token in %s", admission.hosts[0], place)
    return listening, admission


async def _live(parts: _Life, sites: list[_Site]) -> None:
    """Answer at all sites until the end comes; then let what is being answered finish."""
    runners = [runner(each.made, each.idle) for each in sites]
    try:
        for each, site in zip(runners, sites, strict=True):
            await each.setup()
            await web.SockSite(each, site.listening, backlog=BACKLOG).start()
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
    looking = asyncio.create_task(_look(parts))
    waiting = asyncio.create_task(parts.life.until_over(parts.inside.reload))
    watching = asyncio.create_task(watch(parts.autolock.end, watcher()))  # it may end at once
    done, _ = await asyncio.wait({looking, waiting}, return_when=asyncio.FIRST_COMPLETED)
    for each in (looking, waiting, watching):
        each.cancel()
    await asyncio.wait({watching})  # which ends its program
    for each in done:
        each.result()


async def _look(parts: _Life) -> None:
    """Look from time to time whether to lock, and whether files have changed."""
    while True:
        parts.autolock.check()
        await parts.inside.look()
        await asyncio.sleep(EVERY)
