"""Which addresses are searches: matcher, expression and a plain model agree; and offers."""

import re
from typing import Any, NamedTuple
from urllib.parse import quote, unquote_plus, urlencode

from hypothesis import assume, given
from hypothesis import strategies as st

from agent.wire.decide import Offer
from tests.examples.extension.conftest import Modules

SITES = "lib/sites.js"


class Template(NamedTuple):
    """A search: what stands before its parameters, and the name of the one that is meant."""

    start: str
    name: str

    def listed(self, more: str = "") -> dict[str, str]:
        """Return it as the daemon lists it; ``more``: parameters that stand before."""
        search = f"{self.start}?{more}{self.name}={{query}}"
        return {"recipient": "a.example", "search": search}


starts = st.sampled_from(
    [
        "https://a.example/search",
        "http://a.localhost:8710/search",
        "http://127.0.0.1:8710/",
        "http://[::1]:8710/s.e*a(r)c$h+",
        "https://b.a.example/find/it",
    ]
)
names = st.sampled_from(["q", "query", "q.x", "text*"])
templates = st.builds(Template, starts, names)
values = st.text("ab+%&=?*^|.$20éC3", max_size=6).map(lambda text: text.replace("é", "%C3%A9"))
keys = names | st.sampled_from(["", "%71", "Q", "xq", "q%20"])
parameters = st.lists(st.tuples(keys, st.sampled_from(["", "="]), values).map("".join), max_size=4)


@st.composite
def addresses(draw: st.DrawFn) -> str:
    """Return an address as a browser writes it: a search, nearly one, or another."""
    start = draw(starts | starts.map(lambda text: text + draw(st.sampled_from(["x", "/", "%20"]))))
    start = draw(st.sampled_from([start, start.replace("://", "://u:p@"), start.swapcase()]))
    end = draw(st.sampled_from(["", "#", "#?q=b", "#&q=b"]))
    return f"{start}{draw(st.sampled_from(['?', '']))}{'&'.join(draw(parameters))}{end}"


def meant(template: Template, address: str) -> str | None:
    """Return what an address asks for, in the plainest way."""
    before, mark, rest = address.partition("?")
    if not mark or before != template.start:
        return None
    pairs = [each.partition("=") for each in rest.partition("#")[0].split("&")]
    found = [value for name, _, value in pairs if name == template.name and value]
    return unquote_plus(found[0], errors="replace") if found else None


@given(templates, addresses())
def test_they_agree(modules: Modules, template: Template, address: str) -> None:
    """On whether it is a search; and what is asked for is what the first that is not empty says."""
    site = modules(SITES, "siteOf", template.listed())
    wanted = meant(template, address)
    assert modules(SITES, "queryOf", site, address) == wanted
    matches = re.search(modules(SITES, "expression", site), address) is not None
    assert matches == (wanted is not None)


@given(templates, st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_query_comes_back_from_its_address(
    modules: Modules, template: Template, query: str
) -> None:
    """Whatever it is, and whatever else the search has."""
    site = modules(SITES, "siteOf", template.listed(more="hl=en&q.y=1&"))
    address = modules(SITES, "addressOf", site, query)
    assert modules(SITES, "queryOf", site, address) == query
    assert re.search(modules(SITES, "expression", site), address)
    assert modules("lib/sites.js", "clickOf", [site], address, "https://b.example/x#y") == {
        "query": query,
        "host": "b.example",
    }


@given(st.lists(templates, max_size=4), addresses())
def test_the_first_site_counts(modules: Modules, listed: list[Template], address: str) -> None:
    """And no other, where an address is a search of several."""
    sites = [modules(SITES, "siteOf", each.listed()) for each in listed]
    found = modules(SITES, "searchOf", sites, address)
    first = [(site, meant(each, address)) for site, each in zip(sites, listed, strict=True)]
    wanted = [{"site": site, "query": query} for site, query in first if query is not None]
    assert found == (wanted[0] if wanted else None)


@given(st.text("abq{}uery%&=?#/:.@\\ htp\t\0é"))
def test_what_is_listed_is_taken_apart_or_left(modules: Modules, text: str) -> None:
    """Without an error; what is taken can be searched."""
    after, before = f"https://a.example/?q={{query}}{text}", f"http://a.example/{text}?q={{query}}"
    for search in (text, before, after):
        site = modules(SITES, "siteOf", {"recipient": "a.example", "search": search})
        if site is not None:
            assert site["start"].startswith(("http://", "https://"))
            assert modules(SITES, "queryOf", site, modules(SITES, "addressOf", site, "x")) == "x"


PARTS = (
    "?q=x{query} ?q={query}x ?q={query}&r={query} ?q=y&q={query} ??q={query} {query} #?q={query} ?q"
)
STARTS = "https://u:p@a.example/ javascript:alert(1) chrome-extension://a/ ftp://a.example/"
LISTED = (
    ("HTTPS://A.example:443/x/../?q={query}", "https://a.example/?q=b"),
    ("https://a.example?hl=en&q={query}#top", "https://a.example/?q=b&x"),
    ("https://ä.example/?q={query}", "https://xn--4ca.example/?q=b"),
    ("https://a.example/ä?q={query}", "https://a.example/%C3%A4?q=b"),
    ("https://a.example/?s[text]={query}", "https://a.example/?s%5Btext%5D=b"),
    ("https://a.example/?s[text]={query}", "https://a.example/?s[text]=b"),
    ("http://[0:0::1]/?q={query}", "http://[::1]/?q=b"),
)


def test_what_no_browser_can_use_is_left(modules: Modules) -> None:
    """Wherever {query} stands but as the whole value of one parameter."""
    for search in (
        *("", "{query}", "//a.example/?q={query}", "https://?q={query}"),
        *(f"https://a.example/{part}" for part in PARTS.split()),
        *(f"{start}?q={{query}}" for start in STARTS.split()),
    ):
        site = modules(SITES, "siteOf", {"recipient": "a.example", "search": search})
        assert site is None, search


def test_a_search_is_known_however_it_is_listed(modules: Modules) -> None:
    """As browsers write it, and as forms write a parameter's name."""
    for search, address in LISTED:
        site = modules(SITES, "siteOf", {"recipient": "a.example", "search": search})
        assert modules(SITES, "queryOf", site, address) == "b", search
        assert re.search(modules(SITES, "expression", site), address), search


@given(st.text(min_size=1), st.text())
def test_an_escaped_text_matches_itself(modules: Modules, text: str, other: str) -> None:
    """And no other."""
    assume(text != other)
    expression: Any = modules(SITES, "escaped", text)
    assert re.fullmatch(expression, text)
    assert not re.fullmatch(expression, other)


# What a response offers

USUAL = ("q", "query", "search", "s", "p", "text", "term", "keywords", "k", "wd")
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
tokens = st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True), min_size=1, unique=True)


def offered(modules: Modules, url: str, *lines: str, method: str = "GET") -> Any:  # noqa: ANN401  (JSON)
    headers = [{"name": "Accept-Shared-Attributes", "value": each} for each in lines]
    response = {"url": url, "method": method, "responseHeaders": [{"name": "Date"}, *headers]}
    return modules("lib/offers.js", "offerOf", response)


@given(st.sampled_from(USUAL), texts, texts, tokens)
def test_an_offer(modules: Modules, usual: str, secret: str, other: str, wanted: list[str]) -> None:
    """It is one that the daemon reads, and the same whatever was asked for."""
    pairs = urlencode({"session": other, usual: secret})
    url = f"https://www.a.example:8443/find?{pairs}#{quote(other)}"
    offer = offered(modules, url, ", ".join(wanted))
    search = f"https://www.a.example:8443/find?{usual}={{query}}"
    assert offer == {"recipient": "www.a.example", "names": wanted, "search": search}
    Offer(**offer)
    site = modules("lib/sites.js", "siteOf", offer)
    assert modules("lib/sites.js", "queryOf", site, f"{search.partition('{')[0]}x") == "x"


def test_several_lines_are_one_list(modules: Modules) -> None:
    """With each name once."""
    offer = offered(modules, "https://a.example/?q=x", "region, gender", "int_python;v=2", "gender")
    assert offer["names"] == ["region", "gender", "int_python"]


MANY = ", ".join(f"n{each}" for each in range(1025))
LISTS: tuple[list[str], ...] = ([], [""], ["region,"], ["region", '"gender"'], ["(region)"])
LISTS += (["a" * 201], [MANY])
BEHIND = ("?q=", "?Q=x", "?x=q", "#?q=x")


def test_what_is_no_offer(modules: Modules) -> None:
    """No search, no list of tokens, or a form that was posted."""
    search = "https://a.example/?q=x"
    for url, lines in (
        *((search, each) for each in LISTS),
        *((f"https://a.example/{each}", ["region"]) for each in BEHIND),
        ("https://u:p@a.example/?q=x", ["region"]),
        (f"https://a.example/{'x' * 2000}?q=x", ["region"]),
        *(("chrome-extension://a/?q=x", ["region"]), ("no address", ["region"])),
    ):
        assert offered(modules, url, *lines) is None, (url, lines)
    assert offered(modules, search, "region", method="POST") is None
