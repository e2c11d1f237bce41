"""Default sensitivities: their laws, their sources, and that they contradict neither."""

from dataclasses import replace
from itertools import pairwise
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build.log_schema import BY_LABEL, TABLE_1
from agent.errors import UsageError
from agent.lab.paper.survey import (
    MAPPED,
    OUTCOMES,
    PRICES,
    WOULD_SHARE,
    adults,
    default_sensitivities,
    median_bits,
    prices,
    rated_prices,
    stated_prices,
    with_default_sensitivities,
    within_outcomes,
)
from tests.decision.made import made_model

NAMES = [each.name for each in TABLE_1]
BITS = st.integers(1, 500).map(lambda each: each / 100)  # so far apart that a line has a slope
KNOWN = st.lists(
    st.tuples(BITS, st.floats(0, 1)), min_size=1, max_size=5, unique_by=lambda x: x[0]
).map(lambda pairs: list(zip(*map(sorted, zip(*pairs, strict=True)), strict=True)))


@given(KNOWN)
def test_half_of_the_people_share_for_the_price(known: list[tuple[float, float]]) -> None:
    """By the straight lines between what is known, as NumPy draws them."""
    bits = median_bits(known)
    assert (bits is None) == (known[-1][1] < 0.5)
    if bits is not None:
        lines = np.array([(0.0, 0.0), *known]).T
        assert np.interp(bits, *lines) == pytest.approx(0.5)
        assert bits <= next(each for each, share in known if share >= 0.5)


@given(KNOWN, st.floats(0, 1))
def test_who_is_more_willing_has_no_higher_price(
    known: list[tuple[float, float]], more: float
) -> None:
    """Whatever share of the rest is won over."""
    willing = [(bits, share + more * (1 - share)) for bits, share in known]
    before, after = median_bits(known), median_bits(willing)
    assert before is None or (after is not None and after <= before + 1e-9)


def test_the_stated_prices_have_the_order_of_the_stated_shares() -> None:
    """And more than half share each for one bit (6.1), so none costs more."""
    labels = sorted(WOULD_SHARE, key=lambda each: -WOULD_SHARE[each])
    bits = [stated_prices()[each].bits for each in labels]
    assert all(low < high for low, high in pairwise(bits))
    assert min(WOULD_SHARE.values()) > 1 / 2  # 6.1: "for all attributes probed"
    assert max(bits) <= 1


def test_what_is_mapped_or_stated_has_a_price() -> None:
    """And nothing is mapped that is absent from Table 1."""
    assert {*MAPPED} <= {*BY_LABEL}
    assert {*rated_prices()} == {*MAPPED}
    assert {*prices()} == {*MAPPED, *stated_prices()}


def test_the_rated_prices_lie_in_the_step_that_the_median_person_ticks() -> None:
    """The median of 7.2 is that step's upper end."""
    ends = (0.0, *PRICES)
    for label, price in rated_prices().items():
        level = int(np.median(adults().of(MAPPED[label])))
        assert ends[level - 1] <= price.bits <= ends[level]


def test_defaults_are_of_the_names_asked_for_alone() -> None:
    """What has no source has none, and what is no attribute of Table 1 neither."""
    found = default_sensitivities([*NAMES, "int_python"])
    assert found == {BY_LABEL[label].name: price.bits for label, price in prices().items()}
    assert default_sensitivities(["gender", "int_python"]) == {"gender": found["gender"]}
    assert default_sensitivities(["topic_sports", "working_hours"]) == {}


@given(st.sets(st.sampled_from(NAMES)), st.floats(0, 10))
def test_a_scale_multiplies_them_all(names: set[str], scale: float) -> None:
    """In proportion."""
    whole = default_sensitivities(names)
    scaled = default_sensitivities(names, scale)
    assert scaled == pytest.approx({name: bits * scale for name, bits in whole.items()})


@pytest.mark.parametrize("scale", [-1.0, inf, nan])
def test_a_scale_that_cannot_be(scale: float) -> None:
    """No sensitivity is negative, or infinite in a model."""
    with pytest.raises(UsageError, match="scale"):
        default_sensitivities(NAMES, scale)


def test_within_the_outcomes_no_set_costs_more_than_the_paper_says() -> None:
    """And one of the bounds is met: it is the largest such scale."""
    scale = within_outcomes()
    bits = {label: price.bits * scale for label, price in prices().items()}
    slack = [each.cost - sum(bits.get(label, 0) for label in each.labels) for each in OUTCOMES]
    (hours,) = (each for each in OUTCOMES if "AWHR" in each.labels)
    slack.append(hours.cost - max(bits.values()))
    assert min(slack) == pytest.approx(0)


def test_a_model_that_states_them() -> None:
    """Attributes of Table 1 get theirs, others keep what they have, and the digest is gone."""
    model = replace(made_model(2), digest="0" * 64)
    first, *others = model.attributes
    own = [replace(each, name=f"own_{place}") for place, each in enumerate(others)]
    model = replace(model, attributes=(replace(first, name="gender"), *own))
    found = with_default_sensitivities(model)
    changed = [
        (before.name, after.sensitivity)
        for before, after in zip(model.attributes, found.attributes, strict=True)
        if before != after
    ]
    assert changed == [("gender", default_sensitivities(["gender"])["gender"])]
    assert found.digest == ""
    assert found.options["sensitivity_scale"] == 1
    assert "adults_2020" in str(found.options["sensitivities"])
