"""What a request carries, and what it would."""

import asyncio
from collections.abc import Callable, Generator
from datetime import datetime
from typing import TypeVar

from msgspec.structs import replace

from agent.daemon.agent import Agent
from agent.daemon.calls.base import Base
from agent.daemon.deciding.curved import curved
from agent.daemon.deciding.explained import explained
from agent.daemon.deciding.weighed import weighed
from agent.daemon.handle import handle
from agent.daemon.process.opening import Opening, in_thread
from agent.daemon.rates import Asker
from agent.decision.tradeoff_curve import advanced
from agent.errors import VaultError
from agent.wire.base import Done
from agent.wire.decide import Answer, Ask, Clicked, Explained
from agent.wire.what_if import CurveAsk, TradeOffs, Weighed, WhatIf

T = TypeVar("T")


class Asking(Base):
    """Requests: decided, explained, weighed."""

    def __init__(
        self, agent: Agent, clock: Callable[[], datetime], opening: Opening = in_thread
    ) -> None:
        super().__init__(agent, clock, opening)
        self._one_apart = asyncio.Lock()

    def decide(self, body: Ask, *, by: Asker = "command") -> Answer:
        """Return what a request carries, recorded; UsageError where the recipient is no host.

        ``by``: who asks. VaultError where it cannot be: then the status says so until one is.
        """
        now = self._clock()
        try:
            answer = handle(body, now, self._agent, by)
        except VaultError as error:
            self._agent.trouble = error
            self._carried_nothing(body, Answer(code="failed"), now)
            raise
        if answer.id is None:
            self._carried_nothing(body, answer, now)
        else:
            self._agent.trouble = None
            self._agent.unrecorded.recorded(answer.id, answer)
            self._agent.bus.publish("answer", answer.id)
        return replace(answer, stale_rules=self._agent.rules.stale)

    def _carried_nothing(self, body: Ask, answer: Answer, now: datetime) -> None:
        """Remember it, and tell of it; while the vault is locked nothing of a query is kept."""
        vault = self._agent.vault
        if vault is not None:
            number = self._agent.unrecorded.silent(body, answer, vault.ledger.count, now)
            self._agent.bus.publish("nothing", number)

    def explain(self, body: Ask) -> Explained:
        """Return what would be decided."""
        found = explained(body, self._clock(), self._agent)
        return replace(found, stale_rules=self._agent.rules.stale)

    def clicked(self, body: Clicked) -> Done:
        """Take note of a visit; nothing is kept while locked, or unless the policy lets browsers.

        In the paper ACLK asks about the page that will be clicked (5.2); live it can only mean
        that a result of this query was visited before.
        """
        policy = self._agent.rules.policy
        if self._agent.vault is None or policy is None or not policy.daemon.clicks:
            return Done(done=False)
        self._agent.sources.clicked(body)
        return Done()

    async def whatif(self, body: WhatIf) -> Weighed:
        """Return what another set would bring and cost; others are answered meanwhile.

        LockedError while locked, and where it was locked before the end.
        """
        return await self._in_steps(weighed(body, self._clock(), self._agent))

    async def curve(self, body: CurveAsk) -> TradeOffs:
        """Return what would leave at every trade-off, likewise."""
        return await self._in_steps(curved(body, self._clock(), self._agent))

    async def _in_steps(self, steps: Generator[None, None, T]) -> T:
        """Return what steps come to: each in a thread, and those of one call after another's."""
        locks, found = self._agent.locks, None
        async with self._one_apart:
            while found is None:
                self._check_later(locks)
                found = await asyncio.to_thread(advanced, steps)
        self._check_later(locks)
        return found
