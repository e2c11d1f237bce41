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
    remembered,
    undone,
    used_up,
    written,
)
from agent.decision.decide import decide
from agent.decision.request import Knowledge
from agent.decision.terms import Terms, terms_under
from agent.decision.values import Decision, Request
from agent.wire.policy import Decided, Disclose
from policy.match import Rulebook, Ruling
from policy.precedence import known
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
SAID = st.builds(
    Preference,
    st.sampled_from(NAMES),
    st.sampled_from([None, *HOSTS]),
    VALUES,
    once=st.booleans(),
    firm=st.just(True),
)
VERDICTS = st.builds(
    Preference,
    st.sampled_from(NAMES),
    st.sampled_from([None, *HOSTS]),
    st.sampled_from(["auto", "never"]),
    once=st.booleans(),
)
WORDS = st.lists(SAID | SAID | VERDICTS, max_size=8)
LIMITS = "lambda = 0.0\nk = 20\nrisk = 0.1\nattributes_per_request = 2\n"
GUARDS = "[attributes]\ngender = { guard = 0.5 }\nhours = { guard = 1.0 }\n"


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
    ruling = Rulebook(policy, known(*NAMES)).match(host, "python today", TODAY)
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


@given(EVENTS)
def test_once_is_used_up_by_the_request_that_would_have_asked(events: list[Event]) -> None:
    """By no other, and what was said before holds again: a stack beside each pool and name."""
    words: Preferences = ()
    for event in events:
        if event.decided is not None:
            words = said(words, event)
            continue
        ruling, terms = ruled(EVERYTHING_ASKED, event.host)
        valid = {word.concept: word for word in words if word.pool in (None, event.host)}
        decision = decided(applied(terms, words, event.host), event.host)
        waiting = decision.pending.names if decision.pending else ()
        spent = {
            word
            for name, word in valid.items()
            if word.once and name in (decision.disclosed if word.disclose == "auto" else waiting)
        }
        quiet = {word.concept for word in spent if word.disclose == "never"}
        assert denied_once(words, decision, ruling) == quiet
        left = used_up(words, decision, ruling)
        assert left == tuple(word for word in words if word not in spent)
        words = left


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


@dataclass(frozen=True)
class Spoken:
    """Preferences of a sequence, and what they make of a request of a host."""

    words: Preferences
    ruling: Ruling
    terms: Terms
    over: Terms


def spoken(policy: str, new: list[Preference], host: str) -> Spoken:
    """Return what words make of a request."""
    words = remembered((), new)
    ruling, terms = ruled(policy, host)
    return Spoken(words, ruling, terms, applied(terms, words, host))


@given(POLICIES, WORDS, st.sampled_from(HOSTS))
def test_the_last_firm_word_is_what_holds(policy: str, new: list[Preference], host: str) -> None:
    """Whatever the policy rules of it; where it lets wait, the last verdict after it counts."""
    done = spoken(policy, new, host)
    for name in NAMES:
        expected = before = value_of(done.terms, name)
        for word in new:
            if word.concept != name or word.pool not in (None, host):
                continue
            if word.firm:
                expected = before = str(word.disclose)
            elif before == "ask":
                quiet = word.once and word.disclose == "never"
                expected = "ask" if quiet else str(word.disclose)
        assert value_of(done.over, name) == expected


@given(WORDS, st.sampled_from(HOSTS), st.sampled_from(["python today", "restaurants today"]))
def test_no_word_lets_out_what_is_guarded_or_breaks_a_limit(
    new: list[Preference], host: str, query: str
) -> None:
    """However much of it is said."""
    over = spoken(f"{LIMITS}{GUARDS}", new, host).over
    decision = decide(Request(query, host), over, Knowledge(), MODEL)
    assert not {"gender", "hours"} & {*decision.disclosed}
    assert len(decision.disclosed) <= 2
    assert over.limits == spoken(f"{LIMITS}{GUARDS}", [], host).terms.limits
    assert not decision.disclosed or decision.figures.identifiability <= 0.1
    blocked = spoken("nothing = true\n", new, host).over
    assert decide(Request(query, host), blocked, Knowledge(), MODEL).disclosed == ()


@given(POLICIES, WORDS, st.sampled_from(HOSTS))
def test_what_is_said_once_changes_one_decision(
    policy: str, new: list[Preference], host: str
) -> None:
    """The next for which it changes the terms, and then all is as if it had not been said."""
    done = spoken(f"lambda = 0.01\n{policy}", new, host)
    decision = decide(Request("python today", host), done.over, Knowledge(), MODEL)
    left = used_up(done.words, decision, done.ruling)
    firm = {each for each in done.words if each.firm}
    for word in firm:
        rest = tuple(each for each in done.words if each != word)
        last = not any(
            each.concept == word.concept and each.pool in (None, host)
            for each in done.words[done.words.index(word) + 1 :]
            if each.firm
        )
        changed = applied(done.terms, rest, host) != done.over
        spent = word.once and word.pool in (None, host) and changed and last
        assert (word not in left) == spent
    silent = decide(Request("no such query", host), done.over, Knowledge(), MODEL)
    assert used_up(done.words, silent, done.ruling) == done.words


@given(POLICIES, WORDS, SAID)
def test_once_it_is_used_up_what_was_said_before_holds(
    policy: str, old: list[Preference], last: Preference
) -> None:
    """Of what was not itself said once."""
    host, before = "a.example", remembered((), [replace(each, once=False) for each in old])
    words = remembered(before, [replace(last, once=True)])
    _, terms = ruled(policy, host)
    rest = tuple(each for each in words if not each.once)
    assert applied(terms, rest, host) == applied(terms, before, host)


@given(WORDS, st.lists(SAID | VERDICTS, max_size=4), st.data())
def test_what_is_taken_back_was_never_said(
    old: list[Preference], new: list[Preference], data: st.DataObject
) -> None:
    """But what was used up meanwhile does not come back."""
    before = remembered((), old)
    after = remembered(before, new)
    assert undone(after, before, after) == before
    spent = data.draw(st.sets(st.sampled_from(after))) if after else set()
    left = tuple(each for each in after if each not in spent)
    again = undone(left, before, after)
    assert [*again] == [each for each in before if each not in spent]


@given(POLICIES, WORDS, st.sampled_from(NAMES), st.sampled_from([None, "a.example"]))
def test_what_is_written_holds_for_whom_it_is_about(
    policy: str, new: list[Preference], name: str, pool: str | None
) -> None:
    """No word from before says otherwise; of all else they hold as they did."""
    before = remembered((), new)
    words = written(before, known(name), pool)
    for host in HOSTS:
        _, terms = ruled(policy, host)
        for each in NAMES:
            holds = terms if each == name and pool in (None, host) else applied(terms, before, host)
            assert value_of(applied(terms, words, host), each) == value_of(holds, each)
