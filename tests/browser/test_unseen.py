"""Only what the user can see leaves with facts, and pages take no place of the user's."""

import json
from collections.abc import Callable

import pytest

from agent.wire.decide import RelayedDecide
from tests.browser.recipient import Noted, right
from tests.browser.world import World
from tests.waiting import until

pytestmark = pytest.mark.browser

FETCH = "fetch('/search?q=fetched')"
XHR = "const asked = new XMLHttpRequest(); asked.open('GET', '/search?q=fetched'); asked.send()"
FETCHES = 20
POPUPS = 4
SEARCHES = 5
CAP = 12
PAUSE = 1000  # milliseconds between two searches of a popup: it is no test of the machine


@pytest.mark.parametrize("script", [FETCH, XHR])
def test_what_a_page_of_the_site_fetches(world: World, script: str) -> None:
    """It is left as it is, and nobody is asked."""
    world.visit("search")
    world.browser.run(f"for (let count = 0; count < {FETCHES}; count++) {{ {script} }}")
    came = world.recipient.arrived("fetched", FETCHES)
    assert {each.header for each in came} == {None}
    assert world.settled() == []


def test_a_tab_behind_another(world: World) -> None:
    """It may search for what it likes: it tells nobody anything."""
    world.visit("search")
    address = json.dumps(world.recipient.search("behind"))
    world.browser.run(f"setTimeout(() => location = {address}, 1000)")
    world.browser.opened()
    [came] = world.recipient.arrived("behind")
    assert came.header is None
    assert world.settled() == []


def entered(world: World) -> None:
    """Press Enter in the form."""
    world.browser.write("input", "asked", enter=True)


def pushed(world: World) -> None:
    """Press the form's button."""
    world.browser.write("input", "asked")
    world.browser.click("button")


def keyword(world: World) -> None:
    """Enter it behind the keyword."""
    world.browser.keyword("asked")


def linked(world: World) -> None:
    """Follow a link, which a page made."""
    world.browser.run("document.querySelector('#link').href = '/search?q=asked'")
    world.browser.click("#link")


def scripted(script: str) -> Callable[[World], None]:
    """Return what has a script do it, once the field is filled."""

    def way(world: World) -> None:
        world.browser.write("input", "asked")
        world.browser.tried(f"setTimeout(() => {{ {script} }}, 1500)")

    return way


WAYS = {
    "entered": (entered, "user"),
    "pushed": (pushed, "user"),
    "keyword": (keyword, "user"),
    "linked": (linked, "page"),
    "submitted": (scripted("document.forms[0].submit()"), "page"),
    "requested": (scripted("document.forms[0].requestSubmit()"), "page"),
    "clicked": (scripted("document.querySelector('button').click()"), "page"),
    "located": (scripted("location = '/search?q=asked'"), "page"),
}
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


def prevented(world: World) -> None:
    """Press Enter in a form that sends nothing off for it, until a script does."""
    world.browser.run(PREVENTED)
    entered(world)


WAYS["prevented"] = (prevented, "page")
WAYS["made up"] = (scripted(f"{MADE_UP}; document.forms[0].requestSubmit()"), "page")


@pytest.mark.parametrize("name", WAYS)
def test_who_asks(world: World, name: str) -> None:
    """The user, where a key or a click of theirs sends a form, or the keyword; else a page."""
    way, by = WAYS[name]
    world.visit("search")
    way(world)
    [came] = world.recipient.arrived("asked")
    assert came.header == right("asked")
    [decided] = world.daemon.heard(RelayedDecide)
    assert (decided.body.query, decided.by) == ("asked", by)


def test_one_key_is_one_search(world: World) -> None:
    """What a script sends off after it is a page's, though it is the same form."""
    world.visit("search")
    world.browser.run(
        "document.forms[0].addEventListener('submit', (event) => {"
        "  if (event.submitter?.dataset.again) return;"
        "  event.preventDefault();"
        "  setTimeout(() => document.forms[0].requestSubmit(), 1500);"
        "}, {once: true})"
    )
    world.browser.write("input", "asked", enter=True)
    world.recipient.arrived("asked")
    [decided] = world.daemon.heard(RelayedDecide)
    assert decided.by == "page"


def refused(world: World) -> list[Noted]:
    """Return the searches that came without a header."""
    return [each for each in world.recipient.searches() if each.header is None]


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
    until(lambda: len(refused(world)) > 2 * POPUPS, "a flood that has spent its places")
    for number in range(SEARCHES):
        world.browser.opened()
        world.visit("search")
        world.browser.write("input", f"mine {number}", enter=True)
        [came] = world.recipient.arrived(f"mine {number}")
        assert came.header == right(f"mine {number}"), number
    all_ = world.daemon.said(RelayedDecide)
    assert [each.by for each in all_ if each.body.query.startswith("mine")] == ["user"] * SEARCHES
    pages = [each for each in world.recipient.searches() if each.query.startswith("popup")]
    assert sum(each.header is not None for each in pages) <= CAP
    assert {each.header for each in pages} <= {None, *(right(each.query) for each in pages)}
