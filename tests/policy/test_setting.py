"""Settings put into a policy and taken out again: all else keeps every character."""

from typing import Any

from hypothesis import assume, given

from policy.read import preset, read
from policy.rules import Layer, Policy
from policy.scope import Scope, places, with_settings, without_settings
from policy.settings import Value
from tests.policy.changes import changes


@given(changes())
def test_the_rest_keeps_every_character(
    change: tuple[Policy, Scope, dict[str, Value], Policy],
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
    change: tuple[Policy, Scope, dict[str, Value], Policy],
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
