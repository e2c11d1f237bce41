"""Many searches at once or one after another: no header is stale, and none is foreign."""

import json

import pytest

from tests.browser.recipient import SEARCH, Noted, right
from tests.browser.world import World

pytestmark = pytest.mark.browser

DELAY = 0.05  # seconds, the longest that the daemon takes
ROW = 200
TYPED = 20
TABS = 5


def wrong(came: list[Noted]) -> list[tuple[str, str | None]]:
    """Return the queries that came with another header than theirs, or none."""
    return [(each.query, each.header) for each in came if each.header != right(each.query)]


def test_two_hundred_in_a_row(world: World) -> None:
    """Each has its own header."""
    world.daemon.delay = DELAY
    queries = [f"row {number}" for number in range(ROW)]
    world.visit("elsewhere")
    address = json.dumps(world.recipient.search(queries[0]) + f"&left={ROW - 1}")
    world.browser.run(f"setTimeout(() => location = {address})")  # Marionette waits for the last
    came = world.recipient.heard(lambda each: each.path == SEARCH, ROW)
    assert [each.query for each in came] == queries
    assert wrong(came) == []
    assert [query for query, _ in world.decided()] == queries


def test_addresses_in_a_row(world: World) -> None:
    """Typed one after another, without waiting for a page to be whole."""
    world.daemon.delay = DELAY
    queries = [f"typed {number}" for number in range(TYPED)]
    for each in queries:
        world.browser.go(world.recipient.search(each))
        world.recipient.arrived(each)
    assert [each.query for each in world.recipient.searches()] == queries
    assert wrong(world.recipient.searches()) == []


def test_tabs_that_a_page_opens_at_once(world: World) -> None:
    """The headers are not mixed up."""
    world.daemon.delay = DELAY
    world.visit("elsewhere")
    queries = {f"opened {number}" for number in range(TABS)}
    addresses = json.dumps([world.recipient.search(each) for each in sorted(queries)])
    world.browser.run(f"for (const each of {addresses}) open(each)")
    came = world.recipient.heard(lambda each: each.query in queries, TABS)
    assert {each.query for each in came} == queries
    assert wrong(came) == []


def test_tabs_that_go_on_at_once(world: World) -> None:
    """Nor are they where each tab has a search already."""
    world.daemon.delay = DELAY
    world.search("0 before")
    for number in range(1, TABS):
        world.browser.opened()
        world.search(f"{number} before")
    for number, tab in enumerate(world.browser.tabs()):
        world.browser.switch(tab)
        address = json.dumps(world.recipient.search(f"{number} after"))
        world.browser.run(f"setTimeout(() => location = {address}, 50)")
    came = world.recipient.heard(lambda each: each.query.endswith("after"), TABS)
    assert len({each.query for each in came}) == TABS
    assert wrong(came) == []


def test_the_same_search_in_two_tabs(world: World) -> None:
    """Each is asked about, and each has the header."""
    world.daemon.delay = DELAY
    world.visit("elsewhere")
    address = json.dumps(world.recipient.search("twice"))
    world.browser.run(f"open({address}); open({address})")
    assert wrong(world.recipient.arrived("twice", 2)) == []
    assert world.decided() == [("twice", "search.localhost")] * 2


def test_searches_that_give_way_to_the_next(world: World) -> None:
    """What is broken off leaves nothing behind; what comes all the same has its own header."""
    world.daemon.delay = DELAY
    world.visit("elsewhere")
    for number in range(30):
        address = json.dumps(world.recipient.search(f"given up {number}"))
        # Told once it has left: one that leaves after the last was typed would rightly come last.
        leave = f"setTimeout(() => {{ location = {address}; done(); }})"
        world.browser.tried(f"return new Promise((done) => {leave})")
    world.search("at last")
    assert wrong(world.recipient.searches()) == []
