"""The questions and their answers, without a screen: the order, the way, the message, the fit."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tui.screens.calibrate import (
    BEYOND,
    BOTH,
    DOT,
    LINE,
    NEVER,
    NO_PRICE,
    headline,
    next_step,
    picture,
    prices,
    remarks,
)
from agent.tui.screens.calibrate_questions import FIRST, GROUP_SIZES, Answering, ordered
from agent.wire.what_if import Answers, Calibrated, Pair
from tests.tui.values import attribute

MANY = [attribute(f"a{at}", values=["unspecified", *"abcdefgh"[: 1 + at % 5]]) for at in range(14)]
START = Answering.about(MANY)
FIT = Calibrated(
    people=1,
    trade_off=2.0,
    metric="maxprob",
    source="one_of",
    rms_residual_bits=0.5,
    pairs=[
        Pair(name="1", identifiability=1.0, wanted_bits=None, residual_bits=None),
        Pair(name="10", identifiability=0.1, wanted_bits=0.2, residual_bits=0.0),
        Pair(name="1000", identifiability=0.001, wanted_bits=0.1, residual_bits=0.098),
    ],
    sensitivity={"a1": 0.5, "a2": None},
)
TITLES = {"a1": "the a1", "a2": "the a2"}

steps = st.lists(st.sampled_from(("back", "skip", "more", 1, 2, 3, 4, 5)), max_size=60)


def walked(way: list[str | int]) -> Answering:
    """Return where somebody stands who went so."""
    at = START
    for each in way:
        if each == "back":
            at = at.back()
        elif each == "skip":
            at = at.answered(None)
        elif each == "more":
            at = at.widened()
        else:
            at = at.answered(int(each))
    return at


@given(steps)
def test_whatever_is_answered_makes_a_message_that_the_daemon_takes(way: list[str | int]) -> None:
    """At the end every level that was used has its improvement, and no other is told."""
    at = walked(way)
    while at.question is not None:
        at = at.answered(2) if at.question.kind == "improvement" else at.answered(None)
    found = at.message()
    if found is None:
        assert not at.so_far()
        return
    used = {*found.sensitivity.values(), *found.one_of.values()}
    assert {int(level) for level in found.improvement} == used
    assert msgspec.json.decode(msgspec.json.encode(found), type=Answers) == found


@given(steps)
def test_every_step_stands_at_a_question_or_at_the_end(way: list[str | int]) -> None:
    """And the way back leads to the first question."""
    at = walked(way)
    assert 0 <= at.place <= len(at.questions)
    for _ in range(at.place):
        at = at.back()
    assert at.place == 0
    assert at.back() == at


@given(steps, st.integers(min_value=1, max_value=5))
def test_an_answer_is_kept_until_another_is_given(way: list[str | int], number: int) -> None:
    """Going back to it shows it."""
    at = walked(way)
    if at.question is not None:
        assert at.answered(number).back().chosen == number


def test_a_few_attributes_are_asked_about_then_crowds_then_the_levels_used() -> None:
    """Nineteen questions where three levels are used, of about two minutes."""
    assert START.progress() == "question 1 of 19, about 2 minutes left"
    kinds = [each.kind for each in START.questions]
    assert kinds == ["sensitivity"] * FIRST + ["one_of"] * len(GROUP_SIZES)
    at = START.answered(4).answered(1)
    last = at.questions[-2:]
    assert [each.key for each in last] == ["1", "4"]
    assert "very sensitive" in last[1].asked
    assert START.attributes[0].title in last[1].asked
    nearly = replace(at, place=len(at.questions) - 1)
    assert nearly.progress().endswith("less than a minute left")


def test_more_asks_about_the_rest_from_the_first_of_them_on() -> None:
    """What was answered stays; one who is among attributes goes on there."""
    assert START.more == 4
    at = replace(START.answered(1), place=FIRST + 2).widened()
    assert at.place == FIRST
    assert at.more == 0
    assert at.question is not None
    assert at.question.key == at.attributes[FIRST].name
    assert START.widened().place == 0
    assert at.widened() == at


def test_an_improvement_is_not_skipped() -> None:
    """A level without one has no price."""
    at = replace(START.answered(1), place=len(START.questions))
    assert not at.skippable
    assert at.answered(None) == at


def test_ladders_are_asked_about_first_from_coarse_to_fine() -> None:
    """Then what has most values of what may leave, then what may not."""
    shut = attribute("shut", values=["unspecified", *"abcdefghij"], disclose="never")
    found = ordered(
        [
            shut,
            attribute("small"),
            attribute("city", "region"),
            attribute("large", values=["unspecified", *"abcdef"]),
            attribute("region"),
        ]
    )
    assert [each.name for each in found] == ["region", "city", "large", "small", "shut"]


@given(st.permutations(MANY))
def test_every_attribute_is_asked_about_once(attributes: list[object]) -> None:
    """In an order that does not lose one."""
    found = ordered(attributes)  # type: ignore[arg-type]
    assert sorted(each.name for each in found) == sorted(each.name for each in MANY)


def test_trade_off_is_said_in_words() -> None:
    """As what a search must become."""
    said = headline(FIT)
    assert said.startswith("λ = 2. To be recognised with certainty you want 2.00 bits, that is")
    assert "a search 4 times as good" in said
    assert "to be known to be one of 10 people, 0.20 bits" in said
    far = headline(msgspec.structs.replace(FIT, trade_off=5000.0))
    assert "more than 100 times as good" in far
    assert headline(msgspec.structs.replace(FIT, trade_off=None)) == NO_PRICE


@pytest.mark.parametrize("width", [56, 76, 100])
def test_the_picture_has_every_pair_on_one_scale(width: int) -> None:
    """Wanted and line at one place where they agree; what is beyond the scale says so."""
    head, never, near, off = picture(FIT, TITLES, width)
    assert {len(line) for line in (head, never, near, off)} == {width}
    assert "never" in never
    assert BEYOND in never
    assert DOT not in never
    assert BOTH in near
    assert near.endswith(" 0.200   0.200   0.000")
    assert off.index(LINE) < off.index(DOT)
    assert off.endswith("+0.098")


@given(st.lists(st.none() | st.floats(min_value=0, max_value=1e6), max_size=6))
def test_any_fit_has_a_picture(wanted: list[float | None]) -> None:
    """Also one without a price, and one where all is free."""
    pairs = [
        Pair(name=str(10**at), identifiability=10.0**-at, wanted_bits=bits, residual_bits=None)
        for at, bits in enumerate(wanted)
    ]
    for trade_off in (None, 0.0, 3.0):
        found = msgspec.structs.replace(FIT, pairs=pairs, trade_off=trade_off)
        assert len([*picture(found, {}, 80)]) == len(pairs) + 1


def test_pairs_of_precision_have_the_titles_of_attributes() -> None:
    """Not their names."""
    pair = Pair(name="a1", identifiability=0.5, wanted_bits=1.0, residual_bits=0.0)
    found = msgspec.structs.replace(FIT, source="precision", pairs=[pair])
    assert [*picture(found, TITLES, 80)][1].startswith("the a1 ")


def test_prices_and_remarks_say_what_is_never_shared() -> None:
    """It has no price, and a limit keeps it."""
    assert [" ".join(line.split()) for line in prices(FIT, TITLES, 80)] == [
        "the a1 0.500 bits",
        "the a2 never sent",
    ]
    assert NEVER in [*remarks(FIT)]
    priced = msgspec.structs.replace(FIT, pairs=FIT.pairs[1:], sensitivity={"a1": 0.5})
    assert [*remarks(priced)] == [
        "The line begins at 0 and is off by 0.50 bits (root mean square)."
    ]


def test_it_is_said_whether_it_is_written() -> None:
    """By a sign and in words."""
    assert next_step(FIT).startswith("Nothing is written yet.")
    assert next_step(msgspec.structs.replace(FIT, written=True)).startswith("√ Written")
