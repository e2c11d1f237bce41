"""What is added to a search's address: the right words or parameters, once, and none elsewhere."""

import json
import time
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from agent.wire.decide import Carry, Clicked
from tests.browser.recipient import LAX, SEARCH, digest
from tests.browser.test_popup import FIND, reads
from tests.browser.world import World, added, is_plain, is_right, led, target, words
from tests.waiting import until

pytestmark = pytest.mark.browser


def test_an_address_that_we_led_to_stays(world: World) -> None:
    """Loaded again, gone back to, copied to another tab, or with more of its results."""
    world.adding("words", "engine")
    for query in ("first", "second"):
        world.goes(query)
    world.browser.reload()
    world.recipient.arrived(led("second"), 2)
    world.browser.shows(led("second"))
    world.browser.back()
    world.browser.shows(led("first"))
    world.browser.click("#more")
    more = target("words", "first", "&page=2")
    [came] = world.recipient.heard(lambda each: "page=2" in each.target)
    assert came.target == more
    world.browser.shows(led("first"))
    world.browser.opened()
    world.browser.go(world.recipient.url("engine", target("words", "second")))
    world.browser.shows(led("second"))
    assert {each.query for each in world.recipient.searches()} == {led("first"), led("second")}
    assert [query for query, _ in world.decided()] == ["first", "second"]


def test_words_that_the_user_deletes_stay_away(world: World) -> None:
    """Until the tab searches for something else."""
    world.adding("words", "engine")
    world.goes("unwanted")
    time.sleep(1)  # within that it is a form that was sent off twice
    world.browser.write("input", "unwanted", enter=True)
    world.browser.shows("unwanted")
    [came] = world.recipient.searches("unwanted")
    assert is_plain(came, "unwanted")
    world.browser.says("0")
    world.browser.write("input", "other", enter=True)
    world.browser.shows(led("other"))
    world.browser.says("1")
    assert [query for query, _ in world.decided()] == ["unwanted", "other"]


def test_words_that_the_user_wrote_are_not_added(world: World) -> None:
    """Neither are parameters that the address has."""
    world.adding("words", "engine")
    query = f"about {words('it').upper()} again"
    world.daemon.answer = lambda ask: added(ask.__class__(query="it", recipient=ask.recipient))
    world.browser.go(world.recipient.search(query, "engine"))
    [came] = world.recipient.arrived(query)
    assert is_plain(came, query)
    world.adding("parameters", "engine")
    world.browser.go(world.recipient.search("mine", "engine") + "&kl=own")
    [came] = world.recipient.arrived("mine")
    assert came.target == f"{SEARCH}?q=mine&kl=own"


def test_an_engine_that_leads_back_is_not_followed_in_circles(world: World) -> None:
    """The second time it gets what was typed."""
    world.adding("words", "engine")
    back = world.recipient.search("circle", "engine")
    world.recipient.leads = lambda came: back if came.query == led("circle") else None
    world.browser.go(back)
    world.browser.shows("circle")
    assert [each.query for each in world.recipient.searches()] == [led("circle"), "circle"]
    assert [query for query, _ in world.decided()] == ["circle"]


def test_the_domains_of_an_engine(world: World) -> None:
    """Each has its parameters, also where one leads to the other; what is not listed has none."""
    world.adding("parameters", "engine", "other")
    onward = world.recipient.search("second", "other")
    world.browser.go(world.recipient.search("first", "engine") + "&to=" + quote(onward, safe=""))
    world.browser.shows("second")
    first, second = world.recipient.searches()
    assert (first.host, second.host) == ("engine", "other")
    assert first.target == target("parameters", "first", "&to=" + quote(onward, safe=""))
    assert is_right(second, "parameters", "second")
    assert is_plain(world.search("third", "elsewhere"), "third")


@pytest.mark.parametrize("policy", [LAX, "no-referrer"])
def test_results_learn_no_word_from_the_referrer(world: World, policy: str) -> None:
    """A page that wants to tell more tells its origin; one that tells nothing still does not."""
    world.adding("words", "engine")
    world.recipient.referrer = policy
    world.goes("private")
    world.browser.click("#result")
    [came] = world.recipient.heard(lambda each: each.host == "result")
    assert came.headers.get("referer") == (world.recipient.url("engine") if policy == LAX else None)
    world.browser.shows("result/page")
    world.search("public")
    world.browser.click("#result")
    came = world.recipient.heard(lambda each: each.host == "result", 2)[-1]
    public = world.recipient.search("public") if policy == LAX else None
    assert came.headers.get("referer") == public  # where nothing is added, nothing is changed


def test_a_click_is_told_with_what_was_typed(world: World) -> None:
    """The daemon knows the search by that."""
    world.adding("words", "engine")
    world.daemon.clicks = True
    world.learn()
    world.goes("editor")
    world.browser.click("#result")
    world.browser.shows("result/page")
    told = [each.body for each in world.settled() if each.call == "clicked"]
    assert told == [Clicked(query="editor", host="result.localhost")]


@pytest.mark.parametrize("carry", ["words", "parameters"])
def test_the_popup_says_what_was_added_and_searches_without(world: World, carry: Carry) -> None:
    """Once: the tab's next search has it again."""
    world.adding(carry, "engine")
    world.browser.go(world.recipient.search("shown", "engine"))
    world.browser.shows(led("shown") if carry == "words" else "shown")
    what = words("shown") if carry == "words" else f"kl={digest('shown')}"
    where = "your search" if carry == "words" else "the address"
    world.forget()
    with world.browser.popup():
        reads(world, f"Added to {where} on engine.localhost: {what}")
        open_tabs = len(world.browser.tabs())
        world.browser.tried(f"({FIND % 'search without them'}).click()")
        until(lambda: len(world.browser.tabs()) < open_tabs, "the popup to close")
    [came] = world.recipient.arrived("shown")
    world.browser.shows("shown")
    assert is_plain(came, "shown")
    assert world.decided() == []
    with world.browser.popup():
        text = reads(world, "shown", "repeated in this tab, so sent as you typed it")
        assert "without them" not in text
    world.browser.go(world.recipient.search("next", "engine"))
    [came] = world.recipient.heard(lambda each: each.query in {"next", led("next")})
    assert is_right(came, carry, "next")


ODD: tuple[dict[str, object], ...] = (
    {"words": "a\nb"},
    {"words": "a\u202eb"},
    {"words": "x" * 2000},
    {"parameters": {"kl": "de", "hl": ""}},
)


def test_suggestions_as_the_user_types(world: World) -> None:
    """They have what was typed, also where there are words in the box."""
    world.adding("words", "engine")
    world.goes("first")
    world.forget()
    world.browser.write("input", "sec")
    world.recipient.heard(lambda each: each.target == "/suggest?text=sec")
    assert {each.path for each in world.recipient.seen()} == {"/suggest"}
    assert {each.header for each in world.recipient.seen()} == {None}
    assert world.settled() == []


def test_an_engine_that_searches_for_words_of_others(world: World) -> None:
    """A page that goes in circles by a script of its own comes to rest."""
    world.adding("words", "engine")
    world.visit("engine")
    address = json.dumps(world.recipient.search("around", "engine"))
    world.browser.tried(f"setTimeout(() => location = {address})")
    world.browser.shows(led("around"))
    world.browser.tried(f"setTimeout(() => location = {address})")
    world.browser.shows("around")
    assert [query for query, _ in world.decided()] == ["around"]


def test_an_answer_that_is_odd_adds_nothing(world: World) -> None:
    """Nor any of the rest of it."""
    for number, odd in enumerate(ODD):
        world.adding("words" if "words" in odd else "parameters", "engine")
        world.daemon.answer = lambda ask, odd=odd: replace(added(ask), **odd)  # type: ignore[misc]
        assert is_plain(world.goes(f"odd {number}"), f"odd {number}")
