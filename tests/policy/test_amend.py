"""Settings for exactly some requests: written, taken out, and what overrides them is named."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.amend import (
    RuleScope,
    check_group,
    free_name,
    overriding_rules,
    places,
    scope,
    with_settings,
    without_settings,
)
from policy.match import Rulebook, known
from policy.read import preset, read
from policy.rules import Layer, Policy, is_group
from policy.settings import SETTINGS, Value
from policy.toml_text import parsed, rewritten
from tests.policy.strategies import DOMAINS, MEMBERS, NAMES, TODAY, changes, policies, scopes


@given(policies().flatmap(lambda policy: st.tuples(st.just(policy), scopes(policy))))
def test_a_rule_of_a_scope_is_found_and_holds_for_a_request_that_is_meant(
    drawn: tuple[Policy, RuleScope],
) -> None:
    """It is one of the places of that scope, and its setting is one of those compared there."""
    before, where = drawn
    document = parsed(before.text)
    name = free_name(document, where.title or "all")
    rules_ = document.setdefault("rule", [])
    rules_.append({"name": name, **where.parts(), "disclose": "ask"})
    after = read(rewritten(before.text, document), "policy.toml", preset)
    (new,) = (each for each in after.rules if each.name == name)
    assert new in places(where, after)
    names = where.names(known(*NAMES))
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


@given(changes())
def test_the_rest_keeps_every_character(
    change: tuple[Policy, RuleScope, dict[str, Value], Policy],
) -> None:
    """All lines but one that has the setting, all comments, and all other rules."""
    before, where, values, after = change
    lines = after.text.splitlines()
    kept = [line for line in before.text.splitlines() if line in lines]
    assert [line for line in lines if line in kept] == kept
    assert len(before.text.splitlines()) - len(kept) <= 1
    assert comments(after.text) == comments(before.text)
    old, new = rules(before), rules(after)
    changed = [path for path in new if new[path] != old.get(path)]
    assert len(changed) <= 1
    assert old.keys() <= new.keys()
    for path in changed:
        assert new[path] == old.get(path, {}) | values
    assert with_settings(after.text, after, where, values) == after.text


@given(changes())
def test_taking_it_out_again_leaves_what_was_there(
    change: tuple[Policy, RuleScope, dict[str, Value], Policy],
) -> None:
    """Where it was not set for exactly these before; a rule that sets nothing is none."""
    before, where, values, after = change
    assume(not any({*values} & {*rule.settings} for rule in places(where, before)))
    text = without_settings(after.text, after, where, [*values])
    assert rules(read(text, "policy.toml", preset)) == rules(before)
    assert comments(text) == comments(before.text)


def rules(policy: Policy) -> dict[Any, dict[str, Value]]:
    """Return what each rule of the file sets."""
    own = (rule for rule in policy.rules if rule.layer is Layer.FILE)
    return {rule.path: {**rule.settings} for rule in own if rule.settings}


def comments(text: str) -> list[str]:
    """Return the comments that the strategy wrote, in their order."""
    return [line.rpartition("  # ")[2] for line in text.splitlines() if "  # " in line]


@given(changes())
def test_what_is_set_holds_there_or_what_wins_is_named(
    change: tuple[Policy, RuleScope, dict[str, Value], Policy],
) -> None:
    """As a rulebook says that is made anew; the rule that has it is among those compared."""
    _, where, values, after = change
    ((key, value),) = values.items()
    named = overriding_rules(after, where, values, known(*NAMES), TODAY)
    names = where.names(known(*NAMES))
    ruling = Rulebook(after, names).match(where.host(after), where.words(), TODAY)
    ours = [rule for rule in places(where, after) if rule.settings.get(key) == value]
    assert ours
    about = ruling.attributes if SETTINGS[key].about == "attribute" else {"": ruling.settings}
    for name, verdicts in about.items():
        verdict = verdicts[key]
        assert {*ours} & {verdict.rule, *verdict.lost}
        winners = [win for win in named if win.names == () or name in win.names]
        guarded = [win.key for win in winners] == ["guard"]
        assert guarded or (verdict.value == value) == (not winners)
        assert guarded or all((win.value, win.rule) == verdict[:2] for win in winners)
