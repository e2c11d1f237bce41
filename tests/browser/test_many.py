"""Searches at once or one after another, in any way: nothing attached is stale or foreign."""

import json
from collections.abc import Callable

import pytest

from agent.wire.decide import Carry
from tests.browser.recipient import SEARCH, right
from tests.browser.world import BROWSERS, CARRIES, World, in_both, is_plain, is_right, led, target

pytestmark = pytest.mark.browser

DELAY = 0.05  # seconds, the longest that the daemon takes
ROW = [10, pytest.param(200, marks=pytest.mark.soak)]
TABS = 5
LATER = 200  # milliseconds after a key was pressed: to the extension, that may still be meant


@in_both
@pytest.mark.parametrize("count", ROW)
@pytest.mark.parametrize("carry", CARRIES)
def test_searches_in_a_row(world: World, carry: Carry, count: int) -> None:
    """Each has what is attached for it."""
    world.adding(carry, "engine")
    world.daemon.delay = DELAY
    queries = [f"row {number}" for number in range(count)]
    world.visit("elsewhere")
    address = json.dumps(world.recipient.search(queries[0], "engine") + f"&left={count - 1}")
    world.browser.run(f"setTimeout(() => location = {address})")  # Marionette waits for the last
    came = world.recipient.heard(lambda each: each.path == SEARCH, count)
    for number, (each, query) in enumerate(zip(came, queries, strict=True)):
        more = f"&left={count - 1 - number}"
        assert each.target == target(carry, query, more)
        assert each.header == (right(query) if carry == "header" else None)
    assert [query for query, _ in world.decided()] == queries


@in_both
@pytest.mark.parametrize("carry", CARRIES)
def test_tabs_that_open_at_once(world: World, carry: Carry) -> None:
    """The one in front has its own, and none has another's."""
    world.adding(carry, "engine")
    world.daemon.delay = DELAY
    world.visit("elsewhere")
    queries = {led(f"opened {number}"): f"opened {number}" for number in range(TABS)}
    addresses = json.dumps([world.recipient.search(each, "engine") for each in queries.values()])
    world.browser.run(f"for (const each of {addresses}) open(each)")
    came = world.recipient.heard(lambda each: each.path == SEARCH, TABS)
    own = [(each, queries.get(each.query, each.query)) for each in came]
    assert {query for _, query in own} == {*queries.values()}
    assert all(is_right(each, carry, query) or is_plain(each, query) for each, query in own)
    [front] = [each for each, query in own if query == f"opened {TABS - 1}"]
    assert is_right(front, carry, f"opened {TABS - 1}")


@in_both
def test_the_same_search_in_two_tabs(world: World) -> None:
    """Each that is in front when it is asked about has the header, and that is at least one."""
    world.daemon.delay = DELAY
    world.visit("elsewhere")
    address = json.dumps(world.recipient.search("twice"))
    world.browser.run(f"open({address}); open({address})")
    came = world.recipient.arrived("twice", 2)
    assert {each.header for each in came} <= {None, right("twice")}
    carried = [each for each in came if each.header]
    assert world.decided() == [("twice", "search.localhost")] * len(carried)
    assert carried


@in_both
def test_searches_that_give_way_to_the_next(world: World) -> None:
    """What is broken off leaves nothing behind; what comes all the same has its own header."""
    world.daemon.delay = DELAY
    world.visit("elsewhere")
    for number in range(15):
        address = json.dumps(world.recipient.search(f"given up {number}"))
        # Told once it has left: one that leaves after the last was typed would rightly come last.
        leave = f"setTimeout(() => {{ location = {address}; done(); }})"
        world.browser.tried(f"return new Promise((done) => {leave})")
    world.search("at last")
    assert all(each.header == right(each.query) for each in world.recipient.searches())


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
AGAIN = f"""
    document.forms[0].addEventListener('submit', (event) => {{
      event.preventDefault();
      setTimeout(() => document.forms[0].requestSubmit(), {LATER});
    }}, {{once: true}});
"""


def scripted(script: str, host: str = "search") -> Act:
    """Return what has a page's script do it, some time after a key was pressed there."""

    def act(world: World) -> None:
        world.visit(host)
        world.browser.write("input", ASKED)
        address = json.dumps(world.recipient.search(ASKED))
        world.browser.tried(f"setTimeout(() => {{ const address = {address}; {script} }}, {LATER})")

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


def searched(world: World, *more: str) -> None:
    """Search, and load that again, or go on to more and back from there."""
    for each in (ASKED, *more):
        world.search(each)
    world.forget()
    if more:
        world.browser.back()
    else:
        world.browser.reload()


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
    "reloaded": ("page", searched),
    "gone back": ("page", lambda world: searched(world, "another")),
}
CHOSEN = ("typed", "keyword", "entered", "pushed", "linked elsewhere", "requested", "replaced")

CASES = [(browser, "header", each) for browser in BROWSERS for each in WAYS]
CASES += [("chromium", "words", each) for each in CHOSEN]


@pytest.mark.parametrize(("world", "carry", "way"), CASES, indirect=["world"])
def test_a_search_brings_its_own(world: World, carry: Carry, way: str) -> None:
    """One request, with what is attached to its query, asked about once, for who asks."""
    by, act = WAYS[way]
    if carry == "words":
        world.adding(carry, "search")
    act(world)
    [came] = world.recipient.arrived(led(ASKED, carry))
    world.browser.shows(led(ASKED, carry))
    assert [each for each in world.recipient.searches() if ASKED in each.query] == [came]
    assert came.header == (right(ASKED) if carry == "header" else None)
    [decided] = [each for each in world.daemon.heard("decide") if each.body.query == ASKED]
    assert (decided.body.recipient, decided.by) == ("search.localhost", by)
    assert {each.header for each in world.recipient.seen() if each.path == "/"} <= {None}
    box = "return document.querySelector('input').value"
    assert world.browser.run(box) == led(ASKED, carry)
