"""Whatever is missing or fails on the way of a request: nothing is attached, nothing recorded."""

from dataclasses import replace
from typing import Any

import pytest

import agent.daemon.context
import agent.daemon.handle
from agent.daemon.agent import Agent
from agent.daemon.consent import Consent
from agent.daemon.handle import handle
from agent.daemon.sources import Sources
from agent.daemon.what_if import explained
from agent.errors import VaultError
from agent.vault.disclosure_index import Disclosure
from agent.vault.ledger import Ledger
from agent.vault.profile import Profile
from agent.wire.decide import Answer, Ask, Code
from agent.wire.policy import Verdict
from tests.daemon.doubles import MONDAY, FixedRules, Heard, OneModel
from tests.daemon.people import OPEN, SHOP, living

OTHER = Ask(query=SHOP.query, recipient="other.example")


def test_with_nothing_to_decide_by_nothing_is_attached() -> None:
    """Each way of it has its code; the rest of the answer is empty."""
    agent, vault = living(OPEN)
    without: dict[Code, Agent] = {
        "locked": replace(agent, vault=None),
        "no policy": replace(agent, rules=FixedRules(None)),
        "no model": replace(agent, registry=OneModel(None)),
        "unfit": agent,
    }
    for code, broken in without.items():
        if code == "unfit":
            vault.ledger.append(entry_of(("age", "age9")))
        assert handle(SHOP, MONDAY, broken) == Answer(code=code)
        assert explained(SHOP, MONDAY, broken).code == code
        assert vault.ledger.count == (code == "unfit")
    wanted = f'{OPEN}[[rule]]\nrecipient = "shop.example"\nmodel = "other"\n'
    chosen = replace(agent, rules=FixedRules(wanted))
    assert handle(SHOP, MONDAY, chosen) == Answer(code="no model")
    assert handle(SHOP, MONDAY, replace(agent, vault=living(OPEN)[1])).code == "answered"


def entry_of(*disclosed: tuple[str, str]) -> Disclosure:
    """Return an entry of which only the pairs matter."""
    return Disclosure(
        at=MONDAY,
        host="shop.example",
        query="q",
        asked=None,
        disclosed=disclosed,
        persons=tuple(name for name, _ in disclosed),
        model="other",
        digest="",
        utility_bits=0.0,
        people_left=1,
    )


class BrokenError(RuntimeError):
    """What is raised on the way."""


def _raise(*_: Any, **__: Any) -> Any:  # noqa: ANN401  (in place of anything)
    raise BrokenError


@pytest.mark.parametrize(
    ("owner", "step"),
    [
        (Agent, "look"),
        (OneModel, "of"),
        (Consent, "offered"),
        (Consent, "overlay"),
        (agent.daemon.context, "knowledge_in"),
        (Sources, "values"),
        (agent.daemon.context, "decide_context"),
        (Consent, "note"),
        (Sources, "noted"),
        (Heard, "publish"),
        (Profile, "reveal"),
        (agent.daemon.handle, "members"),
        (agent.daemon.handle, "headline"),
        (agent.daemon.handle, "people_left"),
        (Ledger, "append"),
    ],
)
def test_whatever_fails_on_the_way_leaves_nothing(
    owner: object, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no answer, and the ledger does not say that there was; then all is as before."""
    made, vault = living(f'{OPEN}[attributes]\nage = "ask"\n')
    made = replace(made, sources=Sources())
    with monkeypatch.context() as patched:
        patched.setattr(owner, step, _raise)
        with pytest.raises(BrokenError):
            handle(SHOP, MONDAY, made)
    assert vault.ledger.count == 0
    assert handle(SHOP, MONDAY, made).id == 1


def test_a_full_disk_attaches_nothing() -> None:
    """What cannot be recorded does not leave, and uses up nothing that was said once."""
    agent, vault = living(f'{OPEN}[attributes]\nage = "ask"\n')
    handle(SHOP, MONDAY, agent)
    [review] = agent.consent.reviews(MONDAY)
    agent.consent.verdict(review.id, Verdict(decided="approve", about="everyone"), MONDAY)
    before, vault.records.full = vault.ledger.count, True
    for _ in range(2):
        with pytest.raises(VaultError):
            handle(SHOP, MONDAY, agent)
    assert vault.ledger.count == before
    vault.records.full = False
    assert "age" in handle(SHOP, MONDAY, agent).attributes
    assert "age" not in handle(OTHER, MONDAY, agent).attributes
