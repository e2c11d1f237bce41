"""Every call of the API but events and shutdown, as one method each, by its route's name.

The body comes first, parameters by keyword. Each raises a ReticentError where it cannot be done.
"""

import asyncio
import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, suppress
from datetime import datetime
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from agent import __version__
from agent.daemon import policy_api
from agent.daemon.agent import (
    Agent,
    Opening,
    open_in_thread,
    secret_from_keyring,
    status_of,
)
from agent.daemon.drafts import Drafts
from agent.daemon.handle import handle
from agent.daemon.model_registry import absolute
from agent.daemon.profile import change, shown
from agent.daemon.prompts import Prompts
from agent.daemon.records import correct, entries, forget, holding, opened, requested
from agent.daemon.records import recipients as known_recipients
from agent.daemon.request_log import Asker
from agent.daemon.what_if import curved, explained, weighed
from agent.decision.values import Correction, Curve, Decision
from agent.decision.what_if import advanced
from agent.errors import LockedError, UsageError, VaultError
from agent.vault.secrets import Secret
from agent.vault.vault import accounts_of
from agent.wire import decide as messages
from agent.wire import policy as wire
from agent.wire import state
from agent.wire.base import Done
from policy.hosts import ANYBODY

T = TypeVar("T")


class Calls:
    """What both doors lead to: each is one step, but those that are coroutines leave room.

    All of it belongs to one thread.
    """

    def __init__(
        self, agent: Agent, clock: Callable[[], datetime], opening: Opening = open_in_thread
    ) -> None:
        """Take the agent, the clock, and how vaults are opened.

        ``clock``: the time where the user lives; none before the ledger's latest is taken for now.
        """
        self.agent = agent
        self._clock = partial(agent.time, clock)
        self._opening = opening
        self._one_at_a_time, self._one_apart = asyncio.Lock(), asyncio.Lock()
        self._models: list[state.ModelStatus] | None = None
        self.prompts = Prompts(
            agent, self.unlock, lambda word, number: self.verdict(word, id=number), os.environ
        )
        self._drafts = Drafts(agent, self._carried_nothing)

        def locking() -> None:
            self._drafts.clear()
            self.prompts.locked()

        agent.locking = locking

    def _now(self) -> datetime:
        """Return the time, and have the policy in force as the file is now."""
        now = self._clock()
        self.agent.look(now)
        return now

    def _renew(self, otherwise: state.EventKind | None = None) -> None:
        """Put what was written into the policy in force for the next request.

        ``otherwise``: what changed where nothing was written.
        """
        changed = "policy" if self.agent.rules.reload(self._clock()) else otherwise
        if changed is not None:
            self.agent.bus.publish(changed)

    def _check_later(self, locks: int) -> None:
        """Raise LockedError if the vault was locked since that number of locks."""
        if self.agent.locks != locks:
            raise LockedError("the vault was locked meanwhile", "unlock it again")

    def refresh(self) -> None:
        """Read the policy again, and look at the models."""
        self.reload()
        self.models()

    async def look(self) -> None:
        """Look whether the files of vault, policy and models have changed."""
        self.agent.guard()
        self._now()
        self.models()

    async def readable(self, message: object) -> None:
        """Wait for the encoder, a second at most, where it is being loaded and a text needs it."""
        if self.agent.reader.state != "loading":
            return
        if (
            isinstance(message, messages.Ask | messages.WhatIf | messages.CurveAsk | state.NotThat)
            and message.query
        ):
            await self.agent.readable(message.query, message.recipient or ANYBODY, self._clock())

    def decide(self, body: messages.Ask, *, by: Asker = "command") -> messages.Answer:
        """Decide what one request carries, and record it before the answer leaves.

        UsageError if the recipient is not a host; VaultError where the vault fails, which the
        status then says until a decision is recorded again.
        """
        now = self._now()
        try:
            answer = handle(body, now, self.agent, by)
        except VaultError as error:
            self.agent.trouble = error
            self._carried_nothing(body, messages.Answer(code="failed"), now)
            raise
        if answer.id is None:
            self._carried_nothing(body, answer, now)
        else:
            self.agent.trouble = None
            self.agent.silent_requests.recorded(answer.id, answer)
            self.agent.bus.publish("answer", answer.id)
        if self.agent.settings.prompt == "pinentry":
            self.prompts.after(body, answer, by, now)
        return replace(answer, stale_rules=self.agent.rules.stale)

    def _carried_nothing(
        self, body: messages.Ask, answer: messages.Answer, now: datetime
    ) -> int | None:
        """Remember and report it; while the vault is locked nothing of a query is kept."""
        vault = self.agent.vault
        if vault is None:
            return None
        number = self.agent.silent_requests.silent(body, answer, vault.ledger.count, now)
        self.agent.bus.publish("nothing", number)
        return number

    def draft(self, body: messages.Ask) -> messages.Draft:
        """Say what a line in an assistant's chat box may hold; nothing is sent or recorded."""
        now = self._now()
        return replace(self._drafts.draft(body, now), stale_rules=self.agent.rules.stale)

    def tell(self, body: messages.Tell) -> messages.Told:
        """Record facts of a draft as sent, before they are put into the chat box.

        VaultError where that fails: then nothing is told.
        """
        try:
            found = self._drafts.tell(body, self._now())
        except VaultError as error:
            self.agent.trouble = error
            raise
        self.agent.trouble = None
        return found

    def explain(self, body: messages.Ask) -> Decision:
        """Say what would be decided, and why."""
        found = explained(body, self._now(), self.agent)
        return replace(found, stale_rules=self.agent.rules.stale)

    def clicked(self, body: messages.Clicked) -> Done:
        """Note that a result was visited, if the policy allows it.

        In the paper ACLK asks about the page that will be clicked (5.2); live it can only mean
        that a result of this query was visited before.
        """
        if self.agent.vault is None or not self.agent.settings.clicks:
            return Done(done=False)
        self.agent.sources.clicked(body)
        return Done()

    async def whatif(self, body: messages.WhatIf) -> messages.Weighed:
        """Weigh another set of attributes for a request.

        LockedError while locked, and where it was locked before the end.
        """
        return await self._in_steps(weighed(body, self._now(), self.agent))

    async def curve(self, body: messages.CurveAsk) -> Curve:
        """Say what would leave at every trade-off."""
        return await self._in_steps(curved(body, self._now(), self.agent))

    async def _in_steps(self, steps: Generator[None, None, T]) -> T:
        """Return what steps come to: each in a thread, and those of one call after another's."""
        locks, found = self.agent.locks, None
        async with self._one_apart:
            while found is None:
                self._check_later(locks)
                found = await asyncio.to_thread(advanced, steps)
        self._check_later(locks)
        return found

    def ledger(
        self, *, recipient: str | None = None, after: int = 0, limit: int | None = None
    ) -> list[state.Entry]:
        """List disclosures, oldest first."""
        return entries(self.agent, recipient, after, limit, self._now())

    def knowledge(self, *, recipient: str) -> state.Held:
        """Say what a recipient holds."""
        return holding(self.agent, recipient, self._now())

    def forget(self, body: state.Forget) -> Done:
        """State that a recipient has forgotten everything."""
        done = forget(self.agent, body.recipient, self._clock())
        if done:
            self.agent.bus.publish("forget")
        return Done(done=done)

    def not_that(self, body: state.NotThat) -> state.Corrected:
        """Say that a text does not mean what it was read as, or take that back."""
        return correct(self.agent, body, self._clock())

    def corrections(self) -> list[Correction]:
        """List what texts do not mean."""
        kept = self.agent.reader.corrections
        if kept is None:
            raise LockedError
        return kept.all

    def profile(self) -> state.ProfileFacts:
        """List the user's facts."""
        return shown(self.agent)

    def change_profile(self, body: state.ProfileChange) -> state.Changed:
        """Set or unset facts, all or none."""
        changed = change(self.agent, body, self._clock())
        if changed.done:
            self.agent.bus.publish("profile")
        return changed

    async def backup(self, body: state.Place) -> Done:
        """Write a backup of the vault."""
        await asyncio.to_thread(opened(self.agent).backup, absolute(body))
        return Done()

    def requests(
        self, *, recipient: str | None = None, limit: int | None = None
    ) -> list[state.Handled]:
        """List the latest requests, oldest first, also those that carried nothing."""
        return requested(self.agent, recipient, limit, self._now())

    def recipients(self) -> list[state.Recipient]:
        """List who was sent anything, latest first."""
        return known_recipients(self.agent, self._now())

    def status(self) -> state.Status:
        """Say how the daemon, its models and its policy are."""
        agent = self.agent
        agent.guard()
        now = self._now()
        models = agent.registry.status(agent.rules.active.keys, now)
        return status_of(agent, agent.rules.status(), models, now)

    def locked(self) -> state.Locked:
        """Say whether the vault is locked, and where facts may be offered."""
        agent, now = self.agent, self._now()
        return state.Locked(
            version=__version__,
            locked=agent.vault is None,
            clicks=agent.settings.clicks,
            sites=agent.consent.sites(now),
            assistants=agent.consent.assistants(now),
            stale_rules=agent.rules.stale,
        )

    async def unlock(self, body: state.Unlock) -> state.Status:
        """Open the vault.

        VaultError where it cannot be opened; LockedError where it was locked since this was asked
        for. While the keyring is waited for, another call may open it.
        """
        agent, locks = self.agent, self.agent.locks
        self.prompts.use(body.screen)
        secret = Secret(body.method, body.secret)
        if body.method == "keyring":
            names: list[str] = []
            async with self._one_at_a_time:  # reads the slots, so the vault must stay closed
                if agent.vault is None:
                    names = await asyncio.to_thread(accounts_of, agent.place.vault)
            secret = await secret_from_keyring(names)
        async with self._one_at_a_time:
            if agent.vault is None and agent.locks == locks:
                vault = await self._opening(agent.place, secret)
                with ExitStack() as on_failure:
                    on_failure.callback(vault.close)
                    self._check_later(locks)
                    agent.opened(vault, self._clock())
                    on_failure.pop_all()
                agent.vault = vault
                self.prompts.end()
                self.agent.bus.publish("lock")
            self._check_later(locks)
        return self.status()

    def lock(self) -> state.Status:
        """Close the vault."""
        self.agent.lock()
        return self.status()

    def models(self) -> list[state.ModelStatus]:
        """List the models."""
        found = self.agent.registry.status(self.agent.rules.active.keys, self._clock())
        before, self._models = self._models, found
        now = self._clock()  # a model that is away now may be back soon
        if before != found:
            self.agent.use_models(self.agent.vault, now)
        if before not in (None, found):
            self.agent.bus.publish("models")
            if self.agent.vault is not None:
                with suppress(VaultError):  # what cannot be kept now is no reason to end
                    names = self.agent.request_attributes(now)
                    self.agent.sources.opened(self.agent.vault.items, names)
        return found

    def add_model(self, body: state.Place) -> state.ModelStatus:
        """Add a model, with its signature.

        UsageError or ModelError where that cannot be.
        """
        keys = self.agent.rules.active.keys
        added = self.agent.registry.add(absolute(body), keys, self._clock())
        self.models()
        return added

    def remove_model(self, *, name: str) -> Done:
        """Remove a model that was added.

        UsageError if it does not exist.
        """
        self.agent.registry.remove(name)
        self.models()
        return Done()

    def policy(self) -> state.PolicyStatus:
        """Say how the policy is."""
        self._now()
        return self.agent.rules.status()

    def reload(self) -> state.PolicyStatus:
        """Read the policy again."""
        self.agent.rules.reload(self._clock())
        self.agent.bus.publish("policy")
        return self.agent.rules.status()

    def rules(self) -> wire.RulesStatus:
        """List all rules of the policy in use."""
        return policy_api.ruled(self._now(), self.agent)

    def attributes(self, *, recipient: str | None = None) -> list[wire.AttributeStatus]:
        """List the attributes of the model in use, and what the policy says of each."""
        return policy_api.attributes(recipient, self._now(), self.agent)

    def edit_policy(self, body: wire.PolicyEdit) -> wire.Edited:
        """Write settings into the policy, or take them out."""
        return policy_api.edited(body, self._clock(), self.agent)

    def try_policy(self, body: wire.TryPolicy) -> wire.Tried:
        """Say what another policy would have sent with the requests in the ledger."""
        return policy_api.tried(body.text, self._clock(), self.agent)

    def reviews(self) -> list[wire.Review]:
        """List what waits for the user's word."""
        opened(self.agent)
        return self.agent.consent.reviews(self._clock())

    def verdict(self, body: wire.Word, *, id: int) -> wire.Ruled:  # noqa: A002  (the route's word)
        """Approve or deny what waits.

        UsageError if there is no such review, LockedError while locked.
        """
        opened(self.agent)
        ruled = self.agent.consent.answer(id, body, self._clock())
        self._renew()
        self.agent.bus.publish("review", id)
        return ruled

    def dismiss(self, *, id: int) -> Done:  # noqa: A002  (the route's word)
        """Drop a review without a verdict.

        UsageError if it does not exist.
        """
        self.agent.consent.dismiss(id)
        self.agent.bus.publish("review", id)
        return Done()

    def offer(self, body: messages.Offer) -> Done:
        """Queue a recipient's offer."""
        return policy_api.offered(body, self._clock(), self.agent)

    def refuse(self, body: messages.Refuse) -> Done:
        """Give a recipient nothing from now on."""
        self.agent.consent.refuse(body.recipient, self._clock())
        self._renew()
        return Done()

    def allow(self, body: messages.Allow) -> messages.Allowed:
        """Take back a refusal; a rule that is not ours stays, and is named."""
        done = self.agent.consent.allow(body.recipient).changed
        self._renew()
        return replace(policy_api.refusal(body.recipient, self._clock(), self.agent), done=done)

    def override(self, body: wire.Override) -> wire.Ruled:
        """Say whether attributes may leave.

        UsageError for one that no model has, LockedError while locked.
        """
        opened(self.agent)
        now, known = self._now(), policy_api.names_in(self.agent, self._clock())
        for name in body.names:
            if name not in known:
                raise UsageError.unknown("attribute", name, known)
        ruled = self.agent.consent.override(body, now)
        self._renew("review")
        return ruled

    def undo(self) -> wire.Undone:
        """Undo the user's last word.

        UsageError where there is none, LockedError while locked.
        """
        opened(self.agent)
        what = self.agent.consent.undo(self._clock())
        self._renew("review")
        return wire.Undone(what=what)
