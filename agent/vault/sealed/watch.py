"""Whether the names of an open database still lead to its files, as it left them."""

import os
from pathlib import Path
from typing import NamedTuple

from agent.errors import ReplacedVaultError
from agent.vault.leftovers import LOG

_MAGIC = b"\x37\x7f\x06"  # how a log begins
_BEFORE_PAGE = 24  # bytes in a log


class Stamp(NamedTuple):
    """What tells whether a file is the one it was, and as it was."""

    device: int
    inode: int
    size: int
    written_ns: int


class Files(NamedTuple):
    """The files behind the two names, None where there is none."""

    file: Stamp | None
    log: Stamp | None


class Watch:
    """The two files of an open database, as it left them.

    To look at their names costs two calls of the system. A log that is cut at the very moment at
    which it is written to has the right size again: so what stood at its end is read again, too.
    """

    def __init__(self, path: Path) -> None:
        """Take the files as they are."""
        self.place = Path(os.path.realpath(path))
        self.log = self.place.with_name(self.place.name + LOG)
        self._names = str(path.absolute()), str(self.log)
        self._descriptor: int | None = None  # of the log
        self._end: bytes | None = None  # of the log; None where frames may lie behind it
        self._frame = 0
        self.left = self.found()

    def begin(self, page_bytes: int) -> None:
        """Take the files as they are now that there is a log. Raises OSError."""
        self._frame = _BEFORE_PAGE + page_bytes
        self._descriptor = os.open(self._names[1], os.O_RDONLY | os.O_CLOEXEC)
        self._take(self.found())

    def end(self) -> None:
        """Watch no more."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def found(self) -> Files:
        """Return what lies under the two names now."""
        return Files(*map(stamp, self._names))

    @property
    def intact(self) -> bool:
        """Whether everything is as it was left."""
        return self.found() == self.left

    def check(self) -> None:
        """Raise ReplacedVaultError where something is not as it was left."""
        if not self.intact:
            raise self._error()

    def settled(self) -> None:
        """Take both files after this process has moved the log into the file, or tried to."""
        found = self.found()
        if same(found.file, self.left.file) and same(found.log, self.left.log):
            self._take(found)

    def rolled_back(self) -> None:
        """Take the log after a transaction that was undone, of which something may be in it."""
        found = self.found()
        if found.file == self.left.file and same(found.log, self.left.log):
            self._take(found)

    def committed(self) -> None:
        """Take the log after a transaction, by which it alone has grown.

        Raises ReplacedVaultError where something else has changed.
        """
        found = self.found()
        grown = self._has_grown(found.log)
        if grown:
            self.left = Files(self.left.file, found.log)
        if not grown or found.file != self.left.file:
            raise self._error()

    def retired(self) -> None:
        """Take what is there now that there is no log any more."""
        self.left = self.found()

    def difference(self) -> str:
        """Say what became of files that are not as they were left."""
        found = self.found()
        if found.file is None:
            what = "the vault was removed or moved away"
        elif not same(found.file, self.left.file):
            what = "another file was put in the place of the vault"
        elif found.file != self.left.file:
            what = "another program has written into the vault"
        else:
            what = "the log of the vault was removed, replaced or written to"
        return f"{what} while it was open"

    @property
    def identity(self) -> tuple[int, ...]:
        """Which file is open, by device and inode."""
        return () if self.left.file is None else self.left.file[:2]

    @property
    def log_bytes(self) -> int:
        """How long the log was when it was left."""
        return 0 if self.left.log is None else self.left.log.size

    def is_ours(self, path: Path) -> bool:
        """Say whether a name leads to the file that is open."""
        return same(stamp(str(path)), self.left.file)

    def log_is_ours(self) -> bool:
        """Say whether the log is the one that was left, and nobody has written to it since."""
        return self.left.log is not None and self.found().log == self.left.log

    def _has_grown(self, log: Stamp | None) -> bool:
        """Say whether this is the log that was left, with more at its end at most."""
        before = self.left.log
        if log is None or before is None or log[:2] != before[:2] or log.size < before.size:
            return False
        if self._descriptor is not None and self._end is not None:
            begin = before.size - len(self._end)
            data = os.pread(self._descriptor, log.size - begin, begin)
            if not data.startswith(self._end or _MAGIC):
                return False
            self._end = data[-self._frame :]
        return True

    def _take(self, found: Files) -> None:
        self.left = found
        self._end = b"" if found.log is not None and not found.log.size else None

    def _error(self) -> ReplacedVaultError:
        hint = "run `reticent status`: it says where everything was set aside"
        return ReplacedVaultError(self.difference(), hint, self._names[0])


def stamp(name: str) -> Stamp | None:
    """Return what a name leads to, None where it leads nowhere."""
    try:
        found = os.stat(name)  # noqa: PTH116  (twice as fast, and done four times a commit)
    except OSError:
        return None
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def same(one: Stamp | None, other: Stamp | None) -> bool:
    """Say whether these are one file, whatever is in it."""
    return one is not None and other is not None and one[:2] == other[:2]
