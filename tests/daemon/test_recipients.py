"""Who knows what: the recipients, what each holds, and how that went on."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.records import MOST, thinned
from agent.decision.knowledge import people_left
from agent.vault.disclosure_index import Forgetting
from agent.wire.decide import Ask
from agent.wire.state import Moment
from policy.hosts import site_of
from tests.decision.transcripts import POLICIES, Forgotten, Told, knowledge_of
from tests.worlds.homes import DEEDS, SOME, Deed, Life
from tests.worlds.people import (
    MODEL,
    MONDAY,
    SECOND,
    SHOP,
    FixedRules,
)

APART = SOME.replace("[groups]", '[groups]\nsome = ["shop.example", "books.example"]\n# ')


def lived(deeds: list[Deed], policy: str = SOME) -> Life:
    """Return a life with these deeds."""
    life = Life(policy)
    for deed in deeds:
        life.do(deed)
    return life


def moments_of(life: Life, pool: str) -> list[tuple[datetime, int]]:
    """Return when another number of people agreed with what a pool held, entry by entry."""
    pool_of = life.agent.rules.active.pool_of
    events: list[Told | Forgotten] = []
    found: list[tuple[datetime, int]] = []
    for _, entry in life.vault.ledger.read():
        left = None
        if isinstance(entry, Forgetting):
            events.append(Forgotten(entry.at, frozenset(entry.sites)))
            if pool in map(pool_of, entry.sites):
                left = people_left(knowledge_of(events, pool, pool_of, entry.at), MODEL)
        else:
            told = [each for each in entry.disclosed if each[0] in entry.persons]
            codes = [(n, MODEL.attributes[MODEL.index(n)].code(v)) for n, v in told]
            events.append(Told(entry.at, entry.host, tuple(codes)))
            left = entry.people_left if pool_of(entry.host) == pool else None
        if left is not None and (not found or found[-1][1] != left):
            found.append((entry.at, left))
    return found


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
        assert [(moment.at, moment.people_left) for moment in each.history] == moments_of(
            life, each.pool
        )
        assert later != SOME or each.history[-1].people_left == each.people_left


def test_to_forget_raises_it_again() -> None:
    """To all there are, where all of a pool forget; else to those who agree with the rest."""
    life = lived([("ask", "a.ads.test", SHOP.query), ("ask", "shop.example", SHOP.query)])
    merged = FixedRules(SOME.replace('["ads.test"]', '["ads.test", "shop.example"]'))
    life.do(("forget", "shop.example", ""))
    whole, part = (each.history for each in life.calls.recipients())
    assert [each.people_left for each in whole][-1] == 300
    assert len(whole) == 2
    assert len(part) == 1
    life.agent.rules = merged
    [both] = life.calls.recipients()
    assert both.pool == "@adverts"
    assert both.sites == ["ads.test", "shop.example"]
    assert both.history[-1].people_left == both.people_left == part[0].people_left


@pytest.mark.parametrize(
    "policy", [*POLICIES.values(), SOME, APART], ids=[*POLICIES, "blocking", "half"]
)
def test_who_is_blocked_gets_nothing(policy: str) -> None:
    """And whoever is not gets something decided, or one of its group; an edit shows at once."""
    life = Life("lambda = 0.0\n")
    for host in ("shop.example", "books.example", "a.ads.test"):
        life.ask(host, SHOP.query)
    life.agent.rules = FixedRules(policy)
    for each in life.calls.recipients():
        codes = {life.calls.explain(Ask(query="q", recipient=site)).code for site in each.sites}
        assert each.blocked == (codes == {"blocked"})
    life.agent.rules = FixedRules(None)
    assert not any(each.blocked for each in life.calls.recipients())


def test_a_long_history_is_a_few_dozen_moments() -> None:
    """From the first to the last; what is short enough stays whole."""
    moments = [Moment(at=MONDAY + at * SECOND, people_left=at) for at in range(MOST * 3)]
    for count in range(len(moments)):
        kept = thinned(moments[:count])
        assert len(kept) == min(count, MOST)
        assert kept == sorted({*kept}, key=lambda each: each.at)
        assert not count or (kept[0], kept[-1]) == (moments[0], moments[count - 1])
