"""Tables of words: whole, without slips, and the same in the popup."""

import random
import tomllib
from importlib.resources import files
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from agent.decision.locale import LOCALE
from agent.decision.values import Code, Reason
from agent.model.attributes import UNSPECIFIED as CODE_0
from agent.model.file import read, shipped_models
from agent.tradeoff.measures import METRICS
from agent.wire.policy import Disclose
from agent.words.figures import CHANCES, MEASURED, added_risk, measured, people
from agent.words.outcomes import BROWSER, BY_RULE, REASONS, RULINGS, WHY_NOTHING
from agent.words.titles import UNSPECIFIED, in_order, value_title
from tests.words.popup import PLACE, words

MODELS = (*map(read, shipped_models()), LOCALE)
ATTRIBUTES = [each for model in MODELS for each in model.attributes]
ORDERS = (
    ("unspecified", "lt_3", "3_5", "6_9", "10_19", "20_up"),
    ("unspecified", "lt_10", "10_99", "100_999", "1000_9999", "10000_up"),
    ("unspecified", "no", "part_time", "full_time"),
    ("unspecified", "low", "mid", "high"),
    ("unspecified", "night_early", "7am", "8am", "9am", "10am", "11am", "noon_later"),
    ("unspecified", "primary_or_none", "secondary", "some_college", "bachelor", "master"),
    ("unspecified", "q1", "q2", "q3"),
)


def test_every_code_has_a_phrase_of_its_own() -> None:
    """It fits behind a colon: it neither ends a sentence nor breaks one."""
    assert {*WHY_NOTHING} == {*get_args(Code)}
    assert {*REASONS} == {*get_args(Reason)}
    assert {*RULINGS} == {*get_args(Disclose), "guarded"}
    for phrases in (WHY_NOTHING.values(), REASONS.values(), RULINGS.values()):
        assert len({*phrases}) == len(phrases)
    for phrase in (*WHY_NOTHING.values(), *BROWSER.values(), *REASONS.values()):
        assert phrase.strip(" .:;") == phrase
    assert {*REASONS} >= BY_RULE


def test_every_measure_has_its_unit() -> None:
    """Chances in per cent, where they are not too rare for that."""
    assert {*MEASURED} == {*METRICS}
    for metric, unit in MEASURED.items():
        assert ("%" in measured(0.008, metric)) == (metric in CHANCES)
        assert added_risk(0.008, metric).endswith(f" {unit}")
        assert added_risk(0.0, metric) == "nothing"


@given(st.floats(0, 1e10), st.floats(0, 1e10))
def test_a_number_of_people_is_true_to_one_in_twenty(one: float, other: float) -> None:
    """And more people are never fewer."""

    def read_back(number: float) -> float:
        digits, *million = people(number).replace(",", "").split()
        return float(digits) * (1e6 if million else 1)

    assert abs(read_back(one) - one) <= max(0.5, one / 20)
    assert read_back(min(one, other)) <= read_back(max(one, other))


def test_no_value_of_a_shipped_model_reads_like_a_code() -> None:
    """And no two values of an attribute read alike."""
    for attribute in ATTRIBUTES:
        titles = [value_title(each, attribute.title) for each in attribute.values]
        assert len({*titles}) == len(titles), attribute.name
        for each in titles:
            assert "_" not in each
            assert not (each[:1] == "q" and each[1:].isdigit()), attribute.name


def test_values_stand_in_their_natural_order() -> None:
    """Whatever order they come in: what is not specified first, what is other last; all of them."""
    for wanted in ORDERS:
        shuffled = random.Random(1).sample(wanted, len(wanted))  # noqa: S311  (a shuffle)
        assert in_order(shuffled) == [*wanted]
    for attribute in ATTRIBUTES:
        found = in_order(attribute.values)
        assert sorted(found) == sorted(attribute.values)
        assert found[0] == UNSPECIFIED == CODE_0
        assert "other" not in found[:-1]


def test_titles_of_one_attribute_belong_to_one_that_exists() -> None:
    """By its title, and each to a value that it has."""
    values = {each.title: {*each.values} for each in ATTRIBUTES}
    path = files("agent.words") / "values.toml"
    for title, titles in tomllib.loads(path.read_text("utf-8")).items():
        if title != "any":
            assert {*titles} <= values[title]


def test_the_popup_says_the_same() -> None:
    """`python -m tests.words.popup` writes its words anew."""
    assert PLACE.read_text() == words()


def test_one_title_per_value_is_enough_for_the_popup() -> None:
    """It does not know which model an attribute is of."""
    found: dict[tuple[str, str], set[str]] = {}
    for each in (each for model in MODELS[:-1] for each in model.attributes):
        for value in each.values:
            found.setdefault((each.name, value), set()).add(value_title(value, each.title))
    assert {value: titles for value, titles in found.items() if len(titles) > 1} == {}
