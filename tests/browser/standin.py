"""A stand-in for the daemon behind the relay: it notes all that an extension says to it.

What it lets a request carry is made of that request's query, so that a recipient can tell whether a
header belongs to the request that brought it.
"""

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from agent.decision.values import Reading
from agent.wire.base import Done
from agent.wire.decide import Answer, Ask, Because, Frame, RelayAnswer, Summary
from agent.wire.routes import QUERY, ROUTES
from agent.wire.state import Locked, Site
from tests.browser.recipient import digest, right
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon, Raw

TAKES = {each.path.rpartition("/")[2]: each.takes for each in ROUTES if QUERY in each.doors}
SEED = 6
MARKUP = "<img src=x onerror=\"document.title='run'\"><b>bold</b>"
TOPICS = [
    Reading(query=each, title=each, probability=0.0, model="test")
    for each in ("planning a trip", MARKUP)
]
LATE = 4.5  # seconds, longer than the extension of these tests waits for a decision


class Said(NamedTuple):
    """A call of the extension, its message, and for whom it asks."""

    call: str
    body: Any
    by: str


def answered(ask: Ask) -> Answer:
    because = [Because(name="h", reason="chosen", gain_bits=0.25, cost_bits=0.05)]
    figures: dict[str, Any] = {"utility_bits": 0.25, "people_left": 1234.0, "waiting": 0}
    summary = Summary(pool=ask.recipient, model="test", because=because, **figures)
    carried: dict[str, Any] = {"attributes": {"h": digest(ask.query)}, "header": right(ask.query)}
    return Answer(code="answered", id=1, summary=summary, **carried)


def locked(_: Ask) -> Answer:
    return Answer(code="locked")


class Standin:
    """Answers until it is stopped.

    ``sites``, ``clicks``, ``locked``: what its status says; ``told``: the status last asked for;
    ``broken``: whether it ends each call without an answer; ``answer``: what it makes of a
    request; ``delay``: the longest, in seconds, drawn anew for each.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fake: FakeDaemon | None = None
        self._said = threading.Condition()
        self.messages: list[Said] = []
        self._chance = random.Random(SEED)  # noqa: S311  (delays)
        self.sites: list[Site] = []
        self.told: Locked | None = None
        self.reset()
        self.start()

    def reset(self) -> None:
        """Behave, forget what was said, and be there."""
        self.answer: Callable[[Ask], Answer] = answered
        self.delay = 0.0
        self.clicks = self.locked = self.broken = False
        self.forget()

    def forget(self) -> None:
        with self._said:
            self.messages.clear()

    def start(self) -> None:
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
        return Locked(version="0", locked=self.locked, clicks=self.clicks, sites=[*self.sites])

    def said(self, call: str = "") -> list[Said]:
        """List what was said in one call, or in all but those for how it is."""
        with self._said:
            wanted = {call} if call else TAKES.keys() - {"status"}
            return [each for each in self.messages if each.call in wanted]

    def heard(self, call: str, count: int = 1) -> list[Said]:
        """List the messages of a call, once there are so many."""
        with self._said:
            calls: list[Said] = []

            def enough() -> bool:
                calls[:] = [each for each in self.messages if each.call == call]
                return len(calls) >= count

            assert self._said.wait_for(enough, PATIENCE), f"only {self.messages} was said"
            return calls

    def _relayed(self, body: Frame) -> object:
        takes = TAKES[body.call]
        message: Any = msgspec.json.decode(body.body, type=takes or None)
        with self._said:
            self.messages.append(Said(body.call, message, body.by))
            self._said.notify_all()
            wait = self._chance.uniform(0, self.delay)
        if self.broken:
            return Raw(200, b"")  # which is no whole answer
        answer: object = Done()
        if body.call == "status":
            answer = self.told = self.status()
        elif body.call == "refuse":
            self.sites = [each for each in self.sites if each.recipient != message.recipient]
        elif body.call == "topics":
            answer = TOPICS
        elif body.call == "decide":
            time.sleep(wait)
            answer = self.answer(message)
        return RelayAnswer(id=body.id, status=200, body=msgspec.Raw(msgspec.json.encode(answer)))


def site(recipient: str, address: str) -> Site:
    return Site(recipient=recipient, search=address + "?q={query}")
