"""The list of requests: what stands in it, in which order, and how it is drawn."""

from datetime import timedelta
from operator import itemgetter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.tui.screens.requests_detail import LOOK, Shown, rows_of
from agent.tui.screens.requests_detail import lines as row_lines
from agent.tui.screens.requests_view import (
    ORDERS,
    SIGNS,
    SPANS,
    WAITING,
    Change,
    Fold,
    Item,
    Trial,
    arranged,
    begun,
    choices,
    key_of,
    lines,
    overrides,
    question,
)
from agent.wire.decide import WhatIf
from agent.wire.policy import Review, Word
from agent.wire.state import Entry
from tests.worlds.messages import AT, handled, review, row, weighed

KINDS = st.sampled_from(["disclosed", "nothing", "forgotten"])
HOSTS = st.sampled_from(["a.example", "b.example", "shop.example"])
NUMBERED = st.tuples(st.integers(-30, 60).filter(bool), HOSTS)


@st.composite
def pasts(draw: st.DrawFn) -> list[Entry]:
    """Draw requests, oldest first."""
    return [
        handled(number, kind=draw(KINDS), recipient=host, pool=host, at=AT + timedelta(minutes=at))
        for at, (number, host) in enumerate(
            draw(st.lists(NUMBERED, unique_by=itemgetter(0), max_size=30))
        )
    ]


@given(pasts(), st.integers(0, 5), st.sampled_from(["", "shop", "B.EX"]))
def test_all_that_fits_and_nothing_else_stands_there_once(
    past: list[Entry], waiting: int, text: str
) -> None:
    """And each part has its title, with what waits counted over all."""
    reviews = [review(number, recipient="b.example", pool="b.example") for number in range(waiting)]
    found = arranged(reviews, past, text, shown=99)
    assert len({key_of(each) for each in found}) == len(found)
    shown = [each for each in found if not isinstance(each, str)]
    both: list[Review | Entry] = [*reviews, *past]
    fitting = [each for each in both if text.casefold() in each.recipient]
    assert sorted(shown, key=repr) == sorted(fitting, key=repr)
    assert shown == sorted(shown, key=lambda each: isinstance(each, Entry))
    answered = [each.at for each in shown if isinstance(each, Entry)]
    assert answered == sorted(answered, reverse=True)
    heading = f"{waiting} {'waits' if waiting == 1 else 'wait'} for your approval"
    titles = [each for each in found if isinstance(each, str) and each.endswith("approval")]
    assert titles == [heading] * any(isinstance(e, Review) for e in shown)


@given(pasts(), st.integers(0, 9), st.sampled_from([*ORDERS]))
def test_the_latest_that_wait_stand_before_a_fold_and_the_rest_in_an_order(
    past: list[Entry], waiting: int, order: str
) -> None:
    """The order is said, and the fold says how many it hides."""
    reviews = [review(number) for number in range(waiting)]
    found = arranged(reviews, past, order=order)
    listed = [each for each in found if isinstance(each, Review)]
    assert listed == reviews[::-1][:WAITING]
    hidden = waiting - len(listed)
    assert [each for each in found if isinstance(each, Fold)] == [Fold(hidden)] * (hidden > 0)
    assert (f"Answered, {order}" in found) is bool(past)
    answered = [each for each in found if isinstance(each, Entry)]
    latest = past[::-1]
    assert answered == sorted(latest, key=ORDERS[order])


OUTSIDE = st.text(st.sampled_from("a語\x1b\n[b]é."), min_size=1, max_size=90)


@st.composite
def items(draw: st.DrawFn) -> Item:
    """Draw an item, with anything in it that comes from outside."""
    given: dict[str, Any] = {
        "recipient": draw(OUTSIDE),
        "query": draw(st.one_of(st.just(""), OUTSIDE)),
    }
    kind = draw(st.sampled_from(["title", *SIGNS]))
    if kind == "title":
        return draw(OUTSIDE)
    if kind == "waiting":
        return review(names=[draw(OUTSIDE)], **given)
    left = draw(st.none() | st.integers(0, 10**9))
    return handled(kind=kind, disclosed=[draw(OUTSIDE)], people_left=left, **given)


@given(items(), st.integers(40, 200))
def test_a_line_has_exactly_so_many_columns(item: Item, width: int) -> None:
    """A title is one, anything else two."""
    found = lines(item, width, AT)
    assert len(found) == (1 if isinstance(item, str) else 2)
    for line in found:
        assert cell_len("".join(part.text for part in line)) == width
        assert all(part.text.isprintable() for part in line)


NAMES = st.frozensets(st.sampled_from("abcdef"))


@given(NAMES, st.lists(st.tuples(st.sampled_from("abcdef"), NAMES), min_size=1))
def test_what_is_in_is_only_ever_dropped_and_what_is_out_only_added(
    add: frozenset[str], steps: list[tuple[str, frozenset[str]]]
) -> None:
    """Switched twice it is as it was; the set may have changed since, as by a rule."""
    change = Change(add=add)
    for name, inside in steps:
        before = change.sign(name, inside)
        assert change.switched(name, inside).switched(name, inside).sign(name, inside) == before
        change = change.switched(name, inside)
        assert not change.add & change.drop
        assert (before in "[x][+]") != (change.sign(name, inside) in "[x][+]")


def test_the_question_is_about_the_request() -> None:
    """An entry of the ledger by its number; what carried nothing, or waits, as it would be now.

    What waits is weighed as with a yes, an offer as if no more were asked for, over all queries.
    """
    change = Change(add=frozenset("ba"), drop=frozenset("c"))
    shop = "shop.example"
    for trial, wanted in (
        (Trial(handled(7), change), WhatIf(entry=7, add=["a", "b"], drop=["c"])),
        (
            begun(handled(-3, kind="nothing", asked=["x"])),
            WhatIf(recipient=shop, query="editor", asked=["x"]),
        ),
        (begun(review(names=["b", "a"])), WhatIf(recipient=shop, query="editor", add=["a", "b"])),
        (begun(review(kind="offer", names=["b"], query="")), WhatIf(recipient=shop, asked=["b"])),
        (begun(handled(8, kind="forgotten", query="")), None),
    ):
        assert question(trial) == wanted
    waits = begun(review(names=["a", "b"]))
    less = Trial(waits.subject, waits.change.switched("a", frozenset()), weighed())
    offer = begun(review(kind="offer", names=["a"]))
    approved = [each.approved() for each in (waits, less, offer, begun(handled()))]
    assert approved == [["a", "b"], ["b"], ["a"], []]


@given(NAMES, NAMES, st.sampled_from(SPANS))
def test_what_is_added_goes_along_and_what_is_dropped_stays(
    add: frozenset[str], drop: frozenset[str], span: Word
) -> None:
    """Each name in one message; what waits in a review is not among them."""
    words = overrides(Trial(handled(), Change(add, drop)), span)
    said = {each.disclose: frozenset(each.names or ()) for each in words}
    assert said == {key: names for key, names in (("always", add), ("never", drop)) if names}
    wanted = (span.lasting, span.about, span.days)
    assert all((each.lasting, each.about, each.days) == wanted for each in words)
    asked = Trial(review(names=["a", "b"]), Change(add))
    found = [name for each in overrides(asked, span) for name in each.names or ()]
    assert found == sorted(add - {"a", "b"})


def test_all_that_may_be_chosen_is_different_and_says_for_whom() -> None:
    """This recipient first; an offer has nothing for once, and is about its recipient alone."""
    of_family = review(families=["@health"], whom="any assistant")
    counts = (handled(), 6), (review(), 12), (of_family, 15), (review(kind="offer"), 4)
    for subject, count in counts:
        found = choices(subject)
        assert len({text for text, _ in found}) == len({repr(each) for _, each in found}) == count
        assert all("everyone" in text for text, each in found if each.about == "everyone")
    of_offer = [each for _, each in choices(review(kind="offer"))]
    assert {each.lasting for each in of_offer} == {"days", "always"}
    assert {each.about for each in of_offer} == {"recipient"}


@given(st.integers(50, 200), st.text("a語\x1b[é", max_size=80), st.sampled_from(["", "v\n"]))
def test_a_row_has_exactly_so_many_columns(width: int, title: str, value: str) -> None:
    """Whatever its title is, and without figures."""
    shown = Shown(row("a", title=title), "[x]", value)
    found = row_lines(shown, width)
    assert len(found) == LOOK.height(shown, width)
    first, second = ("".join(part.text for part in line) for line in found)
    assert cell_len(first) == cell_len(second) == width
    assert "helps more than it costs" in second


def test_the_facts_that_matter_stand_first_and_the_others_are_folded() -> None:
    """What is tried or waits is never folded; unfolded all are there, in their order."""
    rows = [row(name) for name in "abcdefgh"]
    change = Change(add=frozenset({"f"}))
    trial = Trial(review(names=["g"]), change, weighed(rows=rows))
    found = [each for each in rows_of(trial, "abcdefgh", {}) if isinstance(each, Shown)]
    assert "".join(each.sign + each.row.name for each in found) == "[ ]a[ ]b[ ]c[+]f[ ]g"
    assert rows_of(trial, "abcdefgh", {})[-1] == Fold(3)
    every = rows_of(trial, "abcdefgh", {}, unfolded=True)
    assert [each.row.name for each in every if isinstance(each, Shown)] == [*"abcdefgh"]
    assert every[-1] == Fold(0)
    few = Trial(review(names=["a"]), Change(), weighed(rows=rows[:2]))
    assert not any(isinstance(each, Fold) for each in rows_of(few, "ab", {}))
