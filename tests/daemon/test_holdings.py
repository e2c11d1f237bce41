"""What a pool could infer of what is guarded from it, by the policy as it is now."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.agent import Agent
from agent.daemon.calls import Calls
from agent.wire.asking import Ask
from agent.wire.overview import Inferred
from tests.daemon.doubles import MONDAY, FixedRules
from tests.daemon.people import MODEL, ROWS, living
from tests.decision.transcripts import HOSTS, POLICIES, QUERIES
from tests.vault.histories import disclosed

GUARDED = """
lambda = 0.0
[groups]
adverts = ["ads.test", "more.test"]
[attributes]
job = { guard = 0.5 }
[[rule]]
recipient = "more.test"
attribute = "region"
guard = 0.1
[[rule]]
recipient = "books.example"
attribute = "job"
guard = 0.0
"""


def calls_of(agent: Agent) -> Calls:
    """Return the calls to an agent, on a Monday."""
    return Calls(agent, lambda: MONDAY)


def names(found: list[Inferred]) -> list[str]:
    """Return of what something is inferred."""
    return [each.name for each in found]


def test_it_is_what_is_guarded_from_the_pool() -> None:
    """By the rules for its domain, or for any member of a group; in the model's order."""
    calls = calls_of(living(GUARDED)[0])
    assert names(calls.knowledge(recipient="shop.example").inferred) == ["job"]
    assert names(calls.knowledge(recipient="books.example").inferred) == []
    for member in ("ads.test", "x.more.test", "@adverts"):
        assert names(calls.knowledge(recipient=member).inferred) == ["region", "job"]
    agent, _ = living(None)
    assert calls_of(agent).knowledge(recipient="shop.example").inferred == []


@given(st.sampled_from(HOSTS), st.lists(st.sampled_from(QUERIES)), st.integers(0, len(ROWS) - 1))
def test_it_is_counted_among_those_who_agree(host: str, queries: list[str], row: int) -> None:
    """Whatever was told until now; and who agrees gets the same answer, whatever their job is."""
    agent, _ = living(GUARDED, row)
    calls = calls_of(agent)
    for query in queries:
        calls.decide(Ask(query=query, recipient=host))
    held = calls.knowledge(recipient=host)
    agree = [
        each
        for each in ROWS.tolist()
        if all(MODEL.attributes[i].values[each[i]] == v for i, v in indexed(held.values).items())
    ]
    assert held.people_left == len(agree)
    for found in held.inferred:
        at = MODEL.index(found.name)
        said = [each[at] for each in agree if each[at]]
        best = max(map(said.count, set(said)), default=0) / max(len(said), 1)
        assert found.best_guess == pytest.approx(best if len(said) >= 30 else 0.0)
        assert found.title == MODEL.attributes[at].title


def indexed(values: dict[str, str]) -> dict[int, str]:
    """Return values by the index of their attribute."""
    return {MODEL.index(name): value for name, value in values.items()}


def test_of_values_that_nobody_has_nothing_can_be_said() -> None:
    """As of an entry that another model decided."""
    agent, vault = living(GUARDED)
    vault.ledger.append(disclosed(MONDAY, "shop.example", age="older than any"))
    held = calls_of(agent).knowledge(recipient="shop.example")
    assert (held.people_left, held.values) == (0, {"age": "older than any"})
    [job] = held.inferred
    assert (job.bits, job.best_guess) == (0.0, 0.0)
    assert job.by_chance > 0.3


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
def test_it_follows_every_policy(policy: str) -> None:
    """It is what stays out of requests because it is guarded; new rules hold at once."""
    agent, _ = living(policy)
    calls = calls_of(agent)
    asked = calls.explain(Ask(query=QUERIES[0], recipient="shop.example"))
    guarded = [each.name for each in asked.candidates if each.reason == "guarded"]
    assert names(calls.knowledge(recipient="shop.example").inferred) == guarded
    agent.rules = FixedRules(GUARDED)
    assert names(calls.knowledge(recipient="shop.example").inferred) == ["job"]
