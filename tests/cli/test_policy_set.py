"""`reticent policy set` and `unset`: what is set is what holds there, and the rest stays."""

import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.cli.policy_scope import Scope, places, scope
from agent.cli.policy_setting import with_settings, without_settings
from agent.cli.policy_wins import wins
from agent.errors import PolicyError
from policy.load import preset
from policy.match import Rulebook
from policy.read import read
from policy.rules import Layer, Policy
from policy.settings import SETTINGS, Value
from tests.cli.conftest import Run
from tests.cli.policies import RIGHT, WRONG
from tests.policy.strategies import (
    DOMAINS,
    NAMES,
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
def scopes(draw: st.DrawFn, policy: Policy) -> Scope:
    """Draw for which requests something is set, often for all."""
    recipient = draw(st.none() | st.sampled_from([*policy.groups, *DOMAINS]))
    attribute = draw(st.none() | st.sampled_from(PATTERNS))
    query = draw(st.none() | st.none() | st.sampled_from(WORDS))
    return scope(recipient, attribute, query, draw(st.none() | st.none() | DAYS))


@st.composite
def changes(draw: st.DrawFn) -> tuple[Policy, Scope, dict[str, Value], Policy]:
    """Draw a policy, a scope, a setting that may stand there, and the policy that has it."""
    before = draw(policies())
    where = draw(scopes(before))
    may = PER_ATTRIBUTE if where.attribute is not None else VALUES
    keys = [key for key in may if where.query is None or SETTINGS[key].about != "recipient"]
    key = draw(st.sampled_from(keys))
    values = {key: draw(VALUES[key])}
    try:
        after = read(with_settings(before.text, before, where, values), "policy.toml", preset)
    except PolicyError:  # two rules that might meet, and set what has no order
        assume(SETTINGS[key].rank is not None)
        raise
    return before, where, values, after


@given(changes())
def test_what_is_set_holds_there_or_what_wins_is_named(
    change: tuple[Policy, Scope, dict[str, Value], Policy],
) -> None:
    """As a rulebook says that is made anew; the rule that has it is among those compared."""
    _, where, values, after = change
    ((key, value),) = values.items()
    named = wins(after, where, values, NAMES, TODAY)
    ruling = Rulebook(after, where.names(NAMES)).match(where.host(after), where.words(), TODAY)
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


@pytest.fixture
def file(folder: Path) -> Path:
    """A policy to change, in the folder that the command runs in."""
    return folder / "policy.toml"


OWN = ("--policy", "policy.toml")


def test_the_examples(run: Run, file: Path, village: Path) -> None:
    """At the top, of an attribute, in a rule that is there, and in a new one."""
    every = (*OWN, "--model", village)
    assert run("policy", "set", "lambda=7", *every).out.splitlines() == [
        "Written: lambda = 7 in the top of the file, policy.toml:2."
    ]
    run("policy", "set", "sensitivity=0.5", "--attribute", "region", *every)
    said = run("policy", "set", "lambda=9", "k=4", "--recipient", "Books.example", *every)
    assert said.out.startswith("Written: lambda = 9 in books, policy.toml:18.\n")
    new = ("--recipient", "adverts", "--query", "Shoes", "--expires", "9999-12-31")
    run("policy", "set", "disclose=never", *new, *every)
    document = tomllib.loads(file.read_text())
    assert document["lambda"] == 7
    assert document["attributes"]["region"] == {"disclose": "auto", "sensitivity": 0.5}
    assert (document["rule"][0]["lambda"], document["rule"][0]["k"]) == (9, 4)
    assert document["rule"][-1]["name"] == "for adverts with shoes until 9999-12-31"
    run("policy", "unset", "disclose", *new, *every)
    assert len(tomllib.loads(file.read_text())["rule"]) == len(tomllib.loads(RIGHT)["rule"])
    shown = run("policy", "show", "--recipient", "books.example", *every, "--json").record
    assert shown["settings"]["lambda"]["value"] == 9


def test_what_still_wins_is_said(run: Run, file: Path, village: Path) -> None:
    """A guard, a stricter entry; as an object as well. The daemon's own policy by default."""
    said = " ".join(run("policy", "set", "disclose=always", "--model", village).out.split())
    assert said.count("This still wins: ") == 3
    assert "This still wins: disclose ask of hobby, from attributes.hobby, " in said
    assert "This still wins: guard 1 of shoe_size, from attributes.shoe_size, " in said
    set_again = ("policy", "set", "disclose=always", "--model", village, "--json")
    found = run(*set_again).record
    assert found["changed"] is False
    assert [(win["key"], win["attributes"]) for win in found["wins"]] == [
        ("disclose", ["region"]),
        ("disclose", ["hobby"]),
        ("guard", ["shoe_size"]),
    ]
    assert file.read_text() == RIGHT
    assert run("policy", "unset", "disclose", "--json").record["settings"] == [
        {"key": "disclose", "value": None, "in": None}
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["lamda=4"], "unknown setting 'lamda'", "did you mean 'lambda'?"),
        (["lambda"], "'lambda' is not a pair", "write NAME=VALUE"),
        (["k=2.5"], "k: 2.5 is not a whole number from 1", "k is a whole number from 1"),
        (["lambda=nan"], "lambda: nan is not a number from 0", "lambda is a number from 0"),
        (["k=1\nrisk=1"], "k: '1\\nrisk=1' is not a whole number from 1", None),
        (["mode=fast"], "mode: 'fast' is not one of dynamic, standing", "write one of them"),
        (["nothing=yes"], "nothing: 'yes' is not true or false", None),
        (["k=3", "k=4"], "KEY=VALUE gives k two values, 3 and 4", "give k once"),
        (["k=3", "--recipient", "advert"], "unknown group 'advert'", "did you mean 'adverts'?"),
        (["k=3", "--expires", "soon"], "'soon' is no date", "write it as 2027-03-01"),
        (["k=3", "--expires", "2020-01-01"], "2020-01-01 is over, so this would never hold", None),
    ],
)
def test_bad_input_is_refused(
    run: Run, file: Path, arguments: list[str], error: str, hint: str | None
) -> None:
    """With what is meant, and nothing is written."""
    said = run("policy", "set", *arguments, *OWN).refusal()
    assert said[0] == error.replace("\n", "\N{REPLACEMENT CHARACTER}")
    assert hint is None or said[1] == hint
    assert file.read_text() == RIGHT


def test_a_change_that_is_no_policy_shows_all_problems(run: Run, file: Path) -> None:
    """Also of a file that had mistakes before; it is left as it is."""
    said = run("policy", "set", "k=5", "memory=forgets", "--attribute", "region", *OWN)
    assert (said.code, said.out) == (1, "")
    note, *errors = said.err.splitlines()
    assert note == "reticent: note: this is what the policy would be, and nothing was written"
    assert [line.split(": ")[3] for line in errors[::2]] == ["rule[4].k", "rule[4].memory"]
    assert file.read_text() == RIGHT
    wrong = run("policy", "set", "k=5", "--policy", "wrong.toml")
    assert (wrong.code, wrong.err.count("reticent: error: ")) == (1, 4)
    assert (file.parent / "wrong.toml").read_text() == WRONG


def test_what_is_not_set_there_cannot_be_taken_out(run: Run, file: Path) -> None:
    """Nor what is no setting."""
    what, _ = run("policy", "unset", "k", "--recipient", "books.example", *OWN).refusal()
    assert what == "the policy file does not set 'k' for exactly this"
    assert run("policy", "unset", "regoin", *OWN).refusal()[0] == "unknown setting 'regoin'"
    assert run("policy", "unset", "preset", *OWN).refusal()[0].startswith("'preset' is no setting")
    assert file.read_text() == RIGHT
