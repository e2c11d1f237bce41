"""What is said of a recipient."""

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.tui.screens.recipients_view import (
    CHART,
    HIDDEN,
    UNGUARDED,
    Findings,
    additions,
    basis,
    chart,
    facts_held,
    inferences,
    matches,
    remarks,
)
from agent.wire.records import Inferred
from tests.tui.recipients.values import (
    COUNTS,
    HELD,
    SHOP,
    WEIGHT,
    recipient,
    row,
    weighed,
)


def test_it_says_who_is_blocked_and_who_pools() -> None:
    """Nothing of a site that is neither."""
    assert remarks(SHOP) == []
    group = replace(SHOP, pool="@shops", sites=["a.example", "b.example"], blocked=True)
    blocked, pools = remarks(group)
    assert blocked.startswith("× Blocked")
    assert "a.example, b.example" in pools


@pytest.mark.parametrize("masked", [True, False])
def test_values_stand_there_only_while_they_may_be_seen(masked: bool) -> None:
    """With their titles, the latest first."""
    found = facts_held(HELD, {"region": "region of the world"}, UTC, masked=masked)
    titles, values, times = zip(*found, strict=True)
    assert titles == ("hobby", "region of the world")
    assert times == ("2026-03-02 08:00", "2026-03-01 08:00")
    assert [*values] == ([HIDDEN] * 2 if masked else ["chess", "[b]north[/b]"])


def test_no_value_is_in_what_stands_in_an_error() -> None:
    """As a crash would show it."""
    told = Findings(SHOP, HELD, "", {})
    assert "chess" not in f"{told!r}{told}"


def test_each_guarded_attribute_has_a_sentence() -> None:
    """None guarded: how to guard one."""
    guarded = Inferred(
        name="vote", title="vote", bits=0.21, bits_in_all=1.0, best_guess=0.71, by_chance=0.62
    )
    few, worse = replace(guarded, best_guess=0.0), replace(guarded, bits=-0.1)
    said = inferences(replace(HELD, inferred=[guarded, few, worse]))
    assert "its best guess is right for 71%" in said[0]
    assert "too few people" in said[1]
    assert "0.10 bits less certain" in said[2]
    assert inferences(HELD) == [UNGUARDED]


@given(COUNTS)
def test_the_chart_has_dates_and_numbers(counts: list[int]) -> None:
    """Of the first and of the last change; one moment is a sentence."""
    found = chart(recipient(counts), UTC)
    assert "2026-03-01 08:00" in found[-1]
    if len(counts) > 1:
        title, drawn, ends, dates = found
        assert "20,000" in title
        assert len(drawn) == min(len(counts), CHART)
        assert ends.split() == [f"{counts[0]:,}", f"{counts[-1]:,}", "people"]
        assert len(ends) == len(dates) >= len(drawn)


def test_no_history_has_no_chart() -> None:
    """As of one whose entries are gone."""
    assert chart(replace(SHOP, history=[]), UTC) == []


@given(st.lists(st.tuples(st.none() | st.floats(0, 9), st.floats(0, 9), st.booleans())))
def test_what_is_worth_most_stands_first(
    given_rows: list[tuple[float | None, float, bool]],
) -> None:
    """Nothing that is held; what cannot be said is last."""
    rows = [
        row(f"a{at}", gain, cost, held=held) for at, (gain, cost, held) in enumerate(given_rows)
    ]
    found = additions(weighed(*rows))
    assert len(found) == sum(not held for *_, held in given_rows)
    worths = [worth for _, _, (_, _, worth, _) in found]
    assert worths == sorted(worths, key=lambda each: -float(each) if each != "-" else 99.0)


def test_what_rules_an_attribute_is_said_beside_it() -> None:
    """In words, and the limit that it would break."""
    rows = [
        row("one", 0.5, 0.1, inside=True),
        row("two", 0.4, 0.1, disclose="never"),
        row("three", 0.3, 0.1, disclose="guarded", limit="k"),
        row("four", 0.2, 0.1),
    ]
    found = [remark for _, remark, _ in additions(weighed(*rows))]
    assert found == ["in that set", "never", "guarded, breaks k", ""]


def test_the_set_beside_which_it_is_weighed_is_named() -> None:
    """By titles; an empty one is none."""
    held = weighed(row("age", 0.1, 0.1, inside=True))
    assert ", by itself. Helps:" in basis(held)
    found = replace(held, weighed=replace(WEIGHT, names=["age", "height"]))
    assert "best for all of them: Age and height. Helps:" in basis(found)


def test_it_is_found_by_its_name_a_fact_or_its_state() -> None:
    """All words count, in any order."""
    group = replace(SHOP, pool="@shops", sites=["a.example"], blocked=True)
    for text in ("", "SHOP", "hobby shop", "a.example", "blocked"):
        assert matches(group, text)
    assert not matches(SHOP, "blocked")
    assert not matches(SHOP, "shop salary")
