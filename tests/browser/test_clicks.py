"""Which result is visited is told where the user wants that, and where the user clicked."""

import pytest

from agent.wire.decide import Clicked
from tests.browser.frames import RelayedClicked
from tests.browser.world import World

pytestmark = pytest.mark.browser

SYNTHETIC = """
const link = document.querySelector('#result');
link.addEventListener('click', (event) => event.preventDefault());
link.click();
link.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true, composed: true}));
"""


def wanted(world: World, *, clicks: bool) -> None:
    """Have the daemon say whether the user wants it."""
    world.daemon.clicks = clicks
    world.learn()
    world.forget()


def told(world: World) -> list[Clicked]:
    """Return the clicks that were told until now."""
    return [each.body for each in world.settled() if isinstance(each, RelayedClicked)]


def visited(world: World) -> None:
    """Click a result, and be there."""
    world.browser.click("#result")
    world.browser.shows("result/page")


def test_a_click_is_told(world: World) -> None:
    """What was searched for, and whose page was visited; the path is not."""
    wanted(world, clicks=True)
    world.search("editor & more")
    visited(world)
    assert told(world) == [Clicked(query="editor & more", host="result.localhost")]


def test_a_click_of_a_script_is_not_told(world: World) -> None:
    """A page could make one up."""
    wanted(world, clicks=True)
    world.search("editor")
    world.browser.run(SYNTHETIC)
    assert told(world) == []


@pytest.mark.parametrize(
    ("clicks", "host", "query"),
    [(False, "search", "editor"), (True, "elsewhere", "editor"), (True, "search", None)],
)
def test_no_other_click_is_told(world: World, clicks: bool, host: str, query: str | None) -> None:
    """None unasked; none on a site that is not listed, and none where nothing was searched for."""
    wanted(world, clicks=clicks)
    world.visit(host) if query is None else world.search(query, host)
    visited(world)
    assert told(world) == []
