"""A search that says what it can use is offered to the daemon, once; nothing else is told."""

import pytest

from agent.wire.decide import Offer
from tests.browser.frames import RelayedOffer
from tests.browser.recipient import right
from tests.browser.world import World
from tests.waiting import until

pytestmark = pytest.mark.browser


def offers(world: World) -> list[Offer]:
    """Return what was offered until now."""
    return [each.body for each in world.settled() if isinstance(each, RelayedOffer)]


def test_an_offer_is_made_once(world: World) -> None:
    """With the names and the address of the search, and without what was searched for."""
    world.recipient.accepts["offering"] = "region, int_python;v=1"
    for query in ("private thing", "another"):
        assert world.search(query, "offering").header is None
    template = world.recipient.url("offering", "/search?q={query}")
    [offer] = offers(world)
    assert offer.recipient == "offering.localhost"
    assert (offer.names, offer.search) == (["region", "int_python"], template)


def test_a_site_that_has_offered_says_so(world: World) -> None:
    """Badge and popup name where that is answered, until the site is listed or left."""
    world.recipient.accepts["asking"] = world.recipient.accepts["leaving"] = "region"
    world.search("asked", "leaving")
    world.browser.says("?")
    world.visit("elsewhere")
    world.browser.says("")
    world.search("asked", "asking")
    world.browser.says("?")
    with world.browser.popup():
        text = "return document.body.innerText"
        words = "asking.localhost asks for facts about you: reticent requests list --waiting"
        until(lambda: words in str(world.browser.run(text)), words)
        shown = "[...document.querySelectorAll('button')].some((each) => each.offsetParent)"
        assert not world.browser.run(f"return {shown}")
    world.daemon.sites = [world.site("asking"), world.site("search")]
    world.browser.says("")


def test_a_frame_offers_nothing(world: World) -> None:
    """Only what the user went to does."""
    world.recipient.accepts["framed"] = "region"
    world.visit("elsewhere")
    address = world.recipient.search("framed", "framed")
    frame = "Object.assign(document.createElement('iframe'), {src})"
    world.browser.run(f"const src = {address!r}; document.body.append({frame})")
    world.recipient.heard(lambda each: each.host == "framed")
    assert world.settled() == []


def test_a_site_is_listed_soon_after_the_user_agrees(world: World) -> None:
    """Nobody needs to open anything for that."""
    world.recipient.accepts["agreed"] = "region"
    world.search("asked", "agreed")
    world.daemon.heard(RelayedOffer)
    world.daemon.sites = [world.site("agreed"), world.site("search")]
    found = until(lambda: attached(world), "a header")
    assert found == right("after that")


def attached(world: World) -> str | None:
    """Search there, and return what that brought."""
    return world.search("after that", "agreed").header
