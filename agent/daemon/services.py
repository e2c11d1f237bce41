"""When the daemon ends, and what its outer half calls of the inner one."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import FrameType

from agent.daemon.events import Bus
from agent.paths import Paths

ENDS = (signal.SIGTERM, signal.SIGINT)
RELOADS = signal.SIGHUP


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
    """Return what notes the signals, from here on: none of them interrupts what is being done.

    asyncio's own handlers would leave the time before and after its loop to chance.
    """
    noted = Lifetime()

    def note(number: int, _frame: FrameType | None) -> None:
        if number == RELOADS:
            noted.reload()
        else:
            noted.end()

    before = {number: signal.signal(number, note) for number in (*ENDS, RELOADS)}
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass(frozen=True, slots=True)
class Services:
    """The calls by name, and what is needed beside them.

    ``locked``: whether the vault is; ``minutes``: after which it locks, 0 for never; ``lock``:
    closes it, and is no error where it is closed; ``reload``: reads policy and models again;
    ``look``: does so where they have changed; ``fresh``: has the policy's rules in force as they
    are now, which takes a second at most; ``guard``: locks a vault that was replaced while it was
    open.
    """

    calls: object
    locked: Callable[[], bool]
    minutes: Callable[[], float]
    lock: Callable[[], object]
    reload: Callable[[], object]
    look: Callable[[], Awaitable[object]]
    fresh: Callable[[], Awaitable[object]]
    guard: Callable[[], object]


Build = Callable[[Paths, Bus], Services]


def now() -> datetime:
    """Return the time, with the zone of this machine."""
    return datetime.now(UTC).astimezone()


def assembled(paths: Paths, bus: Bus) -> Services:
    """Return what there is on this machine, locked."""
    from agent.daemon.agent import assemble
    from agent.daemon.api import Calls
    from policy.settings import DaemonSettings

    agent = assemble(paths, bus, now())
    calls = Calls(agent, now)

    def minutes() -> float:
        policy = agent.rules.policy
        settings = DaemonSettings() if policy is None else policy.daemon
        return settings.lock_after_minutes

    def reload() -> None:
        calls.reload()
        calls.models()

    async def fresh() -> None:
        await agent.fresh(now)

    async def look() -> None:
        agent.guard()
        await fresh()
        calls.models()

    return Services(
        calls, lambda: agent.vault is None, minutes, agent.lock, reload, look, fresh, agent.guard
    )
