"""What is added to a search's address: the right words or parameters, once, and none elsewhere."""

import json
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from agent.wire.decide import Answer, Ask, Carry, Clicked
from tests.browser.adding import added, adding, is_plain, is_right, led, searched, target, words
from tests.browser.frames import RelayedClicked, RelayedDecide
from tests.browser.recipient import LAX, SEARCH, Noted, digest, right
from tests.browser.test_gate import FAILURES, late
from tests.browser.test_many import ASKED, WAYS
from tests.browser.test_popup import FIND, reads
from tests.browser.test_unlisted import FETCH, LOADING, LOOKALIKES, MADE, XHR
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
