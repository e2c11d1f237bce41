"""Where somebody lives changes whose people a model counts, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.topics import Judgements
from agent.errors import UsageError
from agent.model.file import read, shipped_model
from agent.model.world import EVERYWHERE, LEAST_SHARE, in_country
from agent.tradeoff.agreement import pair_people

HERE = read(shipped_model())
THERE = in_country(HERE, "de")
NAMED = st.sampled_from([each.name for each in HERE.attributes])


@given(st.integers(0, 150), st.sets(NAMED, max_size=6))
def test_what_helps_is_the_same_wherever_somebody_lives(topic: int, names: set[str]) -> None:
    """Only people are counted elsewhere, and facts keep what they are."""
    own, other = (
        Judgements.of(each)
        .coverage({topic: 1.0})
        .value(sum(1 << each.index(name) for name in names))
        for each in (HERE, THERE)
    )
    assert own == pytest.approx(other)
    for name in names - {"country"}:
        each, same = (model.attributes[model.index(name)] for model in (HERE, THERE))
        assert replace(same, shared=each.shared) == each


def test_elsewhere_rows_say_only_how_common_facts_are() -> None:
    """Columns of what goes together anywhere; what does not counts by the share of the rows."""
    people, rows = THERE.population, HERE.population
    columns = THERE.attributes[: people.tabled]
    assert {each.name for each in columns} == EVERYWHERE
    for at, each in enumerate(columns):
        assert np.array_equal(people.columns[at], rows.columns[HERE.index(each.name)])
    for kind in THERE.kinds[:10]:
        counts = np.bincount(rows.columns[HERE.index(kind.name)], rows.weights)[1:]
        assert kind.shares == pytest.approx(np.maximum(counts / counts.sum(), LEAST_SHARE))
    uncounted = replace(people, pairs=None)
    pairs, again = (pair_people(each, THERE.cards)[0] for each in (people, uncounted))
    assert np.array_equal(pairs, again)
    assert np.array_equal(people.people_by_code, uncounted.people_by_code)
    assert THERE.people == people.residents == pytest.approx(0.75 * 83e6, rel=0.05)
    assert (THERE.stands_for, THERE.as_in) == ("people in Germany", "the US")


def test_a_model_that_says_no_country_counts_its_own_people() -> None:
    """As where nobody said where the user lives."""
    other = read(shipped_model("so2017"))
    assert in_country(other, "de") is other
    assert in_country(HERE, "") is HERE
    assert in_country(HERE, "us").people == HERE.people
    with pytest.raises(UsageError, match="country 'zz'"):
        in_country(HERE, "zz")
