"""An approval for everyone and for good is said by the entry of the policy that asks."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.consent.managed_rules import Wish, outcome
from agent.wire.policy import Disclose
from policy.match import Rulebook
from tests.daemon.policies import BOOKS, START, after, policy_of

BASES = (
    'disclose = "ask"\n',
    'preset = "strict"\n[attributes]\nsalary = "never"\n"g*" = "ask"\n',
    'disclose = "ask"\n[groups]\nshops = ["s1.example", "a.example"]\n',
)


@pytest.mark.parametrize("entry", ['"ask"', '{ disclose = "ask", sensitivity = 0.2 }'])
def test_an_entry_that_asks_is_opened_for_everyone_and_for_good(entry: str) -> None:
    """No rule for everyone is more specific than the entry, so the entry itself says it."""
    text = f"[attributes]\nsalary = {entry}  # mine\n"
    approved = Wish("a.example", "approve", ("salary",), everyone=True)
    opened = text.replace('"ask"', '"auto"')
    assert after(text, approved) == opened
    assert outcome(policy_of(opened), approved, START) == ("attributes.salary", (), ())
    denied = replace(approved, said="deny")
    closed = after(opened, denied)
    assert closed.startswith(opened)
    assert outcome(policy_of(closed), denied, START).without_effect == ()
    assert after(closed, approved) == opened


def test_an_entry_that_asks_is_not_opened_for_some_days() -> None:
    """It has no end, and a rule that has one does not beat it: that is said."""
    text = '[attributes]\nsalary = "ask"\n'
    wish = Wish("a.example", "approve", ("salary",), everyone=True, until=START)
    written = outcome(policy_of(after(text, wish)), wish, START)
    assert written.without_effect == ("salary",)


def test_what_was_closed_by_hand_since_is_not_opened() -> None:
    """The answer to a question of yesterday does not overrule the file of today."""
    text = '[attributes]\nsalary = "never"\n'
    assert after(text, BOOKS) == text
    written = outcome(policy_of(text), BOOKS, START)
    assert written == (None, ("salary",), ("attributes.salary",))


@pytest.mark.parametrize("disclose", get_args(Disclose))
@pytest.mark.parametrize(
    "entry", ['"ask"', '"never"', '{ disclose = "always", sensitivity = 1.0 }']
)
def test_an_override_for_everyone_and_for_good_is_the_entry(disclose: Disclose, entry: str) -> None:
    """Whatever it said, and nothing beside it changes."""
    text = f"[attributes]\nsalary = {entry}  # mine\n"
    wish = Wish("a.example", disclose, ("salary",), everyone=True)
    old = entry.split('"')[1]
    assert after(text, wish) == text.replace(f'"{old}"', f'"{disclose}"')


@pytest.mark.parametrize("base", BASES)
@given(
    wishes=st.lists(
        st.builds(
            Wish,
            st.sampled_from(("a.example", "www.a.example", "s1.example")),
            st.sampled_from([*get_args(Disclose), "approve", "deny"]),
            st.just(("salary", "gender")) | st.just(("salary",)),
            everyone=st.booleans(),
            until=st.sampled_from([None, None, START]),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_the_last_override_is_what_the_policy_rules(base: str, wishes: list[Wish]) -> None:
    """Of all that it is about, unless a rule is named that wins; and it is ours to change again."""
    text = base
    for wish in wishes:
        text = after(text, wish)
    last = wishes[-1]
    if last.said in ("approve", "deny"):
        return
    written = outcome(policy_of(text), last, START)
    found = Rulebook(policy_of(text), last.names).match(last.host, "", START).attributes
    for name in last.names:
        assert (found[name]["disclose"].value == last.said) == (name not in written.without_effect)
    assert last.everyone or not written.without_effect
    assert written.without_effect or written.rule is not None
