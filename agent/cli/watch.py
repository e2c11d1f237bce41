"""`reticent requests list --follow`: what happens, a sentence in each line."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import sleep
from typing import Any

import click
import msgspec

from agent.cli.daemon_client import door, titles_of
from agent.cli.printing import printable
from agent.errors import DaemonError, LockedError
from agent.wire.base import MOST_ENTRIES
from agent.wire.client import Client
from agent.wire.policy import Review
from agent.wire.state import Entry, Event, Handled, Status
from agent.words.figures import brought, counted, moment
from agent.words.notices import asks, model_line, running, sent, why_nothing
from agent.words.titles import NONE, UNSPECIFIED, Titles, titles_in

LOCKED = "the vault is locked: `reticent unlock` shows more"
UNSAID = {"query", "at", "kind"}  # of a review
AGAIN = 1.0  # seconds between two tries to reach a daemon that has ended
SILENCE = 30.0  # seconds; a daemon that runs sends a comment every five


@dataclass(frozen=True, slots=True)
class EventLine:
    """One thing that happened; ``details``: of the same, for programs."""

    kind: str
    at: datetime
    text: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        """Return it as a sentence with its time, in which nothing steers the terminal."""
        return printable(f"{moment(self.at)}: {self.text}")

    def record(self) -> dict[str, Any]:
        """Return it as one object of plain types."""
        head = {"event": self.kind, "at": self.at.isoformat(), "text": self.text}
        return {**head, **self.details}


def status_line(status: Status, at: datetime) -> EventLine:
    """Say how the daemon is."""
    number = counted(status.waiting, "request")
    waits = f" {number} for your approval: `reticent requests list --waiting`."
    text = running(status) + (waits if status.waiting else "")
    return EventLine("status", at, text, {"locked": status.locked, "waiting": status.waiting})


def entry_line(entry: Entry, titles: Titles) -> EventLine:
    """Say what a recipient was sent, by name, or that it was marked as having forgotten."""
    details: dict[str, Any] = {"id": entry.number, "recipient": entry.recipient}
    if entry.kind == "forgotten":
        text = f"You marked {entry.recipient} as having forgotten everything."
        return EventLine("forget", entry.at, text, details)
    unset = [name for name, value in entry.disclosed.items() if value == UNSPECIFIED]
    names = [name for name in entry.disclosed if name not in unset]
    gain, left = entry.utility_bits, entry.people_left
    details |= {"disclosed": names, "unspecified": unset}
    details |= {"utility_bits": gain, "people_left": left}
    figures = brought(gain, left)
    what = sent(names, titles_in(entry.model, titles), unset) + (f"; {figures}" if figures else "")
    return EventLine("answer", entry.at, f"Sent to {entry.recipient}: {what}.", details)


def nothing_line(handled: Handled) -> EventLine:
    """Say who got nothing, and why."""
    told = ("recipient", "code", "waiting")
    details = {"id": handled.number, **{name: getattr(handled, name) for name in told}}
    text = f"Sent nothing to {handled.recipient}: {why_nothing(handled)}."
    return EventLine("nothing", handled.at, text, details)


def review_line(event: Event, waiting: list[Review], titles: Titles) -> EventLine:
    """Say what waits and how to settle it, or that it was settled, or that the user said more."""
    if event.id is None:
        text, details = "Your decisions about facts have changed.", {"id": event.id}
        return EventLine(event.kind, event.at, text, details)
    for each in waiting:
        if each.id == event.id:
            shown = msgspec.structs.replace(each, query="")
            how = f"`reticent approve {each.id}` or `reticent deny {each.id}`"
            fields = msgspec.to_builtins(shown).items()
            own = {name: value for name, value in fields if name not in UNSAID}
            return EventLine(event.kind, event.at, f"{asks(shown, titles)}: {how}.", own)
    text = f"Nothing waits under {event.id} any more."
    return EventLine(event.kind, event.at, text, {"id": event.id, "settled": True})


def state_line(event: Event, status: Status) -> EventLine:
    """Say what became of the lock, the policy or the models."""
    policy = status.policy
    if event.kind == "lock":
        return EventLine("lock", event.at, running(status), {"locked": status.locked})
    if event.kind != "policy":
        models = [msgspec.to_builtins(each) for each in status.models]
        lines = "; ".join(map(model_line, status.models)) or "there is none"
        return EventLine("models", event.at, f"The models changed: {lines}.", {"models": models})
    if policy.problems:
        stale = "the last good rules stay in use" if policy.in_use else "it is not in use"
        several = counted(len(policy.problems), "problem")
        text = f"The policy has {several}, and {stale}: {'; '.join(policy.problems)}."
    elif policy.in_use:
        text = f"The policy changed: {counted(policy.rules, 'rule')}, no problems."
    else:
        text = "No policy: nothing is attached to any request."
    details = {"in_use": policy.in_use, "rules": policy.rules, "problems": policy.problems}
    return EventLine("policy", event.at, text, details)


def locked_line(event: Event) -> EventLine:
    """Say as much as can be said while the vault is locked."""
    what = {
        "forget": "You marked a recipient as having forgotten everything",
        "answer": "A request carried something",
        "nothing": "A request carried nothing",
    }
    text = f"{what.get(event.kind, 'Something waits for your approval')}; {LOCKED}."
    return EventLine(event.kind, event.at, text, {"id": event.id, "locked": True})


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
        """Know nothing yet of the ledger."""
        self._client = client
        self._clock = clock
        self._titles: Titles = NONE
        self._last: int | None = None  # the last entry of the ledger that was shown, or came before
        self._silence = 0  # the number, below 0, of the last that carried nothing and was shown

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
        """Return how the daemon is, and what it wrote since it was last heard."""
        self._silence = 0  # another daemon counts anew
        status = self._status()
        notices = [status_line(status, self._clock())]
        if status.entries not in (None, self._last):
            with suppress(LockedError):
                notices += self._news()
        return notices

    def _status(self) -> Status:
        """Return how the daemon is; entries before the first look are not news."""
        status: Status = self._client.call("status")
        self._titles = titles_of(self._client)
        count = status.entries
        if count is not None and (self._last is None or count < self._last):
            self._last = count  # fewer than before: a backup was restored
        return status

    def _news(self) -> list[EventLine]:
        """Return what the ledger has after the last entry that was shown; LockedError if locked."""
        after = self._last or 0
        found: list[Entry] = self._client.call("ledger", after=after, limit=MOST_ENTRIES)
        new = [each for each in found if each.number > after]
        self._last = max((each.number for each in new), default=after)
        return [entry_line(each, self._titles) for each in new]

    def _silent(self, event: Event) -> list[EventLine]:
        """Return what carried nothing since that was last shown, whichever event tells of it."""
        number = event.id or 0
        before = self._silence or number + 1
        if number >= before:
            return []
        found: list[Handled] = self._client.call("requests")
        new = [each for each in found if each.number < before]
        self._silence = min([number, *(each.number for each in new)])
        gone = EventLine("nothing", event.at, "A request carried nothing.", {"id": event.id})
        return [nothing_line(each) for each in new] or [gone]

    def _about(self, event: Event) -> list[EventLine]:
        """Return what there is to say of an event; its entry may have been shown already."""
        try:
            match event.kind:
                case "answer" | "forget":
                    if self._last is None and event.id is not None:
                        self._last = event.id - 1
                    return self._news()
                case "nothing":
                    return self._silent(event)
                case "review" | "offer":
                    return [review_line(event, self._client.call("reviews"), self._titles)]
                case "profile":
                    return [EventLine("profile", event.at, "The profile changed.")]
                case _:
                    return [state_line(event, self._status())]
        except LockedError:
            return [locked_line(event)]
