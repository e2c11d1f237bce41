"""Machines with a daemon, as most tests of it begin."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from agent.daemon.artifacts import Machine
from agent.model.file import read
from tests.daemon.office import Office, open_office
from tests.worlds.homes import Home
from tests.worlds.people import new_machine


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


@pytest.fixture
def machine() -> Iterator[Machine]:
    """Return a machine on which nothing is installed."""
    with new_machine() as made:
        yield made


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Return a consent whose policy asks for everything."""
    return open_office(tmp_path)


@pytest.fixture(scope="module")
def read_once() -> Iterator[None]:
    """Read each model of a file's tests once, the shipped ones above all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.model.file.read", cache(read))
        yield
