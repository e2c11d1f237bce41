"""`reticent requests list --follow`: what happens, a sentence in each line."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from time import sleep
from typing import Any, NamedTuple

import click
import msgspec

from agent.cli.daemon_client import door, titles_of
from agent.cli.printing import printable
from agent.errors import DaemonError, LockedError
from agent.wire.base import MOST_ENTRIES
from agent.wire.client import Client
from agent.wire.policy import Review
from agent.wire.state import Event, Handled, PolicyStatus, Status
from agent.words.figures import counted, moment
from agent.words.notices import asks, model_line, running, verdict_of
from agent.words.titles import NONE, Titles

WHILE_LOCKED = {
    "forget": "You marked a recipient as having forgotten everything",
    "answer": "A request carried something",
    "nothing": "A request carried nothing",
}
KINDS = {"disclosed": "answer", "nothing": "nothing", "forgotten": "forget"}
AGAIN = 1.0  # seconds between two tries to reach a daemon that has ended
SILENCE = 30.0  # seconds; a daemon that runs sends a comment every five


class EventLine(NamedTuple):
    """One thing that happened; ``about``: the message behind it, for programs."""

    kind: str
    at: datetime
    text: str
    about: Any = None

    def line(self) -> str:
        """The sentence with its time, in which nothing steers the terminal."""
        return printable(f"{moment(self.at)}: {self.text}")

    def record(self) -> dict[str, Any]:
        """The same in JSON's types, without what the user searched."""
        about: dict[str, Any] = msgspec.to_builtins(self.about) or {}
        about.pop("query", None)
        return {"event": self.kind, "at": self.at.isoformat(), "text": self.text, "about": about}


def watch(*, as_json: bool) -> None:
    """Print what happens, one sentence per line, until Ctrl-C.

    Facts are named, their values never shown. Nothing moves the cursor, so a screen reader can
    follow. It waits while no daemon runs. Watching does not keep the vault open: see
    lock_after_minutes.
    """
    with door(attended=False) as client:
        for each in Watcher(client, lambda: datetime.now(UTC)).watch(lambda: sleep(AGAIN)):
            click.echo(json.dumps(each.record()) if as_json else each.line())  # which flushes


class Watcher:
    """Follows a daemon through its ends; ``clock``: for what no event gives the time of."""

    def __init__(self, client: Client, clock: Callable[[], datetime]) -> None:
        self._client, self._clock = client, clock
        self._titles: Titles = NONE
        self._last: int | None = None  # the latest entry of the ledger that is no news
        self._silent: int | None = None  # the same, below 0, of those that carried nothing

    def watch(self, wait: Callable[[], object]) -> Iterator[EventLine]:
        """Yield what happens, for ever; ``wait``: called before each further try to connect.

        DaemonError if the daemon is not running when this begins.
        """
        yield from self._begin()
        while True:
            with suppress(DaemonError):  # however it ended, nothing is heard from it
                for event in self._client.events(SILENCE):
                    yield from self._about(event)
            self._client.close()
            yield EventLine("ended", self._clock(), "The daemon ended; waiting until it is back.")
            begun: list[EventLine] = []
            while not begun:
                wait()
                with suppress(DaemonError):
                    begun = self._begin()
            yield from begun

    def _begin(self) -> list[EventLine]:
        """Say how the daemon is, and what it did since it was last heard."""
        status: Status = self._client.call("status")
        self._titles, self._silent = titles_of(self._client), None  # another daemon counts anew
        number = counted(status.waiting, "request")
        waits = f" {number} for your approval: `reticent requests list --waiting`."
        text = running(status) + (waits if status.waiting else "")
        with suppress(LockedError):
            return [EventLine("status", self._clock(), text, status), *self._news(None)]
        return [EventLine("status", self._clock(), text, status)]

    def _news(self, number: int | None) -> list[EventLine]:
        """Say what was handled since the last look, before the first from this number on."""
        found: list[Handled] = self._client.call("requests", limit=MOST_ENTRIES)
        highest = max((each.number for each in found if each.number > 0), default=0)
        lowest = min((each.number for each in found), default=0)
        if self._last is None or 0 < highest < self._last:  # where a backup was restored
            self._last = number - 1 if number and number > 0 else highest
        if self._silent is None:
            self._silent = number + 1 if number and number < 0 else min(lowest, 0)
        new = [e for e in found if e.number > self._last or e.number < self._silent]
        self._last, self._silent = max(highest, self._last), min(lowest, self._silent)
        return [EventLine(KINDS[e.kind], e.at, verdict_of(e, self._titles), e) for e in new]

    def _about(self, event: Event) -> list[EventLine]:
        """Say what happened; what was handled may have been shown already."""
        try:
            match event.kind:
                case "answer" | "forget" | "nothing":
                    return self._news(event.id)
                case "review" | "offer":
                    return [self._review(event, self._client.call("reviews"))]
                case "profile":
                    return [EventLine("profile", event.at, "The profile changed.")]
                case _:
                    return [_changed(event, self._client.call("status"))]
        except LockedError:
            what = WHILE_LOCKED.get(event.kind, "Something waits for your approval")
            text = f"{what}; the vault is locked: `reticent unlock` shows more."
            return [EventLine(event.kind, event.at, text, event)]

    def _review(self, event: Event, waiting: list[Review]) -> EventLine:
        """Say what waits and how to settle it, or that it was settled."""
        text = f"Nothing waits under {event.id} any more."
        if event.id is None:
            text = "Your decisions about facts have changed."
        for each in waiting:
            if each.id == event.id:
                shown = msgspec.structs.replace(each, query="")
                how = f"`reticent approve {each.id}` or `reticent deny {each.id}`"
                text = f"{asks(shown, self._titles)}: {how}."
                return EventLine(event.kind, event.at, text, shown)
        return EventLine(event.kind, event.at, text, event)


def _changed(event: Event, status: Status) -> EventLine:
    """Say what became of the lock, the policy or the models."""
    text = running(status)
    if event.kind == "policy":
        text = _policy(status.policy)
    elif event.kind == "models":
        text = "; ".join(map(model_line, status.models)) or "there is none"
        text = f"The models changed: {text}."
    return EventLine(event.kind, event.at, text, status)


def _policy(policy: PolicyStatus) -> str:
    if policy.problems:
        stale = "the last good rules stay in use" if policy.in_use else "it is not in use"
        problems = "; ".join(policy.problems)
        return (
            f"The policy has {counted(len(policy.problems), 'problem')}, and {stale}: {problems}."
        )
    if policy.in_use:
        return f"The policy changed: {counted(policy.rules, 'rule')}, no problems."
    return "No policy: nothing is attached to any request."
