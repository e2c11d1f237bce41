"""Where browsers find the words of a search: one address for one search, and no other kind."""

import json
import subprocess
from collections.abc import Mapping
from datetime import date
from itertools import cycle, product
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.errors import PolicyError, UsageError
from policy.hosts import host_of
from policy.match import Rulebook
from policy.read import preset, read
from policy.services import LONGEST, Search, usable
from tests.policy.naive import claims, decided
from tests.policy.strategies import DAYS, TODAY, Asked, rendered
from tests.programs import needs

HOSTS = ("shop.example", "www.shop.example", "a.www.shop.example", "other.example")
PLACES = {
    "shop.example": "shop.example",
    "SHOP.example.": "shop.example",
    "bücher.example": "xn--bcher-kva.example",
    "xn--bcher-kva.example": "xn--bcher-kva.example",
    "127.0.0.1": "127.0.0.1",
    "[::1]": "[::1]",
    "[2001:DB8:0::1]": "[2001:db8::1]",
    "search.localhost": "search.localhost",
}
HERE = ("127.0.0.1", "[::1]", "search.localhost")
PATHS = ("", "/", "/find", "/it's", "/a//b/", "/%C3%BC;x=1/~me", "/...", "/a/.b")
PARAMETERS = ("hl=en", "x", "", "a=%20b+c", "q2=1", "src=/a:b@c")
PORTS = ("", ":80", ":443", ":8710")
NAMES = ("q", "query", "p.q", "_-9")
AS_BROWSERS = (
    "const found = JSON.parse(process.argv[1]).map((each) => new URL(each));"
    "console.log(JSON.stringify(found.map((each) => ["
    "each.href, each.hostname, [...each.searchParams].filter((pair) => pair[1] === 'W0RD')])))"
)
UNFIT = (
    *("https://u@shop.example/?q={query}", "https://u:p@shop.example/?q={query}"),
    "https://shop.example@evil.example/?q={query}",
    *("https://shop.example\\@evil.example/?q={query}", "https://shop.example\\/?q={query}"),
    *("javascript:alert('{query}')", "javascript://shop.example/?q={query}"),
    *("ftp://shop.example/?q={query}", "HTTPS://shop.example/?q={query}"),
    *("http://shop.example/?q={query}", "http://localhost.shop.example/?q={query}"),
    *("http://shop.example:8710/?q={query}", "http://127.0.0.1.shop.example/?q={query}"),
    *("http://10.0.0.1/?q={query}", "http://[2001:db8::1]/?q={query}"),
    *("https:/shop.example/?q={query}", "https:///?q={query}", "//shop.example/?q={query}"),
    *("https://{query}.example/?q=1", "https://shop\u202e.example/?q={query}"),
    *("https://shop.example:/?q={query}", "https://shop.example:0/?q={query}"),
    *("https://shop.example:65536/?q={query}", "https://shop.example:80a/?q={query}"),
    *("https://shop.example:80:80/?q={query}", "https://::1/?q={query}"),
    *("https://[::1/?q={query}", "https://[fe80::1%25eth0]/?q={query}"),
    *("https://1.2.3/?q={query}", "https://shop..example/?q={query}", "", "{query}"),
    *(
        f"https://shop.example/{tail}"
        for tail in (
            *("{query}", "{query}?q={query}", "?q={query}&r={query}", "?q={query}{query}"),
            *("?q=a{query}", "?q={query}b", "?{query}", "?={query}", "?{query}=q"),
            *("?q%5B%5D={query}", "?q q={query}", "?q={query}&q=1", "?q&q={query}"),
            *("?%71=1&q={query}", "?q={query}#top", "#?q={query}", "?q={query}&a=b c"),
            *("?q={query}&a='", "?q={query}&a=ü", "ü?q={query}", "a/../b?q={query}"),
            *("a/%2E?q={query}", "%2?q={query}", "a\\b?q={query}", "?q={query}\n", "\t?q={query}"),
            *("?q={query}\x00", "?q="),
        )
    ),
)


@st.composite
def addresses(draw: st.DrawFn) -> tuple[str, Search]:
    """Draw an address that browsers can use, and what it is to be read as."""
    scheme = draw(st.sampled_from(["http", "https"]))
    place = draw(st.sampled_from(sorted(PLACES if scheme == "https" else HERE)))
    port = draw(st.none() | st.sampled_from([80, 443]) | st.integers(1, 65_535))
    path = draw(st.sampled_from(PATHS))
    slot = f"{draw(st.sampled_from(NAMES))}={{query}}"
    before, after = (draw(st.lists(st.sampled_from(PARAMETERS), max_size=2)) for _ in range(2))
    rest = "&".join([*before, slot, *after])
    written = "" if port is None else f":{port}"
    kept = "" if (scheme, port) in (("http", 80), ("https", 443)) else written
    text = f"{scheme}://{PLACES[place]}{kept}{path or '/'}?{rest}"
    found = Search(PLACES[place].strip("[]"), text)
    return f"{scheme}://{place}{written}{path}?{rest}", found


@given(addresses())
def test_an_address_is_read_in_one_way(drawn: tuple[str, Search]) -> None:
    """Its host is the recipient, and reading it again changes nothing."""
    text, search = drawn
    assert Search.parse(text) == search == usable(text)
    assert Search.parse(search.text) == search
    assert host_of(search.text.replace("{query}", "q")) == search.host == host_of(search.host)


def test_it_is_written_as_browsers_write_it() -> None:
    """So that an extension compares text, and the words are where it looks for them."""
    starts = ["".join(each) for each in product(("https://",), PLACES, PORTS, PATHS)]
    starts += ["".join(each) for each in product(("http://",), HERE, PORTS, PATHS)]
    rests = cycle(f"{one}&{name}={{query}}" for name, one in product(NAMES, PARAMETERS))
    found = [Search.parse(f"{each}?{next(rests)}") for each in starts]
    given_ = [each.text.replace("{query}", "W0RD") for each in found]
    command = [needs("node"), "-e", AS_BROWSERS, json.dumps(given_)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    for each, address, (href, host, words) in zip(
        found, given_, json.loads(done.stdout), strict=True
    ):
        assert (href, host.strip("[]"), len(words)) == (address, each.host, 1)


@pytest.mark.parametrize("text", UNFIT, ids=range(len(UNFIT)))
def test_no_other_kind_is_read(text: str) -> None:
    """What two readers might read in two ways, or where no word can be told."""
    assert usable(text) is None
    with pytest.raises(UsageError) as caught:
        Search.parse(text)
    assert caught.value.hint


@given(st.text("aq{}ery:/?#@[]&=%.\\ \n'", max_size=40) | st.text(max_size=20))
def test_damaged_addresses_are_refused_or_read_whole(tail: str) -> None:
    """Nothing of what was written is dropped, but what browsers leave out."""
    for text in (f"https://shop.example/{tail}", f"https://shop.example/?q={{query}}{tail}"):
        search = usable(text)
        if search is not None:
            assert search.text == text
            assert search.host == "shop.example"


def test_the_largest_addresses_are_refused_at_once() -> None:
    """By what they are, not by what is in them."""
    start = "https://shop.example/?q={query}&a="
    fits = start + "a" * (LONGEST - len(start))
    assert Search.parse(fits).text == fits
    for large in (f"{fits}a", start + "a" * 10**5, "{query}" * 10**5, "https://" + "[" * 10**5):
        with pytest.raises(UsageError, match=f"more than {LONGEST} characters") as caught:
            Search.parse(large)
        assert len(str(caught.value)) < LONGEST
    start = "https://bücher.example/?q={query}&a="
    with pytest.raises(UsageError, match=f"more than {LONGEST} characters"):
        Search.parse(start + "a" * (LONGEST - len(start)))


OVERRULED = {
    "rule": [
        {"recipient": "shop.example", "search": "https://www.shop.example/find?q={query}"},
        {"recipient": "www.shop.example", "search": "https://a.www.shop.example/find?q={query}"},
    ]
}


@st.composite
def documents(draw: st.DrawFn) -> Mapping[str, Any]:
    """Draw a policy of rules that say where some hosts are searched, and who gets nothing."""
    top = draw(st.fixed_dictionaries({}, optional={"search": _search(), "nothing": st.booleans()}))
    return {**top, "rule": draw(st.lists(_rules(), max_size=5))}


@st.composite
def _rules(draw: st.DrawFn) -> Mapping[str, Any]:
    host = draw(st.sampled_from(HOSTS))
    if draw(st.integers(0, 3)) == 0:
        rule = {"recipient": host, "query": "flu", "nothing": True}
    else:
        wanted = {"search": _search(host), "nothing": st.booleans(), "k": st.just(5)}
        some = draw(st.fixed_dictionaries({}, optional=wanted))
        rule = {"recipient": host, **(some or {"k": 6})}
    return rule if draw(st.booleans()) else {**rule, "expires": draw(DAYS)}


def _search(above: str = "") -> st.SearchStrategy[str]:
    """Draw an address of a host or one below it, most of which browsers can use."""
    below = [host for host in HOSTS if host.endswith(above)]
    forms = ["https://{}/find?q={{query}}", "http://{}:8710/?p={{query}}", "https://{}/{{query}}"]
    return st.builds(str.format, st.sampled_from(forms), st.sampled_from(below))


@given(documents(), DAYS)
@example(OVERRULED, TODAY)
def test_what_is_listed_is_what_is_ruled(document: Mapping[str, Any], today: date) -> None:
    """Exactly the search that decides about its own host, of each host that gets anything."""
    try:
        policy = read(rendered(document), "test", preset)
    except PolicyError:
        assume(False)
    expected = {
        search
        for host in HOSTS
        for claim in _decide(document, host, today, "search")
        for search in [usable(claim)]
        if search is not None and search.host == host
        if not any(_decide(document, host, today, "nothing"))
    }
    assert {*Rulebook(policy, {}).searches(today)} == expected


def _decide(document: Mapping[str, Any], host: str, today: date, key: str) -> set[Any]:
    """Return what is ruled of a host, by rules that hold whatever the query."""
    found = claims(document, Asked(host, "", today), key, None)
    return {claim.value for claim in decided(found, key)} if found else set()
