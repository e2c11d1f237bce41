"""What the calls of every subject have in common."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from agent.daemon.agent import Agent
from agent.daemon.process.opening import Opening, in_thread
from agent.errors import LockedError


class Base:
    """The agent that calls are about, and the clock: the time now, where the user lives.

    No time before the ledger's latest is taken for now.

    All of it belongs to one thread.
    """

    def __init__(
        self, agent: Agent, clock: Callable[[], datetime], opening: Opening = in_thread
    ) -> None:
        """Take the agent, the clock, and how vaults are opened."""
        self._agent = agent
        self._clock = partial(agent.time, clock)
        self._opening = opening

    def _renew(self) -> None:
        """Let what was written into the policy, if anything, hold from the next request on."""
        if self._agent.rules.renew(self._clock()):
            self._agent.bus.publish("policy")

    def _check_later(self, locks: int) -> None:
        """Raise LockedError if there were calls to lock since there were so many."""
        if self._agent.locks != locks:
            raise LockedError("the vault was locked meanwhile", "unlock it again")
