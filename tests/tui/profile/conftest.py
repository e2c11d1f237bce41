"""One daemon for all tests of the screen; each has attributes of its own."""

from collections.abc import Iterator

import pytest

from tests.daemon.whole_daemon import Live, living
from tests.tui.profile.world import POLICY


@pytest.fixture(scope="package")
def live() -> Iterator[Live]:
    """Yield a daemon whose vault is open."""
    with living(POLICY) as found:
        yield found
