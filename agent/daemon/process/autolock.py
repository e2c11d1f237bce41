"""The vault locks itself: unused for a while, after hours at most, and when the machine sleeps."""

import time
from collections.abc import Callable
from typing import NamedTuple

from agent.daemon.process.log import LOG, kind_and_place
from agent.errors import ReticentError
from agent.wire.routes import CONTROL, Door
from policy.settings import LONGEST_MINUTES

EVERY = 5.0  # seconds between two looks; a call looks by itself before anything else
UNCOUNTED = {"events", "unattended"}  # a program that stands open is not somebody who is there
NAP = 1.0  # seconds of sleep between two looks: a machine that stays awake has none


class Time(NamedTuple):
    """Seconds on two clocks: ``passed`` goes on while the machine sleeps, ``slept`` only then."""

    passed: float
    slept: float


def clocks() -> Time:
    """Return the time, asleep or not, as far as the system counts sleep."""
    if hasattr(time, "CLOCK_BOOTTIME"):  # Linux
        passed, awake = time.CLOCK_BOOTTIME, time.CLOCK_MONOTONIC
    else:  # macOS
        passed = time.CLOCK_MONOTONIC
        awake = getattr(time, "CLOCK_UPTIME_RAW", passed)
    at = time.clock_gettime(passed)
    return Time(at, at - time.clock_gettime(awake))


class Autolock:
    """Locks after some minutes without use, hours after the last command, and after a sleep.

    Use is a command, which calls on control, and a search that the user has sent off in a browser
    and was answered. What pages and programs ask is none, and does not keep the vault open.
    """

    def __init__(
        self,
        minutes: Callable[[], float],
        locked: Callable[[], bool],
        lock: Callable[[], object],
        clock: Callable[[], Time] = clocks,
    ) -> None:
        """Take what there is to ask, and to do.

        ``minutes``: how many, asked at each look, 0 for as long as it may be; ``lock``: closes the
        vault, and is no error where it is closed; ``locked``: says whether it is.
        """
        self._minutes = minutes
        self._locked = locked
        self._lock = lock
        self._clock = clock
        self._commanded, self._slept = clock()
        self._used = self._commanded

    def before(self, door: Door, name: str) -> None:
        """Lock if it is time, before a call is answered; then count the call, if it does."""
        self.check()
        if door == CONTROL and name not in UNCOUNTED:
            self._commanded = self._used = self._clock().passed

    def used(self) -> None:
        """Count a search that the user has sent off, once it is answered."""
        self._used = self._clock().passed

    def check(self) -> None:
        """Lock if it is time; the vault is closed also where its last words cannot be written."""
        now, slept = self._clock()
        minutes = min(self._minutes() or LONGEST_MINUTES, LONGEST_MINUTES)
        unused = now - self._used >= minutes * 60
        too_long = now - self._commanded >= LONGEST_MINUTES * 60
        woken, self._slept = slept - self._slept >= NAP, slept
        if unused or too_long or woken:
            self.end()

    def end(self) -> None:
        """Lock now, unless it is locked."""
        if not self._locked():
            try:
                self._lock()
            except ReticentError as error:
                LOG.warning("locking failed: %s", kind_and_place(error))
