"""The policy as the API shows and changes it."""

import os
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.policy_api import NO_POLICY, attributes, ruled
from agent.errors import ModelError, UsageError
from agent.wire.decide import Ask
from agent.wire.policy import AttributeStatus, PolicyEdit, RuleStatus
from policy.audit import audit
from policy.hosts import ANYBODY
from policy.match import Rulebook
from policy.precedence import GUARDED
from policy.rules import Layer
from tests.daemon.doubles import MONDAY, FixedRules, agent_of
from tests.daemon.home import POLICY, Home
from tests.daemon.people import MODEL
from tests.policy.strategies import HOSTS, documents, rendered

NAMES = tuple(each.name for each in MODEL.attributes)
LATER = 10_000_000.0  # seconds before the clock of a home begins


@given(documents(), st.none() | st.sampled_from(HOSTS))
def test_it_says_what_a_rulebook_rules(document: dict[str, object], host: str | None) -> None:
    """Of each attribute in the model's order; a guard goes before what is said beside it."""
    document = {key: each for key, each in document.items() if key != "model"}
    agent = agent_of(FixedRules(rendered(document)), MODEL, None)
    policy, today = agent.rules.policy, MONDAY.date()
    assert policy is not None
    if agent.rules.active.model(host or ANYBODY, "", today) is not None:
        with pytest.raises(UsageError, match="unknown model"):
            attributes(host, MONDAY, agent)
        return
    found = attributes(host, MONDAY, agent)
    assert [each.name for each in found] == [*NAMES]
    ruling = Rulebook(policy, NAMES).match(host or ANYBODY, "", today)
    for said, own in zip(found, MODEL.attributes, strict=True):
        verdicts = ruling.attributes[said.name]
        guard = float(verdicts["guard"].value) if "guard" in verdicts else 0.0
        assert said.guard == guard
        assert (said.disclose == GUARDED) == (guard > 0)
        decides = verdicts["guard" if guard > 0 else "disclose"]
        assert said.rule == decides.rule.name
        assert guard > 0 or said.disclose == decides.value
        bits = verdicts.get("sensitivity")
        assert said.sensitivity_bits == (own.sensitivity if bits is None else bits.value)
        assert (said.title, said.scope, tuple(said.values)) == (own.title, own.scope, own.values)


def one(found: list[AttributeStatus], name: str) -> AttributeStatus:
    """Return what is said of one attribute."""
    (said,) = (each for each in found if each.name == name)
    return said


def test_it_is_of_the_model_that_is_used_for_a_recipient(home: Home) -> None:
    """Also of a group, while the vault is locked; with the line that decides."""
    region = one(home.calls.attributes(), "region")
    assert (region.model, region.disclose, region.line) == (MODEL.id, "ask", 5)
    home.calls.edit_policy(PolicyEdit(recipient="ads.test", set={"model": "so2017"}))
    edit = PolicyEdit(recipient="adverts", attribute="gender", set={"guard": 2})
    home.calls.edit_policy(edit)
    for recipient in ("more.test", "https://www.more.test/x"):
        gender = one(home.calls.attributes(recipient=recipient), "gender")
        assert (gender.model, gender.guard, gender.rule) == (MODEL.id, 2.0, "gender for adverts")
    gender = one(home.calls.attributes(recipient="@adverts"), "gender")
    assert (gender.model, gender.disclose, gender.guard) == ("so2017", GUARDED, 2.0)
    for nobody in ("@nobody", "no host"):
        with pytest.raises(UsageError):
            home.calls.attributes(recipient=nobody)


def test_without_rules_nothing_leaves(home: Home) -> None:
    """And the shipped model is described; a model that is gone cannot be."""
    home.calls.edit_policy(PolicyEdit(set={"model": "gone"}))
    with pytest.raises((ModelError, UsageError), match="gone"):
        home.calls.attributes()
    home.paths.policy.unlink()
    home.calls.reload()
    found = home.calls.attributes()
    assert {each.model for each in found} == {"so2017"}
    assert {(each.disclose, each.rule, each.line) for each in found} == {("never", NO_POLICY, None)}
    assert one(home.calls.attributes(recipient="a.example"), "region").guard == 0


@given(documents())
def test_it_says_what_a_rulebook_and_an_audit_say(document: dict[str, object]) -> None:
    """Of whoever no rule names, and of every rule but the defaults; values read as they are."""
    agent = agent_of(FixedRules(rendered(document)), MODEL, None)
    policy, today = agent.rules.policy, MONDAY.date()
    assert policy is not None
    found = ruled(MONDAY, agent)
    assert (found.in_use, found.since) == (True, MONDAY)
    ruling = Rulebook(policy, NAMES).match(ANYBODY, "", today)
    assert {each.key: (read(each.value), each.rule) for each in found.effective} == {
        key: (verdict.value, verdict.rule.name) for key, verdict in ruling.settings.items()
    }
    rules = [each for each in policy.rules if each.layer is not Layer.DEFAULTS]
    for rule, said in zip(rules, found.rules, strict=True):
        assert (said.name, said.source, said.fired_at) == (rule.name, rule.source, None)
        assert {key: read(text) for key, text in said.settings.items()} == dict(rule.settings)
        assert (said.line is None) == (rule.layer is Layer.PRESET)
        assert said.expired == (rule.expires is not None and rule.expires < today)
        own = [each for each in audit(policy, NAMES, today) if each.rule is rule]
        assert [(each.line, each.what) for each in said.remarks] == [
            (each.line, each.what) for each in own
        ]


def read(text: str) -> object:
    """Return a value that is written in TOML."""
    return tomllib.loads(f"value = {text}")["value"]


def rule(home: Home, name: str) -> RuleStatus:
    """Return what is said of one rule."""
    (found,) = (each for each in home.calls.rules().rules if each.name == name)
    return found


def test_an_edit_is_shown_where_it_stands(home: Home) -> None:
    """With its line, for whom it is, and what holds; and gone again as it is taken out."""
    home.unlock()
    before = home.calls.rules()
    edit = PolicyEdit(recipient="adverts", attribute="age", set={"disclose": "never"})
    home.calls.edit_policy(edit)
    said = rule(home, "age for adverts")
    text = home.paths.policy.read_text().splitlines()
    assert said.line is not None
    assert text[said.line - 1] == "[[rule]]"
    assert said.conditions == {"recipient": "adverts", "attribute": "age"}
    assert said.settings == {"disclose": '"never"'}
    home.calls.edit_policy(PolicyEdit(set={"lambda": 7.5}))
    (top,) = (each for each in home.calls.rules().effective if each.key == "lambda")
    assert (top.value, top.rule, top.line) == ("7.5", "the top of the file", 2)
    home.calls.edit_policy(PolicyEdit(set={"lambda": 0.0}))
    home.calls.edit_policy(PolicyEdit(recipient="adverts", attribute="age", unset=["disclose"]))
    assert home.calls.rules() == before


def test_what_is_wrong_is_said_and_the_last_good_rules_stay(home: Home) -> None:
    """With the lines of the file as it is now; without a file no rules are in use."""
    before = home.calls.rules()
    assert (before.problems, before.path) == ([], str(home.paths.policy))
    save(home, POLICY + "[[rule]]\nk = 0\n")
    broken = home.calls.rules()
    assert broken.rules == before.rules
    (problem,) = broken.problems
    assert (problem.line, problem.key) == (POLICY.count("\n") + 2, "rule[1].k")
    assert (problem.what, problem.hint) == (
        "0 is not a whole number from 1",
        "k is a whole number from 1",
    )
    home.paths.policy.unlink()
    gone = home.calls.rules()
    assert (gone.in_use, gone.rules, gone.effective, gone.problems) == (False, [], [], [])


def save(home: Home, text: str) -> None:
    """Write the policy long ago, so that it is read at the next look."""
    home.paths.policy.write_text(text)
    at = home.now.timestamp() - LATER
    os.utime(home.paths.policy, (at, at))


def test_a_rule_that_never_decides_is_remarked_on(home: Home) -> None:
    """With the names of all models that there are, and nothing is said of the others."""
    more = "k = 4\n[[rule]]\nname='open'\nrecipient='a.example'\nk = 3\n[[rule]]\nname='shut'\n"
    save(home, f"{more}recipient = 'a.example'\nk = 5\n[attributes]\nregoin = 'ask'\n")
    assert rule(home, "shut").remarks == []
    (shadowed,) = rule(home, "open").remarks
    assert shadowed.what.startswith("never decides: 'shut' (line ")
    (stranger,) = rule(home, "attributes.regoin").remarks
    assert stranger.hint.startswith("did you mean 'region'?")


def test_a_rule_fires_as_a_request_is_answered(home: Home) -> None:
    """It stays so as another rule is written, and is not told or kept while the vault is locked."""
    home.unlock()
    ask = Ask(query="python today", recipient="a.example")
    assert rule(home, "attributes.region").fired_at is None
    home.calls.explain(ask)
    assert rule(home, "attributes.region").fired_at is None
    home.calls.decide(ask)
    at = home.now
    home.calls.edit_policy(PolicyEdit(recipient="b.example", set={"k": 3}))
    assert home.calls.rules().since < at
    assert rule(home, "attributes.region").fired_at == at
    assert rule(home, "for b.example").fired_at is None
    home.calls.lock()
    home.calls.decide(ask)
    assert home.calls.rules().since == home.now
    assert all(each.fired_at is None for each in home.calls.rules().rules)
    home.unlock()
    unlocked = home.now
    assert home.calls.rules().since <= unlocked
    assert all(each.fired_at is None for each in home.calls.rules().rules)
