"""A vault with one entry, and what can be said of it from outside."""

from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location
from tests.vault.histories import NOW, disclosed
from tests.vault.worlds import FAST, PASSPHRASE, TYPED, create, stream

TOLD = disclosed(NOW, "www.a.example", region="uk")
AGAIN = disclosed(NOW, "www.a.example", region="uk", age="old")


def new(at: Location, seed: str = "") -> tuple[Vault, str]:
    """Make a vault, fast; return it open, with its recovery code."""
    return create(at, PASSPHRASE, FAST, stream(seed))


def count(at: Location) -> int:
    """Return how many entries a vault has; it opens without a note."""
    with unlock(at, TYPED) as vault:
        assert vault.notes == ()
        return vault.ledger.count


def beside(at: Location) -> list[str]:
    """Return the names in the folder of the vault."""
    return sorted(path.name for path in at.vault.parent.iterdir())
