"""What is said of rules that do nothing: it is so, and the plain cases are found."""

from dataclasses import replace
from time import process_time
from typing import Any

import pytest
from hypothesis import given, target
from hypothesis import strategies as st

from agent.errors import PolicyError
from policy.audit import Remark, audit
from policy.match import Rulebook, Ruling
from policy.precedence import known
from policy.read import EMPTY_POLICY, preset, read
from policy.rules import Policy, Rule, frozen
from policy.settings import SETTINGS
from tests.policy.strategies import NAMES, TODAY, Asked, Document, documents, rendered, requests

REQUESTS = st.lists(requests(), min_size=4, max_size=12)
SELECTORS = ("recipient", "attribute", "query")
ABOUT_NO_SETTING = ("the model has no attribute", EMPTY_POLICY.what)


def policy_of(text: str) -> Policy:
    """Return a text as a policy."""
    return read(text, "test", preset)


def remarks(text: str) -> list[Remark]:
    """Return the remarks on a text."""
    return [*audit(policy_of(text), NAMES, TODAY)]


def outcome(ruling: Ruling) -> Any:  # noqa: ANN401  (any setting)
    """Return what can be seen of a ruling: nothing but that, where nothing leaves."""
    if ruling.settings["nothing"].value:
        return "nothing"
    whole = {key: verdict.value for key, verdict in ruling.settings.items()}
    return whole, {name: _attribute(ruling, name) for name in ruling.attributes}


def _attribute(ruling: Ruling, name: str) -> dict[str, Any]:
    """Return what can be seen of an attribute: not how it would leave, where it never does."""
    found = {key: verdict.value for key, verdict in ruling.attributes[name].items()}
    if float(found.get("guard", 0)) > 0:
        found["disclose"] = "never"
    return found


def without(policy: Policy, found: list[Remark]) -> Policy:
    """Return a policy without the settings that are said to do nothing."""
    dead: dict[Rule, set[str]] = {}
    for each in found:
        dead.setdefault(each.rule, set()).update(each.settings)
    rules = []
    for rule in policy.rules:
        left = {key: rule.settings[key] for key in rule.settings.keys() - dead.get(rule, set())}
        if left or rule not in dead:
            rules.append(replace(rule, settings=frozen(left)))
    return replace(policy, rules=tuple(rules))


@st.composite
def repetitive(draw: st.DrawFn) -> Document:
    """Draw a policy in which rules are near copies of each other."""
    document = draw(documents())
    rules = document.get("rule", [])
    for _ in range(draw(st.integers(0, 3)) if rules else 0):
        one, other = draw(st.sampled_from(rules)), draw(st.sampled_from(rules))
        copy = {key: each for key, each in one.items() if key not in ("name", "search")}
        part = draw(st.sampled_from([*SELECTORS, "expires", None]))
        if part is not None and part in other:
            copy[part] = other[part]
        elif part in SELECTORS and isinstance(copy.get(part), list):
            copy[part] = draw(st.sampled_from(copy[part]))
        rules.append(copy)
    return document


@given(repetitive(), REQUESTS, st.data())
def test_what_is_said_to_do_nothing_does_nothing(
    document: Document, asked: list[Asked], data: st.DataObject
) -> None:
    """Without it each request has the same outcome, today and later: one by one, and all."""
    try:
        policy = policy_of(rendered(document))
    except PolicyError:
        return  # a copy that contradicts another rule
    found = [each for each in audit(policy, NAMES, TODAY) if each.settings]
    target(len(found))
    if not found:
        return
    one = without(policy, [data.draw(st.sampled_from(found))])
    books = [Rulebook(each, known(*NAMES)) for each in (policy, one, without(policy, found))]
    for each in asked:
        day = max(each.today, TODAY)
        outcomes = [outcome(book.match(each.recipient, each.query, day)) for book in books]
        assert outcomes[1] == outcomes[0]
        assert outcomes[2] == outcomes[0]


@given(documents(), st.data())
def test_a_rule_written_twice_is_found(document: Document, data: st.DataObject) -> None:
    """Of all of its settings, unless something is said that goes further."""
    rules = document.get("rule", [])
    if not rules:
        return
    rule = {key: each for key, each in data.draw(st.sampled_from(rules)).items() if key != "name"}
    document["rule"] = [*rules, rule]
    path = ("rule", len(rules))
    policy = policy_of(rendered(document))
    said = [each for each in audit(policy, None, TODAY) if each.rule.path == path]
    settings = {key for each in said for key in each.settings}
    assert settings >= rule.keys() & SETTINGS.keys()


@given(documents())
def test_a_remark_has_a_place_and_a_hint(document: Document) -> None:
    """In the file, in its order, one line each."""
    text = rendered(document)
    found = remarks(text)
    assert [each.line for each in found] == sorted(each.line for each in found)
    for each in found:
        assert 1 <= each.line <= text.count("\n") + 1
        assert each.settings or any(known in each.what for known in ABOUT_NO_SETTING)
        assert {*each.settings} <= {*each.rule.settings}
        assert each.what
        assert each.hint
        assert not f"{each.what}{each.hint}".count("\n")
        assert f"{each.what}."[-2] != "."


ADS = '[groups]\nads = ["ads.test", "x.track.test"]\n[[rule]]\nrecipient = "ads"\n'
GUARDED = "has no effect: {} guards it, so it is never sent"
UNFIT = "browsers cannot use this search: it is not a web address with {query} once, after the ?"
RULE = '[[rule]]\nrecipient = "shop.example"\n'
CASES = {
    "expired": (
        RULE + "lambda = 3\nexpires = 2027-02-28\n",
        ["4 rule[1].expires: expired on 2027-02-28"],
    ),
    "unknown": (
        '[attributes]\ngendr = "never"\n"dev*x" = "ask"\n',
        [
            "2 attributes.gendr: the model has no attribute 'gendr'",
            "3 attributes.\"dev*x\": the model has no attribute 'dev*x'",
        ],
    ),
    "unknown among others": (
        RULE + 'attribute = ["age", "hight"]\ndisclose = "ask"\n',
        ["3 rule[1].attribute: the model has no attribute 'hight'"],
    ),
    "twice": (f"{RULE}lambda = 3\n{RULE}lambda = 3\n", ["4 rule[2]: repeats 'rule 1' (line 1)"]),
    "less strict": (
        f"{RULE}lambda = 3\nk = 5\n{RULE}lambda = 3.5\n",
        ["3 rule[1].lambda: never decides: 'rule 2' (line 7) wins wherever this matches"],
    ),
    "all members of a group": (
        f'{ADS}lambda = 9\n[[rule]]\nrecipient = ["ads.test", "track.test"]\nlambda = 1\n',
        ["3 rule[1]: never decides: 'rule 2' (line 6) wins wherever this matches"],
    ),
    "any attribute": (
        'disclose = "never"\nlambda = 2\n[attributes]\n"*" = "auto"\n',
        ["1 disclose: never decides: 'attributes.\"*\"' (line 4) wins wherever this matches"],
    ),
    "as the preset": (
        'preset = "strict"\nk = 100\n[attributes]\nsalary = "never"\n',
        [
            "2 k: repeats preset strict",
            "4 attributes.salary: repeats preset strict, attributes.salary",
        ],
    ),
    "blocked": (
        '[queries]\nblock = ["fl*", "debt"]\n[[rule]]\nquery = ["flu shot", "a debt"]\nk = 2\n',
        ["3 rule[1]: has no effect: 'queries.block' (line 2) blocks all of its queries"],
    ),
    "blocked twice": (
        '[queries]\nblock = ["fl*", "debt"]\n[[rule]]\nquery = "flu"\nnothing = true\n',
        ["3 rule[1]: repeats 'queries.block' (line 2)"],
    ),
    "guarded by the preset": (
        'preset = "strict"\n[attributes]\ngender = "ask"\n',
        [f"3 attributes.gender: 'ask' {GUARDED.format('preset strict, attributes.gender')}"],
    ),
    "a search that browsers cannot use": (
        f'{RULE}search = "https://shop.example/{{query}}"\n',
        [f"3 rule[1].search: {UNFIT}"],
    ),
    "guarded by itself": (
        '[attributes]\nage = { disclose = "always", guard = 1 }\n',
        [f"2 attributes.age.disclose: 'always' {GUARDED.format('this rule')}"],
    ),
}
SILENT = {
    "more specific on one side each": f'{RULE}lambda = 3\n[[rule]]\nquery = "flu"\nlambda = 9\n',
    "another host": f'{RULE}lambda = 3\n[[rule]]\nrecipient = "www.shop.example"\nlambda = 9\n',
    "it lasts longer": f"{RULE}lambda = 3\n{RULE}lambda = 9\nexpires = 2027-03-05\n",
    "the last day": f"{RULE}lambda = 3\nexpires = 2027-03-01\n",
    "never, and guarded": '[attributes]\nage = { disclose = "never", guard = 1 }\n',
    "the guard is lifted": (
        'preset = "strict"\n[attributes]\ngender = { disclose = "ask", guard = 0 }\n'
    ),
    "lifted for one": (
        f'preset = "strict"\n[attributes]\ngender = "ask"\n{RULE}guard = 0\nattribute = "gender"\n'
    ),
    "as the preset, against another rule": (
        f'preset = "strict"\n[attributes]\nsalary = "never"\n{RULE}disclose = "auto"\n'
    ),
    "as by default": "lambda = 5.12\nnothing = false\n",
    "blocked elsewhere": (
        f'{RULE}query = "flu"\nnothing = true\n[[rule]]\nquery = "flu shot"\nlambda = 2\n'
    ),
    "blocked in part": (
        '[queries]\nblock = "flu"\n[[rule]]\nquery = ["flu shot", "debt"]\nlambda = 2\n'
    ),
    "a block under what has no words": (
        '[[rule]]\nquery = "flu"\nnothing = true\n[[rule]]\nnothing = true\n'
    ),
    "an attribute more": (
        '[attributes]\nage = "never"\n[[rule]]\nattribute = ["age", "region"]\ndisclose = "ask"\n'
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_found(case: str) -> None:
    """Each with its place, and nothing beside it."""
    text, expected = CASES[case]
    assert [f"{each.line} {each.key}: {each.what}" for each in remarks(text)] == expected


@pytest.mark.parametrize("case", SILENT)
def test_what_is_no_matter_for_a_remark(case: str) -> None:
    """Each of these decides for some request, or does no harm."""
    assert remarks(SILENT[case]) == []


def test_the_nearest_attribute_is_named() -> None:
    """And none where there is no model, or where nothing is near."""
    text = '[attributes]\n"gendr" = "never"\n"devs_*" = "ask"\nxyz = "ask"\n'
    hints = [each.hint for each in remarks(text)]
    assert hints[0] == "did you mean 'gender'? until you correct it, it is not sent"
    assert hints[1].startswith("the nearest is 'dev_")
    assert hints[2] == "`reticent model info` lists its attributes"
    assert audit(policy_of(text), None, TODAY) == ()


def test_rules_are_compared_with_those_that_may_shadow_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not all with all: hundreds of attributes, recipients and words take a few looks."""
    monkeypatch.setattr("policy.audit.MOST_LOOKS", 10)  # after which nothing would be found
    text = "[attributes]\n" + "".join(f'a{each} = "ask"\n' for each in range(400))
    for each in range(400):
        text += f'[[rule]]\nrecipient = "a{each}.example"\ndisclose = "never"\n'
        text += f'[[rule]]\nquery = "flu {each}"\ndisclose = "never"\n'
        text += f'[[rule]]\nrecipient = "b{each}.example"\nattribute = "age"\nguard = {each}\n'
    (remark,) = audit(
        policy_of(f'{text}{RULE}disclose = "ask"\n{RULE}disclose = "ask"'), None, TODAY
    )
    assert remark.what == "repeats 'rule 1201' (line 4402)"


def test_rules_without_end_are_not_all_compared() -> None:
    """Two thousand for one recipient took 25 seconds; what is said of few is said of these too."""
    rule = '[[rule]]\nrecipient = "a.example"\nlambda = {}\n'
    began = process_time()
    many, few = ("".join(map(rule.format, range(number))) for number in (2000, 50))
    audit(policy_of(many), NAMES, TODAY)
    assert process_time() - began < 4
    assert len(audit(policy_of(few), NAMES, TODAY)) == 49


def test_what_stands_apart_below_a_rule_is_not_for_all() -> None:
    """It looks as if it were; what stands with the rest of its rule does not."""
    rule = '[[rule]]\nrecipient = "shop.example"\nlambda = 2\n'
    (remark,) = audit(policy_of(f'{rule}\ndisclose = "never"\n'), NAMES, TODAY)
    assert (remark.line, remark.key, remark.settings) == (5, "rule[1].disclose", ())
    assert remark.what.startswith("holds for 'recipient shop.example' alone")
    assert "above the first [header]" in remark.hint
    assert not audit(policy_of(f'{rule}disclose = "never"\n'), NAMES, TODAY)
    assert not audit(policy_of(f'disclose = "never"\n\n{rule}'), NAMES, TODAY)
    assert not audit(policy_of('rule = [{recipient = "shop.example", k = 5}]\n\n'), NAMES, TODAY)
