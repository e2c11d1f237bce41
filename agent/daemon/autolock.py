"""The vault locks itself when nobody has called on control for a while."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.daemon.log import LOG, place
from agent.errors import ReticentError
from agent.wire.routes import CONTROL, Door

EVERY = 5.0  # seconds between two looks; a call looks by itself before anything else
UNCOUNTED = {"events"}  # a stream that stands open is not somebody who is there


def awake() -> float:
    """Return seconds that also pass while the machine sleeps, where the system counts them."""
    clock: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


@dataclass(slots=True)
class Autolock:
    """Locks after some minutes without a call on control.

    ``minutes``: how many, asked at each look, 0 for never; ``lock``: closes the vault, and is no
    error where it is closed; ``locked``: says whether it is.
    """

    minutes: Callable[[], float]
    locked: Callable[[], bool]
    lock: Callable[[], object]
    clock: Callable[[], float] = awake
    _called: float = field(init=False)

    def __post_init__(self) -> None:
        self._called = self.clock()

    def before(self, door: Door, name: str) -> None:
        """Lock if it is time, before a call is answered; then count the call, if it does."""
        self.check()
        if door == CONTROL and name not in UNCOUNTED:
            self._called = self.clock()

    def check(self) -> None:
        """Lock if it is time; the vault is closed also where its last words cannot be written."""
        minutes = self.minutes()
        if minutes and self.clock() - self._called >= minutes * 60 and not self.locked():
            try:
                self.lock()
            except ReticentError as error:
                LOG.warning("locking failed: %s", place(error))
