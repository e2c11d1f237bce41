"""Sample sizes of Lemmas 4.2 and 4.3."""

from math import ceil, log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.bounds import cost_error, cost_samples, utility_error, utility_samples

ERRORS = st.floats(1e-3, 10)
DELTAS = st.floats(1e-6, 1, exclude_max=True)


@given(st.integers(1, 10_000), ERRORS, DELTAS)
def test_lemma_4_2_as_printed(intents: int, error: float, delta: float) -> None:
    """The natural logarithm, one-sided; rounding may move a whole number by one."""
    printed = 1 / 2 * (log2(intents) / error) ** 2 * log(1 / delta)
    assert utility_samples(intents, error, delta) == pytest.approx(ceil(printed), rel=1e-12, abs=1)
    assert utility_samples(intents, error, delta) >= printed * (1 - 1e-12)


@given(ERRORS, DELTAS)
def test_lemma_4_3_as_printed(error: float, delta: float) -> None:
    """The case of two intents: a loss between 0 and 1."""
    printed = 1 / (2 * error**2) * log(1 / delta)
    assert cost_samples(error, delta) == pytest.approx(ceil(printed), rel=1e-12, abs=1)
    assert cost_samples(error, delta) == utility_samples(2, error, delta)


@given(st.integers(1, 10_000), ERRORS, st.floats(2e-6, 1, exclude_max=True))
def test_two_sided_is_one_sided_at_half_the_delta(intents: int, error: float, delta: float) -> None:
    """Each direction gets half of what may go wrong."""
    both = utility_samples(intents, error, delta, two_sided=True)
    assert both == pytest.approx(utility_samples(intents, error, delta / 2), abs=1)
    assert cost_samples(error, delta, two_sided=True) >= cost_samples(error, delta)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (cost_samples(0.05, 0.05), 600),  # 599.15
        (cost_samples(0.05, 0.05, two_sided=True), 738),  # 737.78
        (utility_samples(1024, 0.1, 0.05), 14_979),  # 14,978.66
        (utility_samples(1, 0.1, 0.05), 0),  # one intent: nothing to estimate
    ],
)
def test_examples(found: int, expected: int) -> None:
    """Worked out by hand."""
    assert found == expected


@pytest.mark.parametrize("error", [0.0, -0.1, float("nan"), float("inf"), 1e-200])
def test_an_error_is_a_finite_number_above_0(error: float) -> None:
    """And so large that the samples can be counted."""
    with pytest.raises(ValueError, match="error"):
        cost_samples(error, 0.05)
    with pytest.raises(ValueError, match="error"):
        utility_samples(10, error, 0.05)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 2.0, float("nan")])
def test_delta_is_a_probability(delta: float) -> None:
    """Neither certainty nor nonsense."""
    with pytest.raises(ValueError, match="delta"):
        cost_samples(0.1, delta)


@pytest.mark.parametrize("intents", [0, -3])
def test_there_is_an_intent(intents: int) -> None:
    """A query without any is no query."""
    with pytest.raises(ValueError, match="intent"):
        utility_samples(intents, 0.1, 0.05)


@pytest.mark.parametrize("two_sided", [False, True])
def test_so_many_samples_suffice(two_sided: bool) -> None:
    """Group entropies scored against the full counts: at most a share delta of runs is off.

    The entropies are as far apart as they can be, the hardest case for a mean.
    """
    generator, runs, error, delta = np.random.default_rng(0), 4000, 0.4, 0.1
    entropies = np.array([0.0, log2(8), 0.0, log2(8), 1.5])
    chances = np.array([0.3, 0.3, 0.15, 0.15, 0.1])
    rows = utility_samples(8, error, delta, two_sided=two_sided)
    means = generator.choice(entropies, (runs, rows), p=chances).mean(axis=1)
    off = means - entropies @ chances
    missed = np.mean(np.abs(off) > error) if two_sided else np.mean(off > error)
    assert 0 < missed <= delta


@given(st.integers(2, 10_000), st.integers(1, 10**6), DELTAS, st.booleans())
def test_the_error_of_a_sample_is_the_lemma_turned_round(
    intents: int, samples: int, delta: float, two_sided: bool
) -> None:
    """So many rows are enough for it, and one less is not enough for a little less."""
    for width, error in (
        (intents, utility_error(intents, samples, delta, two_sided=two_sided)),
        (2, cost_error(samples, delta, two_sided=two_sided)),
    ):
        if error > 0:
            needed = utility_samples(width, error, delta, two_sided=two_sided)
            assert needed == pytest.approx(samples, rel=1e-9, abs=1)
            assert utility_samples(width, error * 0.99, delta, two_sided=two_sided) >= needed


@pytest.mark.parametrize(("intents", "samples", "delta"), [(0, 9, 0.1), (2, 0, 0.1), (2, 9, 1.0)])
def test_an_error_has_the_ranges_of_the_lemma(intents: int, samples: int, delta: float) -> None:
    """No intents, no rows, and no doubt at all are refused."""
    with pytest.raises(ValueError, match=r"intent|row|delta"):
        utility_error(intents, samples, delta)
