"""What the paper states of its survey and its sets, and the sensitivities that follow from it."""

from dataclasses import replace
from itertools import pairwise

import pytest

from agent.build.log_schema import BY_LABEL
from agent.lab.paper.survey import (
    OUTCOMES,
    PRICES,
    WOULD_SHARE,
    with_stated_sensitivities,
    within_outcomes,
)
from tests.decision.made import made_model


def test_the_stated_prices_have_the_order_of_the_stated_shares() -> None:
    """And more than half share each for one bit (6.1), so none costs more."""
    labels = sorted(WOULD_SHARE, key=lambda each: -WOULD_SHARE[each])
    bits = [PRICES[each] for each in labels]
    assert all(low < high for low, high in pairwise(bits))
    assert min(WOULD_SHARE.values()) > 1 / 2  # 6.1: "for all attributes probed"
    assert max(bits) <= 1
    assert {*PRICES} <= {*BY_LABEL}


def test_within_the_outcomes_no_set_costs_more_than_the_paper_says() -> None:
    """And one of the bounds is met: it is the largest such scale."""
    scale = within_outcomes()
    bits = {label: price * scale for label, price in PRICES.items()}
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
    found = with_stated_sensitivities(model)
    price = PRICES["DGDR"] * within_outcomes()
    assert found.attributes == (replace(model.attributes[0], sensitivity=price), *own)
    assert found.digest == ""
    assert found.options["sensitivity_scale"] == within_outcomes()
