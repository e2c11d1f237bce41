"""However a search begins, its request has the header that was decided for it, and no other."""

import json
from collections.abc import Callable

import pytest

from tests.browser.recipient import right
from tests.browser.world import World

pytestmark = pytest.mark.browser


def typed(world: World) -> str:
    """Type an address."""
    world.browser.go(world.recipient.search("typed & sent"))
    return "typed & sent"


def behind_the_keyword(world: World) -> str:
    """Enter a query behind the extension's keyword in the address bar."""
    world.browser.keyword("by keyword & sent")
    return "by keyword & sent"


def linked(world: World) -> str:
    """Follow a link."""
    world.visit("search")
    world.browser.click("#link")
    return "linked from search/"


def linked_elsewhere(world: World) -> str:
    """Follow a link on the page of another site."""
    world.visit("elsewhere")
    _do(world, f"document.querySelector('#link').href = {_text(world.recipient.search('away'))}")
    world.browser.click("#link")
    return "away"


def entered(world: World) -> str:
    """Write into a form, and press Enter."""
    world.visit("search")
    world.browser.write("input", "entered: 1+1=2?", enter=True)
    return "entered: 1+1=2?"


def pushed(world: World) -> str:
    """Write into a form, and press its button."""
    world.visit("search")
    world.browser.write("input", "pushed ü 日本")
    world.browser.click("button")
    return "pushed ü 日本"


def submitted(world: World) -> str:
    """Have a script send a form, without an event."""
    world.visit("search")
    world.browser.write("input", "submitted")
    _do(world, "setTimeout(() => document.forms[0].submit())")
    return "submitted"


def located(world: World) -> str:
    """Have a script go there."""
    world.visit("elsewhere")
    _do(world, f"setTimeout(() => location = {_text(world.recipient.search('located'))})")
    return "located"


def replaced(world: World) -> str:
    """Have a script go there in place of this page."""
    world.visit("elsewhere")
    _do(world, f"setTimeout(() => location.replace({_text(world.recipient.search('replaced'))}))")
    return "replaced"


def reloaded(world: World) -> str:
    """Load a search again."""
    _searched(world, "reloaded")
    world.browser.reload()
    return "reloaded"


def gone_back(world: World) -> str:
    """Search twice, and go back."""
    _searched(world, "first")
    world.search("second")
    world.browser.back()
    return "first"


def named_part(world: World) -> str:
    """Type an address with a part of the page in it."""
    world.browser.go(world.recipient.search("part") + "#here")
    return "part"


WAYS = (
    typed,
    behind_the_keyword,
    linked,
    linked_elsewhere,
    entered,
    pushed,
    submitted,
    located,
    replaced,
    reloaded,
    gone_back,
    named_part,
)


@pytest.mark.parametrize("way", WAYS)
def test_a_search_brings_its_own_header(world: World, way: Callable[[World], str]) -> None:
    """One request, with the header of its query, about which was asked once."""
    query = way(world)
    [came] = world.recipient.arrived(query)
    world.browser.shows(query)
    assert world.recipient.searches(query) == [came]
    assert came.header == right(query)
    assert world.decided().count((query, "search.localhost")) == 1
    assert {each.header for each in world.recipient.seen() if each.path == "/"} <= {None}


def test_only_the_search_is_asked_about(world: World) -> None:
    """One decision for one request, and the site is the one that is listed."""
    world.search("once")
    assert world.decided() == [("once", "search.localhost")]


def test_back_returns_to_the_page_before_the_search(world: World) -> None:
    """Nothing of ours stays in the history of the tab."""
    world.visit("elsewhere")
    world.search("forth")
    world.browser.back()
    world.browser.shows("elsewhere/")


def _searched(world: World, query: str) -> None:
    """Search, and forget that."""
    world.search(query)
    world.forget()


def _do(world: World, script: str) -> None:
    world.browser.tried(script)


def _text(text: str) -> str:
    return json.dumps(text)
