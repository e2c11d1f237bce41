"""`reticent watch`: one sentence in a line for each thing that happens, for as long as it runs."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from time import sleep

import click

from agent.cli.door import door
from agent.cli.watch_text import (
    Said,
    of_entry,
    of_locked,
    of_nothing,
    of_review,
    of_state,
    of_status,
)
from agent.errors import DaemonError, LockedError
from agent.wire.base import MOST_ENTRIES
from agent.wire.client import Client
from agent.wire.keeping import Entry
from agent.wire.overview import Handled
from agent.wire.state import Event, Status

AGAIN = 1.0  # seconds between two tries to reach a daemon that has ended
SILENCE = 30.0  # seconds; a daemon that runs sends a comment every five


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in each line.")
def watch(*, as_json: bool) -> None:
    """Say what happens, a sentence in each line, until Ctrl-C.

    What was disclosed is said by name, never with its value. Nothing moves the cursor, so a
    screen reader can follow. When the daemon ends it says so, and waits until it is back. To
    watch is no command in the sense of lock_after_minutes: the vault locks itself all the same.
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

        DaemonError if the daemon does not run when this begins.
        """
        yield from self._begin()
        while True:
            with suppress(DaemonError):  # however it ended, nothing is heard from it
                for event in self._client.events(SILENCE):
                    yield from self._about(event)
            self._client.close()
            text = "The daemon ended, or broke off: this waits until it is back."
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
