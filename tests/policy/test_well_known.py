"""Assistants that many people know, and the rule by which one is listed."""

import tomllib
from datetime import date
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.amend import with_assistant
from policy.hosts import host_of
from policy.match import Rulebook
from policy.read import preset, read
from policy.services import Assistant, own_address, well_known
from tests.decision.histories import Rules, policies

TODAY = date(2026, 3, 1)


def listed(text: str, today: date = TODAY) -> list[str]:
    """Return the origins of the assistants of a policy."""
    return [each for _, each in Rulebook(read(text, "p", preset), {}).assistants(today)]


def test_each_can_be_listed_as_it_stands() -> None:
    """By a rule for its recipient, whose own address it is; by name, each once."""
    names = [each.name for each in well_known()]
    assert names == sorted({*names}, key=str.casefold)
    text = 'preset = "balanced"\n'
    for each in well_known():
        assert own_address(each.address, host_of(each.recipient)) == each.address
        text = with_assistant(text, each.recipient, each.address)
    assert listed(text) == [each.address.rstrip("/") for each in well_known()]


@given(policies(["everyone", "me"]), st.sampled_from(well_known()), st.none() | st.just(TODAY))
def test_a_rule_lists_it_and_changes_nothing_else(
    rules: Rules, chosen: Assistant, until: date | None
) -> None:
    """What stood there stays, and the rule ends on its day."""
    address, recipient = chosen.address, chosen.recipient
    before = rules.policy.text
    after = with_assistant(before, recipient, address, until)
    old, new = tomllib.loads(before), tomllib.loads(after)
    rule = new["rule"].pop()
    assert new.get("rule", []) == old.get("rule", [])
    assert {**new, "rule": None} == {**old, "rule": None}
    assert (rule["recipient"], rule["address"], rule["assistant"]) == (recipient, address, True)
    assert listed(after) == [address.rstrip("/")]
    assert listed(after, date(2026, 3, 2)) == ([address.rstrip("/")] if until is None else [])


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://chat.evil.example/", "shop.example"),
        ("https://shop.example.evil.com/", "shop.example"),
        ("http://shop.example/", "shop.example"),
        ("https://shop.example/chat", "shop.example"),
        ("https://shop.example/?x", "shop.example"),
        ("https://user@shop.example/", "shop.example"),
        ("https://shop.example:99999/", "shop.example"),
        ("javascript:alert(1)", "shop.example"),
        ("https://a.github.io/", "github.io"),
        ("", "shop.example"),
    ],
)
def test_no_other_address_is_listed(address: str, host: str) -> None:
    """Than that of a whole site of the recipient's own, which nobody else reads."""
    with pytest.raises(UsageError):
        own_address(address, host)


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_an_error(text: str) -> None:
    """And an address leads to no other host than it says."""
    try:
        address = own_address(text, "shop.example")
    except UsageError:
        return
    assert urlsplit(address).hostname == "shop.example" or (
        urlsplit(address).hostname or ""
    ).endswith(".shop.example")
