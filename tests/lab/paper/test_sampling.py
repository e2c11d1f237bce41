"""Sampling: unbiased, and within the lemmas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.lab.paper.assumptions import (
    DELTA,
    EXACT,
    SAMPLED,
    Estimates,
    SampledCost,
    SampledUtility,
    cost_estimates,
    sampling_finding,
    utility_estimates,
)
from agent.lab.paper.orders import Along
from agent.lab.paper.published import Options
from agent.tradeoff.bounds import cost_error, utility_error
from tests.lab.paper.made import NAMES, made_model, made_subject

MANY = 40_000
SURE = 1e-9  # the chance that a right estimate fails a test
EVERYTHING = (1 << len(NAMES)) - 1


@given(st.integers(0, 9), st.integers(0, 1000), st.integers(1, EVERYTHING))
def test_many_rows_estimate_utility_within_the_lemma(seed: int, chance: int, mask: int) -> None:
    """At a width that a right estimate leaves once in a billion times."""
    subject = made_subject(seed, "plugin")
    sampled = SampledUtility(subject, Options(samples=MANY, seed=chance)).value(mask)
    width = utility_error(3, MANY, SURE, two_sided=True)
    assert sampled == pytest.approx(subject.utility_alone().utility(mask), abs=width)


@given(st.integers(0, 9), st.integers(0, 1000), st.integers(1, EVERYTHING >> 1))
def test_many_people_estimate_cost_within_the_lemma(seed: int, chance: int, mask: int) -> None:
    """The losses in [0, 1], over attributes of the person."""
    model, options = made_model(seed), Options(samples=MANY, seed=chance, k=7)
    width = cost_error(MANY, SURE, two_sided=True)
    for metric in ("maxprob", "k-anonymity"):
        exact = model.crowd().identifiability(mask, metric, options.k)
        assert SampledCost(model, options).value(mask, metric) == pytest.approx(exact, abs=width)


def test_the_same_seed_draws_the_same_sample_of_a_set() -> None:
    """And another seed another one."""
    subject = made_subject(3, "plugin")
    values = [
        SampledUtility(subject, Options(samples=50, seed=each)).value(7) for each in (1, 1, 2)
    ]
    assert values[0] == values[1] != values[2]


def test_only_the_papers_estimator_is_sampled() -> None:
    """Lemma 4.2 says nothing of the other."""
    with pytest.raises(ValueError, match="plugin"):
        SampledUtility(made_subject(3, "louo"), Options())


def test_the_estimates_go_along_the_orders() -> None:
    """Exact beside sampled, for every prefix; request attributes are not sampled for cost."""
    subject, options = made_subject(3, "plugin"), Options(samples=2000, k=7)
    utility, costs = utility_estimates(subject, options), cost_estimates(subject.model, options)
    assert sorted(utility.values.names) == sorted(NAMES)
    for each in costs:
        assert sorted(each.values.names) == sorted(NAMES[:-1])
        assert np.mean([error <= each.error for error in each.errors]) >= 1 - DELTA
    page = sampling_finding((utility, *costs), options.samples, "made")
    assert [each.same for each in page.claims] == [True, True, True]


def test_an_estimate_that_is_off_is_called_so() -> None:
    """More often than the lemma allows."""
    off = Estimates("maxprob", Along(("a", "b"), {EXACT: (0.1, 0.2), SAMPLED: (0.5, 0.2)}), 0.05)
    assert [each.same for each in sampling_finding((off,), 10, "made").claims] == [False]
