"""For which requests a setting is: a rule of a scope is known again, and holds for them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.edit import free_name, with_rule
from policy.match import Rulebook
from policy.read import preset, read
from policy.rules import Policy, is_group
from policy.scope import Scope, check_group, places, scope
from tests.policy.changes import policies, scopes
from tests.policy.strategies import DOMAINS, MEMBERS, NAMES, TODAY


@given(policies().flatmap(lambda policy: st.tuples(st.just(policy), scopes(policy))))
def test_a_rule_of_a_scope_is_found_and_holds_for_a_request_that_is_meant(
    drawn: tuple[Policy, Scope],
) -> None:
    """It is one of the places of that scope, and its setting is one of those compared there."""
    before, where = drawn
    name = free_name(before.text, where.title or "all")
    rule = {"name": name, **where.parts(), "disclose": "ask"}
    after = read(with_rule(before.text, rule), "policy.toml", preset)
    (new,) = (each for each in after.rules if each.name == name)
    assert new in places(where, after)
    names = where.names(NAMES)
    ruling = Rulebook(after, names).match(where.host(after), where.words(), TODAY)
    for verdicts in ruling.attributes.values():
        assert new in (verdicts["disclose"].rule, *verdicts["disclose"].lost)
    for day in (TODAY, TODAY + timedelta(days=3)):
        assert new.is_over(day) == (where.expires is not None and where.expires < day)


@pytest.mark.parametrize("text", [*MEMBERS, *DOMAINS, "*", "[::1]", " LocalHost "])
def test_what_names_a_group_has_nothing_of_a_host(text: str) -> None:
    """A policy and a scope take the same for a group."""
    assert is_group(text) == (text in MEMBERS)
    if is_group(text):
        assert scope(text, None, None, None).recipient == text
        with pytest.raises(UsageError, match="unknown group"):
            check_group(scope(text, None, None, None), Policy("none", ()))


@pytest.mark.parametrize("given", [("a b.example", None), (None, "Gender"), ("*", None)])
def test_what_cannot_be_meant_is_refused(given: tuple[str | None, str | None]) -> None:
    """A host, an attribute."""
    with pytest.raises(UsageError):
        scope(*given, None, None)
