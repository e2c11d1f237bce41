"""What is tried on a request: the change, its question, its sentences, what makes it hold."""

from hypothesis import given
from hypothesis import strategies as st

from agent.tui.screens.requests_view import (
    SPANS,
    Change,
    Trial,
    begun,
    changed,
    choices,
    headline,
    hint,
    meaning,
    overrides,
    question,
)
from agent.wire.policy import Review, Word
from agent.wire.state import Handled
from tests.tui.values import AT, handled, review, row, weighed, weight

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


def trial(subject: Handled | Review, **given: object) -> Trial:
    """Return a request with the daemon's answer."""
    return Trial(subject, Change(), weighed(**given))


def test_the_verdict_comes_first() -> None:
    """What waits, what was offered, what sent nothing and what was forgotten, by titles."""
    assert headline(trial(handled(pool="@shops")), AT) == (
        "Sent 1 fact to shop.example (and @shops): the region; about 310 people still look like "
        "you.\nRequest of 09:15 for “editor”."
    )
    nothing = handled(-1, kind="nothing", code="unknown query", disclosed=[])
    assert headline(begun(nothing), AT).startswith("Sent nothing to shop.example: not recognised; ")
    assert "having forgotten everything" in headline(begun(handled(kind="forgotten")), AT)
    assert headline(begun(review(names=["a", "b"])), AT).startswith("Send a and b to shop.example")
    offer = review(kind="offer", names=["a"], search="https://b.example/?q={query}")
    assert "asks for a for searches at https://b.example/" in headline(begun(offer), AT)


def test_what_it_means_is_said_in_few_words() -> None:
    """What would be sent without approval, or today; whom the recipient sees."""

    def said(trial: Trial) -> str:
        return " ".join(meaning(trial))

    waits = "Without your approval it would get the region. To it, about 19,000 people still look "
    assert said(trial(review())).startswith(waits)
    nothing = handled(-1, kind="nothing")
    assert said(trial(nothing)).startswith("Today it would get the region.")
    assert said(trial(nothing, rows=[])) == "Disclose region."
    assert said(begun(handled())) == said(trial(handled())) == ""
    assert said(trial(handled(), disclosed=("gender",))) == "Today it would get the gender."
    blocked = said(trial(review(pool="@shops"), code="blocked"))
    assert blocked.startswith("shop.example (and @shops) is blocked")


def test_a_change_says_what_it_would_do() -> None:
    """In people; in bits only on demand."""
    after = weight("region", "gender", utility=0.37, objective=0.25, people_left=12.0)
    tried = Trial(handled(), Change(add=frozenset({"gender"})), weighed(weighed=after))
    people = "expected: about 12 people still look like you, 310 without this."
    assert changed(tried) == f"With the gender: serves you better; {people}"
    assert (
        changed(tried, figures=True)
        == f"With the gender: serves you better (+0.120 bits); {people}"
    )
    both = Change(add=frozenset("b"), drop=frozenset("a"))
    assert changed(Trial(handled(), both)) == "With b and without a: computing …"
    assert changed(trial(handled())) == ""


def test_withholding_what_it_knows_gains_nothing() -> None:
    """Which is said where it is tried, and not of what it does not know."""
    rows = [row("region", disclosed=True, held=True), row("gender", disclosed=True)]
    for name in ("region", "gender"):
        said = changed(Trial(handled(), Change(drop=frozenset({name})), weighed(rows=rows)))
        assert ("It already knows the region" in said) == (name == "region")


def test_the_keys_that_make_it_hold_are_those_of_what_it_is() -> None:
    """An offer has none for once."""
    assert "o yes, once" in hint(review())
    assert "once" not in hint(review(kind="offer"))
    assert "o once" in hint(handled())


@given(NAMES, NAMES, st.sampled_from(SPANS))
def test_what_is_added_goes_along_and_what_is_dropped_stays(
    add: frozenset[str], drop: frozenset[str], span: Word
) -> None:
    """Each name in one message; what waits in a review is not among them."""
    words = overrides(Trial(handled(), Change(add, drop)), span)
    said = {each.disclose: frozenset(each.names) for each in words}
    assert said == {key: names for key, names in (("always", add), ("never", drop)) if names}
    wanted = (span.lasting, span.about, span.days)
    assert all((each.lasting, each.about, each.days) == wanted for each in words)
    asked = Trial(review(names=["a", "b"]), Change(add))
    found = [name for each in overrides(asked, span) for name in each.names]
    assert found == sorted(add - {"a", "b"})


def test_all_that_may_be_chosen_is_different_and_says_for_whom() -> None:
    """This recipient first; an offer has nothing for once, and is about its recipient alone."""
    for subject, count in ((handled(), 6), (review(), 12), (review(kind="offer"), 4)):
        found = choices(subject)
        assert len({text for text, _ in found}) == len({repr(each) for _, each in found}) == count
        assert all("everyone" in text for text, each in found if each.about == "everyone")
    of_offer = [each for _, each in choices(review(kind="offer"))]
    assert {each.lasting for each in of_offer} == {"days", "always"}
    assert {each.about for each in of_offer} == {"recipient"}
