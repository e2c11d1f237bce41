"""The held-out score is the one of DESIGN.md 2.1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build.validate import heldout_bits
from agent.model.attributes import Attribute
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.tables import QueryRows
from tests import strategies
from tests.build import naive


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
