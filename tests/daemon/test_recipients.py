"""Who knows what: the recipients, what each holds, and how that went on."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.wire.decide import Ask
from policy.hosts import site_of
from tests.decision.made import made_model
from tests.decision.transcripts import POLICIES
from tests.worlds.homes import DEEDS, SOME, Deed, Life
from tests.worlds.people import SHOP, FixedRules

APART = SOME.replace("[groups]", '[groups]\nsome = ["shop.example", "books.example"]\n# ')


def lived(deeds: list[Deed], policy: str = SOME) -> Life:
    life = Life(policy)
    for deed in deeds:
        life.do(deed)
    return life


@given(DEEDS, st.sampled_from([SOME, APART]))
def test_it_agrees_with_the_ledger_and_with_what_is_held(deeds: list[Deed], later: str) -> None:
    """Under the groups that there were, and under others."""
    life = lived(deeds)
    life.agent.rules = FixedRules(later)
    found = life.calls.recipients()
    told = [each for each in life.calls.requests(limit=1000) if each.kind == "disclosed"]
    pools = [*dict.fromkeys(each.pool for each in reversed(told))]
    assert [each.pool for each in found] == pools
    for each in found:
        mine = [entry for entry in told if entry.pool == each.pool]
        assert each.requests == len(mine)
        assert each.sites == sorted({site_of(entry.recipient) for entry in mine})
        held = life.calls.recipients(recipient=each.pool)[0]
        assert (each.people_left, each.people) == (held.people_left, held.people)
        assert each.held == sorted(held.values)
        assert each.first_left == mine[0].people_left


def test_to_forget_raises_it_again() -> None:
    """To all there are, where all of a pool forget; else to those who agree with the rest."""
    life = lived([("ask", "a.ads.test", SHOP.query), ("ask", "shop.example", SHOP.query)])
    merged = FixedRules(SOME.replace('["ads.test"]', '["ads.test", "shop.example"]'))
    life.do(("forget", "shop.example", ""))
    whole, part = life.calls.recipients()
    assert whole.first_left < whole.people_left == 300
    assert part.first_left == part.people_left < 300
    life.agent.rules = merged
    [both] = life.calls.recipients()
    assert both.pool == "@adverts"
    assert both.sites == ["ads.test", "shop.example"]
    assert both.people_left == part.people_left


def test_who_was_told_by_another_population_counts_in_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """Since the one that the policy names now knows none of the facts."""
    life = lived([("ask", "shop.example", SHOP.query)])
    before, other = life.calls.recipients(), made_model(1)
    unknown = (replace(each, concept=f"other_{each.name}") for each in other.attributes)
    strange = replace(other, attributes=tuple(unknown))
    life.agent.rules = FixedRules(SOME + '[[rule]]\nrecipient = "shop.example"\npopulation = "x"\n')
    monkeypatch.setattr(life.agent.registry, "of", lambda *_: strange)
    assert life.calls.recipients() == before


@pytest.mark.parametrize(
    "policy", [*POLICIES.values(), SOME, APART], ids=[*POLICIES, "blocking", "half"]
)
def test_who_is_blocked_gets_nothing(policy: str) -> None:
    """And whoever is not gets something decided, or one of its group; an edit shows at once."""
    life = Life("anonymity_price = 0\n")
    for host in ("shop.example", "books.example", "a.ads.test"):
        life.ask(host, SHOP.query)
    life.agent.rules = FixedRules(policy)
    for each in life.calls.recipients():
        codes = {life.calls.explain(Ask(query="q", recipient=site)).code for site in each.sites}
        assert each.blocked == (codes == {"blocked"})
    life.agent.rules = FixedRules(None)
    assert not any(each.blocked for each in life.calls.recipients())
