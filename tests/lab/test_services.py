"""The service: what it foretells."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.lab.attack.services import Service, practice_sets
from agent.lab.attack.simulation import SILENT, received
from agent.model.model import Model
from agent.model.tables import gather
from agent.tradeoff.study import row_columns
from agent.tradeoff.tables import Indexes, members
from tests.decision.made import CARDS
from tests.lab.worlds import paper_model

MASKS = st.integers(0, 2 ** len(CARDS) - 1)
CODES = st.tuples(*(st.integers(0, card - 1) for card in CARDS))


def _without_signal(model: Model) -> Model:
    """Return the model with its intents in another order."""
    return _wanting(model, np.random.default_rng(5).permutation)


def _wanting(model: Model, changed: Callable[[Indexes], Indexes]) -> Model:
    """Return the model with other intents of the rows of each query."""
    rows = [model.rows(each) for each in range(len(model.queries))]
    wanted = [replace(each, intent=changed(each.intent)) for each in rows]
    tables = model.tables
    made = gather(model.population, wanted, tables.query_weights, tables.singles)
    return replace(model, tables=replace(tables, rows=made.rows))


@pytest.fixture(scope="module")
def service() -> Service:
    """Make a service of a small model."""
    return Service(paper_model(1), 1)


@given(CODES, MASKS)
def test_chances_are_chances(service: Service, codes: tuple[int, ...], mask: int) -> None:
    """All above 0, with sum 1; the prior where nothing is said."""
    said = received(np.array([codes, codes], np.uint8), [mask, 0])
    for query in range(2):
        scores = service.scores(query, said)
        assert np.isfinite(scores).all()
        chances = 2.0 ** scores[0] * service.prior(query)
        assert chances.sum() == pytest.approx(1)
        assert (scores[1] == 0).all()


@given(CODES, CODES, MASKS)
def test_what_is_not_said_changes_nothing(
    service: Service, one: tuple[int, ...], other: tuple[int, ...], mask: int
) -> None:
    """Two who agree on what is told are served alike."""
    told = set(members(mask))
    same = [(one if each in told else other)[each] for each in range(len(one))]
    scores = service.scores(0, received(np.array([one, same], np.uint8), [mask, mask]))
    assert (scores[0] == scores[1]).all()


@given(st.lists(st.tuples(CODES, MASKS), min_size=1, max_size=5))
def test_many_requests_are_served_as_one_by_one(
    service: Service, requests: list[tuple[tuple[int, ...], int]]
) -> None:
    """Nobody's chances depend on who else asks."""
    codes = np.array([each for each, _ in requests], np.uint8)
    said = received(codes, [mask for _, mask in requests])
    together = service.scores(0, said)
    alone = [service.scores(0, said[each : each + 1])[0] for each in range(len(said))]
    assert together == pytest.approx(np.array(alone), abs=1e-12)


def test_what_is_heard() -> None:
    """The code and one of what is told: not specified is told too."""
    said = received(np.array([[0, 2, 7]], np.uint8), [0b011])
    assert said.tolist() == [[1, 3, SILENT]]


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_practice_sets_are_small_or_groups(seed: int) -> None:
    """With few attributes: any set, and everything among them."""
    sets = practice_sets(paper_model(1), 400, np.random.default_rng(seed))
    assert {len(CARDS), 0} <= set(sets.sum(axis=1).tolist())


def gained(model: Model) -> float:
    """Mean bits of what people wanted whom the service has not seen."""
    other, service = paper_model(2), Service(model, 1)
    found = []
    for query in range(len(other.queries)):
        rows = other.rows(query)
        said = np.stack([each.codes for each in row_columns(rows, other.cards).each], axis=1) + 1
        scores = service.scores(query, said.astype(np.intp))
        found.append(scores[np.arange(len(said)), rows.intent].mean())
    return float(np.mean(found))


def test_it_gains_on_people_it_has_not_seen() -> None:
    """Where attributes help; where they say nothing, noise earns nothing."""
    assert gained(paper_model(1)) > 0.02
    assert gained(_without_signal(paper_model(1))) < 0.01


def test_an_intent_alone_is_no_reason_to_fail() -> None:
    """A query of which everybody wants the same is served by the prior."""
    model = _wanting(paper_model(1), np.zeros_like)
    said = received(np.array([[1, 2, 0, 1, 1]], np.uint8), [0b11111])
    assert np.isfinite(Service(model, 1).scores(0, said)).all()
