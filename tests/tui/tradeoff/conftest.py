"""One daemon for all tests of the screen."""

from collections.abc import Iterator

import pytest

from agent.wire.decide import Ask
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import Live, living
from tests.tui.tradeoff.world import SHOP


@pytest.fixture(scope="package")
def live() -> Iterator[Live]:
    """A daemon that answered a request."""
    with living() as found, found.client(QUERY) as client:
        client.call("decide", Ask(query="editor", recipient=SHOP))
        yield found
