"""A consent with a policy file."""

from pathlib import Path

import pytest

from tests.daemon.office import Office, open_office


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Return a consent whose policy asks for everything."""
    return open_office(tmp_path)
