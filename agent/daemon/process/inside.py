"""What the doors lead to, as the daemon's outer half sees it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from agent.daemon.events import Bus
from agent.paths import Paths


@dataclass(frozen=True, slots=True)
class Inside:
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


Build = Callable[[Paths, Bus], Inside]


def now() -> datetime:
    """Return the time, with the zone of this machine."""
    return datetime.now(UTC).astimezone()


def assembled(paths: Paths, bus: Bus) -> Inside:
    """Return what there is on this machine, locked."""
    from agent.daemon.agent import assemble
    from agent.daemon.calls import Calls
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

    return Inside(
        calls, lambda: agent.vault is None, minutes, agent.lock, reload, look, fresh, agent.guard
    )
