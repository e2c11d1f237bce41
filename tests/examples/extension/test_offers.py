"""What a site offers: its own search and names, and nothing of what the user asked there."""

from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.wire.decide import Offer
from tests.examples.extension.modules import Modules

USUAL = ("q", "query", "search", "s", "p", "text", "term", "keywords", "k", "wd")
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
names = st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True), min_size=1, unique=True)


def offered(modules: Modules, url: str, *lines: str, method: str = "GET") -> Any:  # noqa: ANN401  (JSON)
    """Return what a response offers."""
    headers = [{"name": "Accept-Shared-Attributes", "value": each} for each in lines]
    response = {"url": url, "method": method, "responseHeaders": [{"name": "Date"}, *headers]}
    return modules("lib/offers.js", "offerOf", response)


@given(st.sampled_from(USUAL), words, words, names)
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
LISTS: tuple[list[str], ...] = (
    [],
    [""],
    ["region,"],
    ["region", '"gender"'],
    ["(region)"],
    ["a" * 201],
    [MANY],
)
ADDRESSES = (
    "a.example/?q=",
    "a.example/?Q=x",
    "a.example/?x=q",
    "a.example/#?q=x",
    "u:p@a.example/?q=x",
)


@pytest.mark.parametrize(
    ("url", "lines"),
    [
        ("https://a.example/?q=x", []),
        *(("https://a.example/?q=x", each) for each in LISTS),
        *((f"https://{each}", ["region"]) for each in ADDRESSES),
        ("https://u:p@a.example/?q=x", ["region"]),
        (f"https://a.example/{'x' * 2000}?q=x", ["region"]),
        *(("chrome-extension://a/?q=x", ["region"]), ("no address", ["region"])),
    ],
)
def test_what_is_no_offer(modules: Modules, url: str, lines: list[str]) -> None:
    """No search, or no list of tokens."""
    assert offered(modules, url, *lines) is None


def test_a_form_that_was_posted_offers_nothing(modules: Modules) -> None:
    """Nor does any other method."""
    assert offered(modules, "https://a.example/?q=x", "region", method="POST") is None
