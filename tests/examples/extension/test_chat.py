"""What the popup shows of a message in a chat box."""

from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import asdict

from agent.wire.decide import Draft, DraftedFact, Offer
from agent.words.titles import about
from policy.services import well_known
from tests.examples.extension.modules import Modules

FACT = DraftedFact(name="age", title="age", value="35 to 44", phrase="35 to 44 years old")
LINE = "About me: x"
CHATS = {"origin": "https://chat.example", "text": "what to do?"}


@given(st.lists(st.text(min_size=1, max_size=9), max_size=6))
def test_the_line_is_the_daemons(modules: Modules, phrases: list[str]) -> None:
    """Each phrase once."""
    assert modules("popup/chat.js", "lineOf", phrases) == about(phrases)


def talk(modules: Modules, **chat: object) -> Any:  # noqa: ANN401  (JSON)
    """Return what is shown; what it is read as is left to another module."""
    return modules("popup/chat.js", "talk", {**CHATS, "draft": None, "fault": None, **chat})


def test_a_draft_and_what_waits(modules: Modules) -> None:
    """The facts with their titles, and how many are left, as sentences."""
    draft = Draft(
        code="answered", id="x", facts=[FACT], line="…", waiting=["gender"], people="expected: 9"
    )
    shown = talk(modules, draft=to_builtins(draft))
    assert shown["facts"] == [{"name": "age", "title": "age: 35 to 44", "phrase": FACT.phrase}]
    assert (shown["recipient"], shown["question"]) == ("chat.example", "what to do?")
    assert (shown["people"], shown["waiting"]) == ("Expected: 9.", "gender")
    assert (shown["headline"], shown["fault"], shown["readAs"]) == ("", "", "")


def test_what_is_read_stands_where_nothing_may_leave(modules: Modules) -> None:
    """With the reason."""
    draft = Draft(code="answered", headline="Nothing helps enough.", people="expected: 9")
    shown = talk(modules, draft=to_builtins(draft))
    assert (shown["headline"], shown["people"]) == ("Nothing helps enough.", "")


def test_what_is_wrong_with_a_message(modules: Modules) -> None:
    """Each in words of its own, and that nothing was shared, or what was."""
    codes = ("empty", "no message", "elsewhere", "other frame", "closed", "in part", "too large")
    texts = {code: talk(modules, fault={"code": code})["fault"] for code in (*codes, "not put in")}
    assert len({*texts.values()}) == len(texts)
    for code, text in texts.items():
        failed = modules("popup/chat.js", "failed", {"told": None, "fault": {"code": code}})
        assert failed == {"text": f"{text} Nothing was shared.", "line": ""}
        failed = modules("popup/chat.js", "failed", {"told": LINE, "fault": {"code": code}})
        assert failed["text"].startswith(f"{text} It is recorded as shared")
        assert failed["line"] == LINE


def test_where_nobody_knows_whether_it_was_told(modules: Modules) -> None:
    """It says that it may be; where nobody answered at all, nothing was."""
    late = modules("popup/chat.js", "failed", {"told": None, "fault": {"code": "too slow"}})
    assert late["text"] == "Reticent timed out; the facts may be recorded as shared."
    conflict = {"code": "conflict", "what": "your rules have changed"}
    failed = modules("popup/chat.js", "failed", {"told": None, "fault": conflict})
    assert failed["text"] == "Your rules have changed. Nothing was shared."
    assert "did not answer" in modules("popup/chat.js", "failed", {"told": None})["text"]


def test_the_well_known_are_told_by_their_whole_origin(modules: Modules) -> None:
    """Any page of it, and nothing that only looks like it."""
    for each in well_known():
        found = modules("popup/chat.js", "wellKnown", f"{each.address}chat/1?x=2#y")
        assert found == asdict(each)
        host = each.address.removeprefix("https://").rstrip("/")
        for other in (f"http://{host}/", f"https://{host}.evil.example/", f"https://x.{host}/"):
            assert modules("popup/chat.js", "wellKnown", other) is None
    for other in ("", "about:blank", "https://__proto__/", "chrome://settings"):
        assert modules("popup/chat.js", "wellKnown", other) is None


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
