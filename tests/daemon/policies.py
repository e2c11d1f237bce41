"""Policies with verdicts written into them."""

from datetime import date

from agent.daemon.consent.managed_rules import with_instruction
from agent.daemon.consent.preferences import Instruction
from policy.read import preset, read
from policy.rules import Policy

START = date(2026, 3, 2)
BOOKS = Instruction("books.example", "approve", ("salary",))
PLAIN = 'disclose = "ask"\n'


def policy_of(text: str) -> Policy:
    """Return what a text says."""
    return read(text, "policy.toml", preset)


def after(text: str, *wanted: Instruction) -> str:
    """Return a policy with verdicts, all of one day."""
    for each in wanted:
        text = with_instruction(text, policy_of(text), each, START)
    return text
