"""An approval for everyone and for good is said by the entry of the policy that asks."""

from dataclasses import replace

import pytest

from agent.daemon.desk.written import Wish, outcome
from tests.daemon.policies import BOOKS, START, after, policy_of


@pytest.mark.parametrize("entry", ['"ask"', '{ disclose = "ask", sensitivity = 0.2 }'])
def test_an_entry_that_asks_is_opened_for_everyone_and_for_good(entry: str) -> None:
    """No rule for everyone is more specific than the entry, so the entry itself says it."""
    text = f"[attributes]\nsalary = {entry}  # mine\n"
    approved = Wish("a.example", "approve", ("salary",), everyone=True)
    opened = text.replace('"ask"', '"auto"')
    assert after(text, approved) == opened
    assert outcome(policy_of(opened), approved, START) == ("attributes.salary", (), ())
    denied = replace(approved, decided="deny")
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
