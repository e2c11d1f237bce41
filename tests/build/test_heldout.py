"""The held-out score is the one of DESIGN.md 2.1."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build.heldout import heldout_bits
from agent.build.observe import Observations
from agent.build.queries import Observed
from agent.build.shrinkage import fit
from agent.build.validate import validate
from agent.model.attributes import Attribute
from agent.tradeoff.columns import row_columns
from agent.tradeoff.crowd import Crowd
from agent.tradeoff.search import search
from agent.tradeoff.tables import Population, QueryRows
from tests import strategies
from tests.build import naive
from tests.tradeoff.naive import louo


@st.composite
def queries(draw: st.DrawFn) -> tuple[QueryRows, tuple[Attribute, ...]]:
    """Draw the rows of a query and their attributes."""
    attributes = draw(strategies.attribute_lists())
    return draw(strategies.query_rows(attributes)), attributes


@given(
    case=queries(),
    data=st.data(),
    shrinkage=st.sampled_from([0.5, 5.0, 200.0]),
    mask=st.integers(0),
)
def test_the_score_is_the_definition(
    case: tuple[QueryRows, tuple[Attribute, ...]],
    data: st.DataObject,
    shrinkage: float,
    mask: int,
) -> None:
    """Row by row, whichever users were trained on and whatever is disclosed."""
    rows, attributes = case
    mask %= 1 << len(attributes)
    users = len(rows.person)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=users, max_size=users)))
    trained = chosen[rows.user]
    columns = row_columns(rows, [len(each.values) for each in attributes])
    groups = columns.groups(np.arange(len(rows.user)), mask)
    expected = naive.heldout(rows, trained.tolist(), shrinkage, mask)
    found = heldout_bits(rows, trained, shrinkage, groups)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_without_shrinkage_an_unforeseen_intent_has_no_score() -> None:
    """Minus infinity cannot be kept in a model; a group that nobody was in costs nothing."""
    rows = QueryRows(
        user=np.arange(4),
        intent=np.array([0, 1, 1, 0]),
        person=np.zeros((4, 1), np.uint8),
        request=np.zeros((4, 0), np.uint8),
        intents=2,
    )
    trained = np.array([True, True, False, False])
    assert heldout_bits(rows, trained, 0.0, np.array([0, 1, 0, 0])) is None
    assert heldout_bits(rows, trained, 0.0, np.array([0, 1, 2, 2])) == 0.0


@settings(max_examples=40)
@given(case=queries(), data=st.data(), key=st.binary(max_size=4))
def test_validation_promises_from_one_half_and_scores_on_the_other(
    case: tuple[QueryRows, tuple[Attribute, ...]], data: st.DataObject, key: bytes
) -> None:
    """Counts, beta, people and prior are those of the half that is built from."""
    rows, attributes = case
    people = data.draw(st.permutations(range(len(rows.person))))
    codes = np.empty_like(rows.person)
    codes[people] = rows.person
    counts = [
        np.array(
            [
                np.bincount(rows.request[rows.user == people.index(y), j], minlength=len(a.values))
                for y in range(len(people))
            ],
            dtype=np.uint32,
        )
        for j, a in enumerate(attributes[rows.persons :])
    ]
    seen = Observations(
        attributes=attributes,
        population=Population(codes, None, tuple(counts)),
        queries=(Observed("q", tuple("abcd"[: rows.intents]), rows, np.array(people)),),
        dropped={},
        users=tuple(f"user {y}" for y in range(len(people))),
    )
    (trial,) = validate(seen, key, "louo", 20.0, lambda _: None).queries
    half = naive.in_half_a(seen.users, key)
    expected = [_expected(seen, side) for side in (half, [not each for each in half])]
    found = [each for each in expected if each is not None]
    if not found:
        assert trial is None
    else:
        assert trial is not None
        assert trial[:2] == pytest.approx(np.mean(found, axis=0), abs=1e-9)


def _expected(seen: Observations, side: list[bool]) -> tuple[float, float] | None:
    """Return what is promised and what is got, with only the search taken for granted."""
    (query,) = seen.queries
    rows, population = query.rows, seen.population
    trained = [side[query.people[user]] for user in rows.user]
    if not any(trained):
        return None
    users = [user for user in range(len(rows.person)) if side[query.people[user]]]
    intents = sorted({int(x) for x, each in zip(rows.intent, trained, strict=True) if each})
    training = QueryRows(
        user=np.array([users.index(u) for u, t in zip(rows.user, trained, strict=True) if t]),
        intent=np.array([intents.index(x) for x, t in zip(rows.intent, trained, strict=True) if t]),
        person=rows.person[users],
        request=rows.request[trained],
        intents=len(intents),
    )
    counts = tuple(table[side] for table in population.request_counts)
    crowd = Crowd(Population(population.codes[side], None, counts), seen.cards)
    mask = search(fit(training, crowd, "louo", 20.0).objective, "lls").mask
    score = naive.heldout(rows, trained, 20.0, mask)
    return None if score is None else (louo(training, mask, 20.0), score)
