"""The daemon of these tests."""

from collections.abc import Iterator

import pytest

from tests.daemon.whole_daemon import Live, living
from tests.tui.policy.world import POLICY, World


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A daemon that runs for all tests."""
    with living(POLICY) as made:
        yield made


@pytest.fixture
def world(live: Live) -> Iterator[World]:
    """It, with the policy that it began with, and an open vault."""
    found = World(live)
    found.write(POLICY)
    live.unlock()
    yield found
    found.write(POLICY)
