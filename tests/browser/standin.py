"""A stand-in for the daemon behind the relay: it notes all that an extension says to it.

What it lets a request carry is made of that request's query, so that a recipient can tell whether a
header belongs to the request that brought it.
"""

import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import msgspec

from agent.daemon.request_log import Rates
from agent.wire.base import Done
from agent.wire.decide import Answer, Ask, Because, Frame, RelayAnswer, Summary
from agent.wire.routes import QUERY
from agent.wire.state import Locked, Site
from tests.browser.frames import Relayed, RelayedDecide, RelayedRefuse, RelayedStatus
from tests.browser.recipient import digest, right
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon, Raw

SEED = 6
MANY = 10**6
LATE = 4.5  # seconds, longer than the extension of these tests waits for a decision


def answered(ask: Ask) -> Answer:
    """Return an answer that carries one attribute."""
    because = Because(name="h", reason="chosen", gain_bits=0.25, cost_bits=0.05)
    summary = Summary(
        headline="shares 1 attribute",
        pool=ask.recipient,
        model="test",
        utility_bits=0.25,
        people_left=1234.0,
        waiting=0,
        because=[because],
    )
    value = digest(ask.query)
    return Answer(
        code="answered", attributes={"h": value}, header=right(ask.query), id=1, summary=summary
    )


def locked(_: Ask) -> Answer:
    """Return the answer of a daemon that is locked."""
    return Answer(code="locked")


def breaking(_: Ask) -> Answer:
    """Break off."""
    raise BrokenPipeError


class Standin:
    """Answers until its `with` ends.

    ``sites``, ``clicks``, ``locked``, ``stale``: what its status says;
    ``told``: the status that was last asked for; ``answer``: what it makes of a request;
    ``cap``: how many of pages it decides for a recipient in a minute; ``delay``: the longest, in
    seconds, drawn anew for each.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fake: FakeDaemon | None = None
        self._said = threading.Condition()
        self.messages: list[Relayed] = []
        self._chance = random.Random(SEED)  # noqa: S311  (delays)
        self.sites: list[Site] = []
        self.told: Locked | None = None
        self.reset()

    def reset(self) -> None:
        """Behave, forget what was said, and be there."""
        self.answer: Callable[[Ask], Answer] = answered
        self.delay = 0.0
        self.clicks = self.locked = self.stale = False
        self.cap, self._rates = MANY, Rates()
        self.forget()

    def forget(self) -> None:
        """Forget what was said."""
        with self._said:
            self.messages.clear()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Be there, if it is not."""
        if self._fake is None:
            self._path.unlink(missing_ok=True)  # that of a real daemon that was killed
            self._fake = FakeDaemon(self._path, {"relay": self._relayed}, QUERY)
            self._fake.__enter__()

    def stop(self) -> None:
        """Be gone, and leave no socket."""
        fake, self._fake = self._fake, None
        if fake is not None:
            fake.__exit__(None, None, None)

    def status(self) -> Locked:
        """Return how it says that it is."""
        return Locked(
            version="0",
            locked=self.locked,
            clicks=self.clicks,
            sites=[*self.sites],
            stale_rules=self.stale,
        )

    def said(self, kind: type[Any] | None = None) -> list[Any]:
        """Return what was said of a kind, or all but how it is."""
        with self._said:
            return [
                each
                for each in self.messages
                if (isinstance(each, kind) if kind else not isinstance(each, RelayedStatus))
            ]

    def heard(self, kind: type[Any], count: int = 1) -> list[Any]:
        """Return what was said of a kind, once there is so much."""
        with self._said:
            found: list[Any] = []

            def enough() -> bool:
                found[:] = [each for each in self.messages if isinstance(each, kind)]
                return len(found) >= count

            assert self._said.wait_for(enough, PATIENCE), f"only {self.messages} was said"
            return found

    def _relayed(self, body: Frame) -> object:
        """Note a message, and answer it."""
        fields = {"call": body.call, "id": body.id, "body": body.body}
        fields |= {"by": body.by} if body.call == "decide" else {}
        message: Any = msgspec.json.decode(msgspec.json.encode(fields), type=Relayed)
        with self._said:
            self.messages.append(message)
            self._said.notify_all()
            wait = self._chance.uniform(0, self.delay)
        if isinstance(message, RelayedStatus):
            said: object = self.status()
            self.told = self.status()
        elif isinstance(message, RelayedDecide):
            time.sleep(wait)
            try:
                said = self._decided(message)
            except BrokenPipeError:
                return Raw(200, b"")  # which is no whole answer
        else:
            self._narrow(message)
            said = Done()
        return RelayAnswer(id=body.id, status=200, body=msgspec.Raw(msgspec.json.encode(said)))

    def _decided(self, body: RelayedDecide) -> Answer:
        """Answer a request, unless pages lead there too often."""
        with self._said:
            of, now = body.body.recipient, datetime.now(UTC)
            if body.by == "page" and self._rates.is_capped("page", of, self.cap, now):
                return Answer(code="too many from pages")
        return self.answer(body.body)

    def _narrow(self, body: Relayed) -> None:
        """Give who is refused nothing any more."""
        if isinstance(body, RelayedRefuse):
            self.sites = [each for each in self.sites if each.recipient != body.body.recipient]


def site(recipient: str, address: str) -> Site:
    """Return what a status says of a recipient, searched at ``address``."""
    return Site(recipient=recipient, search=address + "?q={query}")
