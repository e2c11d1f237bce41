"""The latest requests: those of the ledger and those that carried nothing, in their order."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import LockedError, UsageError, VaultError
from agent.wire.base import LATEST_ENTRIES
from agent.wire.decide import Ask
from tests.daemon.doubles import Heard
from tests.daemon.happening import DEEDS, Deed, Life
from tests.daemon.people import SHOP


@given(DEEDS, st.booleans(), st.integers(1, 5))
def test_each_is_there_once_in_its_order(deeds: list[Deed], backwards: bool, limit: int) -> None:
    """Under the number that was told of it, whatever the clock does; the oldest is cut off.

    What happened while the vault was locked left nothing, nor did what carried nothing before.
    """
    life = Life(backwards=backwards)
    for deed in deeds:
        life.do(deed)
    found = life.calls.requests(limit=1000)
    assert [each.number for each in found] == life.numbers
    assert life.calls.requests(limit=limit) == found[-limit:]
    times = [each.at for each in found if each.number > 0 or not backwards]
    assert times == sorted(times)
    for each in found:
        assert (each.number < 0) == (each.kind == "nothing")
        assert each.waiting == life.waited.get(each.number, 0)


@given(DEEDS)
def test_it_says_what_the_ledger_says_and_no_value(deeds: list[Deed]) -> None:
    """Of what carried something; of the rest, what was asked, and why it got nothing."""
    life = Life()
    for deed in deeds:
        life.do(deed)
    found = life.calls.requests(limit=1000)
    for each, entry in zip(
        [each for each in found if each.number > 0], life.calls.ledger(limit=1000), strict=True
    ):
        assert (each.number, each.kind, each.at) == (entry.number, entry.kind, entry.at)
        assert (each.recipient, each.query, each.asked) == (
            entry.recipient,
            entry.query,
            entry.asked,
        )
        assert each.disclosed == [*entry.disclosed]
        assert (each.utility_bits, each.people_left) == (entry.utility_bits, entry.people_left)
    for each in found:
        assert each.pool == life.agent.rules.in_force.pool_of(each.recipient)
        if each.kind == "nothing":
            assert not each.disclosed
            assert (each.code == "blocked") == (each.recipient == "books.example")
            assert (each.utility_bits, each.people_left) == (None, None)
    for host in ("www.shop.example", "ads.test", "@adverts"):
        pool = life.agent.rules.in_force.pool(host)
        mine = [each for each in found if each.pool == pool]
        assert life.calls.requests(recipient=host) == mine
        assert life.calls.requests(recipient=host, limit=1) == mine[-1:]


def test_nothing_is_remembered_once_it_is_locked() -> None:
    """Not even in what only a defect would show."""
    life = Life()
    life.ask("books.example", "a query of mine")
    assert [each.ask.query for each in life.agent.unrecorded] == ["a query of mine"]
    life.agent.lock()
    assert [*life.agent.unrecorded] == []
    with pytest.raises(LockedError):
        life.calls.requests()
    assert life.calls.decide(SHOP).code == "locked"
    assert [*life.agent.unrecorded] == []
    assert isinstance(life.agent.bus, Heard)
    assert life.agent.bus.kinds == ["nothing", "lock"]


def test_what_cannot_be_recorded_carried_nothing() -> None:
    """The disk is full: that is said of the request too, and of no other."""
    life = Life()
    life.vault.records.full = True
    with pytest.raises(VaultError):
        life.calls.decide(SHOP)
    life.vault.records.full = False
    life.calls.decide(SHOP)
    assert [(each.kind, each.code) for each in life.calls.requests()] == [
        ("nothing", "failed"),
        ("disclosed", "answered"),
    ]


def test_without_a_policy_each_request_carries_nothing() -> None:
    """What names no host is none; and what has no group of a name cannot be asked about."""
    life = Life(None)
    life.calls.decide(Ask(query="q", recipient="HTTPS://Shop.Example/x", asked=["age"]))
    life.calls.decide(Ask(query="q", recipient="no host at all"))
    [found] = life.calls.requests()
    assert (found.recipient, found.pool, found.code) == ("shop.example",) * 2 + ("no policy",)
    assert found.asked == ["age"]
    with pytest.raises(UsageError):
        life.calls.requests(recipient="@nobody")


def test_a_hundred_are_enough_where_nobody_says_how_many() -> None:
    """As of the ledger."""
    life = Life()
    for _ in range(LATEST_ENTRIES + 1):
        life.ask("books.example", "q")
    assert len(life.calls.requests()) == LATEST_ENTRIES


def test_an_hour_back_changes_no_order() -> None:
    """As where a clock is set, between requests that carry something and others."""
    life = Life()
    for host, hours in (("shop.example", 2), ("books.example", -3), ("www.shop.example", 1)):
        life.now += timedelta(hours=hours)
        life.ask(host, SHOP.query)
    assert [each.recipient for each in life.calls.requests()] == [
        "shop.example",
        "books.example",
        "www.shop.example",
    ]
