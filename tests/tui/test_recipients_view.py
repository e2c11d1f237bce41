"""A recipient as lines of the list, and what is said of one."""

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.tui.plain import HIDDEN
from agent.tui.screens.recipients import (
    CHART,
    LEAST_NAME,
    PEOPLE,
    REQUESTS,
    UNGUARDED,
    Findings,
    additions,
    are,
    basis,
    chart,
    facts_held,
    forgetting,
    inferences,
    lines,
    matches,
    remarks,
    unblocked,
)
from agent.wire.decide import Allowed
from agent.wire.state import Inferred
from agent.words.figures import people
from tests.tui.values import HELD, SHOP, recipient, row, weighed, weight

COUNTS = st.lists(st.integers(0, 20_000), min_size=1, max_size=60)
NAMES = st.lists(st.text(min_size=1, max_size=12), max_size=8, unique=True)


@given(COUNTS, NAMES, st.booleans(), st.integers(LEAST_NAME + PEOPLE + REQUESTS, 150))
def test_a_recipient_is_as_wide_as_the_list(
    counts: list[int], held: list[str], refused: bool, width: int
) -> None:
    """Two lines, with the numbers in their columns, whatever it is called."""
    one = recipient(counts, held=held, blocked=refused, pool="例え" * 30)
    found = lines(one, width)
    assert len(found) == 2
    for line in found:
        text = "".join(part.text for part in line)
        assert text.isprintable()
    first, second = ("".join(part.text for part in line) for line in found)
    assert first.rstrip().endswith(f"{len(counts):,}")
    assert f"{people(counts[-1])} " in first
    assert ("×" in first and "blocked" in second) is refused


def test_the_first_and_the_last_number_stand_beside_the_bars() -> None:
    """Nothing where nothing has changed, or is as it was."""
    first = "".join(part.text for part in lines(SHOP, 80)[0])
    assert "from 9,000 ▇▅▅ to 310" in first
    for counts in ([9_000], [9_000, 20_000, 9_000]):
        assert "▇" not in "".join(part.text for part in lines(recipient(counts), 80)[0])


def test_what_still_blocks_is_named() -> None:
    """Of several sites each on its own."""
    still = Allowed(done=False, rule="my own", line=3)
    assert unblocked(["a.example"], [Allowed()]) == "a.example is treated like any other again."
    assert "nothing changed" in unblocked(["a.example"], [Allowed(done=False)])
    both = unblocked(["a.example", "b.example"], [Allowed(), still])
    assert both.startswith("a.example is treated like any other again. b.ex")
    assert "'my own', line 3" in both
    assert "line" not in unblocked(["a.example"], [replace(still, line=None)])
    assert are(["a.example", "b.example"]) == "a.example and b.example are"


def test_forgetting_is_called_a_statement() -> None:
    """That nobody takes it for a deletion."""
    said = forgetting("shop.example")
    assert "you state that" in said
    assert "makes nobody forget" in said


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
    [said] = inferences(replace(HELD, inferred=[guarded]))
    assert "its best guess is right for 71%" in said
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
        assert ends.split() == f"{people(counts[0])} {people(counts[-1])} people".split()
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
        row(f"a{at}", gain_bits=gain, cost_bits=cost, held=held)
        for at, (gain, cost, held) in enumerate(given_rows)
    ]
    found = additions(weighed(rows=rows))
    assert len(found) == sum(not held for *_, held in given_rows)
    worths = [worth for _, _, (_, _, worth, _) in found]
    assert worths == sorted(worths, key=lambda each: -float(each) if each != "-" else 99.0)


def test_what_rules_an_attribute_is_said_beside_it() -> None:
    """In words, and the limit that it would break."""
    rows = [
        row("one", gain_bits=0.5, disclosed=True),
        row("two", gain_bits=0.4, disclose="never"),
        row("three", gain_bits=0.3, disclose="guarded", limit="k"),
        row("four", gain_bits=0.2),
    ]
    found = [remark for _, remark, _ in additions(weighed(rows=rows))]
    assert found == ["in that set", "never", "kept secret, breaks k", ""]


def test_the_set_beside_which_it_is_weighed_is_named() -> None:
    """By titles; an empty one is none."""
    held = weighed(rows=[row("age", disclosed=True)], weighed=weight())
    assert ", by itself. Helps:" in basis(held)
    found = replace(held, weighed=weight("age", "height"))
    assert "best for all of them: the age and height. Helps:" in basis(found)


def test_it_is_found_by_its_name_a_fact_or_its_state() -> None:
    """All words count, in any order."""
    group = replace(SHOP, pool="@shops", sites=["a.example"], blocked=True)
    for text in ("", "SHOP", "hobby shop", "a.example", "blocked"):
        assert matches(group, text)
    assert not matches(SHOP, "blocked")
    assert not matches(SHOP, "shop salary")
