"""The attributes of the model in use: what a rulebook rules of each, and no value of the user's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.policy_api import NO_POLICY, attributes
from agent.errors import ModelError, UsageError
from agent.wire.policy import AttributeStatus, PolicyEdit
from policy.hosts import ANYBODY
from policy.match import Rulebook
from policy.precedence import GUARDED
from tests.daemon.doubles import MONDAY, FixedRules, agent_of
from tests.daemon.home import Home
from tests.daemon.people import MODEL
from tests.policy.strategies import HOSTS, documents, rendered

NAMES = tuple(each.name for each in MODEL.attributes)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A machine with a locked daemon."""
    with Home(tmp_path) as made:
        yield made


@given(documents(), st.none() | st.sampled_from(HOSTS))
def test_it_says_what_a_rulebook_rules(document: dict[str, object], host: str | None) -> None:
    """Of each attribute in the model's order; a guard goes before what is said beside it."""
    document = {key: each for key, each in document.items() if key != "model"}
    agent = agent_of(FixedRules(rendered(document)), MODEL, None)
    policy, today = agent.rules.policy, MONDAY.date()
    assert policy is not None
    if agent.rules.in_force.model(host or ANYBODY, "", today) is not None:
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
