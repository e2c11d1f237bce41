"""What the daemon says: events to listeners, and lines to its log; never private content.

An event has the number of what happened. The log has neither values nor queries nor recipients: it
is copied about. An error is named by its class and its place alone, since its text may quote any.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
Reader = asyncio.Queue[bytes]  # events as they are sent, last why there are no more, and nothing


class Bus:
    """Takes what happens and passes it on to every reader; of the thread of the event loop.

    ``room``: events that a reader may fall behind, before it is ended.
    """

    def __init__(self, clock: Callable[[], datetime], room: int = ROOM) -> None:
        self._clock, self._room = clock, room
        self._readers: list[Reader] = []
        self._number, self._closed = 0, False

    def publish(self, kind: EventKind, about: int | None = None) -> Event:
        """Tell every reader that something happened; ``about``: the number of what it is about."""
        self._number += 1
        event = Event(number=self._number, kind=kind, at=self._clock(), id=about)
        for reader in [*self._readers]:
            if reader.qsize() < self._room:
                reader.put_nowait(event.lines())
            else:
                self._end(reader, TOO_SLOW)
        return event

    @contextmanager
    def reader(self) -> Iterator[Reader]:
        """Listen, from here on and for as long as the context lasts: to events, or until the end.

        Raises DaemonError if too many listen already.
        """
        if len(self._readers) >= MOST_READERS:
            what = f"{MOST_READERS} programs are listening to events already"
            raise DaemonError(what, "stop one of them")
        reader = Reader()
        self._readers.append(reader)
        if self._closed:
            self._end(reader, ENDING)
        try:
            yield reader
        finally:
            with suppress(ValueError):  # it was ended
                self._readers.remove(reader)

    def close(self) -> None:
        """End every reader, and those who come yet."""
        self._closed = True
        for reader in [*self._readers]:
            self._end(reader, ENDING)

    def _end(self, reader: Reader, why: str) -> None:
        self._readers.remove(reader)
        reader.put_nowait(f": {why}\n\n".encode())
        reader.put_nowait(b"")


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
