"""Each browser starts once for all of these tests, and each test begins with it tidied."""

from collections.abc import Iterator

import pytest

from tests.browser.world import BROWSERS, World, running


@pytest.fixture(scope="package", params=BROWSERS)
def started(request: pytest.FixtureRequest) -> Iterator[World]:
    """Yield a browser, and end it before tests of other packages: Playwright keeps a loop."""
    with running(request.param) as world:
        yield world


@pytest.fixture
def world(started: World) -> World:
    """Return a browser in which nothing was done yet."""
    started.fresh()
    return started
