"""The browser extension on this machine: unpacked from the package, where a browser can load it.

SHA256SUMS in its folder says what was written there, in the format of sha256sum(1). A folder that
differs from it was edited, or is not ours: it is left alone.
"""

import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from agent.daemon.browsers import ManifestState
from agent.daemon.service import LARGEST, text_of
from agent.errors import UsageError, reason
from agent.files import PRIVATE, PRIVATE_FOLDER, clear_unfinished, fsync, private_folder, unfinished
from agent.paths import Paths

SOURCE = Path(str(files("agent") / "browser_extension"))
SUMS = "SHA256SUMS"
MOST = 200  # files of a folder that may be ours
_OF_DESKTOPS = {".DS_Store"}  # what looking at a folder leaves in it
_ELSEWHERE = "make room, or choose a folder that can be written to, with RETICENT_HOME"


def look_at_extension(paths: Paths) -> ManifestState:
    """Return what there is of the unpacked extension.

    absent; installed: as this version would write it; differing: as another version wrote it;
    foreign: edited, or not ours.
    """
    place = paths.extension
    if not os.path.lexists(place):
        return "absent"
    try:
        found, ours = _contents(place), _contents(SOURCE)
    except OSError:
        return "foreign"
    if found is None or found == ours:
        return "foreign" if found is None else "installed"
    said = (line.partition("  ") for line in (text_of(place / SUMS) or "").splitlines())
    return "differing" if _sums(found) == {name: sum_ for sum_, _, name in said} else "foreign"


def unpack_extension(paths: Paths) -> ManifestState:
    """Write the extension where it is absent or of another version; return what was there before.

    It is never there in part. UsageError where it cannot be written.
    """
    private_folder(paths.data)
    place = paths.extension
    try:
        with _alone(paths.data):
            before = look_at_extension(paths)
            if before in {"absent", "differing"}:
                clear_unfinished(place)  # what a killed process left
                new = unfinished(place)
                try:
                    _write(_contents(SOURCE) or {}, new)
                    if before == "differing":
                        place.rename(unfinished(place))
                    new.rename(place)
                    fsync(paths.data)
                finally:
                    clear_unfinished(place)
    except OSError as error:
        raise UsageError(reason(error), _ELSEWHERE, str(error.filename or place)) from error
    return before


def remove_extension(paths: Paths) -> list[Path]:
    """Remove the unpacked extension unless it was edited; return what was removed.

    It is never there in part. UsageError where it cannot be removed.
    """
    place = paths.extension
    if not paths.data.is_dir():
        return []
    try:
        with _alone(paths.data):
            clear_unfinished(place)  # what a killed process left
            if look_at_extension(paths) not in {"installed", "differing"}:
                return []
            gone = unfinished(place)
            place.rename(gone)  # at once: a part of it would look as if it was edited
            shutil.rmtree(gone)
    except OSError as error:
        raise UsageError(reason(error), "fix that and try again", str(place)) from error
    return [place]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process changes the extension in a folder, and keep others from it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # NFS locks no folder
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write(contents: Mapping[str, bytes], folder: Path) -> None:
    """Write the extension and its sums into a new folder, all of it on the disk."""
    lines = (f"{digest}  {name}\n" for name, digest in _sums(contents).items())
    for name, data in {**contents, SUMS: "".join(lines).encode()}.items():
        path = folder / name
        path.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def _sums(contents: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}


def _contents(folder: Path) -> dict[str, bytes] | None:
    """Return each file below a folder by its name there, but for SUMS; None if it cannot be ours.

    That is, if it holds a link, anything but files and folders, or too much. Raises OSError.
    """
    contents: dict[str, bytes] = {}
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            waiting += path.iterdir()
        elif not stat.S_ISREG(mode) or path.stat().st_size > LARGEST or len(contents) >= MOST:
            return None
        elif path.name not in {SUMS, *_OF_DESKTOPS}:
            contents[path.relative_to(folder).as_posix()] = path.read_bytes()
    return dict(sorted(contents.items()))
