"""What a policy rules arrives in the terms, all of it and unchanged."""

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.terms import LIMITS, TERMS, Limits, Terms, terms_under
from policy.match import Rulebook, Ruling
from policy.read import preset, read
from policy.settings import SETTINGS, Value
from tests.decision.made import NAMES, made_model
from tests.policy.strategies import TODAY, documents, rendered, requests

MODEL = made_model(0, people=10)
OF_ATTRIBUTES = {"disclose", "sensitivity", "guard"}
NOT_FOR_DECIDING = {"model", "page_requests_per_minute", "search"}
NOT_OF_A_POLICY = {"allowed", "available", "epsilon", "ruling"}


def ruled(text: str, query: str = "") -> Ruling:
    """Return what a policy rules for one request."""
    return Rulebook(read(text, "test", preset), NAMES).match("shop.example", query, TODAY)


def written(value: Value) -> str:
    """Return a value as TOML has it."""
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


def test_every_setting_is_for_deciding_or_said_not_to_be() -> None:
    """A new one cannot be forgotten, and none counts twice."""
    parts = [[*TERMS], [*LIMITS], [*OF_ATTRIBUTES], [*NOT_FOR_DECIDING]]
    assert sorted(SETTINGS) == sorted(key for part in parts for key in part)
    assert {key for key, each in SETTINGS.items() if each.about == "attribute"} == OF_ATTRIBUTES


def test_every_term_has_its_setting() -> None:
    """No field of the terms is out of a policy's reach, but for four that are not its business."""
    of_attributes = {"excluded", "ask", "always", "sensitivity", "guards"}
    ours = {*TERMS.values(), *of_attributes, *NOT_OF_A_POLICY, "limits"}
    assert {each.name for each in fields(Terms)} == ours
    assert {each.name for each in fields(Limits)} == {*LIMITS.values()}
    assert len({*TERMS.values()}) == len(TERMS)
    assert len({*LIMITS.values()}) == len(LIMITS)


def test_an_empty_policy_is_none() -> None:
    """The defaults of policies are those of terms."""
    assert terms_under(ruled(""), MODEL) == Terms()


OTHER: dict[str, Value] = {
    "lambda": 0.25,
    "cost": "entropy",
    "cost_k": 7,
    "mode": "standing",
    "algorithm": "exact",
    "nothing": True,
    "unknown_queries": "standing",
    "memory": "forgets",
    "k": 4,
    "violations": 0.125,
    "risk": 0.5,
    "attributes_per_request": 0,
    "new_facts_per_week": 3,
    "protect": "me",
}


@pytest.mark.parametrize("key", [*TERMS, *LIMITS])
def test_one_setting_changes_one_term(key: str) -> None:
    """The one that is called after it, to what was written."""
    before, after = (
        terms_under(ruled(text), MODEL) for text in ("", f"{key} = {written(OTHER[key])}")
    )
    changed = {name: value for name, value in _flat(after).items() if value != _flat(before)[name]}
    assert changed == {TERMS.get(key) or LIMITS[key]: OTHER[key]}
    (value,) = changed.values()
    assert isinstance(value, bool) == isinstance(OTHER[key], bool)


def _flat(terms: Terms) -> dict[str, Any]:
    found = {each.name: getattr(terms, each.name) for each in fields(Terms)}
    limits = found.pop("limits")
    del found["ruling"]
    return found | {each.name: getattr(limits, each.name) for each in fields(Limits)}


@given(documents(), requests())
def test_what_is_ruled_arrives(document: dict[str, Any], asked: tuple[Any, ...]) -> None:
    """Every verdict, as it is; what nothing rules stays as it is without a policy."""
    ruling = Rulebook(read(rendered(document), "test", preset), NAMES).match(*asked)
    terms = terms_under(ruling, MODEL)
    found, default = _flat(terms), _flat(Terms())
    for key, name in {**TERMS, **LIMITS}.items():
        verdict = ruling.settings.get(key)
        assert found[name] == (default[name] if verdict is None else verdict.value)
    assert terms.ruling is ruling
    assert terms.allowed is None
    values: dict[str, dict[str, Any]] = {
        name: {key: verdict.value for key, verdict in each.items()}
        for name, each in ruling.attributes.items()
    }
    guarded = {name: each["guard"] for name, each in values.items() if each.get("guard", 0) > 0}
    never = {name for name, each in values.items() if each["disclose"] == "never"}
    assert dict(terms.guards) == {name: w for name, w in guarded.items() if name != "hours"}
    assert terms.excluded == never | (guarded.keys() & {"hours"})
    assert terms.ask == {name for name, each in values.items() if each["disclose"] == "ask"}
    assert terms.always == {name for name, each in values.items() if each["disclose"] == "always"}
    assert dict(terms.sensitivity) == {
        name: each["sensitivity"] for name, each in values.items() if "sensitivity" in each
    }


@given(st.sampled_from(NAMES), st.sampled_from(["never", "ask", "auto", "always"]), st.booleans())
def test_a_guard_keeps_an_attribute_in(name: str, disclose: str, with_guard: bool) -> None:
    """Whatever else is said of it; one of no weight does nothing."""
    text = f"attributes.{name} = {{ disclose = '{disclose}', guard = {2.5 if with_guard else 0} }}"
    terms = terms_under(ruled(text), MODEL)
    assert terms.guards == (((name, 2.5),) if with_guard and name != "hours" else ())
    assert (name in terms.excluded) == (disclose == "never" or (with_guard and name == "hours"))
