"""What answers come to: their laws, whoever gave them and however they are checked."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.calibration import (
    IMPROVEMENTS,
    SCALE,
    PersonAnswers,
    answers_of,
    calibrated,
)
from agent.errors import UsageError
from agent.model.model import Model
from tests.decision.made import NAMES, made_model

MODEL = made_model(2)
AGE, REGION, *_ = NAMES
FACTORS = st.sampled_from([*IMPROVEMENTS.values()])
LEVELS = st.integers(1, len(SCALE))
EVERY: dict[str, Mapping[str, object]] = {
    "improvement": dict.fromkeys(SCALE, "100%"),
    "sensitivity": {},
    "one_of": {},
}


def people() -> st.SearchStrategy[list[PersonAnswers]]:
    """Draw the answers of a few people, each with an improvement for every level."""
    one = st.builds(
        PersonAnswers,
        improvement=st.fixed_dictionaries(dict.fromkeys(range(1, 6), FACTORS)),
        sensitivity=st.dictionaries(st.sampled_from(NAMES), LEVELS),
        one_of=st.dictionaries(st.sampled_from([1, 10, 100, 10_000]), LEVELS),
    )
    return st.lists(one, min_size=1, max_size=4)


def laddered() -> Model:
    """Return the model, in which the region tells the age more exactly."""
    age, region, *rest = MODEL.attributes
    return replace(MODEL, attributes=(age, replace(region, refines=AGE), *rest))


@given(people())
def test_a_price_is_the_median_of_what_is_wanted(said: list[PersonAnswers]) -> None:
    """Log2 of the factor, person by person, for every attribute that somebody answered."""
    found = calibrated(said, MODEL)
    assert {*found.sensitivity} == {name for each in said for name in each.sensitivity}
    for name, bits in found.sensitivity.items():
        wanted = [
            np.log2(each.improvement[each.sensitivity[name]])
            for each in said
            if name in each.sensitivity
        ]
        assert bits == np.median(wanted)


@given(people())
def test_the_ladder_is_used_where_two_of_its_steps_have_a_price(said: list[PersonAnswers]) -> None:
    """Else being one of so many; without a ladder always."""
    assert calibrated(said, MODEL).source == "one_of"
    found = calibrated(said, laddered())
    steps = [found.sensitivity.get(name, inf) for name in (AGE, REGION)]
    assert (found.source == "precision") == (max(steps) < inf)
    if found.source == "one_of":
        assert [each.cost * int(each.name) for each in found.pairs] == [1.0] * len(found.pairs)


@given(people())
def test_answers_are_checked_to_be_what_they_are(said: list[PersonAnswers]) -> None:
    """As texts they are read back whole, unless nothing is said."""
    names = {factor: text for text, factor in IMPROVEMENTS.items()}
    for each in said:
        texts: dict[str, Mapping[str, object]] = {
            "improvement": {str(key): names[factor] for key, factor in each.improvement.items()},
            "sensitivity": each.sensitivity,
            "one_of": {str(key): level for key, level in each.one_of.items()},
        }
        if each.sensitivity or each.one_of:
            assert answers_of(texts, MODEL) == each
        else:
            with pytest.raises(UsageError, match="no question is answered"):
                answers_of(texts, MODEL)


@pytest.mark.parametrize(
    ("question", "said", "error"),
    [
        ("sensitivity", {"aeg": 1}, "unknown attribute 'aeg'"),
        ("sensitivity", {AGE: 6}, "of age is not a whole number from 1 to 5"),
        ("sensitivity", {AGE: True}, "of age is not a whole number"),
        ("one_of", {"0": 1}, "is not a number of people"),
        ("one_of", {"²": 1}, "is not a number of people"),
        ("one_of", {"12345678901": 1}, "is not a number of people"),
        ("improvement", {"6": "25%"}, "unknown sensitivity '6'"),
        ("improvement", {"1": "25"}, "unknown improvement '25'"),
        ("improvement", {"1": 2.0}, "the improvement for 1 is not text"),
    ],
)
def test_what_is_no_answer(question: str, said: dict[str, object], error: str) -> None:
    """Whatever it came in."""
    with pytest.raises(UsageError, match=error):
        answers_of({**EVERY, question: said}, MODEL)


def test_a_level_without_an_improvement() -> None:
    """The first that is missing is named."""
    answered: dict[str, Mapping[str, object]] = {"sensitivity": {AGE: 3}, "one_of": {"10": 2}}
    said = {**answered, "improvement": {"1": "25%"}}
    with pytest.raises(UsageError, match="for sensitivity 2"):
        answers_of(said, MODEL)
