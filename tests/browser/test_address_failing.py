"""Whatever fails, and whatever a page does: its search goes as it is, and nothing is added."""

import json
import time
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from agent.wire.decide import Answer, Ask, Carry
from tests.browser.adding import added, adding, is_plain, is_right, led, searched
from tests.browser.recipient import SEARCH, Noted
from tests.browser.test_failing import FAILURES, late
from tests.browser.test_unlisted import FETCH, LOADING, LOOKALIKES, MADE, XHR
from tests.browser.world import World
from tests.waiting import until

pytestmark = pytest.mark.browser

CAP = 3
CARRIES: list[Carry] = ["words", "parameters"]
KEYS = "const box = document.querySelector('input');"
ODD: dict[str, dict[str, object]] = {
    "two lines": {"words": "a\nb"},
    "nothing to see": {"words": "a\u202eb"},
    "too long": {"words": "x" * 2000},
    "an empty parameter": {"parameters": {"kl": "de", "hl": ""}},
}


def came_plainly(world: World, query: str) -> Noted:
    """Search, and return the one request, which has nothing of the user but the query."""
    world.browser.go(world.recipient.search(query, "engine"))
    world.browser.shows(query)
    [came] = [each for each in world.recipient.seen() if query in each.query]
    assert is_plain(came, query)
    return came


@pytest.mark.parametrize("carry", CARRIES)
@pytest.mark.parametrize(("fail", "badge"), FAILURES)
def test_a_search_goes_as_it_was_typed(
    world: World, fail: Callable[[World], None], badge: str, carry: Carry
) -> None:
    """And the next one after it is mended has its words, or parameters, again."""
    adding(world, carry, "engine")
    fail(world)
    came_plainly(world, "failing")
    world.browser.says(badge)
    sites = world.daemon.sites
    world.daemon.reset()
    world.daemon.start()
    world.daemon.sites, world.daemon.answer = sites, added
    until(lambda: found_again(world, carry), carry)
    world.browser.says("1")


def found_again(world: World, carry: Carry) -> bool:
    """Search for something, and say whether that had what is added to it."""
    query = f"again {time.monotonic()}"
    world.browser.go(world.recipient.search(query, "engine"))
    came = world.recipient.heard(lambda each: each.query in {query, led(query)})[-1]
    world.browser.shows(came.query)
    assert is_plain(came, query) or is_right(came, carry, query)
    return not is_plain(came, query)


def test_a_late_answer_is_never_applied(world: World) -> None:
    """Neither to its own search, which has gone, nor to the next."""
    adding(world, "words", "engine")
    world.daemon.answer = late
    came_plainly(world, "late")
    world.daemon.answer = added
    assert searched(world, "next").query == led("next")


@pytest.mark.parametrize("odd", ODD)
def test_an_answer_that_is_odd_adds_nothing(world: World, odd: str) -> None:
    """Nor any of the rest of it."""
    carry: Carry = "words" if "words" in ODD[odd] else "parameters"
    adding(world, carry, "engine")

    def answer(ask: Ask) -> Answer:
        return replace(added(ask), **ODD[odd])

    world.daemon.answer = answer
    came_plainly(world, "odd")


@pytest.mark.parametrize("carry", CARRIES)
def test_addresses_that_only_look_like_the_search(world: World, carry: Carry) -> None:
    """They stay as they are, and nobody is asked about them."""
    adding(world, carry, "search")
    with world.recipient.beside() as other:
        for address in LOOKALIKES:
            world.browser.arrive(address.format(port=world.recipient.port, other=other))
    assert world.decided() == []
    came = world.recipient.seen()
    assert [each for each in came if each.header or "&kl=" in each.target] == []
    assert [each for each in came if led("x") in each.query] == []


@pytest.mark.parametrize("carry", CARRIES)
@pytest.mark.parametrize("script", LOADING)
def test_what_a_page_loads_by_itself(world: World, script: str, carry: Carry) -> None:
    """A frame of the engine, an image, a form that is posted: nothing is added to them."""
    adding(world, carry, "engine")
    world.visit("elsewhere")
    address = json.dumps(world.recipient.search("beside", "engine"))
    world.browser.tried(f"const address = {address}; {MADE}; setTimeout(() => {{ {script} }})")
    [came] = world.recipient.heard(lambda each: each.path == SEARCH)
    assert is_plain(came, "beside")
    assert world.decided() == []


@pytest.mark.parametrize("script", [FETCH, XHR])
def test_what_a_page_of_the_engine_fetches(world: World, script: str) -> None:
    """It stays as it is."""
    adding(world, "words", "engine")
    world.visit("engine")
    world.browser.run(script)
    [came] = world.recipient.arrived("fetched")
    assert is_plain(came, "fetched")
    assert world.settled() == []


def test_suggestions_as_the_user_types(world: World) -> None:
    """They have what was typed, also where there are words in the box."""
    adding(world, "words", "engine")
    searched(world, "first")
    world.forget()
    world.browser.write("input", "sec")
    world.recipient.heard(lambda each: each.target == "/suggest?text=sec")
    assert {each.path for each in world.recipient.seen()} == {"/suggest"}
    assert {each.header for each in world.recipient.seen()} == {None}
    assert world.settled() == []


def test_forms_that_a_page_sends_off_by_itself(world: World) -> None:
    """They count as the page's, of which few are decided; the user's own still are."""
    adding(world, "words", "engine")
    world.daemon.cap = CAP
    for number in range(CAP + 2):
        world.visit("engine")
        world.browser.run(f"{KEYS} box.value = 'spent {number}'")
        world.browser.tried("setTimeout(() => document.forms[0].requestSubmit())")
        [came] = world.recipient.heard(lambda each, n=number: each.query.startswith(f"spent {n}"))  # type: ignore[misc]
        world.browser.shows(came.query)
    spent = [each.query for each in world.recipient.searches()]
    assert sum(each != f"spent {number}" for number, each in enumerate(spent)) <= CAP
    world.browser.write("input", "mine", enter=True)
    world.recipient.arrived(led("mine"))


def test_an_engine_that_searches_for_words_of_others(world: World) -> None:
    """A page that goes in circles by a script of its own comes to rest."""
    adding(world, "words", "engine")
    world.visit("engine")
    address = json.dumps(world.recipient.search("around", "engine"))
    world.browser.tried(f"setTimeout(() => location = {address})")
    world.browser.shows(led("around"))
    world.browser.tried(f"setTimeout(() => location = {address})")
    world.browser.shows("around")
    assert [query for query, _ in world.decided()] == ["around"]
