"""One daemon for all tests of the screen."""

from collections.abc import Iterator

import pytest

from agent.wire.decide import Ask
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import Live, living
from tests.tui.recipients.world import ASKED, GUARDED


@pytest.fixture(scope="package")
def live() -> Iterator[Live]:
    """A daemon that answered a few requests, and guards a fact."""
    with living(GUARDED) as found, found.client(QUERY) as client:
        for query, recipient in ASKED:
            client.call("decide", Ask(query=query, recipient=recipient))
        yield found
