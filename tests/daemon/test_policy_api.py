"""The policy as the API shows and changes it."""

import os
import tomllib
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from agent.daemon.handle import handle
from agent.daemon.locale import LOCALE
from agent.daemon.policy_api import NO_POLICY, attributes, replayed, rules
from agent.decision.topics import audited
from agent.errors import LockedError, ModelError, UsageError
from agent.model.file import SHIPPED, write
from agent.wire.decide import Ask
from agent.wire.policy import PolicyEdit, RuleStatus
from agent.wire.state import ProfileChange
from agent.words.titles import titles_of
from policy.hosts import ANYBODY
from policy.match import GUARDED, Rulebook, known
from policy.rules import Layer
from tests.decision.transcripts import Rules, policies
from tests.policy.strategies import documents, rendered
from tests.worlds.homes import POLICY, Home
from tests.worlds.people import MODEL, MONDAY, PEOPLE, SHOP, STEPS, FixedRules, agent_of, living

NAMES = tuple(each.name for each in MODEL.attributes)
LATER = 10_000_000.0  # seconds before the clock of a home begins


@given(documents())
def test_it_says_what_a_rulebook_rules(document: dict[str, object]) -> None:
    """Of each attribute in the model's order; a guard goes before what is said beside it."""
    document = {key: each for key, each in document.items() if key != "population"}
    agent = agent_of(FixedRules(rendered(document)), MODEL, None)
    policy, today = agent.rules.policy, MONDAY.date()
    assert policy is not None
    if agent.rules.active.route(ANYBODY, today)[0] is not None:
        with pytest.raises(UsageError, match="unknown model"):
            attributes(MONDAY, agent)
        return
    found = attributes(MONDAY, agent)
    assert [each.name for each in found] == [*NAMES, "language", "country"]
    ruling = Rulebook(policy, known(*NAMES)).match(ANYBODY, "", today)
    for said, own in zip(found, MODEL.attributes, strict=False):
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


def test_without_rules_nothing_leaves(home: Home) -> None:
    """And the shipped model is described; a model that is gone cannot be."""
    home.calls.edit_policy(PolicyEdit(set={"population": "gone"}))
    with pytest.raises((ModelError, UsageError), match="gone"):
        home.calls.attributes()
    home.paths.policy.unlink()
    home.calls.reload()
    found = home.calls.attributes()
    assert {each.model for each in found} == {SHIPPED[0], "locale"}
    assert {(each.disclose, each.rule, each.line) for each in found} == {("never", NO_POLICY, None)}


@given(documents())
def test_it_says_what_a_rulebook_and_an_audit_say(document: dict[str, object]) -> None:
    """Of whoever no rule names, and of every rule but the defaults; values read as they are."""
    agent = agent_of(FixedRules(rendered(document)), MODEL, None)
    policy, today = agent.rules.policy, MONDAY.date()
    assert policy is not None
    found = rules(MONDAY, agent)
    assert found.in_use
    ruling = Rulebook(policy, known(*NAMES)).match(ANYBODY, "", today)
    effective = {each.key: (read(each.value), each.rule) for each in found.effective}
    assert effective == {key: (e.value, e.rule.name) for key, e in ruling.settings.items()}
    every = (*policy.rules, *policy.contexts, *policy.together)
    written = [each for each in every if each.layer is not Layer.DEFAULTS]
    remarked = audited(policy, [MODEL, LOCALE], today)
    for rule, said in zip(written, found.rules, strict=True):
        assert (said.name, said.source) == (rule.name, rule.source)
        assert {key: read(text) for key, text in said.settings.items()} == dict(rule.settings)
        assert (said.line is None) == (rule.layer is Layer.PRESET)
        assert said.expired == (rule.expires is not None and rule.expires < today)
        own = [each for each in remarked if each.rule is rule]
        remarks = [(each.line, each.what) for each in said.remarks]
        assert remarks == [(each.line, each.what) for each in own]


def read(text: str) -> object:
    return tomllib.loads(f"value = {text}")["value"]


def rule(home: Home, name: str) -> RuleStatus:
    found: RuleStatus
    (found,) = (each for each in home.calls.rules().rules if each.name == name)
    return found


def test_an_edit_is_shown_where_it_stands(home: Home) -> None:
    """With its line, for whom it is, and what holds; and gone again as it is taken out."""
    home.unlock()
    before = home.calls.rules()
    edit = PolicyEdit(recipient="adverts", attribute="age", set={"disclose": "never"})
    home.calls.edit_policy(edit)
    assert home.calls.undo().what == "Changed the rule 'age for adverts': undone."
    home.calls.edit_policy(edit)
    said = rule(home, "age for adverts")
    text = home.paths.policy.read_text().splitlines()
    assert said.line is not None
    assert text[said.line - 1] == "[[rule]]"
    assert said.conditions == {"recipient": "adverts", "attribute": "age"}
    assert said.settings == {"disclose": '"never"'}
    home.calls.edit_policy(PolicyEdit(set={"anonymity_price": 7.5}))
    (top,) = (each for each in home.calls.rules().effective if each.key == "anonymity_price")
    assert (top.value, top.rule, top.line) == ("7.5", "the top of the file", 3)
    home.calls.edit_policy(PolicyEdit(set={"anonymity_price": 0.0}))
    home.calls.edit_policy(PolicyEdit(recipient="adverts", attribute="age", unset=["disclose"]))
    assert home.calls.rules() == before


def test_what_is_wrong_is_said_and_the_last_good_rules_stay(home: Home) -> None:
    """With the lines of the file as it is now; without a file no rules are in use."""
    before = home.calls.rules()
    assert (before.problems, before.path) == ([], str(home.paths.policy))
    home.paths.policy.write_text(POLICY + "[[rule]]\nk = 0\n")
    at = home.now.timestamp() - LATER  # so that it is read at the next look
    os.utime(home.paths.policy, (at, at))
    broken = home.calls.rules()
    assert broken.rules == before.rules
    (problem,) = broken.problems
    assert (problem.line, problem.key) == (POLICY.count("\n") + 2, "rule[1].k")
    home.paths.policy.unlink()
    gone = home.calls.rules()
    assert (gone.in_use, gone.rules, gone.effective, gone.problems) == (False, [], [], [])


def test_it_holds_at_once_and_what_wins_is_said(home: Home) -> None:
    """Also while the vault is locked; of the attributes of the model that is then in use."""
    done = home.calls.edit_policy(PolicyEdit(set={"disclose": "auto", "anonymity_price": 7}))
    assert done.changed
    (win,) = done.wins
    assert (win.key, win.value, win.names) == ("disclose", "ask", ["region"])
    assert (win.rule, win.line) == ("attributes.region", 7)
    policy = home.agent.rules.policy
    assert policy is not None
    ruling = Rulebook(policy, {}).match("a.example", "", home.now.date())
    assert ruling.settings["anonymity_price"].value == 7
    assert home.bus.kinds == ["policy"]
    assert not home.calls.edit_policy(PolicyEdit(set={"anonymity_price": 7})).changed
    assert home.bus.kinds == ["policy"]
    shipped = home.calls.edit_policy(PolicyEdit(set={"population": "so2017", "disclose": "never"}))
    (win,) = shipped.wins
    assert win.names == ["region"]
    gone = home.calls.edit_policy(PolicyEdit(set={"population": "gone", "disclose": "ask"}))
    assert gone.wins == []
    assert home.calls.edit_policy(PolicyEdit(unset=["anonymity_price"])).wins == []


def times(steps: list[tuple[int, Ask]]) -> list[datetime]:
    return [MONDAY + timedelta(hours=each) for each in accumulate(hours for hours, _ in steps)]


@settings(max_examples=settings().max_examples // 4)
@given(PEOPLE, st.lists(STEPS, min_size=1, max_size=6), policies(), policies())
def test_what_would_be_sent_depends_on_the_tried_policy_alone(
    row: int, steps: list[tuple[int, Ask]], old: Rules, new: Rules
) -> None:
    """The same changes nothing; another would have sent what it had decided from the start."""
    agent, vault = living(old.policy.text, row)
    for (_, ask), at in zip(steps, times(steps), strict=True):
        handle(ask, at, agent)
    now = MONDAY + timedelta(days=90)
    tried = replayed(old.policy, now, agent)
    before = [{name for name, _ in each.disclosed} for each in vault.disclosures]
    assert [{*names} for names in tried] == before
    sent = {each.at for each in vault.disclosures}
    asked = [step for step, at in zip(steps, times(steps), strict=True) if at in sent]
    afresh, there = living(new.policy.text, row)
    for at, (_, ask) in zip(sorted(sent), asked, strict=True):
        handle(ask, at, afresh)
    told = {each.at: {name for name, _ in each.disclosed} for each in there.disclosures}
    tried = replayed(new.policy, now, agent)
    assert [{*names} for names in tried] == [told.get(at, set()) for at in sorted(sent)]


def test_a_policy_is_tried_on_the_ledger(opened: Home) -> None:
    """With the user's values; nothing is recorded by it, and it needs an open vault."""
    opened.calls.decide(SHOP)
    nothing, more = PolicyEdit(set={"nothing": True}, dry_run=True), {"except": ["a.example"]}
    for edit, differ in ((nothing, 1), (changed(nothing, more={"recipient": ["a.example"]}), 0)):
        for each in (edit, changed(edit, more=edit.more | more)):
            tried = opened.calls.edit_policy(each)
            assert (tried.changed, tried.replayed, tried.differ) == (True, 1, differ)
    assert "nothing" not in opened.paths.policy.read_text()
    assert len(opened.calls.ledger()) == 1
    with pytest.raises(UsageError, match="unknown key 'expect'"):
        opened.calls.edit_policy(changed(nothing, more={"expect": "a.example"}))
    opened.calls.lock()
    with pytest.raises(LockedError):
        opened.calls.edit_policy(nothing)


def test_an_added_model_decides_where_it_is_named_and_sets_nothing(home: Home) -> None:
    """It was made to follow from a fact that is never told, and to be asked for under a false name.

    Its own fact is ruled as what it tells, and stays unset; a question has the shipped title.
    """
    one, two, *rest = MODEL.attributes
    income, follows = "everyday.income", {one.values[1]: {two.name: two.values[1]}}
    one = replace(one, name="colour", concept=income, title="favourite colour", implies=follows)
    evil = replace(MODEL, id="evil", attributes=(one, two, *rest))
    facts = f'attributes = {{ income = "never", {two.name} = "always" }}'
    rules = f'preset = "none"\nanonymity_price = 0\n{facts}\n'
    home.rule(rules)
    write(evil, home.paths.models / "evil.safetensors")
    home.unlock()
    ask = Ask(query=MODEL.queries[0].text, recipient="fly.example")
    assert home.calls.decide(ask).code == "unknown query"
    home.rule(f'{rules}[[rule]]\nrecipient = "fly.example"\npopulation = "evil"\n')
    home.agent.look_at_all()
    home.calls.change_profile(ProfileChange(set={"income": one.values[1]}))
    assert [each.kind for each in home.calls.profile().facts] == [income]
    home.calls.change_profile(ProfileChange(set={two.name: two.values[1]}))
    assert home.calls.decide(ask).attributes == {}
    assert home.calls.decide(Ask(query=ask.query, recipient="b.example")).attributes == {}
    title = home.agent.registry.of("everyday", (), home.now).by_concept[income].title
    assert titles_of(home.calls.attributes())["colour"] == title
    home.rule(home.paths.policy.read_text().replace("never", "ask"))
    assert home.calls.decide(ask).summary.titles["colour"] == title
    home.rule(home.paths.policy.read_text().replace("ask", "auto"))
    assert home.calls.decide(ask).attributes.keys() == {"colour", two.name}
