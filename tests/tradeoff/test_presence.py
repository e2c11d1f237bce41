"""Presence bits count classes as counting the people does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.grouping import Column, Grouping, Presence


@given(st.data(), st.integers(1, 40), st.integers(1, 6))
def test_classes_are_the_pairs_of_group_and_value_that_occur(
    data: st.DataObject, items: int, groups: int
) -> None:
    """Whatever the attributes: with more values than a byte has bits, or than a byte has values."""
    cards = data.draw(st.lists(st.sampled_from([1, 2, 7, 8, 9, 17, 300]), min_size=1, max_size=12))
    columns = [
        Column(
            np.array(
                data.draw(st.lists(st.integers(0, card - 1), min_size=items, max_size=items)),
                dtype=np.min_scalar_type(card - 1),
            ),
            card,
        )
        for card in cards
    ]
    drawn = data.draw(st.lists(st.integers(0, groups - 1), min_size=items, max_size=items))
    used, labels = np.unique(drawn, return_inverse=True)
    expected = [len(set(zip(drawn, each.codes.tolist(), strict=True))) for each in columns]
    assert Presence(columns).classes(Grouping(labels, len(used))) == expected
