"""A search that is sent on to another site tells that site nothing."""

from urllib.parse import quote

import pytest

from tests.browser.recipient import right
from tests.browser.world import World

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("target", ["/landed", "/search?q=landed"])
def test_who_is_sent_the_search_gets_no_header(world: World, target: str) -> None:
    """The header goes to the recipient that was asked about."""
    onward = world.recipient.url("other", target)
    world.browser.go(world.recipient.search("sent on") + "&to=" + quote(onward, safe=""))
    [landed] = world.recipient.heard(lambda each: each.host == "other")
    [came] = world.recipient.searches("sent on")
    assert (came.header, landed.header) == (right("sent on"), None)
    assert {recipient for _, recipient in world.decided()} == {"search.localhost"}


def test_another_site_that_is_listed_gets_its_own_header_or_none(world: World) -> None:
    """Never that of the first."""
    world.listing("other", "search")
    world.forget()
    onward = world.recipient.search("second", "other")
    world.browser.go(world.recipient.search("first") + "&to=" + quote(onward, safe=""))
    [landed] = world.recipient.heard(lambda each: each.host == "other")
    assert landed.header in {None, right("second")}
    assert {("first", "search.localhost"), ("second", "other.localhost")} >= {*world.decided()}


def test_a_site_that_sends_on_to_the_search(world: World) -> None:
    """The one that sends gets nothing; the search has its own header, or none."""
    onward = world.recipient.search("sent here")
    world.browser.go(world.recipient.url("evil", "/?to=" + quote(onward, safe="")))
    [landed] = world.recipient.arrived("sent here")
    assert landed.header in {None, right("sent here")}
    assert [each.header for each in world.recipient.seen() if each.host == "evil"] == [None]
