"""However a search begins, its request has the header that was decided for it, and no other."""

import json
from collections.abc import Callable

import pytest

from tests.browser.frames import RelayedDecide
from tests.browser.recipient import right
from tests.browser.world import World

pytestmark = pytest.mark.browser

ASKED = "asked: 1+1=2? & ü 日本"
Act = Callable[[World], None]
KEY = "new KeyboardEvent('keydown', {key: 'Enter', bubbles: true})"
MADE_UP = f"document.querySelector('input').dispatchEvent({KEY})"
PREVENTED = """
    document.querySelector('input').addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        event.preventDefault();
        setTimeout(() => document.forms[0].requestSubmit(), 100);
      }
    });
"""
AGAIN = """
    document.forms[0].addEventListener('submit', (event) => {
      event.preventDefault();
      setTimeout(() => document.forms[0].requestSubmit(), 1500);
    }, {once: true});
"""


def scripted(script: str, host: str = "search") -> Act:
    """Return what has a page's script do it, some time after a key was pressed there."""

    def act(world: World) -> None:
        world.visit(host)
        world.browser.write("input", ASKED)
        address = json.dumps(world.recipient.search(ASKED))
        world.browser.tried(f"setTimeout(() => {{ const address = {address}; {script} }}, 1500)")

    return act


def entered(world: World, before: str = "") -> None:
    """Write into a form, and press Enter; ``before``: a script of the page."""
    world.visit("search")
    world.browser.run(before)
    world.browser.write("input", ASKED, enter=True)


def pushed(world: World) -> None:
    """Write into a form, and press its button."""
    world.visit("search")
    world.browser.write("input", ASKED)
    world.browser.click("button")


def linked(world: World, host: str) -> None:
    """Follow a link, which a page made."""
    world.visit(host)
    address = json.dumps(world.recipient.search(ASKED))
    world.browser.run(f"document.querySelector('#link').href = {address}")
    world.browser.click("#link")


def reloaded(world: World) -> None:
    """Search, and load that again."""
    world.search(ASKED)
    world.forget()
    world.browser.reload()


def gone_back(world: World) -> None:
    """Go on from a search, and back to it."""
    world.search(ASKED)
    world.search("another")
    world.forget()
    world.browser.back()


# Who asks: the user, where a key or a click of theirs sends a form, or the keyword; else a page.
WAYS: dict[str, tuple[str, Act]] = {
    "typed": ("page", lambda world: world.browser.go(world.recipient.search(ASKED))),
    "a part of it": ("page", lambda world: world.browser.go(world.recipient.search(ASKED) + "#a")),
    "keyword": ("user", lambda world: world.browser.keyword(ASKED)),
    "entered": ("user", entered),
    "pushed": ("user", pushed),
    "linked": ("page", lambda world: linked(world, "search")),
    "linked elsewhere": ("page", lambda world: linked(world, "elsewhere")),
    "submitted": ("page", scripted("document.forms[0].submit()")),
    "requested": ("page", scripted("document.forms[0].requestSubmit()")),
    "clicked": ("page", scripted("document.querySelector('button').click()")),
    "made up": ("page", scripted(f"{MADE_UP}; document.forms[0].requestSubmit()")),
    "prevented": ("page", lambda world: entered(world, PREVENTED)),
    "sent again": ("page", lambda world: entered(world, AGAIN)),
    "located": ("page", scripted("location = address")),
    "located elsewhere": ("page", scripted("location = address", "elsewhere")),
    "replaced": ("page", scripted("location.replace(address)", "elsewhere")),
    "reloaded": ("page", reloaded),
    "gone back": ("page", gone_back),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_search_brings_its_own_header(world: World, way: str) -> None:
    """One request, with the header of its query, about which was asked once, for who asks."""
    by, act = WAYS[way]
    act(world)
    [came] = world.recipient.arrived(ASKED)
    world.browser.shows(ASKED)
    assert world.recipient.searches(ASKED) == [came]
    assert came.header == right(ASKED)
    [decided] = [each for each in world.daemon.heard(RelayedDecide) if each.body.query == ASKED]
    assert (decided.body.recipient, decided.by) == ("search.localhost", by)
    assert {each.header for each in world.recipient.seen() if each.path == "/"} <= {None}


def test_only_the_search_is_asked_about(world: World) -> None:
    """One decision for one request, and nothing of ours stays in the history of the tab."""
    world.visit("elsewhere")
    world.search("once")
    assert world.decided() == [("once", "search.localhost")]
    world.browser.back()
    world.browser.shows("elsewhere/")
