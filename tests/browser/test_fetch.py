"""What scripts of a page fetch: Firefox lets us add a header to that, Chromium does not."""

import pytest

from tests.browser.recipient import right
from tests.browser.world import World

pytestmark = pytest.mark.browser

FETCH = "fetch('/search?q=fetched')"
XHR = "const asked = new XMLHttpRequest(); asked.open('GET', '/search?q=fetched'); asked.send()"
FORGED = "fetch('/search?q=fetched', {headers: {'Shared-Attributes': 'h=\"forged\"'}})"


@pytest.mark.parametrize("script", [FETCH, XHR])
def test_a_search_by_a_script(world: World, script: str) -> None:
    """It has the header of its query in Firefox, and none in Chromium."""
    world.visit("search")
    world.browser.run(script)
    [came] = world.recipient.arrived("fetched")
    if world.browser.name == "firefox":
        assert came.header == right("fetched")
    else:
        assert came.header is None
        assert world.decided() == []


def test_a_script_of_the_page_cannot_say_something_else(world: World) -> None:
    """In Firefox its own header is replaced; in Chromium we cannot reach it, and say nothing."""
    world.visit("search")
    world.browser.run(FORGED)
    [came] = world.recipient.arrived("fetched")
    if world.browser.name == "firefox":
        assert came.header == right("fetched")
    else:
        assert world.decided() == []
