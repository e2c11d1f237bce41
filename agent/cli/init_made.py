"""Making what `reticent init` was told to make: a model, a policy, and the vault last.

The vault is made under another name and moved into place whole. Before that moment `init` can
simply be run again; after it, everything is there.
"""

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.cli.init_wishes import Wishes
from agent.daemon.shelf import Shelf
from agent.errors import VaultError
from agent.files import create_private, private_folder, settle
from agent.paths import Paths
from agent.vault.location import Location
from agent.vault.making import remove_beside
from agent.vault.vault import Vault, create

UNFINISHED = ".unfinished"

STARTER = """\
# What may leave, to whom, and at what price. Edit it by hand: the daemon reads it again whenever it
# changes, and `reticent policy check FILE` says what is wrong with it.

preset = "{preset}"
"""
MODEL = 'model = "{name}"\n'
EXAMPLES = """
# A typo is never ignored. For example:
#
# [attributes]
# gender = "never"
# salary = "ask"
#
# [[rule]]
# recipient = "shop.example"
# nothing = true
"""


@dataclass(frozen=True, slots=True)
class Made:
    """What was made: the code is shown once, and kept nowhere."""

    code: str
    policy: bool
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Made(policy={self.policy}, notes={self.notes!r})"


def check_free(at: Paths) -> None:
    """Refuse to begin where there is a vault; VaultError."""
    if os.path.lexists(at.vault):
        hint = "open it with `reticent unlock`; `reticent purge` removes everything, for good"
        raise VaultError("there is a vault already, and nothing was changed", hint, str(at.vault))


def make(wishes: Wishes, at: Paths, now: datetime) -> Made:
    """Make all of it, the vault last.

    Raises UsageError or VaultError where something cannot be made; then there is no vault.
    """
    check_free(at)
    for folder in (at.config, at.data, at.state):
        private_folder(folder)
    if wishes.added is not None:
        _shelve(wishes.added, wishes.model.digest, at.models, now)
    wrote = _write_policy(wishes, at.policy)
    code, notes = _make_vault(wishes, Location.of(at))
    return Made(code, wrote, notes)


def _shelve(path: Path, digest: str, folder: Path, now: datetime) -> None:
    """Put a model to the others, unless an earlier `init` has done that."""
    shelf = Shelf(folder)
    if any(each.name == path.stem and each.digest == digest for each in shelf.status((), now)):
        return
    shelf.add(path, (), now)


def _write_policy(wishes: Wishes, place: Path) -> bool:
    """Write the policy unless there is one; say whether it was written."""
    if wishes.preset is None or os.path.lexists(place):
        return False
    text = STARTER.format(preset=wishes.preset)
    if wishes.added is not None:
        text += MODEL.format(name=wishes.added.stem)
    create_private((text + EXAMPLES).encode(), place)
    return True


def _make_vault(wishes: Wishes, at: Location) -> tuple[str, tuple[str, ...]]:
    """Make the vault under another name, and move it into place; return its recovery code."""
    unfinished = Location(_beside(at.vault), _beside(at.witness))
    _clear(unfinished)
    notes: tuple[str, ...] = ()
    try:
        vault, code = create(unfinished, wishes.passphrase)
        with vault:
            for model, values in wishes.values:
                vault.profile.change(values, (), [model])
            if wishes.keyring:
                notes = _add_keyring(vault)
        _put(unfinished, at)
    finally:
        _clear(unfinished)
    return code, notes


def _put(unfinished: Location, at: Location) -> None:
    """Give a finished vault its name, unless something has it; then the witness follows.

    A witness of another time would make it look rolled back; a missing one is only noted.
    """
    at.witness.unlink(missing_ok=True)
    remove_beside(at.vault)
    os.link(unfinished.vault, at.vault)
    settle(at.vault.parent)
    unfinished.witness.replace(at.witness)


def _add_keyring(vault: Vault) -> tuple[str, ...]:
    """Put a key into the keyring; return why that was not possible, if it was not."""
    try:
        vault.add_keyring()
    except VaultError as error:
        return (f"the keyring was left out: {error.what} ({error.hint})",)
    return ()


def _beside(path: Path) -> Path:
    return path.with_name(path.name + UNFINISHED)


def _clear(at: Location) -> None:
    """Remove what an `init` left that was interrupted."""
    for path in (at.vault, at.witness):
        path.unlink(missing_ok=True)
        remove_beside(path)
