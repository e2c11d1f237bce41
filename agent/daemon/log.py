"""What the daemon says of itself: to the terminal or the journal, and to a file of its own.

Neither values nor queries nor recipients: they are private, and a log is copied about. An error
is named by its class and its place alone, since its text may quote any of them.
"""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from traceback import extract_tb

from agent.files import PRIVATE

LOG = logging.getLogger("reticent")
MOST_BYTES = 2**20  # then the file is put aside, and the one put aside before is lost
_LINE = "%(asctime)s %(levelname)s %(message)s"


def kind_and_place(error: BaseException) -> str:
    """Return the class of an error, and where it was raised."""
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
