"""Many searches at once or one after another: no header is stale, and none is foreign."""

import json
from collections.abc import Callable

import pytest

from tests.browser.frames import RelayedDecide
from tests.browser.recipient import SEARCH, Noted, right
from tests.browser.world import World

pytestmark = pytest.mark.browser

DELAY = 0.05  # seconds, the longest that the daemon takes
ROW = [40, pytest.param(200, marks=pytest.mark.soak)]
POPUPS = 4
CAP = 12
PAUSE = 1000  # milliseconds between two searches of a popup
TABS = 5


def wrong(came: list[Noted]) -> list[tuple[str, str | None]]:
    """Return the queries that came with another header than theirs, or none."""
    return [(each.query, each.header) for each in came if each.header != right(each.query)]


def foreign(came: list[Noted]) -> list[tuple[str, str | None]]:
    """Return the queries that came with a header of another's; one behind others has none."""
    return [each for each in wrong(came) if each[1] is not None]


@pytest.mark.parametrize("count", ROW)
def test_searches_in_a_row(world: World, count: int) -> None:
    """Each has its own header."""
    world.daemon.delay = DELAY
    queries = [f"row {number}" for number in range(count)]
    world.visit("elsewhere")
    address = json.dumps(world.recipient.search(queries[0]) + f"&left={count - 1}")
    world.browser.run(f"setTimeout(() => location = {address})")  # Marionette waits for the last
    came = world.recipient.heard(lambda each: each.path == SEARCH, count)
    assert [each.query for each in came] == queries
    assert wrong(came) == []
    assert [query for query, _ in world.decided()] == queries


def test_tabs_that_a_page_opens_at_once(world: World) -> None:
    """The one in front has its header, and none has another's."""
    world.daemon.delay = DELAY
    world.visit("elsewhere")
    queries = {f"opened {number}" for number in range(TABS)}
    addresses = json.dumps([world.recipient.search(each) for each in sorted(queries)])
    world.browser.run(f"for (const each of {addresses}) open(each)")
    came = world.recipient.heard(lambda each: each.query in queries, TABS)
    assert {each.query for each in came} == queries
    assert foreign(came) == []
    [front] = [each for each in came if each.query == max(queries)]
    assert front.header == right(front.query)


def test_the_same_search_in_two_tabs(world: World) -> None:
    """Each that is in front when it is asked about has the header, and that is at least one."""
    world.daemon.delay = DELAY
    world.visit("elsewhere")
    address = json.dumps(world.recipient.search("twice"))
    world.browser.run(f"open({address}); open({address})")
    came = world.recipient.arrived("twice", 2)
    assert foreign(came) == []
    carried = [each for each in came if each.header]
    assert world.decided() == [("twice", "search.localhost")] * len(carried)
    assert carried


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


def test_popups_cost_the_user_nothing(world: World) -> None:
    """Some of them search all the time: few of theirs are decided, and all of the user's."""
    world.daemon.cap = CAP
    world.visit("elsewhere")
    addresses = [
        world.recipient.search(f"popup{number} 0") + f"&left=100000&pause={PAUSE}"
        for number in range(POPUPS)
    ]
    opening = f"for (const each of {json.dumps(addresses)}) open(each, '', 'popup,width=300')"
    world.browser.run(opening)
    world.recipient.heard(lambda each: each.path == SEARCH and not each.header, 2 * POPUPS)
    for number in range(TABS):
        world.browser.opened()
        world.visit("search")
        world.browser.write("input", f"mine {number}", enter=True)
        [came] = world.recipient.arrived(f"mine {number}")
        assert came.header == right(f"mine {number}"), number
    all_ = world.daemon.said(RelayedDecide)
    assert [each.by for each in all_ if each.body.query.startswith("mine")] == ["user"] * TABS
    pages = [each for each in world.recipient.searches() if each.query.startswith("popup")]
    assert sum(each.header is not None for each in pages) <= CAP
    assert {each.header for each in pages} <= {None, *(right(each.query) for each in pages)}


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
