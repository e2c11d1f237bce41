"""Files: read with a limit, written whole or not at all, and private to their owner."""

import errno
import grp
import os
import pwd
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import BinaryIO

from agent.errors import DISK_FULL, UnsafeError, UsageError, nearest, reason

PRIVATE, PUBLIC = 0o600, 0o644  # of a new file, less the umask
PRIVATE_FOLDER = 0o700
EXISTS = "the file already exists", "choose another name"  # what is wrong, and what helps
_REFUSALS = {errno.EEXIST: EXISTS, errno.ENOSPC: DISK_FULL, errno.EDQUOT: DISK_FULL}
NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}  # link(2)
OTHERS = stat.S_IRWXG | stat.S_IRWXO
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
MOST_LINKS = 40  # on the way to a file, as Linux has it: path_resolution(7)


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the content of a regular file of at most ``limit`` bytes; UsageError otherwise."""
    with _opened(path, limit) as file:
        return file.read(limit)


def mapped_bytes(path: Path, limit: int, above: int) -> bytes | mmap:
    """Return the same, but of a file of more than ``above`` bytes only what is looked at.

    Such a file must be replaced, not written over, while it is in use.
    """
    with _opened(path, limit) as file:
        if os.fstat(file.fileno()).st_size <= above:
            return file.read(limit)
        return mmap(file.fileno(), 0, access=ACCESS_READ)


@contextmanager
def _opened(path: Path, limit: int) -> Iterator[BinaryIO]:
    """Open a regular file of at most ``limit`` bytes; UsageError where that or reading fails."""
    try:
        # Without O_NONBLOCK, opening a pipe waits for somebody to write to it.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UsageError("this is not a file", "name a file", str(path))
            if status.st_size > limit:
                what = f"the file has {status.st_size} bytes, and the limit is {limit}"
                raise UsageError(what, "check that it is the right file", str(path))
            yield file
    except FileNotFoundError as error:
        raise missing(path) from error
    except OSError as error:
        raise UsageError(reason(error), "name a file that can be read", str(path)) from error


def replace_bytes(
    data: bytes, path: Path, mode: int = PUBLIC, check: Callable[[], None] = lambda: None
) -> None:
    """Replace a file, or create it, whole or not at all; UsageError if that fails.

    ``check``: called right before, and may raise.
    """
    try:
        with temporary_file(data, path, mode) as new:
            check()
            new.replace(path)
        fsync(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def unfinished(path: Path) -> Path:
    """Return a temporary name for a file until it is finished."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


def left_unfinished(path: Path) -> list[Path]:
    """Return the temporary files that were to become a file. Raises OSError."""
    name = re.compile(rf"\.+{re.escape(path.name)}\.[0-9a-f]{{8}}\.part.*", re.DOTALL)
    return sorted(each for each in path.parent.iterdir() if name.fullmatch(each.name))


def clear_unfinished(path: Path) -> None:
    """Remove what killed processes left unfinished; nobody may be writing the file now."""
    with suppress(OSError):
        for each in left_unfinished(path):
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            else:
                each.unlink(missing_ok=True)


def name_new(path: Path, to: Path) -> None:
    """Give a finished file its name; FileExistsError if that is taken. Raises OSError.

    Where a file system has no links (FAT, some by FUSE), an empty file keeps the name meanwhile.
    """
    try:
        os.link(path, to)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _create(b"", to, PRIVATE)
        with ExitStack() as on_failure:
            on_failure.callback(to.unlink)
            path.replace(to)
            on_failure.pop_all()
    else:
        path.unlink()


@contextmanager
def temporary_file(data: bytes, path: Path, mode: int = PRIVATE) -> Iterator[Path]:
    """Write a temporary file next to another, to replace it; it is removed unless it was moved.

    Raises OSError.
    """
    new = unfinished(path)
    _create(data, new, mode)
    try:
        yield new
    finally:
        new.unlink(missing_ok=True)


def create_private(data: bytes, path: Path) -> None:
    """Write a file that only its owner can read; UsageError if there is one already."""
    try:
        _create(data, path, PRIVATE)
        fsync(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def fsync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def private_folder(path: Path) -> Path:
    """Return a private folder (ours, 0700), made with its missing parents.

    One that others could only read is closed to them. Raises UnsafeError if it belongs to another
    user, others can write to it, or as `check_way`: what lies in it is then not to be trusted;
    UsageError if it is no folder or cannot be made.
    """
    try:
        check_way(path)
        _make(path)
        check_way(path)  # somebody else may have been faster, below a folder for everybody
        status = path.stat()
        _check(path, status, {os.geteuid()}, private_group=False)
        if stat.S_IMODE(status.st_mode) != PRIVATE_FOLDER:
            path.chmod(PRIVATE_FOLDER)
    except OSError as error:
        hint = "choose a folder that can be created, with RETICENT_HOME or the XDG variables"
        raise UsageError(reason(error), hint, str(path)) from error
    return path


def check_way(path: Path) -> None:
    """Raise UnsafeError if another user could put another file in the place of one.

    In the spirit of OpenSSH's StrictModes: each folder from the root down belongs to root or us,
    and nobody else can write to it. A folder for everybody whose files are their owners' (sticky,
    such as /tmp) is sound where what lies in it is ours or root's. Links on the way are followed,
    and both sides checked. What is not there is nobody's. Raises OSError.
    """
    roots = {0} | _unmapped_root()
    folder, links = Path("/"), 0
    parts = [*path.absolute().parts[1:]]
    while parts:
        name, status = parts.pop(0), folder.stat()
        if name == "..":
            folder = folder.parent
            continue
        if status.st_mode & stat.S_ISVTX == 0 or status.st_uid not in roots:
            _check(folder, status, {*roots, os.geteuid()})
        try:
            found = (folder / name).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return
        if status.st_mode & stat.S_ISVTX:
            _check_owner(folder / name, found, {*roots, os.geteuid()})
        if stat.S_ISLNK(found.st_mode):
            links += 1
            if links > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            target = (folder / name).readlink()
            folder = Path("/") if target.is_absolute() else folder
            parts = [*target.parts[target.is_absolute() :], *parts]
        else:
            folder /= name


def check_ours(path: Path, status: os.stat_result | None = None) -> None:
    """Raise UnsafeError if another user could have written a file, or as `check_way`.

    ``status``: of the file that was opened, by default of what is there. Raises OSError.
    """
    check_way(path)
    _check(path, path.stat() if status is None else status, _sound_users())


def _sound_users() -> set[int]:
    """Return the numbers of the users whose files are obeyed: root, and ours."""
    return {0, os.geteuid()}


def _unmapped_root() -> set[int]:
    """Return the number by which root's folders are shown in a user namespace without root.

    Every other user who is not mapped there has the same number.
    Source: user_namespaces(7).
    """
    try:
        if Path("/proc/self/uid_map").read_text().split() == ["0", "0", str(2**32 - 1)]:
            return set()
        return {int(Path("/proc/sys/fs/overflowuid").read_text())}
    except (OSError, ValueError):  # not Linux
        return set()


def _private(gid: int) -> bool:
    """Return whether a group is one user's own, of the same name, and that user is root or ours.

    Many systems give each user such a group, and let it write by default.
    """
    names = set[str]()
    for each in _sound_users():
        with suppress(KeyError):  # a container's user may have no entry
            names.add(pwd.getpwuid(each).pw_name)
    try:
        group = grp.getgrgid(gid)
    except KeyError:
        return False
    if group.gr_name not in names or not {*group.gr_mem} <= names:
        return False
    return all(each.pw_name in names for each in pwd.getpwall() if each.pw_gid == gid)


def _create(data: bytes, path: Path, mode: int) -> None:
    """Write a new file and wait until it is on the disk; what fails leaves no file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with ExitStack() as on_failure:
        on_failure.callback(path.unlink)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        on_failure.pop_all()


def _make(path: Path) -> None:
    """Make a folder and those above it, each 0700 from the moment it exists."""
    try:
        path.mkdir(PRIVATE_FOLDER, exist_ok=True)
    except FileNotFoundError:
        _make(path.parent)
        path.mkdir(PRIVATE_FOLDER, exist_ok=True)


def _check(
    path: Path, status: os.stat_result, users: set[int], *, private_group: bool = True
) -> None:
    """Raise UnsafeError if somebody else than these users may have written to a file or folder."""
    _check_owner(path, status, users)
    others = status.st_mode & OTHERS_WRITE
    if others == stat.S_IWGRP and private_group and _private(status.st_gid):
        return
    if others:
        hint = f"check its contents, then run: chmod go-w '{path}'"
        raise UnsafeError(f"other users can write to this {_kind(status)}", hint, str(path))


def _check_owner(path: Path, status: os.stat_result, users: set[int]) -> None:
    if status.st_uid not in users:
        what = f"this {_kind(status)} belongs to another user (number {status.st_uid})"
        hint = "move it away, or choose another place with RETICENT_HOME"
        raise UnsafeError(what, hint, str(path))


def _kind(status: os.stat_result) -> str:
    return "folder" if stat.S_ISDIR(status.st_mode) else "file"


def _unwritable(path: Path, error: OSError) -> UsageError:
    """Return the error for a file that cannot be written."""
    other = reason(error), "choose a folder that exists and can be written to"
    return UsageError(*_REFUSALS.get(error.errno or 0, other), str(path))


def missing(path: Path) -> UsageError:
    """The error for a path with nothing there, which names the nearest beside it."""
    names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
    near = nearest(path.name, names)
    hint = "check the path" if near is None else f"did you mean {str(path.parent / near)!r}?"
    return UsageError("no such file", hint, str(path))
