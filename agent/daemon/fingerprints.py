"""What tells one state of a file from another without reading it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

SETTLING = timedelta(seconds=0.25)


class Fingerprint(NamedTuple):
    """When a file was last written to, and changed; its size in bytes; which file it is.

    Both times are in nanoseconds. Whoever writes can set the first, and `cp -p` does; the second is
    the system's own.
    """

    written_at: int
    changed_at: int
    size: int
    device: int
    inode: int


UNREADABLE = Fingerprint(0, 0, 0, 0, 0)


def fingerprint_of(path: Path) -> Fingerprint | None:
    """Return the stamp of a file, None if there is none, UNREADABLE if that cannot be said."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last for a name with a NUL
        return None
    except OSError:
        return UNREADABLE
    return Fingerprint(
        status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_dev, status.st_ino
    )


def settling(stamp: Fingerprint | None, now: datetime) -> bool:
    """Say whether a file was written to a moment ago, and so may be half of what will be there.

    One whose times both lie in the future was not: the clock was set back since.
    """
    if stamp is None:
        return False
    times = (stamp.written_at, stamp.changed_at)
    ago = [now - datetime.fromtimestamp(each / 1e9, UTC) for each in times]
    return any(timedelta(0) <= each < SETTLING for each in ago)
