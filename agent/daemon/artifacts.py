"""What Reticent installs for other programs to find: each is an `Artifact`.

The states are the same for all: absent; installed, as this version writes it; outdated, of this
installation but different; elsewhere, of another installation of Reticent; foreign, by others.
"""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from agent.errors import UsageError, reason
from agent.files import (
    PRIVATE,
    PRIVATE_FOLDER,
    PUBLIC,
    check_way,
    clear_unfinished,
    create_private,
    fsync,
    private_folder,
    read_bytes,
    replace_bytes,
    unfinished,
)
from agent.paths import Paths

Manager = Literal["systemd", "launchd"]
ArtifactState = Literal["absent", "installed", "outdated", "elsewhere", "foreign"]
LARGEST = 64 * 1024  # bytes of a file that we write
LARGEST_CONFIGURATION = 64 << 20  # bytes: one of these has all conversations in it
BY_HAND = "add the server by hand, as --show prints it"
_OF_DESKTOPS = {".DS_Store"}  # what looking at a folder leaves in it
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Machine:
    """Where we are installed: the user's folders and environment, and the time and zone.

    ``interpreter``: the absolute path of the Python that runs Reticent.
    """

    paths: Paths
    environment: Mapping[str, str]
    now: datetime
    manager: Manager
    interpreter: str

    @property
    def home(self) -> Path:
        """The user's own folder."""
        return Path(self.environment.get("HOME") or Path.home())

    @property
    def configuration(self) -> Path:
        """The folder of the user's configuration, as freedesktop.org has it."""
        config = Path(self.environment.get("XDG_CONFIG_HOME") or "")
        return config if config.is_absolute() else self.home / ".config"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file for another program: ``text`` is what this version writes.

    ``is_ours``: whether a text is of this installation; ``mark``: stands in the text of every
    installation; ``starts``: the program that a text has started, None if it has none.
    """

    path: Path
    text: str
    is_ours: Callable[[str], bool]
    mark: str
    starts: Callable[[str], str | None] = lambda _text: None
    mode: int = PUBLIC

    def read(self) -> str | None:
        """Return the text that is installed, None without one; UsageError if unreadable."""
        if not os.path.lexists(self.path):
            return None
        return read_bytes(self.path, LARGEST).decode("utf-8", "replace")

    def state(self) -> ArtifactState:
        """Compare what is installed with what this version writes."""
        try:
            text = self.read()
        except UsageError:
            return "foreign"
        if text is None:
            return "absent"
        runs = not self.mode & stat.S_IXUSR or os.access(self.path, os.X_OK)
        if text == self.text and runs:
            return "installed"
        if self.is_ours(text):
            return "outdated"
        return "elsewhere" if self.mark in text else "foreign"

    def missing_program(self) -> str | None:
        """Return the program that is to be started, if it cannot be; None if it can."""
        program = self.starts(self.read() or "")
        return program if program is not None and not os.access(program, os.X_OK) else None

    def check(self) -> None:
        """UsageError if what is installed there is not Reticent's."""
        if self.state() == "foreign":
            what = "this exists and was not written by Reticent"
            raise UsageError(what, "move it away and try again", str(self.path))

    def write(self) -> None:
        """Install it, over what any installation of Reticent wrote; UsageError, UnsafeError."""
        self.check()
        if not self.path.parent.is_dir():  # one that exists may be for others as well
            private_folder(self.path.parent)
        check_way(self.path)
        replace_bytes(self.text.encode(), self.path, self.mode)

    def remove(self) -> bool:
        """Remove it if it is of this installation, and say whether it was; UsageError."""
        ours = self.state() in {"installed", "outdated"}
        if ours:
            try:
                self._delete()
            except OSError as error:
                raise UsageError(reason(error), "fix that and try again", str(self.path)) from error
        return ours

    def _delete(self) -> None:
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class ConfigurationEntry(Artifact):
    """A member of an object in another program's JSON file; the rest stays byte for byte.

    ``text``: its value, in JSON; ``group``: the object's name at the top of the file.
    """

    group: str = ""
    name: str = ""

    def read(self) -> str | None:
        """Return the value, None if the file has none; UsageError where it has no place."""
        found = members_of(self.path).get(self.group, {})
        value = found.get(self.name, {}) if isinstance(found, dict) else None
        if not isinstance(value, dict):
            raise UsageError(f"{self.group} does not hold servers there", BY_HAND, str(self.path))
        return as_text(value) if self.name in found else None

    def check(self) -> None:
        """UsageError if the file cannot be edited."""
        self.read()

    def write(self) -> None:
        """Set the member, and leave all else as it is. UsageError, UnsafeError."""
        self.check()
        check_way(self.path)
        if not self.path.parent.is_dir():
            private_folder(self.path.parent)
        self._edit(lambda text: with_member(text, self.group, self.name, self.text))

    def _delete(self) -> None:
        self._edit(lambda text: without_member(text, self.group, self.name))
        if not members_of(self.path):
            self.path.resolve().unlink()

    def _edit(self, change: Callable[[str], str]) -> None:
        """Change the file; UsageError where its program changed it at the same time."""
        before = self._bytes()

        def unchanged() -> None:
            if before != self._bytes():
                what = "its program changed this file meanwhile, and it was left as it is"
                raise UsageError(what, "close that program and try again", str(self.path))

        mode = PRIVATE if before is None else stat.S_IMODE(self.path.stat().st_mode)
        data = change((before or b"").decode()).encode()
        replace_bytes(data, self.path.resolve(), mode, unchanged)

    def _bytes(self) -> bytes | None:
        return read_bytes(self.path, LARGEST_CONFIGURATION) if self.path.exists() else None


@dataclass(frozen=True, slots=True)
class UnpackedFolder(Artifact):
    """A folder of our own with the files of another; ``text``: their digests."""

    source: Path = Path()

    def read(self) -> str | None:
        """Return the digests of what the folder holds, None without one."""
        if not os.path.lexists(self.path):
            return None
        if self.path.is_symlink() or not self.path.is_dir():
            raise UsageError("not a folder", "move it away", str(self.path))
        return digests(self.path)

    def write(self) -> None:
        """Write all of it anew; it is never there in part. UsageError."""
        self.check()
        private_folder(self.path.parent)
        try:
            clear_unfinished(self.path)  # what a killed process left
            new = unfinished(self.path)
            new.mkdir(PRIVATE_FOLDER)
            for name, data in contents(self.source):
                (new / name).parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
                create_private(data, new / name)
            if self.path.exists():
                self.path.rename(unfinished(self.path))
            new.rename(self.path)
            fsync(self.path.parent)
        except OSError as error:
            hint = "make room, or choose a folder that can be written to, with RETICENT_HOME"
            raise UsageError(reason(error), hint, str(error.filename or self.path)) from error
        finally:
            clear_unfinished(self.path)

    def _delete(self) -> None:
        gone = unfinished(self.path)
        self.path.rename(gone)
        shutil.rmtree(gone)


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and data of each file below a folder, in order of name; no link is followed.

    What is no file, or too large to be ours, has no data. Raises OSError.
    """
    names: dict[str, Path] = {}
    waiting = [folder]
    while waiting:
        for path in waiting.pop().iterdir():
            if path.is_dir() and not path.is_symlink():
                waiting.append(path)
            elif path.name not in _OF_DESKTOPS:
                names[path.relative_to(folder).as_posix()] = path
    for name, path in sorted(names.items()):
        status = path.lstat()
        whole = stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST
        yield name, path.read_bytes() if whole else b""


def digests(folder: Path) -> str:
    """Return the SHA-256 of each file below a folder, as sha256sum(1) prints them; UsageError."""
    try:
        found = [(hashlib.sha256(data).hexdigest(), name) for name, data in contents(folder)]
    except OSError as error:
        raise UsageError(reason(error), "fix that and try again", str(folder)) from error
    return "".join(f"{digest}  {name}\n" for digest, name in found)


def as_text(value: object) -> str:
    """Return a value in JSON, indented as a member of an object in a file."""
    return json.dumps(value, indent=2).replace("\n", "\n    ")


def members_of(path: Path) -> dict[str, Any]:
    """Return what a JSON file holds, nothing where there is none; UsageError if it is no object."""
    if not os.path.lexists(path):
        return {}

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        whole = dict(pairs)
        if len(whole) != len(pairs):
            raise ValueError
        return whole

    try:
        text = read_bytes(path, LARGEST_CONFIGURATION).decode("utf-8")
        whole = json.loads(text, object_pairs_hook=once) if text.strip() else {}
    except (ValueError, RecursionError):  # comments, or two members of one name
        raise UsageError(
            "this file has comments, or is not valid JSON", BY_HAND, str(path)
        ) from None
    if not isinstance(whole, dict):
        raise UsageError("this file does not hold a JSON object", BY_HAND, str(path))
    return whole


def with_member(text: str, group: str, name: str, value: str) -> str:
    """Return a JSON text with a member set in a group at its top, all else byte for byte."""
    member = f"{json.dumps(name)}: {value}"
    if not text.strip():
        text = "{}\n"
    top = text.index("{")
    groups = {key: begin for key, _, begin, _ in _members(text, top)}
    if group not in groups:
        return _added(text, top, f"{json.dumps(group)}: {{\n    {member}\n  }}", "")
    for key, _, begin, end in _members(text, groups[group]):
        if key == name:
            return text[:begin] + value + text[end:]
    return _added(text, groups[group], member, "  ")


def without_member(text: str, group: str, name: str) -> str:
    """Return a JSON text without a member of a group, nor the group if that is then empty."""
    top = text.index("{")
    groups = {key: begin for key, _, begin, _ in _members(text, top)}
    alone = len([*_members(text, groups[group])]) == 1
    return _removed(text, top, group) if alone else _removed(text, groups[group], name)


def _added(text: str, at: int, member: str, indent: str) -> str:
    """Add a member at the end of the object that begins there."""
    before = [*_members(text, at)]
    if before:
        end = before[-1][3]
        return f"{text[:end]},\n{indent}  {member}{text[end:]}"
    return f"{text[: at + 1]}\n{indent}  {member}\n{indent}{text[text.index('}', at) :]}"


def _removed(text: str, at: int, name: str) -> str:
    """Remove a member of the object that begins there, with the comma that joined it."""
    found = [*_members(text, at)]
    place = [key for key, *_ in found].index(name)
    if len(found) == 1:
        return text[: at + 1] + text[text.index("}", found[0][3]) :]
    if place == 0:
        return text[: found[0][1]] + text[found[1][1] :]
    return text[: found[place - 1][3]] + text[found[place][3] :]


def _members(text: str, at: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield the name of each member of the valid object that begins there.

    After it, where the member begins, where its value does, and where that ends.
    """

    def solid(place: int) -> int:
        while text[place] in " \t\r\n":
            place += 1
        return place

    at = solid(at + 1)
    while text[at] == '"':
        name, end = _DECODER.raw_decode(text, at)
        begin = solid(solid(end) + 1)
        _, end = _DECODER.raw_decode(text, begin)
        yield name, at, begin, end
        at = solid(solid(end) + 1) if text[solid(end)] == "," else solid(end)
