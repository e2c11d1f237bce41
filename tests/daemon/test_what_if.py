"""What another set would bring, what leaves at every trade-off, and what is said of both."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import cycle
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from agent.daemon import what_if
from agent.daemon.agent import Agent
from agent.daemon.handle import handle
from agent.daemon.request_log import DOORS
from agent.daemon.what_if import explain
from agent.decision.values import UNDECIDED, Curve
from agent.errors import LockedError, UsageError
from agent.vault.ledger import Disclosure
from agent.wire.decide import Ask, CurveAsk, Weighed, WhatIf
from agent.wire.policy import Word
from agent.words.decisions import headline, lines
from policy.hosts import ANYBODY, site_of
from tests.decision.made import NAMES
from tests.decision.transcripts import Rules, policies
from tests.vault.values import change
from tests.worlds.homes import POLICY, Home
from tests.worlds.people import (
    ASKS,
    MODEL,
    MONDAY,
    OPEN,
    PEOPLE,
    SECOND,
    SHOP,
    STEPS,
    Heard,
    MemoryVault,
    living,
    values_of,
)

WARY = """preset = "none"
anonymity_price = 0.001
k = 30
[attributes]
age = "ask"
job = "never"
region = { guard = 0.5 }
"""
DEARER = '\n[[rule]]\ndoor = ["mcp", "browser"]\nanonymity_price = 0.001\n'
SOME = settings(max_examples=30)
NAMED = st.lists(st.sampled_from(NAMES), unique=True)
Stream = list[tuple[tuple[int, Ask], int]]
STREAMS = st.lists(st.tuples(STEPS, st.integers(0, 5)), min_size=1, max_size=6)


def weighed(body: WhatIf, now: datetime, agent: Agent) -> Weighed:
    return asyncio.run(what_if.whatif(body, now, agent))


def lived(agent: Agent, vault: MemoryVault, stream: Stream) -> datetime:
    """Make requests by all doors, after some of which their recipients forget; return the time."""
    now = MONDAY
    for ((hours, ask), forgets), by in zip(stream, cycle(DOORS), strict=False):
        now += timedelta(hours=hours)
        handle(ask, now, agent, by)
        if not forgets:
            vault.ledger.forget(now, site_of(ask.recipient).__eq__, ask.recipient)
    return now


def disclosing(vault: MemoryVault) -> Iterator[tuple[int, Disclosure]]:
    for number, record in vault.ledger.read():
        if isinstance(record, Disclosure):
            yield number, record


@SOME
@given(policies(["everyone", "me"]), STREAMS, PEOPLE, st.integers(0, 300))
def test_what_left_once_would_leave_again(
    rules: Rules, stream: Stream, row: int, later: int
) -> None:
    """Whenever, and whatever came after it, while nothing else is ruled; by the door it came by."""
    agent, vault = living(rules.policy.text + DEARER, row)
    now = lived(agent, vault, stream) + timedelta(hours=later)
    for number, entry in disclosing(vault):
        found = weighed(WhatIf(entry=number), now, agent)
        assert found.chosen == found.weighed
        assert sorted(found.decision.disclosed) == sorted(found.chosen.names)
        assert set(found.decision.disclosed) == {name for name, _ in entry.disclosed}
        assert found.chosen.utility == entry.utility_bits
        assert found.chosen.breaks is None


@SOME
@given(policies(["everyone", "me"]), STREAMS, PEOPLE, ASKS)
def test_it_is_what_is_explained(rules: Rules, stream: Stream, row: int, ask: Ask) -> None:
    """With the same reasons and figures, of every attribute; of none where none was decided."""
    agent, vault = living(rules.policy.text, row)
    now = lived(agent, vault, stream) + SECOND
    body = WhatIf(recipient=ask.recipient, query=ask.query, asked=ask.asked)
    found, said = weighed(body, now, agent), explain(ask, now, agent)
    assert (found.decision, found.lines) == (said, lines(said))
    if said.code not in UNDECIDED:
        assert found.headline == headline(said)
    assert [each.name for each in found.rows] == (list(NAMES) if said.outcomes else [])
    for row_, reason in zip(found.rows, said.outcomes, strict=True):
        told = (row_.name, row_.disclosed, row_.reason, row_.rule, row_.limit)
        assert told == (reason.name, reason.disclosed, reason.reason, reason.rule, reason.limit)
        if reason.gain_bits is not None:
            assert (row_.gain_bits, row_.cost_bits) == (reason.gain_bits, reason.cost_bits)


@SOME
@given(policies(["everyone", "me"]), st.integers(1, 5_000), st.integers(1, 5_000), ASKS)
def test_other_people_are_as_if_the_policy_asked_for_them(
    rules: Rules, people: int, before: int, ask: Ask
) -> None:
    """Whatever it asks for now."""
    text, population = rules.policy.text, MODEL.population
    weights = np.full(population.rows, 900.0)
    tables = replace(MODEL.tables, population=replace(population, weights=weights))
    model = replace(MODEL, tables=tables)
    body = WhatIf(recipient=ask.recipient, query=ask.query, asked=ask.asked)
    then = living(f"people = {before}\n{text}", 0, model)[0]
    now = living(f"people = {people}\n{text}", 0, model)[0]
    other = structs.replace(body, people=people)
    found, expected = weighed(other, MONDAY, then), weighed(body, MONDAY, now)
    assert (found.chosen, found.rows) == (expected.chosen, expected.rows)


@SOME
@given(policies(["everyone", "me"]), STREAMS, PEOPLE, st.data())
def test_nothing_is_done(rules: Rules, stream: Stream, row: int, data: st.DataObject) -> None:
    """Neither recorded nor queued nor told; the next request is answered as if nobody had asked."""
    agent, vault = living(rules.policy.text, row)
    now = lived(agent, vault, stream) + SECOND
    other, otherwise = living(rules.policy.text, row)
    lived(other, otherwise, stream)
    bus = cast(Heard, agent.bus)
    before = (vault.ledger.read(), agent.consent.reviews(now), list(bus.kinds))
    weighed(data.draw(bodies(vault)), now, agent)
    assert (vault.ledger.read(), agent.consent.reviews(now), bus.kinds) == before
    next_one = data.draw(ASKS)
    assert handle(next_one, now, agent) == handle(next_one, now, other)


@st.composite
def bodies(draw: st.DrawFn, vault: MemoryVault) -> WhatIf:
    """Draw what may be asked, about a request or an entry of the ledger."""
    add = draw(NAMED)
    drop = [name for name in draw(NAMED) if name not in add]
    entries = [number for number, _ in disclosing(vault)]
    past = draw(st.booleans())
    if past and entries:
        return WhatIf(entry=draw(st.sampled_from(entries)), add=add, drop=drop)
    ask = draw(ASKS)
    query = draw(st.just(ask.query) | st.none())
    return WhatIf(recipient=ask.recipient, query=query, asked=ask.asked, add=add, drop=drop)


@SOME
@given(policies(["everyone"]), STREAMS, PEOPLE, PEOPLE, st.data())
def test_it_says_nothing_of_undisclosed_values(
    rules: Rules, stream: Stream, one: int, other: int, data: st.DataObject
) -> None:
    """The profile may be changed to that of anybody who has set the same: it stays the same."""
    agent, vault = living(rules.policy.text, one)
    now = lived(agent, vault, stream) + SECOND
    body = data.draw(bodies(vault))
    found = weighed(body, now, agent)
    change(vault.profile, values_of(other), [], [MODEL])
    assert weighed(body, now, agent) == found


def test_the_change_is_said() -> None:
    """What it brings, who is left in place of whom, and the limit; what is decided stays a line."""
    agent, vault = living(WARY, 3)
    handle(SHOP, MONDAY, agent)
    found = weighed(WhatIf(entry=1, add=["age", "job", "hours"]), MONDAY + SECOND, agent)
    assert found.chosen.names == ("gender",)
    assert found.weighed.names == ("age", "gender", "job", "hours")
    assert found.headline.startswith("With Age, Job and Hours: +0.")
    assert "instead of 151; this breaks the limit k: " in found.headline
    assert found.weighed.breaks == "k"
    assert [each.label for each in found.lines][:3] == ["today", "read as", "helps"]
    without = weighed(WhatIf(entry=1, drop=["gender"]), MONDAY + SECOND, agent)
    assert " bits less useful; about 3" in without.headline.removeprefix("Without Gender: 0.0")
    plain = weighed(WhatIf(entry=1, add=["gender"]), MONDAY + SECOND, agent)
    left = f"{vault.disclosures[0].people_left} people still look like you"
    assert plain.headline.startswith(f"It sent Gender; about {left}. By today's rules: 0.")
    hours = weighed(WhatIf(entry=1, add=["hours"]), MONDAY + SECOND, agent)
    assert hours.headline.endswith(", as before.")


def test_what_the_model_cannot_say_is_unfit() -> None:
    """A value that it does not have: from the entry after it on."""
    agent, vault = living(OPEN, 3)
    handle(SHOP, MONDAY, agent)
    [entry] = vault.disclosures
    name = entry.persons[0]
    odd = structs.replace(entry, disclosed=((name, "odd"),), persons=(name,), means=())
    for _ in range(2):
        vault.ledger.append(odd)
    assert weighed(WhatIf(entry=2), MONDAY, agent).decision.code == "answered"
    for body in (WhatIf(entry=3), WhatIf(recipient="shop.example", query=SHOP.query)):
        found = weighed(body, MONDAY, agent)
        assert (found.decision.code, found.rows, found.chosen.names) == ("unfit", (), ())
        assert found.headline.startswith("Nothing to compare: the model does not fit")


REFUSED = [
    (WhatIf(entry=3), "no entry 3"),
    (WhatIf(entry=2), "entry 2 discloses nothing"),
    (WhatIf(entry=1, query="python today"), "an entry already names"),
    (WhatIf(entry=1, recipient="shop.example"), "an entry already names"),
    (WhatIf(entry=1, asked=[]), "an entry already names"),
    (WhatIf(query="python today"), "no request specified"),
    (WhatIf(), "no request specified"),
    (WhatIf(recipient="not a host"), "not a host"),
    (WhatIf(entry=1, add=["regoin"]), "unknown fact 'regoin'"),
    (WhatIf(recipient="shop.example", drop=["regoin"]), "unknown fact 'regoin'"),
    (WhatIf(entry=1, add=["age"], drop=["age"]), "both added and dropped"),
]


def test_what_cannot_be_weighed_is_refused() -> None:
    """In a sentence."""
    agent, vault = living(OPEN, 3)
    handle(SHOP, MONDAY, agent)
    vault.ledger.forget(MONDAY, "shop.example".__eq__, "shop.example")
    for body, said in REFUSED:
        with pytest.raises(UsageError, match=said) as error:
            weighed(body, MONDAY, agent)
        assert "regoin" not in said or error.value.hint == "did you mean 'region'?"


REGION = 'region = "ask"'
ASKING = POLICY.replace(REGION, 'age = "ask"')
ASK = CurveAsk(query=SHOP.query, recipient=SHOP.recipient)
ALL = CurveAsk()


def curve(opened: Home, ask: CurveAsk = ASK) -> Curve:
    found: Curve = asyncio.run(opened.calls.curve(ask))
    return found


def at(found: Curve, trade_off: float) -> list[str]:
    return [*next(e.figures for e in found.points if e.least <= trade_off <= e.most).names]


def test_without_a_recipient_it_is_for_everybody(opened: Home) -> None:
    """Neither rules for some nor what some hold count; what is said for everyone does."""
    opened.rule(f'{ASKING}\n[[rule]]\nrecipient = "shop.example"\nanonymity_price = 0.002\n')
    plain = curve(opened, CurveAsk(query=SHOP.query))
    assert plain.trade_off == 0.0
    assert curve(opened).trade_off == 2.0
    opened.calls.decide(Ask(query=SHOP.query, recipient=ANYBODY))
    opened.calls.decide(SHOP)
    assert curve(opened, CurveAsk(query=SHOP.query)) == plain
    assert "age" not in at(plain, 0.0)
    review = opened.calls.reviews()[0]
    opened.calls.verdict(Word(disclose="auto", lasting="once", about="everyone"), id=review.id)
    assert "age" in at(curve(opened, CurveAsk(query=SHOP.query)), 0.0)


def test_a_curve_has_what_leaves_at_the_present_trade_off(opened: Home) -> None:
    """What another policy would decide is a law of the decision; without a query it is of all."""
    opened.rule(ASKING)
    found = curve(opened)
    assert found.read_as is not None
    assert (found.code, found.read_as.query, found.trade_off) == ("answered", "python today", 0.0)
    explained = opened.calls.explain(SHOP)
    assert sorted(at(found, found.trade_off)) == sorted(explained.figures.names)
    assert found.points[found.present].figures.utility == explained.figures.utility
    every = curve(opened, CurveAsk(recipient=SHOP.recipient))
    assert every.read_as is None
    opened.rule(f'mode = "standing"\n{ASKING}')
    assert curve(opened) == every


def test_others_are_answered_meanwhile(opened: Home) -> None:
    """Each as it is alone; two curves are made one after the other, and what is weighed as well."""
    what = WhatIf(recipient=SHOP.recipient, query=SHOP.query, add=["region"])
    found, alone = curve(opened), opened.calls.explain(SHOP)
    other = asyncio.run(opened.calls.whatif(what))
    opened.agent.reader.cache.clear()

    async def scenario() -> int:
        until = asyncio.get_running_loop().time() + 60
        weighing = asyncio.create_task(opened.calls.whatif(what))
        curves = [asyncio.create_task(opened.calls.curve(ASK)) for _ in range(2)]
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
        over = threading.Event()
        works = (
            opened.agent.in_thread(over.wait),
            opened.calls.curve(ASK),
            opened.calls.whatif(what),
        )
        tasks = [asyncio.create_task(each) for each in works]
        for _ in range(3):
            await asyncio.sleep(0)
        opened.calls.lock()
        over.set()
        for each in tasks:
            with pytest.raises(LockedError, match="meanwhile"):
                await each

    asyncio.run(scenario())
    with pytest.raises(LockedError):
        curve(opened)
    opened.unlock()
    assert curve(opened).points


def test_where_there_is_no_curve(opened: Home) -> None:
    """In a sentence that says why."""
    for policy, ask, error in (
        (POLICY.replace("mine", "other"), ASK, "there is no curve: no usable model"),
        (POLICY, CurveAsk(recipient="no host"), "host"),
        (None, ALL, "there is no curve: no policy in use"),
    ):
        opened.paths.policy.unlink()
        if policy is not None:
            opened.paths.policy.write_text(policy)
        opened.calls.reload()
        with pytest.raises(UsageError, match=error):
            curve(opened, ask)
