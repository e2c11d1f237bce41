"""What is left in memory once the vault is locked: nothing that says what was asked, or of whom."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.daemon.api import Calls
from agent.decision.request import Knowledge
from agent.errors import LockedError
from agent.wire.decide import Ask, Offer
from agent.wire.policy import Verdict
from policy import hosts
from tests.daemon.home import OPEN, Home
from tests.daemon.people import SHOP

MARK = "zqxv"  # which no other text has
TEXT = 'lambda = 0.0\nmodel = "mine"\n'


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Home]:
    """Return a machine with an unlocked daemon, by whose policy nothing waits."""
    with Home(tmp_path) as home:
        home.paths.policy.write_text(TEXT)
        home.calls.reload()
        home.unlock(OPEN)
        home.fill()
        yield home


def ask(calls: Calls) -> None:
    """Ask what the model knows and what it does not, of somebody with a mark, in two ways."""
    for query in (SHOP.query, f"{MARK} {SHOP.query}", f"of {MARK} matters"):
        calls.decide(Ask(query=query, recipient=f"https://{MARK}.example/"))
        calls.explain(Ask(query=query, recipient=f"www.{MARK}.example"))
    calls.offer(Offer(recipient=f"{MARK}.example", names=["age"]))
    calls.dismiss(id=1)


def marked() -> list[object]:
    """Return all in memory that has a text with the mark in it."""
    return [each for each in gc.get_objects() if any(map(_is_marked, gc.get_referents(each)))]


def _is_marked(text: object) -> bool:
    return isinstance(text, str) and MARK in text and text != MARK


def known() -> int:
    """Return how often it is in memory that a recipient holds something."""
    return sum(isinstance(each, Knowledge) and bool(each.codes) for each in gc.get_objects())


def test_the_first_request_does_not_wait_for_the_public_suffixes(tmp_path: Path) -> None:
    """They are there once the vault is open."""
    loaded = hosts._registrable  # noqa: SLF001  (nothing else shows it)
    with Home(tmp_path) as home:
        loaded.cache_clear()
        home.unlock(OPEN)
        assert loaded.cache_info().currsize == 1


def test_what_was_asked_is_forgotten(opened: Home) -> None:
    """By the models, the rules and what was said; then it is decided as before."""
    gc.collect()
    before = known()
    assert marked() == []
    ask(opened.calls)
    assert marked()
    assert known() > before
    entries = opened.calls.status().entries
    opened.calls.lock()
    gc.collect()
    assert marked() == []
    assert known() == before
    opened.unlock(OPEN)
    assert opened.calls.status().entries == entries
    assert opened.calls.explain(SHOP).code == "answered"


def test_what_waits_is_not_said(opened: Home) -> None:
    """Until the vault is open again."""
    opened.calls.offer(Offer(recipient="a.example", names=["age"]))
    opened.calls.lock()
    deny = Verdict(decided="deny")
    for call in (opened.calls.reviews, lambda: opened.calls.verdict(deny, id=1)):
        with pytest.raises(LockedError):
            call()
    assert opened.calls.status().waiting == 1
    opened.unlock(OPEN)
    assert [each.recipient for each in opened.calls.reviews()] == ["a.example"]
