"""Every call of the API but events and shutdown, as one method each, by its route's name.

The body comes first, parameters by keyword. Each raises a ReticentError where it cannot be done.
"""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path

from agent import __version__
from agent.daemon.agent import Agent
from agent.daemon.deciding.explained import explained
from agent.daemon.handle import handle
from agent.daemon.holdings import change, entries, forget, holding, opened
from agent.daemon.process.opening import Opening, from_keyring, in_thread, keyring_accounts
from agent.daemon.status import status_of
from agent.errors import LockedError, UsageError, VaultError
from agent.vault.keys.secrets import Secret
from agent.vault.vault import Vault
from agent.wire.asking import Answer, Ask, Clicked, Explained, Offer, Refuse
from agent.wire.base import Done
from agent.wire.keeping import Changed, Entry, Forget, Held, Profile, ProfileChange
from agent.wire.reviews import Review, Ruled, Verdict
from agent.wire.state import Locked, ModelStatus, Place, PolicyStatus, Status, Unlock
from policy.hosts import host_of, site_of


class Calls:
    """What both doors lead to: each is one step, but `unlock` and `backup` leave room for others.

    All of it belongs to one thread.
    """

    def __init__(
        self, agent: Agent, clock: Callable[[], datetime], opening: Opening = in_thread
    ) -> None:
        """Take the agent; the clock: the time now, where the user lives; and how vaults open."""
        self._agent = agent
        self._clock = clock
        self._opening = opening
        self._one_at_a_time = asyncio.Lock()
        self._models: list[ModelStatus] | None = None

    def status(self) -> Status:
        """Return how the daemon is."""
        agent, now = self._agent, self._clock()
        agent.look(now)
        models = agent.shelf.status(agent.rules.in_force.keys, now)
        return status_of(agent, agent.rules.status(), models, now)

    def locked(self) -> Locked:
        """Return what everybody may know."""
        return Locked(version=__version__, locked=self._agent.vault is None)

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

    def decide(self, body: Ask) -> Answer:
        """Return what a request carries, recorded; UsageError where the recipient is no host.

        VaultError where it cannot be: then the status says so until one is.
        """
        try:
            answer = handle(body, self._clock(), self._agent)
        except VaultError as error:
            self._agent.trouble = error
            raise
        if answer.id is not None:
            self._agent.trouble = None
            self._agent.bus.publish("answer", answer.id)
        return answer

    def explain(self, body: Ask) -> Explained:
        """Return what would be decided."""
        return explained(body, self._clock(), self._agent)

    def reviews(self) -> list[Review]:
        """Return what waits for the user, and says what was asked; LockedError while locked."""
        opened(self._agent)
        return self._agent.desk.reviews(self._clock())

    def verdict(self, body: Verdict, *, id: int) -> Ruled:  # noqa: A002  (the route's word)
        """Apply the user's word on a review; UsageError where there is none such.

        LockedError while locked.
        """
        opened(self._agent)
        ruled = self._agent.desk.verdict(id, body, self._clock())
        self._renew()
        self._agent.bus.publish("review", id)
        return ruled

    def dismiss(self, *, id: int) -> Done:  # noqa: A002  (the route's word)
        """Take a review off the list; UsageError where there is none such."""
        self._agent.desk.dismiss(id)
        self._agent.bus.publish("review", id)
        return Done()

    def ledger(
        self, *, recipient: str | None = None, after: int = 0, limit: int | None = None
    ) -> list[Entry]:
        """Return the latest entries of the ledger, oldest first."""
        return entries(self._agent, recipient, after, limit)

    def knowledge(self, *, recipient: str) -> Held:
        """Return what a recipient or a group holds."""
        self._agent.look(self._clock())
        return holding(self._agent, recipient, self._clock())

    def forget(self, body: Forget) -> Done:
        """State that a recipient forgot; not done where it was never told anything."""
        done = forget(self._agent, body.recipient, self._clock())
        if done:
            self._agent.bus.publish("forget")
        return Done(done=done)

    def profile(self) -> Profile:
        """Return the user's values."""
        return Profile(values=opened(self._agent).profile.values())

    def change_profile(self, body: ProfileChange) -> Changed:
        """Change the user's values, all or nothing."""
        changed = change(self._agent, body, self._clock())
        self._agent.bus.publish("profile")
        return changed

    def policy(self) -> PolicyStatus:
        """Return how the policy is."""
        self._agent.look(self._clock())
        return self._agent.rules.status()

    def reload(self) -> PolicyStatus:
        """Read the policy now, whatever it is."""
        self._agent.rules.reload(self._clock())
        self._agent.bus.publish("policy")
        return self._agent.rules.status()

    def models(self) -> list[ModelStatus]:
        """Return how each model is, and tell if that changed."""
        found = self._agent.shelf.status(self._agent.rules.in_force.keys, self._clock())
        before, self._models = self._models, found
        if before not in (None, found):
            self._agent.bus.publish("models")
            if self._agent.vault is not None:
                with suppress(VaultError):  # what cannot be kept now is no reason to end
                    self._agent.models_changed(self._agent.vault, self._clock())
        return found

    def add_model(self, body: Place) -> ModelStatus:
        """Copy a model to the others; UsageError or ModelError where that cannot be."""
        keys = self._agent.rules.in_force.keys
        added = self._agent.shelf.add(_absolute(body), keys, self._clock())
        self.models()
        return added

    def remove_model(self, *, name: str) -> Done:
        """Remove a model; UsageError where there is none such."""
        self._agent.shelf.remove(name)
        self.models()
        return Done()

    async def backup(self, body: Place) -> Done:
        """Copy the vault to a new file; others are answered meanwhile."""
        await asyncio.to_thread(opened(self._agent).backup, _absolute(body))
        return Done()

    def clicked(self, body: Clicked) -> Done:
        """Take note of a visit; nothing is kept while the vault is locked."""
        if self._agent.vault is None:
            return Done(done=False)
        self._agent.sources.clicked(body)
        return Done()

    def offer(self, body: Offer) -> Done:
        """Queue what a recipient says it can use, of what the models have; not done if nothing."""
        now, agent = self._clock(), self._agent
        host = host_of(body.recipient)
        usable = agent.shelf.usable(agent.rules.in_force.keys, now)
        known = {attribute.name for model in usable for attribute in model.attributes}
        names = [name for name in body.names if name in known]
        if not names:
            return Done(done=False)
        pool = agent.rules.in_force.pool_of(host)
        review = agent.desk.offer(site_of(host), pool, names, now)
        if review is not None:
            agent.bus.publish("offer", review.id)
        return Done()

    def refuse(self, body: Refuse) -> Done:
        """Write into the policy that a recipient gets nothing more."""
        self._agent.desk.refuse(body.recipient, self._clock())
        self._renew()
        return Done()

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

    def _check_later(self, locks: int) -> None:
        """Raise LockedError if there were calls to lock since there were so many."""
        if self._agent.locks != locks:
            raise LockedError("the vault was locked meanwhile", "unlock it again")

    def _renew(self) -> None:
        """Let what was written into the policy, if anything, hold from the next request on."""
        if self._agent.rules.renew(self._clock()):
            self._agent.bus.publish("policy")


def _absolute(place: Place) -> Path:
    """Return a path; UsageError for one that depends on the folder that somebody is in."""
    path = Path(place.path)
    if not path.is_absolute():
        raise UsageError("this is no absolute path", "begin it with /", place.path)
    return path
