"""The files of a vault: its place, its witness, others beside it, and whether they changed."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, NamedTuple, Self

import msgspec
from msgspec import Meta, Struct

from agent.errors import ReplacedVaultError, UsageError, VaultError
from agent.files import PRIVATE, read_bytes, replace_bytes
from agent.paths import Paths
from agent.vault.seal import SCHEME, from_json

MAX_BYTES = 1024
MISSING = "this machine has no record of the vault's age: an old copy would have gone unnoticed"
OLD_COPY = "if you put this copy there yourself, run `reticent vault restore` on it"
UNWRITTEN = "the witness cannot be written: an old copy of the vault would go unnoticed"
_Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
LOG, JOURNAL, SHARED = "-wal", "-journal", "-shm"  # SQLite appends these to the name of a database
REPLACED = ".replaced-"  # and a number from 1: what a restored backup replaced
SET_ASIDE = ".set-aside-"  # and a number: what was written where an open vault was replaced
REPLACED_OPEN = "the vault was replaced, removed or changed while it was open"


@dataclass(frozen=True, slots=True)
class Location:
    """The file of a vault, and its witness: the file with its last known state."""

    vault: Path
    witness: Path

    @classmethod
    def of(cls, paths: Paths) -> Self:
        """The location of the user's vault."""
        return cls(paths.vault, paths.witness)


class Stamp(NamedTuple):
    """Identifies a file and its state."""

    device: int
    inode: int
    size: int
    written_ns: int


def stamps(*names: str) -> list[Stamp | None]:
    """Read the stamps of the files with these names, None for one that is not there."""
    found = list[Stamp | None]()
    for name in names:
        try:
            is_ = os.stat(name)  # noqa: PTH116  (twice as fast, and done four times a commit)
        except OSError:
            found.append(None)
        else:
            found.append(Stamp(is_.st_dev, is_.st_ino, is_.st_size, is_.st_mtime_ns))
    return found


def same_file(one: Stamp | None, other: Stamp | None) -> bool:
    """Whether two stamps belong to the same file, whatever its content."""
    return one is not None and other is not None and one[:2] == other[:2]


class Watch:
    """The two files of an open database, as this process last wrote them."""

    def __init__(self, path: Path) -> None:
        """Remember the files as they are."""
        self.place = Path(os.path.realpath(path))
        self.log = self.place.with_name(self.place.name + LOG)
        self._names = str(path.absolute()), str(self.log)
        self.last = stamps(*self._names)

    def refresh(self, *, unless_replaced: bool = False) -> None:
        """Remember the files as they are, after this process wrote to either.

        ``unless_replaced``: only if both are still the same files.
        """
        now = stamps(*self._names)
        if not unless_replaced or all(map(same_file, now, self.last)):
            self.last = now

    @property
    def intact(self) -> bool:
        """Whether both files are as this process wrote them."""
        return stamps(*self._names) == self.last

    def check(self, *, committed: bool = False) -> int:
        """Raise ReplacedVaultError if a file has changed; return the length of the log.

        ``committed``: but for the log, by a transaction of ours, which appended to it or overwrote
        its frames.
        """
        now, (file, log) = stamps(*self._names), self.last
        if committed and log and now[1] and log[:2] == now[1][:2] and log.size <= now[1].size:
            self.last = [file, now[1]]
        if now != self.last:
            hint = "run `reticent status`: it says where everything was set aside"
            raise ReplacedVaultError(REPLACED_OPEN, hint, self._names[0])
        return 0 if now[1] is None else now[1].size

    @property
    def identity(self) -> tuple[int, ...]:
        """Which file is open, by device and inode."""
        return () if self.last[0] is None else self.last[0][:2]

    @property
    def log_bytes(self) -> int:
        """The length of the log, as this process wrote it."""
        return 0 if self.last[1] is None else self.last[1].size


class Witness(Struct, frozen=True, forbid_unknown_fields=True):
    """The last state of a vault known to be on disk; ``vault`` and ``head`` in hexadecimal."""

    format: Annotated[int, Meta(ge=SCHEME, le=SCHEME)]
    vault: Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
    generation: _Count
    rotations: _Count
    entries: _Count
    head: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


_WITNESS = msgspec.json.Decoder(Witness)


def read_witness(path: Path) -> Witness | None:
    """The witness in a file; None if it is missing or does not fit the format."""
    try:
        return from_json(read_bytes(path, MAX_BYTES), _WITNESS)
    except UsageError:
        return None


def write_witness(witness: Witness, path: Path) -> bool:
    """Write the witness, whole and on the disk; return whether that worked."""
    try:
        replace_bytes(msgspec.json.encode(witness) + b"\n", path, PRIVATE)
    except UsageError:
        return False
    return True


def set_aside_notice(at: Location) -> tuple[str, str] | None:
    """Say, where a vault was set aside, what happened and how to bring it back."""
    files = vaults_set_aside(at)
    if not files:
        return None
    what = f"{REPLACED_OPEN}; your profile and the ledger were set aside"
    back = f"`reticent vault restore '{files[-1]}'` brings them back"
    return what, f"{back}; remove the file if you do not need it"


def vaults_set_aside(at: Location) -> list[Path]:
    """List the vaults that were set aside, the latest last, and not restored since."""
    folders = dict.fromkeys((at.vault.parent, at.witness.parent))
    return [each for folder in folders for each in _numbered(folder / at.vault.name, SET_ASIDE)]


def check_free(at: Location) -> None:
    """Raise VaultError if there is a vault, or traces of one."""
    check_name(at.vault)
    seen, old = read_witness(at.witness), [*replaced_vaults(at.vault), *vaults_set_aside(at)]
    if seen is None and not old:
        return
    number = 0 if seen is None else seen.entries
    many = f" ({number:,} {'entry' if number == 1 else 'entries'})" if seen is not None else ""
    file = str(old[-1]) if old else "FILE"
    back = f"`reticent vault restore {file}` brings it back"
    hint = f"{back}; `reticent vault purge` removes the rest"
    raise VaultError(f"a vault was here{many}, and nothing was changed", hint, str(at.vault))


def check_name(path: Path) -> None:
    """Raise VaultError if there is a vault, or a log that a moved one still needs."""
    if os.path.lexists(path):
        raise already_exists(path)
    for log in (path.with_name(path.name + suffix) for suffix in (LOG, JOURNAL)):
        if log.is_file() and log.stat().st_size:
            what = f"the latest entries of a vault that was here are still in {log.name}"
            hint = f"move it to where {path.name} is now and rename it to match, or remove it"
            raise VaultError(what, hint, str(log))


def already_exists(path: Path) -> VaultError:
    """The error for a new vault where there is one."""
    hint = "open it with `reticent unlock`; `reticent vault purge` removes everything, for good"
    return VaultError("a vault already exists, and nothing was changed", hint, str(path))


def replaced_vaults(path: Path) -> list[Path]:
    """The vaults that were replaced by backups, the latest last."""
    return _numbered(path, REPLACED)


def free_names(path: Path, kind: str = REPLACED) -> Iterator[Path]:
    """Yield free names for a vault that is replaced or set aside."""
    names = (path.with_name(f"{path.name}{kind}{number}") for number in count(1))
    return (name for name in names if not os.path.lexists(name))


def remove_beside(path: Path) -> None:
    """Remove the log and journal of a file that is gone. Raises OSError."""
    for suffix in (LOG, SHARED, JOURNAL):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _numbered(path: Path, kind: str) -> list[Path]:
    """The files with the name of a vault, a kind and a number, ascending."""
    begin = path.name + kind
    files = [each for each in path.parent.glob(f"{begin}*") if each.name[len(begin) :].isdecimal()]
    return sorted(files, key=lambda each: int(each.name[len(begin) :]))
