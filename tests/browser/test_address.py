"""What is added to a search's address: the right words or parameters, once, and none elsewhere."""

import json
import time
from urllib.parse import quote

import pytest

from agent.wire.decide import Carry, Clicked
from tests.browser.adding import added, adding, is_plain, is_right, led, searched, target, words
from tests.browser.frames import RelayedClicked, RelayedDecide
from tests.browser.recipient import LAX, SEARCH, digest, right
from tests.browser.test_popup import FIND, reads
from tests.browser.test_ways import ASKED, WAYS
from tests.browser.world import World
from tests.waiting import until

pytestmark = pytest.mark.browser

ROW = [40, pytest.param(200, marks=pytest.mark.soak)]
DELAY = 0.05  # seconds, the longest that the daemon takes
TABS = 5
CHOSEN = ("typed", "keyword", "entered", "pushed", "linked elsewhere", "requested", "replaced")


@pytest.mark.parametrize("way", CHOSEN)
def test_however_a_search_begins(world: World, way: str) -> None:
    """One request, with the words of its query, about which was asked once, for who asks."""
    by, act = WAYS[way]
    adding(world, "words", "search")
    act(world)
    [came] = world.recipient.arrived(led(ASKED))
    world.browser.shows(led(ASKED))
    assert [each.query for each in world.recipient.searches()] == [led(ASKED)]
    assert came.header is None
    [decided] = world.daemon.heard(RelayedDecide)
    assert (decided.body.query, decided.body.recipient) == (ASKED, "search.localhost")
    assert decided.by == by
    box = "return document.querySelector('input').value"
    assert world.browser.run(box) == led(ASKED)


@pytest.mark.parametrize("count", ROW)
@pytest.mark.parametrize("carry", ["words", "parameters"])
def test_searches_in_a_row(world: World, carry: Carry, count: int) -> None:
    """Each has what is added for it."""
    adding(world, carry, "engine")
    world.daemon.delay = DELAY
    queries = [f"row {number}" for number in range(count)]
    world.visit("elsewhere")
    address = json.dumps(world.recipient.search(queries[0], "engine") + f"&left={count - 1}")
    world.browser.run(f"setTimeout(() => location = {address})")
    came = world.recipient.heard(lambda each: each.path == SEARCH, count)
    for number, (each, query) in enumerate(zip(came, queries, strict=True)):
        more = f"&left={count - 1 - number}" + "&pause=0" * (number > 0)
        assert (each.target, each.header) == (target(carry, query, more), None)
    assert [query for query, _ in world.decided()] == queries


@pytest.mark.parametrize("carry", ["words", "parameters"])
def test_tabs_that_open_at_once(world: World, carry: Carry) -> None:
    """The one in front has its own, and none has another's."""
    adding(world, carry, "engine")
    world.daemon.delay = DELAY
    world.visit("elsewhere")
    queries = [f"opened {number}" for number in range(TABS)]
    addresses = json.dumps([world.recipient.search(each, "engine") for each in queries])
    world.browser.run(f"for (const each of {addresses}) open(each)")
    came = world.recipient.heard(lambda each: each.path == SEARCH, TABS)
    for each in came:
        query = each.query.removesuffix(f" {words(each.query[:8])}")
        assert query in queries
        assert is_right(each, carry, query) or is_plain(each, query)
    front = [is_right(each, carry, queries[-1]) for each in came if queries[-1] in each.query]
    assert front == [True]


def test_an_address_that_we_led_to_stays(world: World) -> None:
    """Loaded again, gone back to, copied to another tab, or with more of its results."""
    adding(world, "words", "engine")
    for query in ("first", "second"):
        searched(world, query)
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
    adding(world, "words", "engine")
    searched(world, "unwanted")
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
    adding(world, "words", "engine")
    query = f"about {words('it').upper()} again"
    world.daemon.answer = lambda ask: added(ask.__class__(query="it", recipient=ask.recipient))
    world.browser.go(world.recipient.search(query, "engine"))
    [came] = world.recipient.arrived(query)
    assert is_plain(came, query)
    adding(world, "parameters", "engine")
    world.browser.go(world.recipient.search("mine", "engine") + "&kl=own")
    [came] = world.recipient.arrived("mine")
    assert came.target == f"{SEARCH}?q=mine&kl=own"


def test_an_engine_that_leads_back_is_not_followed_in_circles(world: World) -> None:
    """The second time it gets what was typed."""
    adding(world, "words", "engine")
    back = world.recipient.search("circle", "engine")
    world.recipient.leads = lambda came: back if came.query == led("circle") else None
    world.browser.go(back)
    world.browser.shows("circle")
    assert [each.query for each in world.recipient.searches()] == [led("circle"), "circle"]
    assert [query for query, _ in world.decided()] == ["circle"]


def test_the_domains_of_an_engine(world: World) -> None:
    """Each has its parameters, also where one leads to the other; what is not listed has none."""
    adding(world, "parameters", "engine", "other")
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
    adding(world, "words", "engine")
    world.recipient.referrer = policy
    searched(world, "private")
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
    adding(world, "words", "engine")
    world.daemon.clicks = True
    world.learn()
    searched(world, "editor")
    world.browser.click("#result")
    world.browser.shows("result/page")
    told = [each.body for each in world.settled() if isinstance(each, RelayedClicked)]
    assert told == [Clicked(query="editor", host="result.localhost")]


@pytest.mark.parametrize("carry", ["words", "parameters"])
def test_the_popup_says_what_was_added_and_searches_without(world: World, carry: Carry) -> None:
    """Once: the tab's next search has it again."""
    adding(world, carry, "engine")
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


def test_a_header_stays_one(world: World) -> None:
    """Beside sites that something is added for."""
    adding(world, "words", "engine")
    came = world.search("with a header")
    assert came.header == right("with a header")
    assert came.target == f"{SEARCH}?q=with%20a%20header"
