"""What tells one state of a file from another without reading it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

SETTLING = timedelta(seconds=0.25)


class Stamp(NamedTuple):
    """When a file was last written to, in nanoseconds; its size in bytes; which file it is."""

    written_at: int
    size: int
    inode: int


UNREADABLE = Stamp(0, 0, 0)


def stamp_of(path: Path) -> Stamp | None:
    """Return the stamp of a file, None if there is none, UNREADABLE if that cannot be said."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return UNREADABLE
    return Stamp(status.st_mtime_ns, status.st_size, status.st_ino)


def settling(stamp: Stamp | None, now: datetime) -> bool:
    """Say whether a file was written to a moment ago, and so may be half of what will be there."""
    if stamp is None:
        return False
    ago = now - datetime.fromtimestamp(stamp.written_at / 1e9, UTC)
    return timedelta(0) <= ago < SETTLING
