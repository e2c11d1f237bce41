"""Where a vault may be made, and one with an entry."""

from pathlib import Path

import pytest

from agent.vault.vault import Vault, create
from agent.vault.vault_files import Location
from tests.vault.begun import TOLD
from tests.vault.worlds import FAST, PASSPHRASE, place, stream


@pytest.fixture
def at(tmp_path: Path) -> Location:
    """A place without a vault."""
    return place(tmp_path)


@pytest.fixture
def vault(at: Location) -> Vault:
    """An open vault with one entry, which lies in its log."""
    made, _ = create(at, PASSPHRASE, FAST, stream())
    made.ledger.append(TOLD)
    return made
