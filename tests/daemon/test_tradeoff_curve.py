"""What leaves at every trade-off."""

import asyncio
import gc

import pytest
from msgspec.structs import replace

from agent.decision.values import Curve
from agent.errors import LockedError, UsageError
from agent.wire.decide import Ask, CurveAsk, WhatIf
from agent.wire.policy import Word
from agent.wire.state import ProfileChange
from policy.hosts import ANYBODY
from tests.worlds.homes import POLICY, Home
from tests.worlds.people import SHOP

TRADE_OFF, REGION = "lambda = 0.0", 'region = "ask"'
SENSITIVE = POLICY.replace(REGION, 'age = { disclose = "auto", sensitivity = 0.01 }')
ASKING = POLICY.replace(REGION, 'age = "ask"')
MARK = "private"
ASK = CurveAsk(query=SHOP.query, recipient=SHOP.recipient)
ALL = CurveAsk()


def rule(opened: Home, text: str) -> None:
    """Let another policy hold."""
    opened.paths.policy.write_text(text)
    opened.calls.reload()


def curve(opened: Home, ask: CurveAsk = ASK) -> Curve:
    """Wait for a curve."""
    found: Curve = asyncio.run(opened.calls.curve(ask))
    return found


def at(found: Curve, trade_off: float) -> list[str]:
    """Return what leaves at a trade-off."""
    [names] = [
        [*each.figures.names] for each in found.points if each.least <= trade_off <= each.most
    ]
    return names


def test_at_every_trade_off_it_is_what_is_decided(opened: Home) -> None:
    """By a policy that has it: sets, bits, what is proven; the present one marked."""
    rule(opened, POLICY)
    found = curve(opened)
    assert found.read_as is not None
    assert (found.code, found.read_as.query) == ("answered", "python today")
    assert (found.trade_off, found.present) == (0.0, 0)
    assert len(found.points) > 1
    for place, point in enumerate(found.points):
        rule(opened, POLICY.replace(TRADE_OFF, f"lambda = {point.most}"))
        explained = opened.calls.explain(SHOP)
        assert sorted(explained.figures.names) == sorted(point.figures.names)
        there = curve(opened)
        assert (there.present, there.points[place]) == (place, point)
    rule(opened, POLICY)
    answer = opened.calls.decide(SHOP)
    assert answer.summary is not None
    assert answer.summary.utility_bits == curve(opened).points[0].figures.utility


def test_its_cost_is_all_that_the_objective_takes_off(opened: Home) -> None:
    """Identifiability at the least trade-off of each set, and sensitivities."""
    rule(opened, SENSITIVE)
    points = curve(opened).points
    assert any("age" in each.figures.names for each in points)
    for each in points:
        told = each.least * each.figures.identifiability_cost + 0.01 * ("age" in each.figures.names)
        assert each.figures.cost == pytest.approx(told)


def test_without_a_query_it_is_of_all(opened: Home) -> None:
    """As where the policy has one set for all requests."""
    found = curve(opened, CurveAsk(recipient=SHOP.recipient))
    assert (found.mode, found.read_as) == ("standing", None)
    rule(opened, f'mode = "standing"\n{POLICY}')
    assert replace(curve(opened), request=found.request) == found
    assert sorted(at(found, found.trade_off)) == sorted(opened.calls.explain(SHOP).disclosed)


def test_without_a_recipient_it_is_for_everybody(opened: Home) -> None:
    """Neither rules for some nor what some hold count; what is said for everyone does."""
    rule(opened, f'{ASKING}\n[[rule]]\nrecipient = "shop.example"\nlambda = 2.0\n')
    plain = curve(opened, CurveAsk(query=SHOP.query))
    assert plain.trade_off == 0.0
    assert curve(opened).trade_off == 2.0
    opened.calls.decide(Ask(query=SHOP.query, recipient=ANYBODY))
    opened.calls.decide(SHOP)
    assert curve(opened, CurveAsk(query=SHOP.query)) == plain
    assert "age" not in at(plain, 0.0)
    review = opened.calls.reviews()[0]
    opened.calls.verdict(Word(decided="approve", lasting="once", about="everyone"), id=review.id)
    assert "age" in at(curve(opened, CurveAsk(query=SHOP.query)), 0.0)


def test_only_what_is_asked_is_in_it(opened: Home) -> None:
    """What the model does not have is none of it."""
    found = curve(opened, CurveAsk(query=SHOP.query, recipient="a.example", asked=["age", "shoe"]))
    assert {name for each in found.points for name in each.figures.names} == {"age"}


def test_nothing_comes_of_it(opened: Home) -> None:
    """No entry, no review, no event; and values change nothing."""
    opened.bus.kinds.clear()
    found, entries = [curve(opened), curve(opened, ALL)], opened.calls.status().entries
    assert opened.bus.kinds == []
    assert (opened.calls.status().entries, opened.calls.status().waiting) == (entries, 0)
    opened.calls.change_profile(ProfileChange(set={"age": "age2", "region": "region1"}))
    assert [curve(opened), curve(opened, ALL)] == found


@pytest.mark.parametrize("ask", [ASK, ALL])
def test_others_are_answered_meanwhile(opened: Home, ask: CurveAsk) -> None:
    """Each as it is alone; two curves are made one after the other, and what is weighed as well."""
    what = WhatIf(recipient=SHOP.recipient, query=ask.query, add=["region"])
    found, alone = curve(opened, ask), opened.calls.explain(SHOP)
    other = asyncio.run(opened.calls.whatif(what))
    opened.agent.reader.cache.clear()

    async def scenario() -> int:
        until = asyncio.get_running_loop().time() + 60
        weighing = asyncio.create_task(opened.calls.whatif(what))
        curves = [asyncio.create_task(opened.calls.curve(ask)) for _ in range(2)]
        answered = 0
        while not all(each.done() for each in curves):
            await asyncio.sleep(0)
            assert opened.calls.explain(SHOP) == alone
            answered += 1
            assert asyncio.get_running_loop().time() < until
        assert [each.result() for each in curves] == [found, found]
        assert await weighing == other
        return answered

    assert asyncio.run(scenario()) > len(found.points)


def test_to_lock_ends_it(opened: Home) -> None:
    """Whether it is under way or waits for another; unlocking again does not help it."""
    what = WhatIf(recipient=SHOP.recipient, query=SHOP.query)

    async def scenario() -> None:
        curves = [asyncio.create_task(opened.calls.curve(ASK)) for _ in range(2)]
        weighing = asyncio.create_task(opened.calls.whatif(what))
        for _ in range(3):
            await asyncio.sleep(0)
        assert not any(each.done() for each in (*curves, weighing))
        opened.calls.lock()
        for each in (*curves, weighing):
            with pytest.raises(LockedError, match="meanwhile"):
                await each

    asyncio.run(scenario())
    with pytest.raises(LockedError):
        curve(opened)
    opened.unlock()
    assert curve(opened).points


def test_nothing_of_it_stays_in_memory(opened: Home) -> None:
    """Once the vault is locked."""
    rule(opened, f'unknown_queries = "standing"\n{POLICY}')
    curve(opened, CurveAsk(query=f"{MARK} matters", recipient=f"{MARK}.example"))
    asyncio.run(opened.calls.whatif(WhatIf(query=f"{MARK}. too", recipient=f"{MARK}.example")))
    assert marked()
    opened.calls.lock()
    gc.collect()
    assert not marked()


def marked() -> list[str]:
    """Return the texts in memory that say what was asked."""
    held = [text for each in gc.get_objects() for text in gc.get_referents(each)]
    return [each for each in held if isinstance(each, str) and each.startswith(f"{MARK}.")]


@pytest.mark.parametrize(
    ("policy", "ask", "error"),
    [
        (POLICY, CurveAsk(query="knee pain", recipient="a.example"), "does not know this query"),
        (f"nothing = true\n{POLICY}", ASK, "the policy lets nothing leave"),
        (POLICY.replace("mine", "other"), ASK, "there is no curve: no usable model"),
        (POLICY, CurveAsk(recipient="no host"), "host"),
        (None, ALL, "there is no curve: no policy in use"),
    ],
)
def test_where_there_is_none(opened: Home, policy: str | None, ask: CurveAsk, error: str) -> None:
    """In a sentence that says why."""
    opened.paths.policy.unlink()
    if policy is not None:
        opened.paths.policy.write_text(policy)
    opened.calls.reload()
    with pytest.raises(UsageError, match=error):
        curve(opened, ask)
