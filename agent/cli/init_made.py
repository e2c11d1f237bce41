"""Making what `reticent init` was told to make: a model, a policy, and the vault last.

The vault comes to its place whole, and last. Before that moment `init` can simply be run again;
after it, everything is there.
"""

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.cli.init_wishes import Wishes
from agent.daemon.live.shelf import Shelf
from agent.errors import VaultError
from agent.files import create_private, private_folder
from agent.paths import Paths
from agent.vault.leftovers import check_free
from agent.vault.location import Location
from agent.vault.vault import Vault
from agent.vault.vault import make as make_vault

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


def make(wishes: Wishes, at: Paths, now: datetime) -> Made:
    """Make all of it, the vault last.

    Raises UsageError or VaultError where something cannot be made; then there is no vault.
    """
    check_free(Location.of(at))
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
    """Make the vault with all that is to be in it; return its recovery code, and notes."""
    notes: list[str] = []

    def fill(vault: Vault) -> None:
        for model, values in wishes.values:
            vault.profile.change(values, (), [model])
        if wishes.keyring:
            notes.extend(_add_keyring(vault))

    _, code = make_vault(at, wishes.passphrase, fill=fill)
    return code, tuple(notes)


def _add_keyring(vault: Vault) -> tuple[str, ...]:
    """Put a key into the keyring; return why that was not possible, if it was not."""
    try:
        vault.add_keyring()
    except VaultError as error:
        return (f"the keyring was left out: {error.what} ({error.hint})",)
    return ()
