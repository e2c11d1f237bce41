"""The vault locks itself when nobody has called on control for a while."""

import time
from collections.abc import Callable

from agent.daemon.process.log import LOG, kind_and_place
from agent.errors import ReticentError
from agent.wire.routes import CONTROL, Door

EVERY = 5.0  # seconds between two looks; a call looks by itself before anything else
UNCOUNTED = {"events", "unattended"}  # a program that stands open is not somebody who is there


def awake() -> float:
    """Return seconds that also pass while the machine sleeps, where the system counts them."""
    clock: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


class Autolock:
    """Locks after some minutes without a call on control."""

    def __init__(
        self,
        minutes: Callable[[], float],
        locked: Callable[[], bool],
        lock: Callable[[], object],
        clock: Callable[[], float] = awake,
    ) -> None:
        """Take what there is to ask, and to do.

        ``minutes``: how many, asked at each look, 0 for never; ``lock``: closes the vault, and is
        no error where it is closed; ``locked``: says whether it is; ``clock``: in seconds.
        """
        self._minutes = minutes
        self._locked = locked
        self._lock = lock
        self._clock = clock
        self._called = clock()

    def before(self, door: Door, name: str) -> None:
        """Lock if it is time, before a call is answered; then count the call, if it does."""
        self.check()
        if door == CONTROL and name not in UNCOUNTED:
            self._called = self._clock()

    def check(self) -> None:
        """Lock if it is time; the vault is closed also where its last words cannot be written."""
        minutes = self._minutes()
        if minutes and self._clock() - self._called >= minutes * 60 and not self._locked():
            try:
                self._lock()
            except ReticentError as error:
                LOG.warning("locking failed: %s", kind_and_place(error))
