"""One daemon for all tests of the screen; each has recipients of its own."""

from collections.abc import Iterator

import pytest

from tests.daemon.whole_daemon import living
from tests.tui.requests.world import POLICY, World


@pytest.fixture(scope="package")
def world() -> Iterator[World]:
    """Yield a daemon whose vault is open."""
    with living(POLICY) as live:
        yield World(live)
