"""Words for the next request, as a value."""

from dataclasses import replace
from datetime import date
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.instructions import (
    OPENNESS,
    Preference,
    Preferences,
    applied,
    denied_once,
    ruled_of,
    used_up,
)
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.terms import Terms, terms_under
from agent.decision.values import Decision, Request
from agent.wire.policy import Disclose
from policy.match import Rulebook, Ruling, known
from policy.read import preset, read
from tests.decision.made import NAMES, made_model

MODEL = made_model(1)
TODAY = date(2026, 3, 2)
HOSTS = ("a.example", "b.example")
EVERYTHING_ASKED = 'disclose = "ask"\nlambda = 0.01\n'
POLICIES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["never", "ask", "auto", "always"])),
    unique_by=lambda pair: pair[0],
).map(lambda pairs: "[attributes]\n" + "".join(f'{name} = "{each}"\n' for name, each in pairs))
VALUES = st.sampled_from(get_args(Disclose))
POOLS = st.sampled_from([None, *HOSTS])
SAID = st.builds(Preference, st.sampled_from(NAMES), POOLS, VALUES, VALUES)
WORDS = st.lists(SAID, max_size=8).map(tuple)
LIMITS = "lambda = 0.0\nk = 20\nrisk = 0.1\nattributes_per_request = 2\n"
GUARDS = "[attributes]\ngender = { guard = 0.5 }\nhours = { guard = 1.0 }\n"


def value_of(terms: Terms, name: str) -> Disclose:
    """Return what terms say of an attribute."""
    parts: dict[Disclose, frozenset[str]] = {
        "never": terms.excluded,
        "ask": terms.ask,
        "always": terms.always,
    }
    found = [value for value, names in parts.items() if name in names]
    assert len(found) <= 1
    return found[0] if found else "auto"


def ruled(text: str, host: str = "a.example") -> tuple[Ruling, Terms]:
    """Return what a policy rules for a request, and the terms."""
    policy = read(text, "test", preset)
    ruling = Rulebook(policy, known(*NAMES)).match(host, "python today", TODAY)
    return ruling, terms_under(ruling, MODEL)


def decided(terms: Terms, query: str = "python today", held: Knowledge | None = None) -> Decision:
    """Return what is decided for a recipient."""
    return decide(Request(query, "a.example"), terms, held or Knowledge(), MODEL)


def expected(words: Preferences, terms: Terms, host: str, name: str) -> Preference | None:
    """Return the word that should hold for an attribute: the last that is about it."""
    now, found = value_of(terms, name), None
    for word in words:
        if word.concept != name or word.pool not in (None, host):
            continue
        if opens(word, now):
            found = word if now == word.ruled else found
        elif word.disclose != now:
            found = word
    return found


def opens(word: Preference, now: Disclose) -> bool:
    """Say whether a word is more open than what is ruled now."""
    return OPENNESS.index(word.disclose) > OPENNESS.index(now)


@given(POLICIES, WORDS, st.sampled_from(HOSTS))
def test_the_last_word_that_holds_counts(policy: str, words: Preferences, host: str) -> None:
    """It opens only what is ruled as when it was said; a denial for once leaves what waits."""
    ruling, terms = ruled(policy, host)
    over = applied(terms, words)
    for name in NAMES:
        word, now = expected(words, terms, host, name), value_of(terms, name)
        quiet = word is not None and now == "ask" and word.disclose == "never"
        assert value_of(over, name) == (now if word is None or quiet else word.disclose)
        assert (name in denied_once(words, ruling)) == quiet


@given(WORDS, st.sampled_from(["python today", "restaurants today"]))
def test_no_word_lets_out_what_is_guarded_or_breaks_a_limit(words: Preferences, query: str) -> None:
    """However much of it is said."""
    ruling, terms = ruled(f"{LIMITS}{GUARDS}")
    over = applied(terms, words)
    decision = decided(over, query)
    assert ruled_of(ruling, "gender") is None
    assert not {"gender", "hours"} & {*decision.disclosed}
    assert len(decision.disclosed) <= 2
    assert over.limits == terms.limits
    assert not decision.disclosed or decision.figures.identifiability <= 0.1
    blocked = applied(ruled("nothing = true\n")[1], words)
    assert decided(blocked, query).disclosed == ()


@given(POLICIES, WORDS)
def test_a_word_is_used_up_by_the_request_that_it_changes(policy: str, words: Preferences) -> None:
    """By no other: an approval that is sent, a denial of what would wait, any other word."""
    ruling, terms = ruled(f"lambda = 0.01\n{policy}")
    decision = decided(applied(terms, words))
    waiting = decision.pending.names if decision.pending else ()
    spent = set()
    for name in NAMES:
        word, now = expected(words, terms, "a.example", name), value_of(terms, name)
        if word is None:
            continue
        quiet = now == "ask" and word.disclose == "never"
        sent_or_waits = name in (waiting if quiet else decision.disclosed)
        spent |= {word} if sent_or_waits or not (quiet or opens(word, now)) else set()
    assert used_up(words, decision, ruling) == tuple(each for each in words if each not in spent)
    silent = decided(applied(terms, words), "no such query")
    assert used_up(words, silent, ruling) == words


def test_what_was_decided_for_another_reason_uses_nothing_up() -> None:
    """A resent value that the recipient holds, and one that the policy allows by now."""
    ruling, terms = ruled(EVERYTHING_ASKED)
    words = tuple(Preference(name, "a.example", "auto", "ask") for name in NAMES)
    held = Knowledge(tuple((name, 1) for name in sorted(NAMES[:4])))
    over = replace(applied(terms, words), excluded=frozenset(NAMES[4:]))
    again = decided(over, held=held)
    assert again.disclosed
    assert used_up(words, again, ruling) == words
    open_ruling, open_terms = ruled("lambda = 0.01\n")
    free = decided(applied(open_terms, words))
    assert free.disclosed
    assert used_up(words, free, open_ruling) == words
