"""What is tried out: a name switched twice is as it was, and the question says all of it."""

from hypothesis import given
from hypothesis import strategies as st

from agent.tui.screens.requests_trial import Change, Trial, begun, question
from tests.tui.requests.values import handled, review, weighed

NAMES = st.frozensets(st.sampled_from("abcdef"))


@given(NAMES, st.lists(st.sampled_from("abcdef")))
def test_names_switched_twice_are_as_they_were(inside: frozenset[str], names: list[str]) -> None:
    """Others stay; what is in is only ever dropped, what is out only added."""
    change = Change()
    for name in names:
        change = change.switched(name, inside)
    odd = {name for name in names if names.count(name) % 2}
    assert change == Change(frozenset(odd - inside), frozenset(odd & inside))
    for name in "abcdef":
        sign = "[-]" if name in change.drop else "[x]" if name in inside else None
        assert change.sign(name, inside) == (sign or ("[+]" if name in change.add else "[ ]"))
        back = change.switched(name, inside).switched(name, inside)
        assert back == change


def test_the_question_is_about_the_request() -> None:
    """An entry of the ledger by its number; what carried nothing as it would be now."""
    entry = question(Trial(handled(7), Change(add=frozenset("ba"), drop=frozenset("c"))))
    assert entry is not None
    assert (entry.entry, entry.recipient, entry.add, entry.drop) == (7, None, ["a", "b"], ["c"])
    nothing = question(begun(handled(-3, kind="nothing", asked=["x"])))
    assert nothing is not None
    assert (nothing.entry, nothing.recipient, nothing.query, nothing.asked) == (
        None,
        "shop.example",
        "editor",
        ["x"],
    )
    assert question(begun(handled(8, kind="forgotten", query=""))) is None


def test_what_waits_is_weighed_as_with_a_yes() -> None:
    """An offer as it would be if no more than that were asked for, over all queries."""
    asks = question(begun(review(names=["b", "a"])))
    assert asks is not None
    assert (asks.recipient, asks.query, asks.asked, asks.add) == (
        "shop.example",
        "editor",
        None,
        ["a", "b"],
    )
    offer = question(begun(review(kind="offer", names=["b"], query="")))
    assert offer is not None
    assert (offer.query, offer.asked, offer.add) == (None, ["b"], [])


def test_a_yes_is_meant_for_what_is_still_in_it() -> None:
    """Of an offer always for all."""
    trial = begun(review(names=["a", "b"]))
    assert trial.approved() == ["a", "b"]
    less = Trial(trial.subject, trial.change.switched("a", frozenset()), weighed())
    assert less.approved() == ["b"]
    assert begun(review(kind="offer", names=["a"])).approved() == ["a"]
    assert begun(handled()).approved() == []


@given(NAMES, st.lists(st.tuples(st.sampled_from("abcdef"), NAMES), min_size=1))
def test_nothing_is_added_and_dropped(
    add: frozenset[str], steps: list[tuple[str, frozenset[str]]]
) -> None:
    """Also where the set that it starts from has changed since, as by a rule that was written."""
    change = Change(add=add)
    for name, inside in steps:
        before = change.sign(name, inside)
        change = change.switched(name, inside)
        assert name not in change.add & change.drop
        assert (before in "[x][+]") != (change.sign(name, inside) in "[x][+]")
