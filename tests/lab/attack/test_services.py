"""Services: what they foretell, and how one is chosen."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.cache import Cache
from agent.lab.attack.heldout import SILENT, received
from agent.lab.attack.services import RECIPES, Recipe, Service, chosen, practised, prior
from agent.model.model import Model
from agent.model.tables import gather
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.tables import Indexes, members
from agent.tradeoff.utility import query_utility
from tests.decision.made import CARDS
from tests.lab.paper.made import made_model

KINDS = tuple({each.kind: each for each in RECIPES}.values())
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


@pytest.fixture(scope="module", params=KINDS, ids=lambda each: each.kind)
def service(request: pytest.FixtureRequest) -> Service:
    """Return a service of each kind."""
    return Service(made_model(1), request.param, 1)


@given(CODES, MASKS)
def test_chances_are_chances(service: Service, codes: tuple[int, ...], mask: int) -> None:
    """All above 0, with sum 1; the prior where nothing is said."""
    said = received(np.array([codes, codes], np.uint8), [mask, 0])
    for query in range(2):
        scores = service.scores(query, said)
        assert np.isfinite(scores).all()
        chances = 2.0 ** scores[0] * service.chances(query)
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


def test_counts_are_those_of_the_rows_that_agree() -> None:
    """By the formula, from the rows that agree in the more useful of two to those in both."""
    model = made_model(2)
    rows, columns = model.rows(0), row_columns(model.rows(0), model.cards)
    service = Service(model, Recipe("smoothed counts", 4.0), 1)
    alone = query_utility(rows, model.cards, "louo", 20.0).extensions(0, [0, 2])
    assert min(alone) > 0
    order = (0, 2) if alone[0] > alone[1] else (2, 0)
    for one, other in product(range(CARDS[0]), range(CARDS[2])):
        said = received(np.array([[one, 0, other, 0, 0]], np.uint8), [0b101])
        expected, agree = prior(rows), np.ones(len(rows.intent), dtype=bool)
        for each in order:
            agree &= columns.each[each].codes == {0: one, 2: other}[each]
            counts = np.bincount(rows.intent[agree], minlength=3)
            expected = (counts + 20 * expected) / (counts.sum() + 20)
        assert 2 ** service.scores(0, said)[0] * prior(rows) == pytest.approx(expected)


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(0, 1))
def test_sets_to_practise_are_small_or_groups(seed: int, query: int) -> None:
    """With few attributes: any set, and everything among them."""
    sets = practised(made_model(1), query, 400, np.random.default_rng(seed), Cache())
    assert {len(CARDS), 0} <= set(sets.sum(axis=1).tolist())


def test_the_best_recipe_is_chosen_and_gains() -> None:
    """Where attributes help, each kind gains on people whom it has not seen."""
    service, trials = chosen(made_model(1), 1, lambda *_: None)
    bits = {each.recipe: each.bits for each in trials}
    assert list(bits) == list(RECIPES)
    assert bits[service.recipe] == max(bits.values())
    for kind in KINDS:
        assert max(each for recipe, each in bits.items() if recipe.kind == kind.kind) > 0.02


def test_no_recipe_gains_where_attributes_say_nothing() -> None:
    """Judged by people that it has not seen, noise earns nothing."""
    _, trials = chosen(_without_signal(made_model(1)), 1, lambda *_: None)
    assert max(each.bits for each in trials) < 0.01


def test_the_choice_is_the_same_every_time() -> None:
    """By its seed."""
    assert chosen(made_model(1), 7, lambda *_: None)[1] == chosen(made_model(1), 7, print)[1]


def test_an_intent_alone_is_no_reason_to_fail() -> None:
    """A query of which everybody wants the same is served by the prior."""
    model = made_model(1)
    model = _wanting(model, np.zeros_like)
    for kind in KINDS:
        said = received(np.array([[1, 2, 0, 1, 1]], np.uint8), [0b11111])
        assert np.isfinite(Service(model, kind, 1).scores(0, said)).all()
