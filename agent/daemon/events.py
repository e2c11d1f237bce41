"""What the daemon says: events to listeners, and lines to its log; never private content.

An event has the number of what happened. The log has neither values nor queries nor recipients: it
is copied about. An error is named by its class and its place alone, since its text may quote any.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from traceback import extract_tb

from agent.errors import DaemonError
from agent.files import PRIVATE
from agent.wire.state import Event, EventKind

MOST_READERS = 32
ROOM = 256  # events that a reader may fall behind
TOO_SLOW = "read too slowly: some events are lost, connect again"
ENDING = "the daemon ends"


class EndedError(Exception):
    """A reader gets nothing more; the first argument says why, in a sentence for it."""


class Reader:
    """One who listens; ``room``: events that it may fall behind."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._queue = asyncio.Queue[Event | EndedError]()
        self._ended = False

    async def next(self, seconds: float) -> Event | None:
        """Wait for the next event; None after ``seconds`` without one.

        Raises EndedError, once, when every event that was kept has been read.
        """
        try:
            async with asyncio.timeout(seconds):
                item = await self._queue.get()
        except TimeoutError:
            return None
        if isinstance(item, EndedError):
            raise item
        return item

    def put(self, item: Event | EndedError) -> None:
        """Add an event, or the end after which nothing is added.

        A reader with no room for an event is ended instead.
        """
        if self._ended:
            return
        if isinstance(item, Event) and self._queue.qsize() >= self._room:
            item = EndedError(TOO_SLOW)
        self._ended = isinstance(item, EndedError)
        self._queue.put_nowait(item)


class Bus:
    """Takes what happens and passes it on to every reader; of the thread of the event loop."""

    def __init__(self, clock: Callable[[], datetime], room: int = ROOM) -> None:
        self._clock = clock
        self._room = room
        self._readers: list[Reader] = []
        self._number = 0
        self._closed = False

    def publish(self, kind: EventKind, about: int | None = None) -> Event:
        """Tell every reader that something happened; ``about``: the number of what it is about."""
        self._number += 1
        event = Event(number=self._number, kind=kind, at=self._clock(), id=about)
        for reader in self._readers:
            reader.put(event)
        return event

    @contextmanager
    def reader(self) -> Iterator[Reader]:
        """Listen, from here on and for as long as the context lasts.

        Raises DaemonError if too many listen already.
        """
        if len(self._readers) >= MOST_READERS:
            what = f"{MOST_READERS} programs are listening to events already"
            raise DaemonError(what, "stop one of them")
        reader = Reader(self._room)
        self._readers.append(reader)
        if self._closed:
            reader.put(EndedError(ENDING))
        try:
            yield reader
        finally:
            self._readers.remove(reader)

    def close(self) -> None:
        """End every reader, and those who come yet."""
        self._closed = True
        for reader in self._readers:
            reader.put(EndedError(ENDING))


LOG = logging.getLogger("reticent")
MOST_BYTES = 2**20  # then the file is put aside, and the one put aside before is lost
_LINE = "%(asctime)s %(levelname)s %(message)s"


def kind_and_place(error: BaseException) -> str:
    """Name the class of an error, and where it was raised."""
    frames = extract_tb(error.__traceback__)
    at = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{at}"


@contextmanager
def logging_to(path: Path) -> Iterator[None]:
    """Log to a file that only its owner can read, and to stderr, for as long as this lasts.

    What the libraries below would log goes nowhere: it quotes what they choke on.
    """
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr), _PrivateFile(path)]
    silent = logging.NullHandler()
    logging.getLogger().addHandler(silent)
    LOG.propagate = False
    # A terminal that has gone, or a disk that is full, costs lines and nothing else.
    raising, logging.raiseExceptions = logging.raiseExceptions, False
    LOG.setLevel(logging.INFO)
    for handler in handlers:
        handler.setFormatter(logging.Formatter(_LINE))
        LOG.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            LOG.removeHandler(handler)
            handler.close()
        logging.getLogger().removeHandler(silent)
        logging.raiseExceptions = raising


class _PrivateFile(RotatingFileHandler):
    """A log of mode 0600, with one older part beside it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MOST_BYTES, backupCount=1, encoding="utf-8")

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        descriptor = os.open(self.baseFilename, flags, PRIVATE)
        os.fchmod(descriptor, PRIVATE)
        return open(descriptor, "a", encoding=self.encoding)  # noqa: PTH123  (logging closes it)
