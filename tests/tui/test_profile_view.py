"""What the profile says, without a screen: families, sliders, columns and sentences."""

from dataclasses import replace as changed

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from agent.tui.plain import HIDDEN
from agent.tui.screens.profile import (
    NOT_SET,
    PENDING,
    STEPS,
    FactRow,
    cells,
    cheaper,
    columns,
    dearer,
    detail,
    families,
    family_of,
    heads,
    line,
    made,
    matching,
    slider,
)
from agent.wire.policy import AttributeStatus
from agent.words.outcomes import RULINGS
from tests.tui.values import attribute
from tests.vault.values import facts_of

NAMES = ("region", "country", "city", "age", "year")


REGION, CITY, COUNTRY = (
    attribute("region"),
    attribute("city", "country"),
    attribute("country", "region"),
)
ladders = st.lists(
    st.tuples(st.sampled_from(NAMES), st.none() | st.sampled_from(NAMES)),
    unique_by=lambda pair: pair[0],
).map(lambda pairs: [attribute(*pair) for pair in pairs])
bits = st.floats(min_value=0, max_value=1000)


@given(ladders)
def test_every_attribute_stands_in_its_family_once(attributes: list[AttributeStatus]) -> None:
    """Whatever refines what, even in a circle."""
    found = [each.name for each, _ in families(attributes)]
    assert sorted(found) == sorted(each.name for each in attributes)


@given(ladders)
def test_what_refines_stands_right_below_one_that_is_coarser(
    attributes: list[AttributeStatus],
) -> None:
    """One step in, and with what it refines above it at the depth before."""
    above: dict[int, str] = {}
    for each, depth in families(attributes):
        if depth:
            assert each.refines == above[depth - 1]
        above[depth] = each.name


def test_a_family_is_told_from_coarse_to_fine() -> None:
    """With how many values each step has."""
    rows = [
        FactRow(each, depth) for each, depth in families([CITY, attribute("age"), REGION, COUNTRY])
    ]
    assert [each.attribute.name for each in rows] == ["age", "region", "country", "city"]
    city = rows[-1]
    assert [each.attribute.name for each in family_of(city, rows)] == ["region", "country", "city"]
    assert [each.attribute.name for each in family_of(rows[0], rows)] == ["age"]
    said = dict(detail(city, rows))["From coarse to fine, with the number of values"]
    assert said == "the region (2) › the country (2) › the city (2)"
    assert not any("coarse" in head for head, _ in detail(rows[0], rows))


@given(bits)
def test_a_slider_moves_by_steps_and_stays_between_its_ends(at: float) -> None:
    """To the right it never falls, to the left it never rises, and each goes somewhere."""
    assert dearer(at) > at or at >= STEPS[-1]
    assert dearer(at) == at or dearer(at) in STEPS
    assert cheaper(at) < at or at == 0
    assert cheaper(at) in STEPS


@given(st.sampled_from(STEPS[1:-1]))
def test_a_step_back_is_a_step_back(at: float) -> None:
    """From a step, to the right and to the left again, is where it was."""
    assert cheaper(dearer(at)) == at == dearer(cheaper(at))


@given(bits, bits)
def test_the_knob_stands_further_right_for_more(one: float, other: float) -> None:
    """And there is one, on a line of a fixed length."""
    for each in (one, other):
        assert len(slider(each)) == len(STEPS)
        assert slider(each).count("●") == 1
    assert (slider(one).index("●") <= slider(other).index("●")) or one > other


@given(st.integers(min_value=58, max_value=200))
def test_the_columns_fill_the_width_and_no_more(width: int) -> None:
    """Two columns between two; the titles stand above what they are of."""
    found = columns(width)
    assert sum(found.values()) + 2 * (len(found) - 1) == width == cell_len(heads(width))
    assert len(cells(FactRow(REGION), width)) == len(found)
    assert sum(cell_len(each.text) for each in line(FactRow(REGION), width)) == width + 2
    assert min(found.values()) >= 6


def test_a_value_is_hidden_until_it_is_revealed() -> None:
    """Also from whoever prints the row; that one is set is seen."""
    own = facts_of(region="b", race="a")
    hidden, shown = (
        made([REGION, attribute("age")], own, {}, masked=masked) for masked in (True, False)
    )
    assert [cells(each, 80)[1] for each in hidden] == [HIDDEN, NOT_SET]
    assert [cells(each, 80)[1] for each in shown] == ["b", NOT_SET]
    assert "a secret" not in repr(changed(shown[0], value="a secret"))
    assert "m shows it" in dict(detail(hidden[0], hidden))["the region"]
    assert dict(detail(shown[0], shown))["the region"] == "b"


def test_what_is_set_for_each_request_is_said_to_be() -> None:
    """It has no value of the user's own."""
    row = FactRow(attribute("work", scope="request"))
    assert cells(row, 80)[1] == "each request"
    assert "set for each request" in dict(detail(row, [row]))["the work"]
    assert dict(detail(row, [row]))["Known to"].startswith("nobody")


@pytest.mark.parametrize("disclose", RULINGS)
def test_whether_it_may_be_sent_is_said_in_words(disclose: str) -> None:
    """With the rule that says so, and its line."""
    row = FactRow(attribute("region", disclose=disclose), holders=("shop.example", "@ads"))
    short, long = RULINGS[disclose]
    assert cells(row, 80)[2] == short
    said = dict(detail(row, [row]))
    assert said["May it be sent"] == f"it {long} (by attributes, line 3)"
    assert said["Known to"] == "shop.example and @ads"


def test_values_have_words_and_stand_in_their_order() -> None:
    """Never by their codes."""
    years = attribute("years", title="years of coding")
    row = FactRow(replace(years, values=["unspecified", "10_up", "lt_3", "3_9"]))
    said = dict(detail(row, [row]))["Its values"]
    assert said == "less than 3 years, 3 to 9 years, 10 or more years"


def test_a_slider_that_is_not_written_is_said_not_to_be() -> None:
    """By a sign and in words."""
    row = FactRow(REGION, slid=0.5)
    assert cells(row, 80)[3].endswith(" 0.5*")
    assert cells(row, 60)[3] == "0.5*"
    assert PENDING in dict(detail(row, [row]))["Its price"]
    assert PENDING not in dict(detail(changed(row, slid=None), []))["Its price"]


def test_a_filter_finds_titles_and_names_in_any_case() -> None:
    """Everything where it is empty."""
    rows = [FactRow(attribute("region", title="Part of the World")), FactRow(attribute("age"))]
    assert matching(rows, " WORLD") == rows[:1]
    assert matching(rows, "reg") == rows[:1]
    assert matching(rows, "") == rows
    assert matching(rows, "nothing") == []
