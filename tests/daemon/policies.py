"""Policies with verdicts written into them."""

from datetime import date

from agent.daemon.consent.managed_rules import Wish, changed
from policy.read import preset, read
from policy.rules import Policy

START = date(2026, 3, 2)
BOOKS = Wish("books.example", "approve", ("salary",))
PLAIN = 'disclose = "ask"\n'


def policy_of(text: str) -> Policy:
    """Return what a text says."""
    return read(text, "policy.toml", preset)


def after(text: str, *wishes: Wish) -> str:
    """Return a policy with verdicts, all of one day."""
    for wish in wishes:
        text = changed(text, policy_of(text), wish, START)
    return text
