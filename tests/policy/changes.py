"""Policies with a comment on each line, requests that a setting is for, and settings put there."""

from datetime import timedelta

from hypothesis import strategies as st

from policy.amend import RuleScope, scope, with_settings
from policy.read import preset, read
from policy.rules import Policy
from policy.settings import SETTINGS, Value
from tests.policy.strategies import (
    DOMAINS,
    OF_RECIPIENTS,
    ORDERED,
    PATTERNS,
    PER_ATTRIBUTE,
    TODAY,
    UNORDERED,
    WORDS,
    documents,
    rendered,
)

DAYS = st.integers(0, 2).map(lambda days: TODAY + timedelta(days=days))
VALUES = {**PER_ATTRIBUTE, **ORDERED, **OF_RECIPIENTS, **UNORDERED}


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Draw a valid policy with a comment of its own on each line."""
    lines = rendered(draw(documents())).splitlines()
    text = "".join(f"{line}  # {number:03}\n" for number, line in enumerate(lines))
    return read(text, "policy.toml", preset)


@st.composite
def scopes(draw: st.DrawFn, policy: Policy) -> RuleScope:
    """Draw for which requests something is set, often for all."""
    recipient = draw(st.none() | st.sampled_from([*policy.groups, *DOMAINS]))
    attribute = draw(st.none() | st.sampled_from(PATTERNS))
    query = draw(st.none() | st.none() | st.sampled_from(WORDS))
    return scope(recipient, attribute, query, draw(st.none() | st.none() | DAYS))


@st.composite
def changes(draw: st.DrawFn) -> tuple[Policy, RuleScope, dict[str, Value], Policy]:
    """Draw a policy, a scope, a setting that may stand there, and the policy that has it."""
    before = draw(policies())
    where = draw(scopes(before))
    may = PER_ATTRIBUTE if where.attribute is not None else VALUES
    keys = [key for key in may if where.query is None or SETTINGS[key].about != "recipient"]
    key = draw(st.sampled_from(keys))
    values = {key: draw(VALUES[key])}
    after = read(with_settings(before.text, before, where, values), "policy.toml", preset)
    return before, where, values, after
