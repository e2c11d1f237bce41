"""What a text means, as a value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.reading import LEAST, MOST, NOTHING, Candidate, Reading
from tests.model.examples import small_model

SHARES = st.lists(st.floats(0, 1), max_size=6).map(
    lambda each: [share / max(sum(each), 1) for share in each]
)


@given(SHARES, st.floats(0.1, 1))
def test_a_reading_is_of_the_surest_queries(shares: list[float], threshold: float) -> None:
    """At most three, sorted, each of at least a tenth; the surest is meant where it is sure."""
    reading = Reading.of(shares, threshold)
    given_shares = [each.probability for each in reading.candidates]
    assert given_shares == sorted(shares, reverse=True)[: len(given_shares)]
    assert [shares[each.query] for each in reading.candidates] == given_shares
    assert len({each.query for each in reading.candidates}) == len(given_shares)
    assert len(given_shares) == min(MOST, sum(share >= LEAST for share in shares))
    assert 0 <= sum(given_shares) <= 1 + 1e-9
    if max(shares, default=0) >= threshold:
        assert reading.query == shares.index(max(shares))
    else:
        assert reading.query is None


@given(SHARES, st.floats(0.1, 1), st.floats(0.1, 1))
def test_a_higher_threshold_reads_less(shares: list[float], one: float, two: float) -> None:
    """What is read at the higher of two is read alike at the lower."""
    strict, lax = (Reading.of(shares, at) for at in (max(one, two), min(one, two)))
    assert strict.query in {None, lax.query}
    assert strict.candidates == lax.candidates


def test_of_equals_the_first_comes_first() -> None:
    """Ties break by index."""
    assert Reading.of([0.2, 0.4, 0.4], 0.3) == Reading(
        1, (Candidate(1, 0.4), Candidate(2, 0.4), Candidate(0, 0.2))
    )


@pytest.mark.parametrize(
    ("text", "query"), [("Python", 0), (" c ", 1), ("python c", None), ("", None)]
)
def test_the_name_of_a_query_is_read_exactly(text: str, query: int | None) -> None:
    """With probability 1; another text means nothing to a model without a classifier."""
    expected = NOTHING if query is None else Reading(query, (Candidate(query, 1.0),))
    assert small_model().read(text) == expected
