"""Where a vault may be made, and one with an entry."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.vault.vault import Vault
from agent.vault.vault_files import Location
from tests.vault.worlds import TOLD, new, place


@pytest.fixture
def at(tmp_path: Path) -> Location:
    """A place without a vault."""
    return place(tmp_path)


@pytest.fixture
def vault(at: Location) -> Iterator[Vault]:
    """An open vault with one entry, which lies in its log."""
    made, _ = new(at)
    made.ledger.append(TOLD)
    yield made
    made.close()
