"""Every file that Reticent made on this machine, found by name; other files are left alone.

No link is followed: one that lies among our files is removed, and what it leads to stays.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from agent.errors import BusyVaultError, UsageError, VaultError
from agent.files import PRIVATE, private_folder, read_bytes, replace_bytes
from agent.paths import Paths
from agent.vault.vault import accounts_of

VAULTS = ("vault.db", "vault.db.*-*[0-9]", ".vault.db.*.part")  # not what SQLite keeps beside each
ASIDE = ("vault.db.set-aside-*", ".vault.db.set-aside-*")
VAULT = ("vault.db", "vault.db-*", "vault.db.replaced-*", ".*vault.db.*", *ASIDE)
BROWSERS = ("browser-relay", ".browser-relay.*", "browser-extension/", ".browser-extension.*.part/")
ADDED = ("*.safetensors", "*.sig", "facts.txt")  # models, their signatures, what they know
REPLACED = tuple(f"{each}.replaced-*" for each in (*ADDED, "policy.toml"))
MODELS = (*ADDED, *REPLACED, ".*.part", ".????????/")  # the last: a model being copied
COPIES = "copies.txt"
STATE = (COPIES, "witness.json", ".witness.json.*", "*.token", "daemon.*", *ASIDE)
POLICY = ("policy.toml", *REPLACED, ".policy.toml.*")
MOST_BYTES = 1 << 20  # of the list of copies
SOCKETS = ("control.sock", "query.sock")


@dataclass(frozen=True, slots=True)
class InstalledFiles:
    """What is ours, what is most private first; and what lies among it and is not."""

    ours: tuple[Path, ...]
    others: tuple[Path, ...]
    folders: tuple[Path, ...]


def installed_files(paths: Paths) -> InstalledFiles:
    """List the files that would be removed, and those that would stay."""
    patterns = {
        paths.data: VAULT + BROWSERS,
        paths.state: STATE,
        paths.models: MODELS,
        paths.config: POLICY,
        paths.runtime: SOCKETS,
    }
    ours: list[Path] = []
    others: list[Path] = []
    for folder, names in patterns.items():
        if folder.is_symlink():
            ours.append(folder)
            continue
        for path in _entries(folder):
            if _fits(path, names):
                ours.append(path)
            elif path not in patterns:
                others.append(path)
    ours.sort(key=lambda path: path != paths.vault)  # the rest in the order of the folders
    inner_first = (paths.models, paths.data, paths.runtime, paths.state, paths.config)
    folders = [each for each in inner_first if each.is_dir() and not each.is_symlink()]
    return InstalledFiles(tuple(ours), tuple(others), tuple(folders))


def copies(paths: Paths) -> list[Path]:
    """List the backups and exports that were written, whether or not they are still there."""
    with suppress(UsageError):
        lines = read_bytes(paths.state / COPIES, MOST_BYTES).splitlines()
        return [Path(os.fsdecode(each)) for each in lines]
    return []


def note_copy(file: Path, paths: Paths) -> None:
    """Note where a backup or an export was written, if that can be."""
    every = dict.fromkeys((*copies(paths), file.absolute()))
    with suppress(UsageError):
        private_folder(paths.state)
        replace_bytes(b"\n".join(map(os.fsencode, every)), paths.state / COPIES, PRIVATE)


def remove(files: InstalledFiles) -> list[Path]:
    """Remove our files, and folders that are then empty; return what was removed."""
    removed = []
    for path in files.ours:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)  # which follows no link either
        else:
            path.unlink(missing_ok=True)
        removed.append(path)
    for folder in files.folders:
        if not [*_entries(folder)]:
            folder.rmdir()
            removed.append(folder)
    return removed


def accounts(files: InstalledFiles) -> tuple[list[str], list[Path]]:
    """List the accounts of every vault in the keyring: that in use, replaced, unfinished ones.

    Also lists the vaults that did not say which they have. Raises BusyVaultError if one is open.
    """
    names: dict[str, None] = {}
    unread = list[Path]()
    for path in files.ours:
        if path.is_symlink() or not _fits(path, VAULTS):
            continue
        try:
            names |= dict.fromkeys(accounts_of(path))
        except BusyVaultError:
            raise
        except VaultError:
            unread.append(path)
    return [*names], unread


def _entries(folder: Path) -> Iterator[Path]:
    """Yield the contents of a folder, which need not exist."""
    if folder.is_dir():
        yield from sorted(folder.iterdir())


def _fits(path: Path, names: Sequence[str]) -> bool:
    """Say whether something is ours by its name; the name of a folder ends with a slash."""
    end = "/" if stat.S_ISDIR(os.lstat(path).st_mode) else ""
    alike = (each for each in names if each.endswith("/") == (end > ""))
    return any(fnmatchcase(path.name + end, each) for each in alike)
