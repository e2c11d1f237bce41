"""What browsers are told of searches, and what an offer may say of one."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from agent.daemon.consent.reviews import Approved, Offers
from agent.errors import UsageError
from agent.wire.decide import Ask, Offer
from agent.wire.policy import Verdict
from tests.daemon.home import POLICY, Home
from tests.daemon.people import SHOP

SEARCH = "https://WWW.shop.example:443?q={query}"
APPROVE = Verdict(decided="approve", lasting="always")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Home]:
    """Return a machine with an unlocked daemon."""
    with Home(tmp_path) as made:
        made.unlock()
        yield made


def test_browsers_are_told_where_they_may_act(opened: Home) -> None:
    """By the policy, and by what was approved; while it is locked, by the policy alone."""
    ruled = 'search = "http://localhost:8710/find?q={query}"\n'
    opened.paths.policy.write_text(ruled + POLICY + "clicks = true\n")
    opened.calls.reload()
    [site] = opened.calls.locked().sites
    assert (site.recipient, site.search) == ("localhost", "http://localhost:8710/find?q={query}")
    assert opened.calls.locked().clicks
    offer = Offer(recipient="www.shop.example", names=["gender"], search=SEARCH)
    opened.calls.offer(offer)
    [review] = opened.calls.reviews()
    assert review.search == "https://www.shop.example/?q={query}"
    opened.calls.verdict(APPROVE, id=review.id)
    sites = opened.calls.locked().sites
    assert [each.recipient for each in sites] == ["localhost", "www.shop.example"]
    assert opened.calls.locked().sites is sites
    opened.calls.offer(offer)
    assert opened.calls.reviews() == []
    opened.calls.lock()
    assert opened.calls.locked().sites == [site]
    opened.unlock()
    assert opened.calls.locked().sites == sites
    opened.paths.policy.write_text(POLICY)
    opened.now += timedelta(seconds=9)
    assert [each.recipient for each in opened.calls.locked().sites] == ["www.shop.example"]
    assert not opened.calls.locked().clicks
    opened.paths.policy.unlink()
    assert opened.calls.locked().sites == []


def test_a_search_that_the_network_reads_is_never_listed(opened: Home) -> None:
    """Neither one of an offer that an older version approved, nor one of the policy."""
    approved = Approved(("gender",), None, ("http://shop.example/?q={query}", SEARCH))
    vault = opened.agent.vault
    assert vault is not None
    Offers(vault.items).keep("shop.example", approved)
    opened.calls.lock()
    opened.unlock()
    assert [each.recipient for each in opened.calls.locked().sites] == ["www.shop.example"]
    opened.paths.policy.write_text('search = "http://shop.example/?q={query}"\n' + POLICY)
    assert opened.calls.reload().problems
    assert [each.recipient for each in opened.calls.locked().sites] == ["www.shop.example"]


@pytest.mark.parametrize(
    "recipient",
    [
        "http://shop.example/x",
        "HTTP://shop.example:8080",
        "http://localhost:1@shop.example/",
        "http://127.0.0.1.shop.example/",
        "ws://shop.example/",
    ],
)
def test_nothing_goes_to_an_address_that_the_network_reads(opened: Home, recipient: str) -> None:
    """And why is said; to this machine it may go, and by https anywhere."""
    opened.fill()
    known = SHOP.query
    answer = opened.calls.decide(Ask(query=known, recipient=recipient))
    assert (answer.code, answer.attributes, answer.id) == ("not https", {}, None)
    explained = opened.calls.explain(Ask(query=known, recipient=recipient))
    assert (explained.code, "not an https address" in explained.headline) == ("not https", True)
    for other in ("https://shop.example/x", "http://localhost:8710/x", "http://[::1]/"):
        assert opened.calls.decide(Ask(query=known, recipient=other)).code == "answered"


@pytest.mark.parametrize(
    ("recipient", "search"),
    [
        ("shop.example", "https://evil.example/?q={query}"),
        ("shop.example", "https://shop.example.evil.example/?q={query}"),
        ("www.shop.example", "https://shop.example/?q={query}"),
        ("shop.example", "https://u@shop.example/?q={query}"),
        ("shop.example", "https://shop.example/{query}"),
        ("shop.example", "javascript:'{query}'"),
        ("co.uk", "https://shop.co.uk/?q={query}"),
        ("0.0.1", "http://127.0.0.1/?q={query}"),
        ("localhost", "http://evil.localhost/?q={query}"),
        ("shop.example", "http://shop.example/?q={query}"),
        ("", ""),
    ],
)
def test_no_offer_names_the_search_of_another(opened: Home, recipient: str, search: str) -> None:
    """Nor what is none: it is refused whole, and nothing waits."""
    with pytest.raises(UsageError):
        opened.calls.offer(Offer(recipient=recipient, names=["gender"], search=search))
    assert opened.calls.reviews() == []
