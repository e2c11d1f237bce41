"""The daemon's start: from what is light to what is heavy, listening in between."""

import asyncio
import gc
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import FrameType

from agent.daemon.events import Bus
from agent.daemon.log import logging_to
from agent.daemon.sockets import adopted, alone, doors, more_files
from agent.files import private_folder
from agent.paths import Paths
from agent.vault.secrets import forbid_dumps

ENDS = (signal.SIGTERM, signal.SIGINT)
RELOADS = signal.SIGHUP
UMASK = 0o077  # the umask: nothing that the daemon makes is for others


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


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: ``listen``: a port of 127.0.0.1 for the query door, None for no such door.

    ``origins``: of the web pages that may ask there.
    """

    listen: int | None = None
    origins: tuple[str, ...] = ()


def run(paths: Paths, options: Options, build: Build = assembled) -> None:
    """Run the daemon in the foreground, until a signal or a call ends it.

    No core file is made of this process from then on. Raises DaemonError where one runs already
    or a socket cannot be made, UsageError for a folder or a file that must not be used.
    """
    forbid_dumps()
    with ExitStack() as stack:
        life = stack.enter_context(lifetime())
        _prepare(paths, stack)
        opened = stack.enter_context(doors(paths, adopted(os.environ, os.getpid())))
        gc.disable()  # it would look through modules that all stay, a tenth of the start
        stack.callback(gc.enable)
        from agent.daemon.server_loop import Openings, live

        live(paths, Openings(opened, options.listen, options.origins), life, build)


def _prepare(paths: Paths, stack: ExitStack) -> None:
    """Make the folders, be the only daemon, and begin the log."""
    before = os.umask(UMASK)
    stack.callback(os.umask, before)
    stack.enter_context(more_files())
    for folder in (paths.config, paths.data, paths.state, paths.runtime):
        private_folder(folder)
    stack.enter_context(alone(paths.daemon_lock))
    stack.enter_context(logging_to(paths.log))
