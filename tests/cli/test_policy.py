"""`reticent policy`: what is wrong, what holds, what is written, and what would differ."""

import json
from datetime import date
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent
from agent.cli.policy_add import conditions, effect
from agent.daemon.policy_file import check_rules
from agent.decision.topics import attributes_of
from agent.model.attributes import PRICES
from agent.model.file import read, shipped_models
from agent.model.world import world_of
from agent.paths import paths
from agent.wire.base import RecipientName
from agent.wire.policy import Edited
from agent.words.figures import SENSITIVITIES
from policy.amend import RuleScope, places, with_settings
from policy.conditions import request_of
from policy.match import PER_ATTRIBUTE, Rulebook
from policy.read import preset
from policy.read import read as read_text
from policy.settings import LEVELS
from tests.cli.conftest import Run
from tests.cli.examples import RIGHT
from tests.house.tree import ROOT
from tests.wire.fake import FakeDaemon, says


def test_the_shipped_policies_are_without_notes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the shipped model, as long as the examples last."""
    monkeypatch.chdir(ROOT / "examples/policies")
    names = sorted(path.name for path in Path().glob("*.toml"))
    said = run("policy", "check", *names)
    assert (said.code, said.err) == (0, "")
    some = [each for each in said.out.splitlines() if "it also holds for what tells" not in each]
    assert [line.split(": ")[0] for line in some] == sorted([*names, *names])  # and its limits


def test_what_is_no_policy_steers_nothing(run: Run, folder: Path) -> None:
    """Nor is one of bytes, or a folder; the others are checked all the same."""
    (folder / "odd.toml").write_text('"\\u001b[2Jx\\u0007" = 3\n')
    (folder / "binary.toml").write_bytes(bytes(range(256)))
    (folder / "idle.toml").write_text('[[together]]\nfacts = ["regoin", "sex"]\nprice = 1\n')
    for name, code, what in (
        ("idle.toml", 1, "no model has a fact 'regoin'"),
        ("odd.toml", 1, "unknown key"),
        ("binary.toml", 2, "is not UTF-8 text, line 2"),
        (".", 2, "cannot be read: is a directory"),
    ):
        ran = run("policy", "show", "--policy", name)
        assert (ran.code, ran.out, what in ran.err) == (code, "", True)
        checked = run("policy", "check", name, "wrong.toml")
        assert (checked.code, what in checked.out) == (code, True)
        assert "wrong.toml:1: preset: " in checked.out
        assert (ran.err + checked.out).replace("\n", "").isprintable()


def test_topics_of_the_models_are_named_and_others_noted(run: Run, folder: Path) -> None:
    """By what a request is read as; a name that is nearly one counts as that."""
    (folder / "topics.toml").write_text('[queries]\nblock_topics = ["Finding job", "bees"]\n')
    checked = run("policy", "check", "topics.toml").out
    assert "topics.toml:2: note: queries.block_topics: the model has no topic 'bees'" in checked
    assert "(did you mean 'finding a job'? until you correct it, that is meant)" in checked
    for query, nothing in (("nursing jobs without night shifts", True), ("which editor", False)):
        request = ("--recipient", "a.example", "--query", query, "--policy", "topics.toml")
        shown = run("policy", "show", *request).out
        assert ("Nothing is sent to a.example: " in shown) == nothing
        decided = run("model", "decide", *request, "--json").out
        assert ('"code": "blocked"' in decided) == nothing
    tests = ("finding a job", "work", "choosing a laptop")
    each = "".join(f'[[test]]\ntopic = "{topic}"\nnothing = true\n' for topic in tests)
    (folder / "topics.toml").write_text(f'[queries]\nblock_topics = ["work"]\n{each}')
    [checked] = json.loads(run("policy", "check", "topics.toml", "--json").out)["files"]
    [failed] = checked["failed_tests"]
    assert (failed["line"], "about choosing a laptop" in failed["what"]) == (11, True)


@pytest.mark.usefixtures("folder")
def test_a_policy_that_others_can_write_is_as_bad_as_for_the_daemon(run: Run) -> None:
    """One's own; what is named may be anybody's."""
    paths().policy.chmod(0o666)
    for command in (("check",), ("show", "--policy", paths().policy)):
        said = run("policy", *command)
        assert said.code == 2
        assert f"{paths().policy}: other users can write to this file" in said.out + said.err
    Path("named.toml").write_text("anonymity_price = 0.001\n")
    Path("named.toml").chmod(0o666)
    assert run("policy", "check", "named.toml").code == 0


TEXT = 'preset = "strict"\n'


def test_a_population_is_one_that_there_is(run: Run, fake: FakeDaemon) -> None:
    """Else all that it rules would get nothing; and the daemon writes it where it runs."""
    paths().policy.parent.mkdir(parents=True)
    paths().policy.write_text(TEXT)
    what, hint = run("policy", "set", "population=de").refusal()
    assert (what, "everyday" in hint) == ("unknown model 'de'", True)
    assert paths().policy.read_text() == TEXT
    paths().policy.write_text(f'{TEXT}population = "so201"\n')
    checked = run("policy", "check")
    assert "unknown model 'so201' (did you mean 'so2017'" in checked.out
    assert checked.code != 0
    assert run("model", "decide", "--query", "x", "--set", "population=de").code != 0
    fake.handlers["edit_policy"] = says(Edited(changed=True, wins=[]))
    assert run("policy", "set", "population=so2017").code == 0
    assert [route for route, _ in fake.calls] == ["edit_policy"]


@pytest.mark.usefixtures("folder")
def test_an_explanation_has_these_keys(run: Run) -> None:
    """Others read it, so that a key may be added, and none may change or go."""
    which = ("--policy", "policy.toml", "--model", "village", "--json")
    show = ("policy", "show", "--query", "my debt", "--recipient")
    record = run(*show, "ads.example", *which).record
    for group in ("adverts", "@adverts"):
        assert run(*show, group, *which).record == record
    keys = ("policy", "recipient", "pool", "query", "today", "settings", "attributes")
    assert {*keys} <= {*record}
    assert record["pool"] == "@adverts"
    nothing = record["settings"]["nothing"]
    origin = ("rule", "from", "source", "line")
    assert [nothing[key] for key in origin] == ["queries.block", "file", "policy.toml", 8]
    because = "queries.block (line 8); a block wins over rule 3 (line 27: true)"
    assert nothing["because"] == because
    assert [*record["attributes"]["hobby"]] == ["disclose", "sensitivity"]


def test_a_rule_holds_at_every_door_by_what_another_model_calls_the_fact(
    run: Run, tmp_path: Path
) -> None:
    """One on `gender`, by its name in so2017, is one on `sex` in everyday; and it is named."""
    policy = tmp_path / "policy.toml"
    policy.write_text('[attributes]\ngender = "never"\n')
    asked = ("--policy", policy, "--recipient", "a.example", "--query", "find work as a nurse")
    for model in ((), ("--model", "everyday")):
        record = run("policy", "show", *asked, *model, "--json").record
        assert record["attributes"]["sex"]["disclose"]["value"] == "never"
    shown = run("policy", "show", "--policy", policy, "--json").record
    assert shown["attributes"]["sex"]["disclose"]["rule"] == "attributes.gender"
    [checked] = run("policy", "check", policy, "--json").record["files"]
    assert "tells 'sex': reproductive, clothing_size" in checked["remarks"][0]["what"]
    changed = ("disclose=auto", "--attribute", "sex", "--policy", policy, "--json")
    [wins] = run("policy", "set", *changed).record["wins"]
    assert wins["rule"] == "attributes.gender"
    decision = agent.open().decide("find work as a nurse", "a.example", policy=policy)
    assert {each.name: each.reason for each in decision.outcomes}["sex"] == "never"


def test_the_word_reaches_the_daemon(run: Run, fake: FakeDaemon) -> None:
    """And nothing else; what is said is in transcripts/answers.txt."""
    for options, route in (((), "refuse"), (("--undo",), "allow")):
        fake.calls.clear()
        assert run("policy", "block", *options, "a.example").code == 0
        assert fake.calls == [(route, {"body": RecipientName(recipient="a.example")})]


def test_whom_one_would_tell_is_as_many_bits_everywhere() -> None:
    """In policies, on screens, and in the models that are built."""
    assert SENSITIVITIES == LEVELS
    assert tuple(LEVELS.values()) == PRICES


WORLD = [world_of([*map(read, shipped_models())])]
BEFORE = 'preset = "balanced"\n[groups]\nads = ["ads.example"]\n[lists]\nshops = ["a.example"]\n'
TYPED = st.sampled_from(
    [
        *("", "?", "1, 3", "health", "age, children", "headaches and migraine", "flu, church*"),
        *("religion", "a.example, @shops", "ads", "a b", "22-7", "9:30-9:30 sat", "always"),
        *map(str, range(9)),
    ]
)


@given(st.lists(TYPED, max_size=16))
def test_whatever_is_answered_is_a_rule_that_holds_and_has_no_problem(typed: list[str]) -> None:
    """It is read back as it was answered, once, and decides or is named among those that do."""
    policy, answers = read_text(BEFORE, "own", preset), iter(typed)
    with patch("agent.cli.policy_add.line", lambda _: next(answers, "")):
        parts = conditions(policy, WORLD)
        values, sentence = effect(parts, WORLD)
    where, today = RuleScope(more=parts), date(2027, 3, 1)
    text = with_settings(BEFORE, policy, where, values)
    after = read_text(text, "own", preset)
    check_rules(after, WORLD, today)
    [rule] = places(where, after)
    assert dict(rule.settings) == values
    assert rule.parts.keys() == parts.keys()
    assert with_settings(text, after, where, values) == text
    assert sentence.isprintable()
    assert "{" not in sentence
    book = Rulebook(after, attributes_of(WORLD, WORLD))
    ruling, (key,) = book.match(*request_of(rule, after, today)), values
    about = ruling.attributes.values() if key in PER_ATTRIBUTE else [ruling.settings]
    excepted = "except" in parts and "recipient" in parts
    assert excepted or rule in [each.rule for one in about for each in one[key].claims]


def test_a_rule_is_tried_before_it_is_written_and_can_be_undone(
    run: Run, folder: Path, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the daemon, as one edit; nothing is written where the answer is no."""
    assert folder.is_dir()
    fake.handlers["edit_policy"] = says(Edited(changed=True, wins=[], replayed=9, differ=4))
    for agreed, dry in ((False, [True]), (True, [True, False])):
        fake.calls.clear()
        answers = iter(["", "", "", "sat"])
        monkeypatch.setattr("agent.cli.policy_add.at_terminal", lambda: True)
        monkeypatch.setattr("agent.cli.policy_add.line", lambda _, a=answers: next(a, ""))
        monkeypatch.setattr("agent.cli.policy_add.confirmed", lambda _, a=agreed: a)
        said = run("policy", "add")
        assert "Of your last 9 requests, 4 would have carried something else." in said.err
        assert [given["body"].dry_run for _, given in fake.calls] == dry
        assert ("`reticent undo` takes it back" in said.out) == agreed
    assert paths().policy.read_text() == RIGHT
