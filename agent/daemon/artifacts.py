"""What Reticent installs for other programs to find: each is an `Artifact`.

The states are the same for all: absent; installed, as this version writes it; outdated, of this
installation but different; elsewhere, of another installation of Reticent; foreign, by others.
"""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from agent import files
from agent.daemon import jsonc
from agent.errors import UsageError, reason
from agent.paths import Paths

ArtifactState = Literal["absent", "installed", "outdated", "elsewhere", "foreign"]
LARGEST = 64 * 1024  # bytes of a file that we write
LARGEST_CONFIGURATION = 64 << 20  # bytes: one of these has all conversations in it
BY_HAND = "add the server by hand: its command is `reticent mcp --recipient RECIPIENT`"
_OF_DESKTOPS = {".DS_Store"}  # what looking at a folder leaves in it


@dataclass(frozen=True, slots=True)
class Machine:
    """Where we are installed: the user's folders and environment, and the time and zone.

    ``interpreter``: the absolute path of the Python that runs Reticent; ``mac``: under macOS.
    """

    paths: Paths
    environment: Mapping[str, str]
    now: datetime
    interpreter: str
    mac: bool = False

    @property
    def home(self) -> Path:
        """The user's own folder."""
        return Path(self.environment.get("HOME") or Path.home())

    @property
    def configuration(self) -> Path:
        """The folder of the user's configuration, as freedesktop.org has it."""
        config = Path(self.environment.get("XDG_CONFIG_HOME") or "")
        return config if config.is_absolute() else self.home / ".config"

    def support(self, place: str) -> Path:
        """Locate what a program keeps below the user's configuration, as the system has it."""
        support = self.home / "Library/Application Support" if self.mac else self.configuration
        return support / place


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file for another program: ``text`` is what this version writes.

    ``is_ours``: whether a text is of this installation; ``mark``: stands in the text of every
    installation.
    """

    path: Path
    text: str
    is_ours: Callable[[str], bool]
    mark: str
    mode: int = files.PUBLIC

    def read(self) -> str | None:
        """Read the text that is installed, None without one; UsageError if unreadable."""
        if not os.path.lexists(self.path):
            return None
        return files.read_bytes(self.path, LARGEST).decode("utf-8", "replace")

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

    def check(self) -> None:
        """UsageError if what is installed there is not Reticent's."""
        if self.state() == "foreign":
            what = "this exists and was not written by Reticent"
            raise UsageError(what, "move it away and try again", str(self.path))

    def write(self) -> None:
        """Install it, over what any installation of Reticent wrote; UsageError, UnsafeError."""
        self.check()
        if not self.path.parent.is_dir():  # one that exists may be for others as well
            files.private_folder(self.path.parent)
        files.check_way(self.path)
        self._put()

    def remove(self) -> bool:
        """Remove it if it is of this installation, and say whether it was; UsageError."""
        is_removed = self.state() in {"installed", "outdated"}
        if is_removed:
            try:
                self._delete()
            except OSError as error:
                raise UsageError(reason(error), "fix that and try again", str(self.path)) from error
        return is_removed

    def _put(self) -> None:
        files.replace_bytes(self.text.encode(), self.path, self.mode)

    def _delete(self) -> None:
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class ConfigurationEntry(Artifact):
    """A member of an object in another program's JSON file; what else it holds stays.

    ``text``: its value, in JSON; ``group``: the object's name at the top of the file.
    """

    group: str = ""
    name: str = ""

    def read(self) -> str | None:
        """Read the value, None if the file has none; UsageError where it has no place."""
        group = members_of(self.path).get(self.group, {})
        value = group.get(self.name, {}) if isinstance(group, dict) else None
        if not isinstance(value, dict):
            raise UsageError(f"{self.group} does not hold servers there", BY_HAND, str(self.path))
        return as_text(value) if self.name in group else None

    def check(self) -> None:
        """UsageError if the file cannot be edited."""
        self.read()

    def _put(self) -> None:
        value = json.loads(self.text)
        self._replace(lambda text: jsonc.with_member(text, self.group, self.name, value))

    def _delete(self) -> None:
        self._replace(lambda text: jsonc.without_member(text, self.group, self.name))

    def _replace(self, change: Callable[[str], str]) -> None:
        """Change its text, or remove it; UsageError where its program just changed it."""
        before = content_of(self.path)
        try:
            data = change(before.decode()).encode()
        except ValueError:  # a number beyond all bounds
            raise UsageError("this file cannot be rewritten", BY_HAND, str(self.path)) from None
        if not data:
            self.path.resolve().unlink()
            return

        def unchanged() -> None:
            if before != content_of(self.path):
                what = "its program changed this file meanwhile, and it was left as it is"
                raise UsageError(what, "close that program and try again", str(self.path))

        is_new = not os.path.lexists(self.path)
        mode = files.PRIVATE if is_new else stat.S_IMODE(self.path.stat().st_mode)
        files.replace_bytes(data, self.path.resolve(), mode, unchanged)


@dataclass(frozen=True, slots=True)
class UnpackedFolder(Artifact):
    """A folder of our own with the files of another; ``text``: their digests."""

    source: Path = Path()

    def read(self) -> str | None:
        """List the digests of what the folder holds, None without one."""
        if not os.path.lexists(self.path):
            return None
        if self.path.is_symlink() or not self.path.is_dir():
            raise UsageError("not a folder", "move it away", str(self.path))
        return digests(self.path)

    def _put(self) -> None:
        """Write all of it anew; it is never there in part. UsageError."""
        try:
            files.clear_unfinished(self.path)  # what a killed process left
            new = files.unfinished(self.path)
            shutil.copytree(self.source, new)
            if self.path.exists():
                self.path.rename(files.unfinished(self.path))
            new.rename(self.path)
        except OSError as error:
            hint = "make room, or choose a folder that can be written to, with RETICENT_HOME"
            raise UsageError(reason(error), hint, str(error.filename or self.path)) from error
        finally:
            files.clear_unfinished(self.path)

    def _delete(self) -> None:
        removing = files.unfinished(self.path)
        self.path.rename(removing)
        shutil.rmtree(removing)


def digests(folder: Path) -> str:
    """List the SHA-256 of each file below a folder, as sha256sum(1) prints them; UsageError.

    No link is followed; what is no file, or too large to be ours, counts as empty.
    """
    lines = list[str]()
    try:
        for path in sorted(folder.rglob("*")):
            status = path.lstat()
            if not stat.S_ISDIR(status.st_mode) and path.name not in _OF_DESKTOPS:
                whole = stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST
                digest = hashlib.sha256(path.read_bytes() if whole else b"").hexdigest()
                lines.append(f"{digest}  {path.relative_to(folder).as_posix()}")
    except OSError as error:
        raise UsageError(reason(error), "fix that and try again", str(folder)) from error
    return "\n".join(lines)


def content_of(path: Path) -> bytes:
    """Read another program's file, nothing where there is none; UsageError."""
    return files.read_bytes(path, LARGEST_CONFIGURATION) if os.path.lexists(path) else b""


def as_text(value: object) -> str:
    """Write a value in JSON, indented as a member of an object in a file."""
    return json.dumps(value, indent=2).replace("\n", "\n    ")


def members_of(path: Path) -> dict[str, Any]:
    """Read what a JSON file holds, nothing where there is none; UsageError if it is no object.

    It may have comments, as editors allow them.
    """
    try:
        whole = jsonc.read(content_of(path).decode())
    except (ValueError, RecursionError):  # or two members of one name
        raise UsageError("this file is not valid JSON", BY_HAND, str(path)) from None
    if not isinstance(whole, dict):
        raise UsageError("this file does not hold a JSON object", BY_HAND, str(path))
    return whole
