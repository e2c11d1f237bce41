"""How the daemon is, and whether the vault is open."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime

from agent import __version__
from agent.daemon.agent import Agent
from agent.daemon.calls.base import Base
from agent.daemon.process.opening import Opening, from_keyring, in_thread, keyring_accounts
from agent.daemon.status import status_of
from agent.vault.secrets import Secret
from agent.vault.vault import Vault
from agent.wire.state import Locked, Status, Unlock


class Locking(Base):
    """The state of the daemon, and what opens and closes the vault."""

    def __init__(
        self, agent: Agent, clock: Callable[[], datetime], opening: Opening = in_thread
    ) -> None:
        super().__init__(agent, clock, opening)
        self._one_at_a_time = asyncio.Lock()

    def status(self) -> Status:
        """Return how the daemon is."""
        agent, now = self._agent, self._clock()
        agent.guard()
        agent.look(now)
        models = agent.shelf.status(agent.rules.in_force.keys, now)
        return status_of(agent, agent.rules.status(), models, now)

    def locked(self) -> Locked:
        """Return what everybody may know, by the policy as it is now."""
        agent, now = self._agent, self._clock()
        agent.look(now)
        policy = agent.rules.policy
        return Locked(
            version=__version__,
            locked=agent.vault is None,
            clicks=policy is not None and policy.daemon.clicks,
            sites=agent.desk.sites(now),
            stale_rules=agent.rules.stale,
        )

    async def unlock(self, body: Unlock) -> Status:
        """Open the vault, if it is not open; VaultError where it cannot be opened.

        The later word counts: LockedError where it was locked since this was asked for.
        """
        agent, locks = self._agent, self._agent.locks
        secret = await self._secret(body)
        async with self._one_at_a_time:
            if agent.vault is None and agent.locks == locks:
                self._use(await self._opening(agent.place, secret), locks)
            self._check_later(locks)
        return self.status()

    def lock(self) -> Status:
        """Close the vault, if it is open."""
        self._agent.lock()
        return self.status()

    async def _secret(self, body: Unlock) -> Secret:
        """Return what opens the vault; while the keyring is waited for, another may open it."""
        if body.method != "keyring":
            return Secret(body.method, body.secret)
        async with self._one_at_a_time:  # its slots are read, so nobody may open it just now
            is_open = self._agent.vault is not None
            names = [] if is_open else await keyring_accounts(self._agent.place)
        return await from_keyring(names)

    def _use(self, vault: Vault, locks: int) -> None:
        """Decide by a vault from now on, or close it."""
        with ExitStack() as on_failure:
            on_failure.callback(vault.close)
            self._check_later(locks)
            self._agent.opened(vault, self._clock())
            on_failure.pop_all()
        self._agent.vault = vault
        self._agent.bus.publish("lock")
