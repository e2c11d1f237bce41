"""Counting in bundles, and in 16 bits where that is enough, counts what a loop counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.grouping import Column, tally

SIZES = [1, 3, 256, 21_845, 21_846, 65_536, 65_537]  # about where 16 bits end, for 3 values or 1


@pytest.mark.parametrize("size", SIZES)
@given(
    st.lists(st.sampled_from([1, 2, 3, 9, 300]), min_size=1, max_size=6),
    st.integers(1, 60),
    st.integers(0, 2**32 - 1),
)
def test_every_table_is_the_count_of_its_attribute(
    size: int, cards: list[int], items: int, seed: int
) -> None:
    """The last group and the last value, where an overflow would show, occur."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, size, items)
    labels[0] = size - 1
    columns = []
    for card in cards:
        codes = random.integers(0, card, items).astype(np.min_scalar_type(card - 1))
        codes[0] = card - 1
        columns.append(Column(codes, card))
    for column, table in zip(columns, tally(labels, size, columns), strict=True):
        expected = np.zeros((column.card, size), dtype=np.intp)
        np.add.at(expected, (column.codes, labels), 1)
        assert np.array_equal(table.reshape(column.card, size), expected)
