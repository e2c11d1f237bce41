"""Changes of a policy: what was asked for and nothing else, the rest as it was written."""

import json
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.daemon.instructions import overriding_rules
from agent.errors import UsageError
from policy import amend
from policy.conditions import holds, request_of
from policy.hosts import HostPattern, host_of
from policy.match import Rulebook, Ruling, known
from policy.read import LARGEST, preset, read
from policy.rules import Layer, Policy, is_group
from policy.settings import SETTINGS, Value
from policy.toml_text import Key, lines_of, parsed, rewritten, same, statements
from tests.policy.strategies import DOMAINS, MEMBERS, NAMES, TODAY, changes, policies, scopes


@given(policies().flatmap(lambda policy: st.tuples(st.just(policy), scopes(policy))))
def test_a_rule_of_a_scope_is_found_and_holds_for_a_request_that_is_meant(
    drawn: tuple[Policy, amend.RuleScope],
) -> None:
    """It is one of the places of that scope, and its setting is one of those compared there."""
    before, where = drawn
    document = parsed(before.text)
    amend.add_rule(document, where.title or "all", {**where.parts(), "disclose": "ask"})
    name = document["rule"][-1]["name"]
    after = read(rewritten(before.text, document), "policy.toml", preset)
    (new,) = (each for each in after.rules if each.name == name)
    assert new in amend.places(where, after)
    for verdicts in asked(after, where).attributes.values():
        is_there = new in [claim.rule for claim in verdicts["disclose"].claims]
        assert is_there == is_for_somebody(after, where)
    for day in (TODAY, TODAY + timedelta(days=3)):
        assert new.is_over(day) == (where.expires is not None and where.expires < day)


@pytest.mark.parametrize("text", [*MEMBERS, *DOMAINS, "*", "[::1]", " LocalHost "])
def test_what_names_a_group_has_nothing_of_a_host(text: str) -> None:
    """A policy and a scope take the same for a group."""
    assert is_group(text) == (text in MEMBERS)
    if is_group(text):
        with pytest.raises(UsageError, match="unknown group"):
            amend.RuleScope(text).rule(Policy("none", ()))


@pytest.mark.parametrize("given", [("a b.example", None), (None, "Gender"), ("*", None)])
def test_what_cannot_be_meant_is_refused(given: tuple[str | None, str | None]) -> None:
    """A host, an attribute."""
    with pytest.raises(UsageError):
        amend.RuleScope(*given).rule(Policy("none", ()))


@given(changes())
def test_the_rest_keeps_every_character(
    change: tuple[Policy, amend.RuleScope, dict[str, Value], Policy],
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
    assert amend.with_settings(after.text, after, where, values) == after.text


@given(changes())
def test_taking_it_out_again_leaves_what_was_there(
    change: tuple[Policy, amend.RuleScope, dict[str, Value], Policy],
) -> None:
    """Where it was not set for exactly these before; a rule that sets nothing is none."""
    before, where, values, after = change
    assume(not any({*values} & {*rule.settings} for rule in amend.places(where, before)))
    text = amend.without_settings(after.text, after, where, [*values])
    assert rules(read(text, "policy.toml", preset)) == rules(before)
    assert parsed(text).get("attributes") != {}, "a table that was emptied goes too"
    assert comments(text) == comments(before.text)


def asked(policy: Policy, where: amend.RuleScope) -> Ruling:
    """What a policy rules on a request that a scope is for."""
    book = Rulebook(policy, where.names(known(*NAMES), policy))
    return book.match(*request_of(where.rule(policy), policy, TODAY))


def is_for_somebody(policy: Policy, where: amend.RuleScope) -> bool:
    """Whether it does not end before its first hour, nor is its recipient excepted."""
    rule = where.rule(policy)
    host, _, begins, _, door = request_of(rule, policy, TODAY)
    excepted = (each for each in rule.excepted if isinstance(each, HostPattern))
    return holds(rule, begins, door) and not any(each.matches(host_of(host)) for each in excepted)


def rules(policy: Policy) -> dict[Any, dict[str, Value]]:
    own = (rule for rule in policy.rules if rule.layer is Layer.FILE)
    return {rule.path: {**rule.settings} for rule in own if rule.settings}


def comments(text: str) -> list[str]:
    """Return the comments that the strategy wrote, in their order."""
    return [line.rpartition("  # ")[2] for line in text.splitlines() if "  # " in line]


@given(changes())
def test_what_is_set_holds_there_or_what_wins_is_named(
    change: tuple[Policy, amend.RuleScope, dict[str, Value], Policy],
) -> None:
    """As a rulebook says that is made anew; the rule that has it is among those compared."""
    _, where, values, after = change
    ((key, value),) = values.items()
    assume(is_for_somebody(after, where))
    named = overriding_rules(after, where, values, known(*NAMES), TODAY)
    ruling = asked(after, where)
    ours = [rule for rule in amend.places(where, after) if rule.settings.get(key) == value]
    assert ours
    about = ruling.attributes if SETTINGS[key].about == "attribute" else {"": ruling.settings}
    for name, verdicts in about.items():
        verdict = verdicts[key]
        assert {*ours} & {claim.rule for claim in verdict.claims}
        winners = [win for win in named if not win.names or name in win.names]
        guarded = [win.key for win in winners] == ["guard"]
        assert guarded or (verdict.value == value) == (not winners)
        assert guarded or all(
            (win.value, win.rule) == (verdict.value, verdict.rule.name) for win in winners
        )


WRITTEN = json.loads(Path(__file__).with_name("fragments.json").read_text(encoding="utf-8"))
FRAGMENTS, POLICY = WRITTEN["fragments"], WRITTEN["policy"]
ODD = st.text(max_size=8)
BLANKS = st.sampled_from(["\n", "\r\n"])


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12), BLANKS)
@example(["[[a]]", "[a.b]", "[[a]]", "[[a.b]]", "[[a.b]]", "a = 1"], "\n")
def test_a_path_stands_where_it_becomes_known(fragments: list[str], newline: str) -> None:
    """The paths are those that tomllib finds, each within the statement that brought it."""
    text, known, lines = "", dict[Key, range](), 1
    for fragment in fragments:
        longer = f"{text}{fragment}\n".replace("\r\n", "\n").replace("\n", newline)
        if not _accepted(longer):
            continue
        after = longer.count("\n") + 1
        for path in paths(tomllib.loads(longer)):
            known.setdefault(path, range(lines, after))
        text, lines = longer, after
    found = lines_of(text)
    values = [each.path for each in statements(text) if not each.is_header]
    inside = {path for path in known for value in values if value == path[: len(value)] != path}
    assert found.keys() == known.keys() - inside
    assert [path for path, line in found.items() if line not in known[path]] == []


def _accepted(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def paths(value: object, above: Key = ()) -> Iterator[Key]:
    """Yield the path of each key at every level, and of what in an array is or holds a table."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*above, key)
            yield from paths(inner, (*above, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            if isinstance(inner, dict | list):
                yield from ((*above, place), *paths(inner, (*above, place)))


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    text = ""
    for fragment in draw(st.lists(st.sampled_from((*POLICY, *FRAGMENTS[:4])), max_size=10)):
        text = longer if _accepted(longer := f"{text}{fragment}\n") else text
    wanted = deepcopy(tomllib.loads(text))
    rules_, attributes = wanted.get("rule", []), wanted.get("attributes", {})
    value = draw(st.sampled_from(["ask", 1, 1.0, True, TODAY, ["a", "'"], {"guard": 0.5}]))
    place = draw(st.integers(0, max(0, len(rules_) - 1)))
    match draw(st.sampled_from(["top", "attribute", "no attribute", "rule", "key", "no rule"])):
        case "top":
            wanted[draw(st.sampled_from(["preset", "é ü"]))] = value
        case "attribute":
            wanted["attributes"] = {**attributes, draw(st.sampled_from(["age", "dev_*"])): value}
        case "no attribute" if attributes:
            del attributes[draw(st.sampled_from(sorted(attributes)))]
        case "rule":
            wanted["rule"] = [*rules_, {"name": "new", "k": value}]
        case "key" if rules_:
            rules_[place]["k"] = value
        case "no rule" if rules_:
            rules_[place] = None
    return text, wanted


@given(edits())
def test_a_text_says_what_is_wanted_and_nothing_else(edit: tuple[str, dict[str, Any]]) -> None:
    """In whichever form it stood, with every comment on a line of its own, in its order."""
    text, wanted = edit
    result = rewritten(text, wanted)
    if "rule" in wanted:
        wanted["rule"] = [each for each in wanted["rule"] if each is not None]
    assert same(_filled(tomllib.loads(result)), _filled(wanted))
    own = [line for line in text.splitlines() if line.startswith("#")]
    assert [line for line in result.splitlines() if line.startswith("#")] == own
    assert rewritten(result, tomllib.loads(result)) == result
    assert rewritten(text, tomllib.loads(text)) == text


def _filled(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value not in ({}, [])}


@pytest.mark.parametrize(
    "text",
    [
        "[[rule]]\nname='a'\n" * (LARGEST // 18),
        'a = """' + '\\n""' * (LARGEST // 4) + 'x"""',
        "a = '''" + "''x\n" * (LARGEST // 4) + "'''",
        " # \n" * (LARGEST // 4),
        "a = " + "[" * 200 + "{b = 1}, " * (LARGEST // 9) + "]" * 200,
    ],
    ids=["rules", "basic", "literal", "comments", "deep"],
)
def test_the_largest_policy_is_scanned_in_linear_time(text: str) -> None:
    """What takes time by the square of the size would take minutes."""
    began = process_time()
    lines_of(text)
    assert process_time() - began < 20


@given(ODD, ODD, ODD)
def test_any_text_may_be_a_name_or_a_value(name: str, value: str, setting: str) -> None:
    """Quotes, dots, control characters, nothing: what is written is read back."""
    wanted = {
        f"attributes.{setting}": value,
        "attributes": {name: {"disclose": value, setting: 1.0}, f"{name}.": value},
        "rule": [{"name": name, "query": [value, name]}],
    }
    assert tomllib.loads(rewritten("", wanted)) == wanted


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        # The first setting stands above all else.
        ("", "k = 5\n"),
        ("# mine\n[groups]", "k = 5\n\n# mine\n[groups]\n"),
        # An attribute stands in the table that there is, or in a new one.
        ("k = 5\n[[rule]]\n", 'k = 5\n[[rule]]\n\n[attributes]\nage = "ask"\n'),
        ("attributes.b = 'ask'", "attributes.b = 'ask'\nattributes.age = \"ask\"\n"),
        ("[attributes]\n\n[groups]", '[attributes]\nage = "ask"\n\n[groups]\n'),
        # What stands in a value is written anew with it.
        ("attributes = {} # none", 'attributes = { age = "ask" } # none\n'),
        ("attributes = {x=1, age = 'ask'}", "attributes = { x = 1 }\n"),
        ("rule = [{k = 1}, {k = 2}]", "rule = [{ k = 2 }]\n"),
        # A comment on a line of its own stays, one beside a value too.
        ("k = 4  # mine\n# no\n", "k = 5  # mine\n# no\n"),
        ("# one\n[[rule]]\n# two\nk = 1\n# end\n", "# one\n# two\n# end\n"),
    ],
)
def test_where_a_line_or_an_entry_stands(text: str, changed: str) -> None:
    """What is there stays as it is written, comments included."""
    wanted = tomllib.loads(changed)
    if text.count("k = 1") > changed.count("k = 1"):  # the first rule goes
        wanted["rule"] = [None, *wanted.get("rule", [])]
    assert rewritten(text, wanted) == changed


def test_a_text_that_is_not_toml_is_not_changed() -> None:
    """Nor one whose change would say anything else, whatever the reason."""
    for text in ("k = = 1", "k = 1\nk = 1", "k = " + "[" * 5000):
        with pytest.raises(UsageError, match="not TOML"):
            rewritten(text, {"k": 2})


@pytest.mark.parametrize("result", ["k = 1\n", "k = 1\n="])
def test_a_result_that_says_something_else_is_not_returned(
    monkeypatch: pytest.MonkeyPatch, result: str
) -> None:
    """Whatever the reason."""
    monkeypatch.setattr("policy.toml_text._changed", lambda *_: result)
    with pytest.raises(UsageError, match="safely"):
        rewritten("k = 1\n", {"k": 2})


@pytest.mark.parametrize(
    ("one", "other"), [(1, 1.0), (1, True), (0.0, -0.0), ([1], [1, 1]), ({"a": 1}, {"b": 1})]
)
def test_values_are_compared_with_their_types(one: object, other: object) -> None:
    """Python's own comparison would let a changed type through."""
    assert same(one, deepcopy(one))
    assert not same(one, other)
    assert same(float("nan"), float("nan"))


def test_a_rule_that_is_for_nobody_is_compared_with_none() -> None:
    """Its recipient is excepted; what no rule sets then, nobody decides."""
    before = read('preset = "none"\n', "policy.toml", preset)
    where = amend.RuleScope("shop.example", more={"except": "shop.example"})
    text = amend.with_settings(before.text, before, where, {"own": "never"})
    after = read(text, "policy.toml", preset)
    assert overriding_rules(after, where, {"own": "never"}, known(*NAMES), TODAY) == []
