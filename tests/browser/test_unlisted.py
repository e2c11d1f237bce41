"""Sites that are not listed get no header, and nobody is told of them."""

import json

import pytest

from tests.browser.recipient import right
from tests.browser.world import World

pytestmark = pytest.mark.browser

LOOKALIKES = (  # of http://search.localhost:PORT/search?q={query}
    "http://evil.localhost:{port}/search?q=x",
    "http://evil.localhost:{port}/http://search.localhost:{port}/search?q=x",
    "http://evil.localhost:{port}/?u=http://search.localhost:{port}/search?q=x",
    "http://evil.localhost:{port}/#http://search.localhost:{port}/search?q=x",
    "http://search.localhost:{port}@evil.localhost:{port}/search?q=x",
    "http://evilsearch.localhost:{port}/search?q=x",
    "http://search.localhost.localhost:{port}/search?q=x",
    "http://search.evil.localhost:{port}/search?q=x",
    "http://searchxlocalhost.localhost:{port}/search?q=x",
    "http://127.0.0.1:{port}/search?q=x",
    "http://search.localhost:{other}/search?q=x",
    "http://search.localhost:{port}/searches?q=x",
    "http://search.localhost:{port}/search/?q=x",
    "http://search.localhost:{port}/Search?q=x",
    "http://search.localhost:{port}/search/more?q=x",
    "http://search.localhost:{port}/search",
    "http://search.localhost:{port}/search?q=",
    "http://search.localhost:{port}/search?Q=x",
    "http://search.localhost:{port}/search?qq=x",
    "http://search.localhost:{port}/search?a=b;q=x",
    "http://search.localhost:{port}/search?p=?q=x",
    "http://search.localhost:{port}/search#q=x",
    "http://search.localhost:{port}/?/search?q=x",
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
