"""Preferences on attributes, as a value."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.consent.preferences import (
    DISCLOSE,
    OPENNESS,
    Preference,
    Preferences,
    applied,
    basis_of,
    denied_once,
    dropped,
    remembered,
    used_up,
)
from agent.decision.decide import Decision, decide
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms, terms_under
from agent.wire.policy import Decided, Disclose
from policy.match import Rulebook, Ruling
from policy.read import preset, read
from tests.decision.made import NAMES, made_model

MODEL = made_model(1)
TODAY = date(2026, 3, 2)
HOSTS = ("a.example", "b.example")
EVERYTHING_ASKED = 'disclose = "ask"\nlambda = 0.01\n'
SOME = st.sets(st.sampled_from(NAMES), min_size=1).map(sorted)
POLICIES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["never", "ask", "auto", "always"])),
    unique_by=lambda pair: pair[0],
).map(lambda pairs: "[attributes]\n" + "".join(f'{name} = "{each}"\n' for name, each in pairs))
VALUES = st.sampled_from(get_args(Disclose))


def value_of(terms: Terms, name: str) -> str:
    """Return what terms say of an attribute."""
    parts = {"never": terms.excluded, "ask": terms.ask, "always": terms.always}
    found = [value for value, names in parts.items() if name in names]
    assert len(found) <= 1
    return found[0] if found else "auto"


@dataclass(frozen=True)
class Event:
    """A word of the user (``decided``, ``pool``, ``names``, ``once``), or a request of a host."""

    host: str
    decided: Decided | None = None
    names: tuple[str, ...] = ()
    everyone: bool = False
    once: bool = False

    @property
    def pool(self) -> str | None:
        """Whom a word is about."""
        return None if self.everyone else self.host


EVENTS = st.lists(
    st.builds(
        Event,
        st.sampled_from(HOSTS),
        st.sampled_from(["approve", "deny", None]),
        SOME.map(tuple),
        st.booleans(),
        st.booleans(),
    ),
    max_size=12,
)


def ruled(text: str, host: str) -> tuple[Ruling, Terms]:
    """Return what a policy rules for a request, and the terms."""
    policy = read(text, "test", preset)
    ruling = Rulebook(policy, NAMES).match(host, "python today", TODAY)
    return ruling, terms_under(ruling, MODEL)


def approved(names: Iterable[str]) -> Preferences:
    """Return approvals for the next request of a host."""
    return remembered((), [Preference(name, "a.example", "auto", once=True) for name in names])


def decided(terms: Terms, host: str) -> Decision:
    """Return what is decided for a recipient that holds nothing yet."""
    return decide(Request("python today", host), terms, Knowledge(), MODEL)


def said(words: Preferences, event: Event) -> Preferences:
    """Return the words with those of an event."""
    assert event.decided is not None
    word = DISCLOSE[event.decided]
    return remembered(
        words, [Preference(name, event.pool, word, event.once) for name in event.names]
    )


@given(POLICIES, EVENTS)
def test_only_what_is_ruled_ask_is_touched(policy: str, events: list[Event]) -> None:
    """And nothing of it is lost: it is approved, denied or still waits."""
    words: Preferences = ()
    for event in events:
        _, terms = ruled(policy, event.host)
        words = said(words, event) if event.decided else words
        over = applied(terms, words, event.host)
        assert over.ask <= terms.ask
        assert terms.excluded <= over.excluded <= terms.excluded | (terms.ask - over.ask)
        assert replace(over, ask=terms.ask, excluded=terms.excluded) == terms


@given(EVENTS, st.sampled_from(HOSTS))
def test_the_later_word_counts(events: list[Event], host: str) -> None:
    """Where none was said for one time only."""
    words: Preferences = ()
    expected: dict[str, Decided] = {}
    for event in events:
        if event.decided is not None:
            words = said(words, replace(event, once=False))
            if event.everyone or event.host == host:
                expected |= dict.fromkeys(event.names, event.decided)
    _, terms = ruled(EVERYTHING_ASKED, host)
    over = applied(terms, words, host)
    assert over.excluded == {name for name in NAMES if expected.get(name) == "deny"}
    assert over.ask == {name for name in NAMES if name not in expected}


@given(EVENTS)
def test_once_is_used_up_by_the_request_that_would_have_asked(events: list[Event]) -> None:
    """By no other, and what was said before holds again: a stack beside each pool and name."""
    words: Preferences = ()
    for event in events:
        if event.decided is not None:
            words = said(words, event)
            continue
        ruling, terms = ruled(EVERYTHING_ASKED, event.host)
        valid = {word.name: word for word in words if word.pool in (None, event.host)}
        decision = decided(applied(terms, words, event.host), event.host)
        waiting = decision.pending.names if decision.pending else ()
        spent = {
            word
            for name, word in valid.items()
            if word.once and name in (decision.disclosed if word.disclose == "auto" else waiting)
        }
        quiet = {word.name for word in spent if word.disclose == "never"}
        assert denied_once(words, decision, ruling.pool) == quiet
        left = used_up(words, decision, ruling)
        assert left == tuple(word for word in words if word not in spent)
        words = left


def test_an_approval_for_once_lets_one_request_carry_it() -> None:
    """The next one waits again."""
    ruling, terms = ruled(EVERYTHING_ASKED, "a.example")
    asking = decided(terms, "a.example")
    assert asking.pending is not None
    names = asking.pending.names
    words = approved(names)
    first = decided(applied(terms, words, "a.example"), "a.example")
    assert {*first.disclosed} == {*names}
    words = used_up(words, first, ruling)
    assert decided(applied(terms, words, "a.example"), "a.example") == asking


def test_what_was_decided_for_another_reason_uses_nothing_up() -> None:
    """A resent value that the recipient holds, and one that the policy lets leave by now."""
    ruling, terms = ruled(EVERYTHING_ASKED, "a.example")
    words = approved(NAMES)
    held = Knowledge(tuple((name, 1) for name in sorted(NAMES[:4])))
    over = replace(applied(terms, words, "a.example"), excluded=frozenset(NAMES[4:]))
    again = decide(Request("python today", "a.example"), over, held, MODEL)
    assert again.disclosed
    assert used_up(words, again, ruling) == words
    open_ruling, open_terms = ruled("lambda = 0.01\n", "a.example")
    free = decided(applied(open_terms, words, "a.example"), "a.example")
    assert free.disclosed
    assert used_up(words, free, open_ruling) == words


@given(EVENTS, SOME, st.sampled_from([None, *HOSTS]))
def test_words_are_taken_back_where_another_holds_for_good(
    events: list[Event], names: list[str], pool: str | None
) -> None:
    """Those on the same names that are about no more."""
    words: Preferences = ()
    for event in events:
        words = said(words, event) if event.decided else words
    left = dropped(words, names, pool)
    assert all(word.name not in names or pool not in (None, word.pool) for word in left)
    assert [word for word in words if word not in left] == [
        word for word in words if word.name in names and pool in (None, word.pool)
    ]


@given(POLICIES, POLICIES, st.sampled_from(NAMES), VALUES, st.booleans())
def test_a_word_opens_no_more_than_what_it_was_said_against(
    then: str, later: str, name: str, value: Disclose, again: bool
) -> None:
    """A stricter rule that decides since then holds; what a word closes stays closed."""
    before, _ = ruled(then, "a.example")
    against = basis_of(before, name)
    ruling, terms = ruled(then if again else later, "a.example")
    word = Preference(name, None, value, firm=True, against=against)
    found, now = value_of(applied(terms, (word,), "a.example"), name), value_of(terms, name)
    same = basis_of(ruling, name) == against
    assert found == (value if same else min(value, now, key=OPENNESS.index))
