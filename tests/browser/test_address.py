"""What is added to a search's address: the right words or parameters, once, and none elsewhere."""

import time

import pytest

from tests.browser.recipient import LAX
from tests.browser.test_popup import FIND, reads
from tests.browser.world import World, in_both, is_plain, is_right, led, target, words
from tests.waiting import until

pytestmark = [pytest.mark.browser, in_both]


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


def test_an_engine_that_leads_back_is_not_followed_in_circles(world: World) -> None:
    """The second time it gets what was typed."""
    world.adding("words", "engine")
    back = world.recipient.search("circle", "engine")
    world.recipient.leads = lambda came: back if came.query == led("circle") else None
    world.browser.go(back)
    world.browser.shows("circle")
    assert [each.query for each in world.recipient.searches()] == [led("circle"), "circle"]
    assert [query for query, _ in world.decided()] == ["circle"]


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


def test_the_popup_says_what_was_added_and_searches_without(world: World) -> None:
    """Once: the tab's next search has it again."""
    world.adding("words", "engine")
    world.goes("shown")
    world.forget()
    with world.browser.popup():
        reads(world, f"Added to your search on engine.localhost: {words('shown')}")
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
    assert is_right(world.goes("next"), "words", "next")


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
