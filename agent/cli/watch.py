"""`reticent requests watch`: what happens, a sentence in each line."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import sleep
from typing import Any

import click
import msgspec

from agent.cli.daemon_client import door
from agent.cli.printing import printable
from agent.errors import DaemonError, LockedError
from agent.wire.base import MOST_ENTRIES
from agent.wire.client import Client
from agent.wire.policy import Review
from agent.wire.records import Entry, Handled
from agent.wire.state import Event, Status
from agent.words.figures import counted, moment
from agent.words.notices import asks, brought, model_line, running, sent, why_nothing
from agent.words.titles import UNSPECIFIED

LOCKED = "the vault is locked: `reticent unlock` shows more"
UNSAID = {"query", "at", "kind"}  # of a review
AGAIN = 1.0  # seconds between two tries to reach a daemon that has ended
SILENCE = 30.0  # seconds; a daemon that runs sends a comment every five


@dataclass(frozen=True, slots=True)
class Said:
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


def of_status(status: Status, at: datetime) -> Said:
    """Say how the daemon is."""
    waits = f" {counted(status.waiting, 'request')} for your approval: `reticent requests pending`."
    text = running(status) + (waits if status.waiting else "")
    return Said("status", at, text, {"locked": status.locked, "waiting": status.waiting})


def of_entry(entry: Entry) -> Said:
    """Say what a recipient was told, by name, or that it was marked as having forgotten."""
    if entry.kind == "forgotten":
        text = f"You marked {entry.recipient} as having forgotten everything."
        return Said("forget", entry.at, text, {"id": entry.number, "recipient": entry.recipient})
    unset = [name for name, value in entry.disclosed.items() if value == UNSPECIFIED]
    names = [name for name in entry.disclosed if name not in unset]
    details = {
        "id": entry.number,
        "recipient": entry.recipient,
        "disclosed": names,
        "unspecified": unset,
        "utility_bits": entry.utility_bits,
        "people_left": entry.people_left,
    }
    figures = brought(entry.utility_bits, entry.people_left)
    text = f"Sent to {entry.recipient}: {sent(names, unset=unset)}{figures and f'; {figures}'}."
    return Said("answer", entry.at, text, details)


def of_nothing(event: Event, handled: Handled | None) -> Said:
    """Say who got nothing, and why; None: that is not remembered any more."""
    if handled is None:
        return Said("nothing", event.at, "A request carried nothing.", {"id": event.id})
    details = {
        "id": handled.number,
        "recipient": handled.recipient,
        "code": handled.code,
        "waiting": handled.waiting,
    }
    text = f"Sent nothing to {handled.recipient}: {why_nothing(handled)}."
    return Said("nothing", handled.at, text, details)


def of_review(event: Event, waiting: list[Review]) -> Said:
    """Say what waits and how to settle it, or that it was settled, or that the user said more."""
    if event.id is None:
        return Said(event.kind, event.at, "Your decisions about facts have changed.", {"id": None})
    for each in waiting:
        if each.id == event.id:
            shown = msgspec.structs.replace(each, query="")
            how = f"`reticent requests approve {each.id}` or `reticent requests deny {each.id}`"
            fields = msgspec.to_builtins(shown).items()
            details = {name: value for name, value in fields if name not in UNSAID}
            return Said(event.kind, event.at, f"{asks(shown)}: {how}.", details)
    details = {"id": event.id, "settled": True}
    return Said(event.kind, event.at, f"Nothing waits under {event.id} any more.", details)


def of_state(event: Event, status: Status) -> Said:
    """Say what became of the lock, the policy or the models."""
    if event.kind == "lock":
        return Said("lock", event.at, running(status), {"locked": status.locked})
    if event.kind == "policy":
        policy = status.policy
        problems = {"in_use": policy.in_use, "rules": policy.rules, "problems": policy.problems}
        return Said("policy", event.at, _policy(status), problems)
    models = [msgspec.to_builtins(each) for each in status.models]
    lines = "; ".join(map(model_line, status.models)) or "there is none"
    return Said("models", event.at, f"The models changed: {lines}.", {"models": models})


def of_locked(event: Event) -> Said:
    """Say as much as can be said while the vault is locked."""
    what = {
        "forget": "You marked a recipient as having forgotten everything",
        "answer": "A request carried something",
        "nothing": "A request carried nothing",
    }
    text = f"{what.get(event.kind, 'Something waits for your approval')}; {LOCKED}."
    return Said(event.kind, event.at, text, {"id": event.id, "locked": True})


def _policy(status: Status) -> str:
    policy = status.policy
    if policy.problems:
        held = "the last good rules stay in use" if policy.in_use else "it is not in use"
        several = counted(len(policy.problems), "problem")
        return f"The policy has {several}, and {held}: {'; '.join(policy.problems)}."
    if not policy.in_use:
        return "No policy: nothing is attached to any request."
    return f"The policy changed: {counted(policy.rules, 'rule')}, no problems."


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in each line.")
def watch(*, as_json: bool) -> None:
    """Follow what happens, one sentence per line, until Ctrl-C.

    Facts are named, their values never shown. Nothing moves the cursor, so a screen reader can
    follow. It waits while no daemon runs. Watching does not keep the vault open: see
    lock_after_minutes.
    """
    with door(attended=False) as client:
        for said in Watcher(client, lambda: datetime.now(UTC)).watch(lambda: sleep(AGAIN)):
            click.echo(json.dumps(said.record()) if as_json else said.line())  # which flushes


class Watcher:
    """Follows a daemon through its ends; ``clock``: for what no event gives the time of."""

    def __init__(self, client: Client, clock: Callable[[], datetime]) -> None:
        """Know nothing yet of the ledger."""
        self._client = client
        self._clock = clock
        self._told: int | None = None  # the last entry of the ledger that was said, or came before
        self._silence = 0  # the number, below 0, of the last that carried nothing and was said

    def watch(self, wait: Callable[[], object]) -> Iterator[Said]:
        """Yield what happens, for ever; ``wait``: called before each further try to connect.

        DaemonError if the daemon is not running when this begins.
        """
        yield from self._begin()
        while True:
            with suppress(DaemonError):  # however it ended, nothing is heard from it
                for event in self._client.events(SILENCE):
                    yield from self._about(event)
            self._client.close()
            text = "The daemon ended; waiting until it is back."
            yield Said("ended", self._clock(), text)
            yield from self._back(wait)

    def _back(self, wait: Callable[[], object]) -> list[Said]:
        """Return what there is to say once the daemon is back."""
        while True:
            wait()
            try:
                return self._begin()
            except DaemonError:
                continue

    def _begin(self) -> list[Said]:
        """Return how the daemon is, and what it wrote since it was last heard."""
        self._silence = 0  # another daemon counts anew
        status = self._status()
        return [of_status(status, self._clock()), *self._entries(status)]

    def _status(self) -> Status:
        """Return how the daemon is; entries before the first look are not news."""
        status: Status = self._client.call("status")
        count = status.entries
        if count is not None and (self._told is None or count < self._told):
            self._told = count  # fewer than before: a backup was restored
        return status

    def _entries(self, status: Status) -> list[Said]:
        """Return what the ledger has that was not said."""
        if status.entries is None or status.entries == self._told:
            return []
        try:
            return self._news()
        except LockedError:
            return []

    def _news(self) -> list[Said]:
        """Return what the ledger has after the last entry that was said; LockedError if locked."""
        after = self._told or 0
        found: list[Entry] = self._client.call("ledger", after=after, limit=MOST_ENTRIES)
        new = [each for each in found if each.number > after]
        self._told = max((each.number for each in new), default=after)
        return [of_entry(each) for each in new]

    def _silent(self, event: Event) -> list[Said]:
        """Return what carried nothing since that was said last: events may be due for all of it."""
        number = event.id or 0
        before = self._silence or number + 1
        if number >= before:
            return []
        found: list[Handled] = self._client.call("requests")
        new = [each for each in found if each.number < before]
        self._silence = min([number, *(each.number for each in new)])
        return [of_nothing(event, each) for each in new] or [of_nothing(event, None)]

    def _about(self, event: Event) -> list[Said]:
        """Return what there is to say of an event; its entry may have been said already."""
        try:
            match event.kind:
                case "answer" | "forget":
                    if self._told is None and event.id is not None:
                        self._told = event.id - 1
                    return self._news()
                case "nothing":
                    return self._silent(event)
                case "review" | "offer":
                    return [of_review(event, self._client.call("reviews"))]
                case "profile":
                    return [Said("profile", event.at, "The profile changed.")]
                case _:
                    return [of_state(event, self._status())]
        except LockedError:
            return [of_locked(event)]
