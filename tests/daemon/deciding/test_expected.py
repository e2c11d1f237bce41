"""Decisions made before they are asked for: the very ones, and nobody is told anything."""

from collections.abc import Callable
from unittest.mock import Mock

import pytest

from agent.daemon.agent import Agent
from agent.daemon.deciding.case import case_of, decided
from agent.daemon.deciding.expected import MOST, expected, most_asked
from agent.daemon.handle import handle
from agent.decision.choice import choice_of
from agent.wire.asking import Ask
from tests.daemon.doubles import MONDAY, FixedRules, Heard
from tests.daemon.people import MODEL, OPEN, SECOND, SHOP, living

Count = Callable[[], int]
QUERIES = [query.text for query in MODEL.queries]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Count:
    """Count the decisions that were not remembered."""
    noted = Mock(wraps=choice_of)
    monkeypatch.setattr("agent.decision.decide.choice_of", noted)
    MODEL.forget()
    return lambda: noted.call_count


def think(agent: Agent) -> int:
    """Think to the end, and return how many steps that took."""
    steps = 0
    while agent.ahead.step():
        steps += 1
    return steps


def test_what_may_be_asked_next_is_decided(made: Count) -> None:
    """Each query of the model, with what the recipient holds by now; others stay undecided."""
    agent, _ = living(OPEN)
    assert handle(SHOP, MONDAY, agent).attributes
    assert think(agent) > len(QUERIES)
    before = made()
    for query in QUERIES:
        decided(case_of(Ask(query=query, recipient=SHOP.recipient), MONDAY + SECOND, agent))
    assert made() == before
    decided(case_of(Ask(query=QUERIES[1], recipient="other.example"), MONDAY, agent))
    assert made() > before


def test_nobody_is_told(made: Count) -> None:
    """Nothing is recorded, nothing waits, and no event says of it."""
    agent, vault = living(f'{OPEN}disclose = "ask"\n')
    bus = agent.bus = Heard()
    agent.ahead.note(SHOP.recipient, expected(SHOP, MONDAY, agent))
    think(agent)
    assert made() > 0
    assert (vault.ledger.count, agent.desk.reviews(MONDAY), bus.kinds) == (0, [], [])
    assert [*agent.unrecorded] == []


def test_it_is_thought_again_only_of_what_changed() -> None:
    """An answer that tells nothing new leaves nothing to think about."""
    agent, _ = living(OPEN)
    handle(SHOP, MONDAY, agent)
    think(agent)
    handle(SHOP, MONDAY + SECOND, agent)
    assert think(agent) == 0


def test_what_protects_this_user_alone_is_not_thought_about(made: Count) -> None:
    """Such a decision is not remembered, so that none would be served by it."""
    agent, _ = living(f'{OPEN}protect = "me"\n')
    agent.ahead.note(SHOP.recipient, expected(SHOP, MONDAY, agent))
    assert think(agent) > 1
    assert made() == 0


@pytest.mark.parametrize("what", ["locked", "no policy", "no host"])
def test_where_nothing_can_be_decided_it_ends(what: str) -> None:
    """Without an error: whoever asks will hear of it."""
    agent, _ = living(OPEN)
    ask = Ask(query="x", recipient="no host" if what == "no host" else SHOP.recipient)
    agent.ahead.note(ask.recipient, expected(ask, MONDAY, agent))
    if what == "locked":
        agent.vault = None
    if what == "no policy":
        agent.rules = FixedRules(None)
    assert think(agent) == 1


def test_locking_leaves_nothing_to_think_about() -> None:
    """A recipient's name too is what nobody may find."""
    agent, _ = living(OPEN)
    handle(SHOP, MONDAY, agent)
    agent.lock()
    assert think(agent) == 0


def test_the_queries_asked_most_come_first() -> None:
    """No more than a few, however many a model has."""
    found = most_asked(MODEL)
    weight = dict(zip(QUERIES, MODEL.tables.query_weights.tolist(), strict=True))
    assert sorted(found, key=lambda query: -weight[query]) == found
    assert len(found) == min(MOST, len(QUERIES))
