"""A search that waits until it is decided is the navigation that it would have been."""

import json
import threading
import time

import pytest

from agent.wire.decide import Answer, Ask
from tests.browser.recipient import right
from tests.browser.standin import LATE, answered, locked
from tests.browser.world import World, added, in_both, is_plain, is_right
from tests.waiting import until

pytestmark = [pytest.mark.browser, in_both]

STEP = 0.004  # seconds that the daemon takes longer for each step
STEPS = [range(0, 24, 4), pytest.param(range(24), marks=pytest.mark.soak)]
COOKIES = "document.cookie = 'strict=1; SameSite=Strict'; document.cookie = 'lax=1; SameSite=Lax'"


def lead(world: World, address: str) -> None:
    """Follow a link to an address from another site."""
    world.visit("elsewhere")
    world.browser.run(f"document.querySelector('#link').href = {json.dumps(address)}")
    world.browser.click("#link")


@pytest.mark.parametrize("steps", STEPS, ids=len)
def test_one_request_however_long_the_decision_takes(world: World, steps: range) -> None:
    """Whether it is there before the browser asks for it, or after, or meanwhile."""

    def answer(ask: Ask) -> Answer:  # some take as long as all else does
        time.sleep(STEP * int(ask.query.rpartition(" ")[2]))
        return answered(ask)

    world.daemon.answer = answer
    queries = [f"longer {number}" for number in steps]
    for each in queries:
        lead(world, world.recipient.search(each))
        world.browser.shows(each)
    came = [(each.query, each.header) for each in world.recipient.searches()]
    assert came == [(each, right(each)) for each in queries]
    assert [query for query, _ in world.decided()] == queries


def test_back_and_forward_pass_through_searches(world: World) -> None:
    """They stay where they are in the history of the tab, however often it comes by."""
    world.visit("elsewhere")
    world.search("first")
    world.visit("result")
    world.search("second")
    length = world.browser.run("return history.length")
    pages = ["result/", "first", "elsewhere/", "first", "result/", "second", "first", "second"]
    for step, page in zip((-1, -1, -1, 1, 1, 1, -2, 2), pages, strict=True):
        world.browser.tried(f"setTimeout(() => history.go({step}))")
        world.browser.shows(page)
        assert world.browser.run("return history.length") == length
    world.browser.reload()
    world.recipient.arrived("second", 4)
    world.browser.shows("second")
    assert world.browser.run("return history.length") == length
    assert {each.header for each in world.recipient.searches()} == {right("first"), right("second")}


@pytest.mark.parametrize("by", ["user", "page"])
def test_a_tab_that_goes_elsewhere_meanwhile_is_not_taken_back(world: World, by: str) -> None:
    """The search that it gave up never leaves."""
    there = threading.Event()

    def answer(ask: Ask) -> Answer:
        there.wait(LATE)
        return answered(ask)

    world.daemon.answer = answer
    world.visit("search")
    elsewhere = world.recipient.url("other", "/page")
    then = f"location = {json.dumps(elsewhere)}" if by == "page" else ""
    search = json.dumps(world.recipient.search("given up"))
    later = f"setTimeout(() => {{ {then} }}, 200)"
    world.browser.run(f"setTimeout(() => location = {search}); {later}")
    if by == "user":
        world.daemon.heard("decide")
        world.browser.go(elsewhere)
    world.browser.shows("other/page")
    there.set()
    world.settled()
    assert world.recipient.searches("given up") == []
    world.browser.back()
    world.browser.shows("other/page")


def test_a_link_of_another_site_brings_no_strict_cookie(world: World) -> None:
    """As it would without the extension; in a Chromium it has no `Referer` either."""
    world.visit("search")
    world.browser.run(COOKIES)
    lead(world, world.recipient.search("led"))
    [led] = world.recipient.arrived("led")
    world.browser.shows("led")
    assert (led.header, led.headers["cookie"]) == (right("led"), "lax=1")
    assert ("referer" in led.headers) == (world.browser.name == "firefox")
    assert world.search("typed").headers["cookie"] == "strict=1; lax=1"


def test_a_form_of_the_site_brings_what_it_would_have_brought(world: World) -> None:
    """It waits on its own page, and goes on from there."""
    world.visit("search")
    world.browser.run(COOKIES)
    world.browser.write("input", "from a form", enter=True)
    [came] = world.recipient.arrived("from a form")
    assert came.header == right("from a form")
    assert came.headers["referer"] == world.recipient.url("search")
    assert came.headers["sec-fetch-site"] == "same-origin"
    assert came.headers["cookie"] == "strict=1; lax=1"


def test_a_background_that_has_ended_begins_again(world: World) -> None:
    """With the search, which has its own header or none, and is one request."""
    world.visit("elsewhere")
    world.browser.end_worker()
    lead(world, world.recipient.search("begun again"))
    world.browser.shows("begun again")
    [came] = world.recipient.searches("begun again")
    assert came.header in {None, right("begun again")}
    until(world.attaches, "a header")
    assert world.recipient.searches("begun again") == [came]


def late(ask: Ask) -> Answer:
    """Answer rightly when it is too late."""
    time.sleep(LATE)
    return answered(ask)


FAILURES: tuple[tuple[str, dict[str, object]], ...] = (
    ("lock", {"locked": True, "answer": locked}),
    ("off", {}),  # it is stopped
    ("off", {"broken": True}),
    ("slow", {"answer": late}),
)


@pytest.mark.parametrize(("badge", "fault"), FAILURES)
def test_a_search_goes_as_it_was_typed(world: World, badge: str, fault: dict[str, object]) -> None:
    """And the next one after it is mended has its header again."""
    world.adding("header", "engine")
    vars(world.daemon).update(fault)
    if not fault:
        world.daemon.stop()
    assert is_plain(world.goes("failing"), "failing")
    world.browser.says(badge)
    sites = world.daemon.sites
    world.daemon.reset()
    world.daemon.start()
    world.daemon.sites, world.daemon.answer = sites, added

    def found_again() -> bool:
        query = f"again {time.monotonic()}"
        came = world.goes(query)
        assert is_plain(came, query) or is_right(came, "header", query)
        return not is_plain(came, query)

    until(found_again, "a header")
    world.browser.says("1")


def test_a_late_answer_is_never_applied(world: World) -> None:
    """Neither to its own search, which has gone, nor to the next, of the same address or not."""
    world.adding("header", "engine")
    due = threading.Event()
    world.daemon.answer = lambda ask: answered(ask) if due.wait(2 * LATE) else locked(ask)
    assert is_plain(world.goes("late"), "late")
    world.daemon.answer = added
    assert is_right(world.goes("next"), "header", "next")
    assert is_right(world.goes("late"), "header", "late")
    due.set()  # and the late answer comes before the next
    assert is_right(world.goes("last"), "header", "last")
