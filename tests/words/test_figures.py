"""Numbers and lists as sentences have them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.values import CountedAmong
from agent.tradeoff.measures import METRICS
from agent.words.figures import (
    CHANCES,
    MEASURED,
    added_risk,
    alike,
    bits,
    counted,
    counted_among,
    listed,
    measured,
    moment,
    number,
    of_whom,
    people,
)


def test_every_measure_has_words_and_can_be_chosen() -> None:
    """One more of them needs both."""
    assert {*MEASURED} == {*METRICS}


def test_a_list_reads_like_a_sentence() -> None:
    """A long one is cut, and says how many it leaves out."""
    assert [listed("abc"[:count]) for count in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert listed([], "nothing") == "nothing"
    assert listed("abcd", most=2) == "a, b and 2 more"
    assert listed("ab", most=2) == "a and b"


def test_a_count_agrees_with_its_noun() -> None:
    """Also where the noun has a plural of its own."""
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(1200, "entry", "entries") == "1,200 entries"
    assert counted(0, "rule") == "0 rules"


def test_bits_have_three_decimals_or_three_digits() -> None:
    """Never a negative zero."""
    assert [bits(each) for each in (None, 0.25, -0.0001, 1.5e7)] == [
        "-",
        "0.250",
        "0.000",
        "1.5e+07",
    ]
    assert [bits(each, signed=True) for each in (0.25, -0.25, 0.0)] == ["+0.250", "-0.250", "0.000"]


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        *[(None, "-"), (0, "0"), (1.0, "1"), (2.25, "2.2"), (9.96, "10"), (303, "303")],
        *[(999.6, "1,000"), (18_991, "19,000"), (999_999, "1 million"), (2.4e8, "240 million")],
    ],
)
def test_few_people_have_a_decimal_and_many_two_digits(expected: float | None, text: str) -> None:
    """Where they are an expected number."""
    assert people(expected) == text


@given(st.floats(0, 1e10), st.floats(0, 1e10))
def test_a_number_of_people_is_true_to_one_in_twenty(one: float, other: float) -> None:
    """And more people are never fewer."""

    def read(number: float) -> float:
        digits, *million = people(number).replace(",", "").split()
        return float(digits) * (1e6 if million else 1)

    assert abs(read(one) - one) <= max(0.5, one / 20)
    assert read(min(one, other)) <= read(max(one, other))


def test_who_looks_alike_is_said_in_words() -> None:
    """With nobody, one, all and some."""
    assert alike(0) == "nobody looks like you"
    assert alike(1) == "only 1 person looks like you"
    assert alike(60, 60) == "about 60 people look like you, as before"
    assert alike(1800, 18991) == "about 1,800 people still look like you"


@pytest.mark.parametrize("metric", MEASURED)
def test_a_cost_has_its_unit(metric: str) -> None:
    """Chances in per cent, where they are not too rare for that."""
    assert ("%" in measured(0.008, metric)) == (metric in CHANCES)
    assert added_risk(0.008, metric).endswith(f" {MEASURED[metric]}")
    assert added_risk(0.0, metric) == "nothing"
    assert ("1 in 820,000" in added_risk(1 / 816_123, metric)) == (metric == "maxprob")
    assert [measured(each, "maxprob", 1e-4) for each in (0, 5e-5)] == ["0 %", "1 in 20,000"]


def test_a_trade_off_has_three_digits() -> None:
    """Or is whole."""
    assert [number(each) for each in (0.0123, 5.125, 1234.5)] == ["0.0123", "5.12", "1,234"]


def test_a_moment_is_shown_to_the_minute() -> None:
    """In the zone that is asked for."""
    assert moment(datetime(2026, 3, 2, 9, 14, 30, tzinfo=UTC), UTC) == "2026-03-02 09:14"


def test_people_are_of_somewhere() -> None:
    """Of a survey they are counted; of a country they are estimated, in round numbers."""
    survey = CountedAmong(people="people of the survey", count=18_991, estimated=False)
    country = CountedAmong(people="people of the US", count=241_282_226, estimated=True)
    assert of_whom(303, survey) == "303 of the 18,991 people of the survey"
    assert of_whom(41_234, country) == "41,000 people of the US"
    assert of_whom(303) == "303 people"
    assert alike(41_234, None, country) == "about 41,000 people of the US still look like you"
    assert alike(9e6, 9e6, country) == "about 9 million people of the US look like you, as before"
    assert alike(1, None, country) == "perhaps nobody else looks like you"
    assert counted_among([country, country]) == "about 240 million people of the US"
    assert counted_among([survey]) == "the 18,991 people of the survey"
    assert counted_among([country, survey]) == counted_among([None]) == ""
