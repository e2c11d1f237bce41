"""The vault locks itself: with the screen, asleep, at the end of the session, and unused."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent.daemon.events import LOG, kind_and_place
from agent.errors import ReticentError
from agent.wire.routes import CONTROL, Door

if TYPE_CHECKING:
    from agent.daemon.agent import Agent

BUS = Path("/run/dbus/system_bus_socket")
LINE = 1 << 16  # bytes
_ARGUMENTS = ("monitor", "--system", "--dest", "org.freedesktop.login1")
# A screen, whosever it is; the machine that goes to sleep; or the last session of ours that ends.
_LOCKS = re.compile(
    rb"^/org/freedesktop/login1(?:: \S*\.Manager\.PrepareForSleep \(true,\)"
    rb"|/session/\w+: .*(?:\.Session\.Lock \(\)|'LockedHint': <true>)"
    rb"|/user/_%d: .*'Display': <\('', objectpath '/'\)>)" % os.getuid()
)
EVERY = 5.0  # seconds between two looks; a call looks by itself before anything else
UNCOUNTED = {"events", "unattended"}  # an open program does not mean that the user is there
NAP = 1.0  # seconds of sleep between two looks: a machine that stays awake has none


def watcher() -> str | None:
    """Find the program that reports the events of logind, None where there is no bus."""
    return shutil.which("gdbus") if BUS.exists() else None


async def watch(lock: Callable[[], object], program: str | None) -> None:
    """Lock whenever the system reports sleep or a locked screen, until the program ends."""
    if program is None:
        return
    to = asyncio.subprocess
    try:
        process = await asyncio.create_subprocess_exec(
            *(program, *_ARGUMENTS),
            stdin=to.DEVNULL,
            stdout=to.PIPE,
            stderr=to.DEVNULL,
            limit=LINE,
            start_new_session=True,  # so that what it has started ends with it
        )
    except OSError:
        return
    assert process.stdout is not None  # noqa: S101  (it is a pipe)
    try:
        with suppress(ValueError):  # no line is as long
            while line := await process.stdout.readline():
                if _LOCKS.match(line):
                    lock()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):  # it may just have ended
                os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    LOG.info("no longer watching the screen's lock")


Time = tuple[float, float]  # seconds that passed, asleep or not, and that the machine has slept


def clocks() -> Time:
    """Read the clocks, as far as the system counts sleep."""
    if hasattr(time, "CLOCK_BOOTTIME"):  # Linux
        passed, awake = time.CLOCK_BOOTTIME, time.CLOCK_MONOTONIC
    else:  # macOS
        passed = time.CLOCK_MONOTONIC
        awake = getattr(time, "CLOCK_UPTIME_RAW", passed)
    at = time.clock_gettime(passed)
    return at, at - time.clock_gettime(awake)


class Autolock:
    """Locks after some minutes without use, if any, and after a sleep.

    Use is a command, which calls on control, and a search that the user has sent off in a browser
    and was answered. Requests of pages and programs do not count, and do not keep the vault open.
    """

    def __init__(self, agent: Agent, clock: Callable[[], Time] = clocks) -> None:
        """Take the agent whose vault locks after so many minutes as its policy says."""
        self._agent, self._clock = agent, clock
        self._used, self._slept = clock()

    def used(self) -> None:
        """Count a command, what the user says in a dialog, or their search once it is answered."""
        self._used = self._clock()[0]

    def check(self, door: Door | None = None, name: str = "") -> None:
        """Lock if it is time; the vault is closed also where its last words cannot be written.

        ``door``, ``name``: of a call that is about to be answered, which then counts if it is a
        command.
        """
        now, slept = self._clock()
        minutes = self._agent.rules.active.daemon.lock_after_minutes
        unused = minutes > 0 and now - self._used >= minutes * 60
        woken, self._slept = slept - self._slept >= NAP, slept
        if unused or woken:
            self.end()
        if door == CONTROL and name not in UNCOUNTED:
            self.used()

    def end(self) -> None:
        """Lock now, unless it is locked."""
        if self._agent.vault is not None:
            try:
                self._agent.lock()
            except ReticentError as error:
                LOG.warning("locking failed: %s", kind_and_place(error))
