"""What is no search of the user gets no header, and nobody is asked about it."""

import json
from urllib.parse import quote

import pytest

from agent.wire.decide import Offer
from tests.browser.frames import RelayedOffer
from tests.browser.recipient import right
from tests.browser.world import World
from tests.waiting import until

pytestmark = pytest.mark.browser

HOSTS = (  # like search.localhost:PORT, whose searches are at /search?q={query}
    "search.localhost:{port}@evil.localhost:{port}",
    "search.localhost:{other}",
    *(f"{each}:{{port}}" for each in ("evil.localhost", "evilsearch.localhost", "127.0.0.1")),
    *(f"search{each}.localhost:{{port}}" for each in (".localhost", ".evil", "xlocalhost")),
)
PAGES = ("searches?q=x", "search/?q=x", "Search?q=x", "search/more?q=x", "search", "?/search?q=x")
QUERIES = ("q=", "Q=x", "qq=x", "a=b;q=x", "p=?q=x")
WHOLE = "http://search.localhost:{port}/search?q=x"
LOOKALIKES = (
    *(f"http://{host}/search?q=x" for host in HOSTS),
    *(f"http://search.localhost:{{port}}/{page}" for page in (*PAGES, "search#q=x")),
    *(f"http://search.localhost:{{port}}/search?{query}" for query in QUERIES),
    *(f"http://evil.localhost:{{port}}/{mark}{WHOLE}" for mark in ("", "?u=", "#")),
)
SPELLINGS = (  # of the search itself: the query that is first and not empty counts
    ("http://SEARCH.localhost:{port}/search?q=x", "x"),
    ("http:\\\\search.localhost:{port}\\search?q=x", "x"),
    ("http://search.localhost:{port}/a/../search?q=x", "x"),
    ("http://search.localhost:{port}/search?q=x&q=y", "x"),
    ("http://search.localhost:{port}/search?q=&q=y", "y"),
    ("http://search.localhost:{port}/search?a=b&q=x+y%2Bz", "x y+z"),
    ("http://search.localhost:{port}/search?q=%E6%97%A5&a=q=b", "日"),
    ("http://search.localhost:{port}/search?%71=x", "x"),
    ("http://user:word@search.localhost:{port}/search?q=x", "x"),
    ("http://search.localhost.:{port}/search?q=x", "x"),
)
LOADING = (  # of an address, by a page
    "document.body.append(Object.assign(new Image(), {src: address}))",
    "document.body.append(Object.assign(document.createElement('iframe'), {src: address}))",
    "document.head.append(Object.assign(link, {rel: 'stylesheet', href: address}))",
    "Object.assign(form, {method: 'post', action: address}).submit()",
    "navigator.sendBeacon(address, 'x')",
)
MADE = "const link = document.createElement('link'), form = document.forms[0]"

AHEAD = """
const rules = document.createElement('script');
rules.type = 'speculationrules';
rules.textContent = JSON.stringify({[kind]: [{source: 'list', urls, eagerness: 'immediate'}]});
document.head.append(rules);
const link = document.createElement('link');
link.onload = link.onerror = () => { document.body.dataset.loaded = '1' };
document.head.append(Object.assign(link, {rel: 'prefetch', href: urls[0] + ' too'}));
"""
FETCHES = 20
FETCH = "fetch('/search?q=fetched')"
XHR = "const asked = new XMLHttpRequest(); asked.open('GET', '/search?q=fetched'); asked.send()"


def test_addresses_that_only_look_like_the_search(world: World) -> None:
    """They get no header, and nothing is said to anybody."""
    with world.recipient.beside() as other:
        for address in LOOKALIKES:
            world.browser.arrive(address.format(port=world.recipient.port, other=other))
    told = [each.target for each in world.recipient.seen() if each.header is not None]
    assert (told, world.settled()) == ([], [])
    assert len(world.recipient.seen()) > len(LOOKALIKES)


def test_other_spellings_of_the_search(world: World) -> None:
    """They have their own header, or none; what is asked is what the site reads."""
    for address, query in SPELLINGS:
        world.forget()
        world.browser.arrive(address.format(port=world.recipient.port))
        [came] = world.recipient.searches()
        assert came.query == query, address
        assert came.header in {None, right(query)}, address
        assert {*world.decided()} <= {(query, "search.localhost")}, address


@pytest.mark.parametrize("script", LOADING)
def test_a_request_that_is_no_search_of_the_user(world: World, script: str) -> None:
    """What a page loads by itself, and what is posted, is left alone."""
    world.visit("elsewhere")
    address = json.dumps(world.recipient.search("beside"))
    world.browser.tried(f"const address = {address}; {MADE}; setTimeout(() => {{ {script} }})")
    [came] = world.recipient.heard(lambda each: each.path == "/search")
    assert came.header is None
    assert world.decided() == []


@pytest.mark.parametrize("kind", ["prefetch", "prerender"])
def test_what_a_page_has_fetched_ahead(world: World, kind: str) -> None:
    """Nobody is asked about it: else a page could spend what a recipient may be told."""
    urls = [world.recipient.search("ahead"), world.recipient.url("evil", "/last")]
    world.visit("evil")
    world.browser.run(f"const kind = {kind!r}, urls = {json.dumps(urls)}; {AHEAD}")
    if world.browser.name == "chromium":  # one after the other; Firefox knows no such rules
        world.recipient.heard(lambda each: each.path == "/last")
    world.recipient.heard(lambda each: each.query == "ahead too")
    assert world.settled() == []
    assert {each.header for each in world.recipient.seen() if "ahead" in each.query} == {None}


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


@pytest.mark.parametrize("target", ["/landed", "/search?q=landed"])
def test_who_is_sent_the_search_gets_no_header(world: World, target: str) -> None:
    """The header goes to the recipient that was asked about."""
    onward = world.recipient.url("other", target)
    world.browser.go(world.recipient.search("sent on") + "&to=" + quote(onward, safe=""))
    [landed] = world.recipient.heard(lambda each: each.host == "other")
    [came] = world.recipient.searches("sent on")
    assert (came.header, landed.header) == (right("sent on"), None)
    assert {recipient for _, recipient in world.decided()} == {"search.localhost"}


def test_another_site_that_is_listed_gets_its_own_header_or_none(world: World) -> None:
    """Never that of the first."""
    world.listing("other", "search")
    world.forget()
    onward = world.recipient.search("second", "other")
    world.browser.go(world.recipient.search("first") + "&to=" + quote(onward, safe=""))
    [landed] = world.recipient.heard(lambda each: each.host == "other")
    assert landed.header in {None, right("second")}
    assert {("first", "search.localhost"), ("second", "other.localhost")} >= {*world.decided()}


def test_a_site_that_sends_on_to_the_search(world: World) -> None:
    """The one that sends gets nothing; the search has its own header, or none."""
    onward = world.recipient.search("sent here")
    world.browser.go(world.recipient.url("evil", "/?to=" + quote(onward, safe="")))
    [landed] = world.recipient.arrived("sent here")
    assert landed.header in {None, right("sent here")}
    assert [each.header for each in world.recipient.seen() if each.host == "evil"] == [None]


def offers(world: World) -> list[Offer]:
    """Return what was offered until now."""
    return [each.body for each in world.settled() if isinstance(each, RelayedOffer)]


def test_an_offer_is_made_once(world: World) -> None:
    """With the names and the address of the search, and without what was searched for."""
    world.recipient.accepts["offering"] = "region, int_python;v=1"
    for query in ("private thing", "another"):
        assert world.search(query, "offering").header is None
    template = world.recipient.url("offering", "/search?q={query}")
    [offer] = offers(world)
    assert offer.recipient == "offering.localhost"
    assert (offer.names, offer.search) == (["region", "int_python"], template)


def test_a_site_that_has_offered_says_so(world: World) -> None:
    """Badge and popup name where that is answered, until the site is listed or left."""
    world.recipient.accepts["asking"] = world.recipient.accepts["leaving"] = "region"
    world.search("asked", "leaving")
    world.browser.says("?")
    world.visit("elsewhere")
    world.browser.says("")
    world.search("asked", "asking")
    world.browser.says("?")
    with world.browser.popup():
        text = "return document.body.innerText"
        words = "asking.localhost asks for facts about you: reticent requests list --waiting"
        until(lambda: words in str(world.browser.run(text)), words)
        shown = "[...document.querySelectorAll('button')].some((each) => each.offsetParent)"
        assert not world.browser.run(f"return {shown}")
    world.daemon.sites = [world.site("asking"), world.site("search")]
    world.browser.says("")


def test_a_frame_offers_nothing(world: World) -> None:
    """Only what the user went to does."""
    world.recipient.accepts["framed"] = "region"
    world.visit("elsewhere")
    address = world.recipient.search("framed", "framed")
    frame = "Object.assign(document.createElement('iframe'), {src})"
    world.browser.run(f"const src = {address!r}; document.body.append({frame})")
    world.recipient.heard(lambda each: each.host == "framed")
    assert world.settled() == []


def test_a_site_is_listed_soon_after_the_user_agrees(world: World) -> None:
    """Nobody needs to open anything for that."""
    world.recipient.accepts["agreed"] = "region"
    world.search("asked", "agreed")
    world.daemon.heard(RelayedOffer)
    world.daemon.sites = [world.site("agreed"), world.site("search")]
    found = until(lambda: attached(world), "a header")
    assert found == right("after that")


def attached(world: World) -> str | None:
    """Search there, and return what that brought."""
    return world.search("after that", "agreed").header
