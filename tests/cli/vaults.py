"""Vaults for the tests of commands: fast to open, and never with the keyring of a desktop."""

from pathlib import Path

from agent.paths import paths
from agent.vault.seal import Derivation
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location
from tests.vault.worlds import create

PASSPHRASE = "four random words here"  # noqa: S105  (that of an empty vault)
FAST = Derivation(memory_kib=64, iterations=1, lanes=1)  # far below what the command line makes


def made(home: Path) -> str:
    """Make an empty vault in the home of a test; return its recovery code."""
    assert home.is_dir()
    vault, code = create(here(), PASSPHRASE, FAST)
    vault.close()
    return code


def here() -> Location:
    """Return where the vault lies."""
    return Location.of(paths())


def opened(text: str = PASSPHRASE) -> Vault:
    """Open the vault by a passphrase."""
    return unlock(here(), Secret("passphrase", text))
