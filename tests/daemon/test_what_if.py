"""What another set would bring."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.daemon import what_if
from agent.daemon.agent import Agent
from agent.daemon.handle import handle
from agent.daemon.what_if import explained
from agent.decision.tradeoff_curve import taken
from agent.vault.disclosure_index import Disclosure
from agent.wire.decide import Ask
from agent.wire.what_if import Weighed, WhatIf
from policy.hosts import site_of
from tests.daemon.doubles import MONDAY, Heard, MemoryVault
from tests.daemon.people import MODEL, ROWS, SECOND, living, values_of
from tests.decision.histories import Rules, policies
from tests.decision.made import NAMES
from tests.decision.transcripts import HOSTS, QUERIES
from tests.vault.values import change

SOME = settings(max_examples=50)


people = st.integers(0, len(ROWS) - 1)


names = st.lists(st.sampled_from(NAMES), unique=True)


asks = st.builds(
    Ask,
    query=st.sampled_from(QUERIES),
    recipient=st.sampled_from(HOSTS),
    asked=st.none() | st.none() | names,
)


steps = st.tuples(st.sampled_from([1, 1, 60, 200]), asks, st.integers(0, 5))


streams = st.lists(steps, min_size=1, max_size=6)


def weighed(body: WhatIf, now: datetime, agent: Agent) -> Weighed:
    """Return what the daemon answers, at once."""
    return taken(what_if.weighed(body, now, agent))


def lived(agent: Agent, vault: MemoryVault, stream: list[tuple[int, Ask, int]]) -> datetime:
    """Make requests, after some of which their recipients forget; return when the last was."""
    now = MONDAY
    for hours, ask, forgets in stream:
        now += timedelta(hours=hours)
        handle(ask, now, agent)
        if not forgets:
            site = site_of(ask.recipient)
            vault.ledger.forget(now, site.__eq__, ask.recipient)
    return now


def disclosing(vault: MemoryVault) -> Iterator[tuple[int, Disclosure]]:
    """Yield the entries that disclosed something, with their numbers."""
    for number, record in vault.ledger.read():
        if isinstance(record, Disclosure):
            yield number, record


@SOME
@given(policies(["everyone", "me"]), streams, people, st.integers(0, 300))
def test_what_left_once_would_leave_again(
    rules: Rules, stream: list[tuple[int, Ask, int]], row: int, later: int
) -> None:
    """Whenever it is asked about, and whatever came after it, while nothing else is ruled."""
    agent, vault = living(rules.policy.text, row)
    now = lived(agent, vault, stream) + timedelta(hours=later)
    for number, entry in disclosing(vault):
        found = weighed(WhatIf(entry=number), now, agent)
        assert found.chosen == found.weighed
        assert sorted(found.decided) == sorted(found.chosen.names)
        assert set(found.decided) == {name for name, _ in entry.disclosed}
        assert found.chosen.utility_bits == entry.utility_bits
        assert found.chosen.breaks is None


@SOME
@given(policies(["everyone", "me"]), streams, people, asks)
def test_it_is_what_is_explained(
    rules: Rules, stream: list[tuple[int, Ask, int]], row: int, ask: Ask
) -> None:
    """With the same reasons and figures, of every attribute."""
    agent, vault = living(rules.policy.text, row)
    now = lived(agent, vault, stream) + SECOND
    body = WhatIf(recipient=ask.recipient, query=ask.query, asked=ask.asked)
    found, said = weighed(body, now, agent), explained(ask, now, agent)
    assert (found.code, found.headline, found.pending) == (said.code, said.headline, said.pending)
    assert (found.decided, found.lines, found.proof) == (said.disclosed, said.lines, said.proof)
    assert [each.name for each in found.rows] == list(NAMES)
    for row_, reason in zip(found.rows, said.candidates, strict=bool(said.candidates)):
        told = (row_.name, row_.inside, row_.reason, row_.rule, row_.limit)
        assert told == (reason.name, reason.disclosed, reason.reason, reason.rule, reason.limit)
        if reason.gain_bits is not None:
            assert (row_.gain_bits, row_.cost_bits) == (reason.gain_bits, reason.cost_bits)


@SOME
@given(policies(["everyone", "me"]), streams, people, st.data())
def test_nothing_is_done(
    rules: Rules, stream: list[tuple[int, Ask, int]], row: int, data: st.DataObject
) -> None:
    """Neither recorded nor queued nor told; the next request is answered as if nobody had asked."""
    agent, vault = living(rules.policy.text, row)
    now = lived(agent, vault, stream) + SECOND
    other, otherwise = living(rules.policy.text, row)
    lived(other, otherwise, stream)
    bus = cast(Heard, agent.bus)
    before = (vault.ledger.read(), agent.consent.reviews(now), list(bus.kinds), vault.calls)
    weighed(data.draw(bodies(vault)), now, agent)
    assert (vault.ledger.read(), agent.consent.reviews(now), bus.kinds, vault.calls) == before
    next_one = data.draw(asks)
    assert handle(next_one, now, agent) == handle(next_one, now, other)


@st.composite
def bodies(draw: st.DrawFn, vault: MemoryVault) -> WhatIf:
    """Draw what may be asked, about a request or an entry of the ledger."""
    add = draw(names)
    drop = [name for name in draw(names) if name not in add]
    entries = [number for number, _ in disclosing(vault)]
    past = draw(st.booleans())
    if past and entries:
        return WhatIf(entry=draw(st.sampled_from(entries)), add=add, drop=drop)
    ask = draw(asks)
    query = draw(st.just(ask.query) | st.none())
    return WhatIf(recipient=ask.recipient, query=query, asked=ask.asked, add=add, drop=drop)


@SOME
@given(policies(["everyone"]), streams, people, people, st.data())
def test_it_says_nothing_of_undisclosed_values(
    rules: Rules, stream: list[tuple[int, Ask, int]], one: int, other: int, data: st.DataObject
) -> None:
    """The profile may be changed to that of anybody who has set the same: it stays the same."""
    agent, vault = living(rules.policy.text, one)
    now = lived(agent, vault, stream) + SECOND
    body = data.draw(bodies(vault))
    found = weighed(body, now, agent)
    change(vault.profile, values_of(other), [], [MODEL])
    assert weighed(body, now, agent) == found
