"""The attributes beside a set: two bars on one scale, what is in first, why in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.tui.screens.requests_detail import (
    CUT,
    EIGHTHS,
    FULL,
    LOOK,
    Fold,
    Footnote,
    Shown,
    bar,
    heads,
    lines,
    order_of,
    rows_of,
    scale_of,
)
from agent.tui.screens.requests_view import Change, Trial
from tests.tui.values import handled, review, row, weighed

BITS = st.one_of(st.none(), st.floats(-2, 5))


def filled(text: str) -> int:
    """Return how many eighths of columns a bar fills."""
    return sum(8 if each == FULL else EIGHTHS.index(each) for each in text)


@given(st.floats(0.001, 5), st.floats(0.001, 5), st.integers(3, 40))
def test_of_two_numbers_the_greater_has_the_longer_bar(one: float, other: float, wide: int) -> None:
    """As wide as its place, and full where it is the scale."""
    scale = max(one, other)
    bars = [bar(each, scale, wide) for each in (one, other)]
    assert all(cell_len(each) == wide for each in bars)
    assert (one < other) <= (filled(bars[0]) <= filled(bars[1]))
    assert max(bars, key=filled) == FULL * wide


@pytest.mark.parametrize("number", [None, 0.0, -0.5])
def test_what_brings_nothing_has_no_bar(number: float | None) -> None:
    """Its number says by how much it harms."""
    assert bar(number, 1.0, 5) == "     "


def test_a_bar_past_the_scale_says_so() -> None:
    """A cost without measure does not hide what helps."""
    rows = [row("a", gain_bits=0.1, cost_bits=50.0), row("b", gain_bits=0.2)]
    assert scale_of(rows) == pytest.approx(0.8)
    assert bar(50.0, scale_of(rows), 6) == FULL * 5 + CUT


@given(st.lists(st.tuples(BITS, BITS, st.booleans()), max_size=12))
def test_what_is_in_stands_first_then_what_brings_most(
    drawn: list[tuple[float | None, float | None, bool]],
) -> None:
    """Where nothing can be said of an attribute it stands last; none is lost."""
    rows = [
        row(f"a{place}", gain_bits=gain, cost_bits=cost, disclosed=inside)
        for place, (gain, cost, inside) in enumerate(drawn)
    ]
    order = order_of(weighed(rows=rows))
    assert sorted(order) == sorted(each.name for each in rows)
    placed = {each.name: each for each in rows}

    def rank(name: str) -> tuple[bool, float]:
        each = placed[name]
        known = each.gain_bits is not None and each.cost_bits is not None
        return not each.disclosed, each.cost_bits - each.gain_bits if known else float("inf")  # type: ignore[operator]  # known

    assert [rank(name) for name in order] == sorted(rank(name) for name in order)


@given(st.integers(50, 200), BITS, BITS, st.text("a語\x1b[é", max_size=80))
def test_a_row_has_exactly_so_many_columns(
    width: int, gain: float | None, cost: float | None, title: str
) -> None:
    """Whatever its title is; the heads end where the numbers do."""
    each = row("a", title=title, gain_bits=gain, cost_bits=cost)
    shown = Shown(each, "[x]", 1.0, "v\n", figures=True)
    found = lines(shown, width)
    assert len(found) == LOOK.height(shown, width)
    first, second = ("".join(part.text for part in line) for line in found)
    assert cell_len(first) <= width
    assert cell_len(second) == width
    assert "helps more than it costs" in second
    assert cell_len(heads(width).rstrip()) == cell_len(first) + 1
    plain = lines(Shown(each, "[x]", 1.0), width)
    assert cell_len("".join(part.text for part in plain[0])) == width
    assert "0." not in "".join(part.text for line in plain for part in line)


def test_the_signs_say_what_is_in_out_and_tried() -> None:
    """As the set and the change have it."""
    change = Change(add=frozenset({"a"}), drop=frozenset({"region"}))
    rows = [row("region", disclosed=True), row("a"), row("b")]
    trial = Trial(review(), change, weighed(rows=rows))
    found = rows_of(trial, ("region", "b", "a"), {"a": "red"})
    assert [
        (each.row.name, each.sign, each.value) for each in found if isinstance(each, Shown)
    ] == [
        ("region", "[-]", ""),
        ("b", "[ ]", ""),
        ("a", "[+]", "red"),
    ]


def test_the_facts_that_matter_stand_first_and_the_others_are_folded() -> None:
    """What is tried or waits is never folded; unfolded all are there, in their order."""
    rows = [row(name) for name in "abcdefgh"]
    change = Change(add=frozenset({"f"}))
    trial = Trial(review(names=["g"]), change, weighed(rows=rows))
    names = [each.row.name for each in rows_of(trial, "abcdefgh", {}) if isinstance(each, Shown)]
    assert names == ["a", "b", "c", "f", "g"]
    assert rows_of(trial, "abcdefgh", {})[-1] == Fold(3)
    every = rows_of(trial, "abcdefgh", {}, unfolded=True)
    assert [each.row.name for each in every if isinstance(each, Shown)] == [*"abcdefgh"]
    assert every[-1] == Fold(0)
    few = Trial(review(names=["a"]), Change(), weighed(rows=rows[:2]))
    assert not any(isinstance(each, Fold) for each in rows_of(few, "ab", {}))


def test_figures_come_on_demand_each_with_its_unit() -> None:
    """Bits, λ and how good a set is; without them none stands there."""
    trial = Trial(handled(), Change(), weighed())
    assert not any(isinstance(each, Footnote) for each in rows_of(trial, (), {}))
    notes = [each for each in rows_of(trial, (), {}, figures=True) if isinstance(each, Footnote)]
    assert [each.label for each in notes] == ["helps", "costs", "left", "λ = 1", "proven"]
    assert "twice as easy to find" in notes[0].text
    assert "one guess finds you" in notes[3].text


def test_a_past_request_is_not_explained_by_the_rules_of_today() -> None:
    """What was sent was sent; the reason is that of today, and says so."""
    rows = [row("region", disclosed=True, reason="never"), row("gender", reason="worth it")]
    found = rows_of(Trial(handled(), Change(), weighed(rows=rows)), ("region", "gender"), {})
    said = ["".join(part.text for part in lines(each, 100)[1]) for each in found[:2]]
    assert "sent; today: never sent" in said[0]
    assert said[1].strip() == "helps more than it costs"
    assert "today, in bits" in heads(100, past=True)
    coming = rows_of(Trial(review(), Change(), weighed(rows=rows)), ("region", "gender"), {})
    assert not any(
        "today" in part.text for each in coming for line in lines(each, 100) for part in line
    )


@given(st.text("ab ", min_size=1, max_size=300), st.integers(20, 90))
def test_a_note_is_drawn_in_full(text: str, width: int) -> None:
    """Below the attributes."""
    found = lines(Footnote("why", text), width)
    assert all(cell_len(part.text) <= width for line in found for part in line)
    joined = " ".join(part.text for line in found for part in line)
    assert joined.split() == f"why: {text}".split()
