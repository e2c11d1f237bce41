"""What is said of rules that do nothing: it is so, and the plain cases are found."""

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, target
from hypothesis import strategies as st

from policy.audit import Remark, audit, idle, pressing
from policy.match import Known, Rulebook, Ruling, known, may
from policy.read import EMPTY_POLICY, preset, read, with_typo_guard
from policy.rules import Policy, Rule
from tests.policy.strategies import NAMES, TODAY, Asked, Document, documents, rendered, requests

REQUESTS = st.lists(requests(), min_size=4, max_size=12)
ABOUT_NO_SETTING = (
    *("the model has no attribute", "no search engine is known", "the model has no topic"),
    *("it also holds for what tells", "has no effect: ", EMPTY_POLICY.what),
    *("are one recipient", "no public domain", "each is sent nothing"),
)
TOLD = {"a.chronic_condition": frozenset({"chronic_condition"})}
REVEALING = known(*NAMES, "chronic_condition", "medication", "family_history")
REVEALING |= {e: REVEALING[e]._replace(tells=TOLD) for e in ("medication", "family_history")}
CALLED = ("health", "money", "job hunting", "finding a job")


def _policy_of(text: str) -> Policy:
    return read(text, "test", preset)


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
            rules.append(replace(rule, settings=MappingProxyType(left)))
    return replace(policy, rules=tuple(rules))


@given(documents(), REQUESTS, st.data())
def test_what_is_said_to_do_nothing_does_nothing(
    document: Document, asked: list[Asked], data: st.DataObject
) -> None:
    """Without it each request has the same outcome, today and later: one by one, and all."""
    policy = _policy_of(rendered(document))
    found = [each for each in audit(policy, known(*NAMES), TODAY) if each.settings]
    target(len(found))
    if not found:
        return
    one = without(policy, [data.draw(st.sampled_from(found))])
    books = [Rulebook(each, known(*NAMES)) for each in (policy, one, without(policy, found))]
    for each in asked:
        then = each._replace(today=max(each.today, TODAY, key=str))
        outcomes = [outcome(book.match(*then)) for book in books]
        assert outcomes[1] == outcomes[0]
        assert outcomes[2] == outcomes[0]


@given(documents())
def test_a_remark_has_a_place_and_a_hint(document: Document) -> None:
    """In the file, in its order, one line each."""
    text = rendered(document)
    found = [*audit(_policy_of(text), known(*NAMES), TODAY)]
    assert [each.line for each in found] == sorted(each.line for each in found)
    for each in found:
        assert 1 <= each.line <= text.count("\n") + 1
        assert each.settings or any(known in each.what for known in ABOUT_NO_SETTING)
        assert {*each.settings} <= {*each.rule.settings}
        assert each.what
        assert each.hint
        assert not f"{each.what}{each.hint}".count("\n")
        assert f"{each.what}."[-2] != "."


def test_what_is_found_and_what_is_not(pytestconfig: pytest.Config) -> None:
    """Each with its place, and nothing beside it; what decides for some request is no matter.

    What is to withhold something and withholds nothing is a mistake besides.
    """
    shown, blocks = Path(__file__).with_name("remarks.txt"), []
    for block in shown.read_text(encoding="utf-8").split("----\n"):
        text = block.partition("! ")[0]
        remarks = audit(_policy_of(text), REVEALING, TODAY, CALLED)
        found = [f"! {e.line} {e.key}: {e.what} ({e.hint})\n" for e in remarks]
        wrong = idle(_policy_of(text), [*REVEALING], [frozenset(CALLED[2:])], TODAY)
        found += [f"! {e.line} {e.key}: {e.what} ({e.hint}), a mistake\n" for e in wrong]
        blocks.append(text + "".join(found))
    if pytestconfig.getoption("accept"):
        shown.write_text("----\n".join(blocks), encoding="utf-8")
    assert "----\n".join(blocks) == shown.read_text(encoding="utf-8"), "look, then accept it"
    assert audit(_policy_of('[attributes]\nxyz = "ask"\n'), None, TODAY) == ()  # without a model


CLOSED = {"never", "guarded"}
MODEL = ("gender", "salary")
ABOUT = '[[rule]]\nrecipient = "a.example"\nattribute = '


def _ruled(text: str, host: str = "a.example") -> dict[str, str]:
    policy = _policy_of(f"preset = 'none'\n{text}")
    book = Rulebook(with_typo_guard(policy, MODEL), known(*MODEL))
    found = book.match(host, "", TODAY).attributes
    return {name: may(found[name]) for name in MODEL}


@given(documents(), requests())
def test_it_only_ever_closes(document: Document, asked: Asked) -> None:
    """Whatever else a policy says: of requests nothing changes, and no attribute opens."""
    policy = _policy_of(rendered(document))
    kept = with_typo_guard(policy, NAMES)
    before, after = (Rulebook(each, known(*NAMES)).match(*asked) for each in (policy, kept))
    assert before.settings == after.settings
    for name in NAMES:
        own, its = may(before.attributes[name]), may(after.attributes[name])
        assert its == own or its in CLOSED


@pytest.mark.parametrize(
    "word",
    ['"never"', '"ask"', "{ guard = 1 }", "{ sensitivity = 0.1 }", '{disclose="auto",guard=2}'],
)
def test_what_is_nearly_named_does_not_leave(word: str) -> None:
    """Where the rule would have closed it, whatever the right name is ruled beside."""
    text = f"[attributes]\nslary = {word}"
    assert _ruled(text) == {"gender": "auto", "salary": "never"}
    assert _ruled(f"{text}\nsalary = 'always'")["salary"] == "never"
    [remark] = pressing(_policy_of(text), MODEL, TODAY)
    assert remark.hint == "did you mean 'salary'? until you correct it, it is not sent"
    assert pressing(_policy_of('results = "rerank"'), MODEL, TODAY)  # is noted beside them


@pytest.mark.parametrize(
    "text",
    [
        "[attributes]\nslary = 'auto'",  # it was to be opened
        "[attributes]\nslary = { guard = 0 }",
        "[attributes]\nsalary = 'auto'\nshoe_size = 'never'",  # which is near to nothing
        "[attributes]\n'slar*' = 'never'",  # a pattern may be for what comes
        "[attributes]\nslary = 'never'\n[[rule]]\nrecipient = 'b.example'\npopulation = 'other'",
        f"{ABOUT}'slary'\ndisclose = 'never'\nexpires = 2001-01-01",
    ],
)
def test_what_is_no_slip_or_closes_nothing_is_as_before(text: str) -> None:
    """Nor where a name may be that of another model, or the rule is over."""
    assert _ruled(text) == {"gender": "auto", "salary": "auto"}


def test_it_holds_for_whom_the_rule_does() -> None:
    """Beside a name that is right, and whichever model decides; what is more specific wins."""
    text = f"{ABOUT}['slary', 'gender']\ndisclose = 'never'"
    assert _ruled(text)["salary"] == "never"
    assert _ruled(text, "b.example")["salary"] == "auto"
    assert _ruled("population = 'other'\n[attributes]\nslary = 'never'")["salary"] == "never"
    text = f"[attributes]\nslary = 'never'\n{ABOUT}'salary'\ndisclose = 'auto'"
    assert _ruled(text)["salary"] == "auto"
    book = Rulebook(
        with_typo_guard(_policy_of("[attributes]\nslary = 'never'"), MODEL), known(*MODEL)
    )
    rule = book.match("a.example", "", TODAY).attributes["salary"]["disclose"].rule
    assert (rule.name, rule.path) == ("'slary', which nearly names salary", ("attributes", "slary"))


def test_a_price_of_one_fact_by_two_names_is_noted() -> None:
    """It would never be charged."""
    attributes = {"sex": Known(frozenset({"sex"}), frozenset({"sex", "gender"})), **known("age")}
    for other, noted in (("gender", True), ("age", False)):
        text = f'[[together]]\nfacts = ["sex", "{other}"]\nprice = 1\n'
        found = audit(_policy_of(text), attributes, TODAY)
        assert [each.key for each in found] == ["together[1].facts"] * noted
