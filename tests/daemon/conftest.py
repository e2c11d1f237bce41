"""Machines with a daemon, as most tests of it begin."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.worlds.homes import Home


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """Return a machine with a locked daemon."""
    with Home(tmp_path) as made:
        yield made


@pytest.fixture
def opened(home: Home) -> Home:
    """Return a machine with an unlocked daemon and a profile."""
    home.unlock()
    home.fill()
    return home
