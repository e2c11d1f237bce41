"""Each browser starts once for all of these tests, and each test begins with it tidied."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from tests.browser.world import World, running


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest, or one worker would wait for it in the end."""
    items.sort(key=lambda item: item.path.stem != "test_whole")


@pytest.fixture(scope="package")
def started() -> Iterator[Callable[[str], World]]:
    """Yield what starts a browser by its name, once; they end before other packages' tests.

    Playwright keeps a loop for as long as it runs, where others could not start theirs.
    """
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(running(name)))


@pytest.fixture(params=["chromium"])
def world(request: pytest.FixtureRequest, started: Callable[[str], World]) -> World:
    """Yield a browser in which nothing was done yet: a Chromium, or each `in_both` of them."""
    found = started(request.param)
    found.fresh()
    return found
