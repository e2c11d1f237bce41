"""The user's word on attributes that need not wait."""

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.consent.preferences import (
    Preference,
    Preferences,
    applied,
    remembered,
    undone,
    used_up,
    written,
)
from agent.decision.decide import decide
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.errors import UsageError
from agent.wire.policy import Disclose, Override
from policy.match import Ruling
from tests.daemon.consent.test_preferences import MODEL, POLICIES, ruled, value_of
from tests.daemon.office import TEXT, Office, open_office
from tests.decision.made import NAMES

HOSTS = ("a.example", "b.example")
VALUES = get_args(Disclose)
LOOSE = 'lambda = 0.01\n[groups]\nshops = ["s1.example", "s2.example"]\n'
SAID = st.builds(
    Preference,
    st.sampled_from(NAMES),
    st.sampled_from([None, *HOSTS]),
    st.sampled_from(VALUES),
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
FATES = {"never": "stays", "ask": "waits", "auto": "leaves", "always": "leaves"}
GUARDS = "[attributes]\ngender = { guard = 0.5 }\nhours = { guard = 1.0 }\n"


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


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Return a consent whose policy lets anything leave."""
    made = open_office(tmp_path)
    made.path.write_text(LOOSE)
    return made


def override(office: Office, names: list[str], disclose: str, **more: Any) -> Any:  # noqa: ANN401  (of any field)
    """Set one, of a.example where nothing else is said."""
    fields: Any = {"recipient": "a.example", "names": names, "disclose": disclose, **more}
    return office.consent.override(Override(**fields), office.now)


def fate(office: Office, host: str, name: str) -> str:
    """Return what becomes of an attribute with one more request of a host."""
    decision, _ = office.request(host)
    waiting = decision.pending.names if decision.pending else ()
    return "leaves" if name in decision.disclosed else "waits" if name in waiting else "stays"


@given(POLICIES, WORDS, st.sampled_from(HOSTS))
def test_the_last_firm_word_is_what_holds(policy: str, new: list[Preference], host: str) -> None:
    """Whatever the policy rules of it; where it lets wait, the last verdict after it counts."""
    done = spoken(policy, new, host)
    for name in NAMES:
        expected = before = value_of(done.terms, name)
        for word in new:
            if word.name != name or word.pool not in (None, host):
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
            each.name == word.name and each.pool in (None, host)
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


@given(POLICIES, WORDS, st.sampled_from(NAMES))
def test_what_is_written_for_a_pool_holds_there(
    policy: str, new: list[Preference], name: str
) -> None:
    """No word for everyone from before says otherwise, and elsewhere they hold as they did."""
    words = written(remembered((), new), [name], "a.example")
    _, terms = ruled(policy, "a.example")
    assert value_of(applied(terms, words, "a.example"), name) == value_of(terms, name)
    _, others = ruled(policy, "b.example")
    assert applied(others, words, "b.example") == applied(others, remembered((), new), "b.example")


@pytest.mark.parametrize("lasting", ["once", "until restart", "days", "always"])
@pytest.mark.parametrize("disclose", VALUES)
@pytest.mark.parametrize("about", ["recipient", "everyone"])
def test_a_word_holds_for_as_long_and_for_whom_it_says(
    office: Office, lasting: str, disclose: str, about: str
) -> None:
    """And the file changes where it is to last."""
    name = office.request("s1.example")[0].disclosed[0]
    assert fate(office, "b.example", name) == "leaves"
    days = {"days": 2} if lasting == "days" else {}
    said: dict[str, Any] = {"recipient": "s2.example", "lasting": lasting, "about": about, **days}
    done = override(office, [name], disclose, **said)
    assert done.without_effect == []
    assert (done.written is None) == (office.path.read_text() == LOOSE)
    assert (done.written is None) == (lasting in ("once", "until restart"))
    expected = FATES[disclose]
    assert fate(office, "s1.example", name) == expected
    assert fate(office, "s2.example", name) == (expected if lasting != "once" else "leaves")
    reached = about == "everyone" and lasting != "once"
    assert fate(office, "b.example", name) == (expected if reached else "leaves")
    office.now += timedelta(days=3)
    held = lasting in ("until restart", "always")
    assert fate(office, "s2.example", name) == (expected if held else "leaves")


def test_what_need_not_wait_any_more_is_off_the_list(tmp_path: Path) -> None:
    """Of that pool, or of all where it is about everyone; what is to wait stays."""
    office = open_office(tmp_path)
    assert office.path.read_text() == TEXT
    for host in ("a.example", "b.example"):
        office.request(host)
    first, second = office.consent.reviews(office.now)
    name, *rest = first.names
    assert rest
    override(office, [name], "ask", lasting="until restart")
    assert office.consent.reviews(office.now) == [first, second]
    override(office, [name], "never", lasting="until restart")
    shown = {each.pool: each.names for each in office.consent.reviews(office.now)}
    assert shown == {"a.example": rest, "b.example": second.names}
    override(office, [name], "never", lasting="always", about="everyone")
    assert all(name not in each.names for each in office.consent.reviews(office.now))


def test_what_was_denied_after_it_was_asked_for_once_does_not_leave(office: Office) -> None:
    """The word that made it wait is used up, and so the denial holds against the policy itself."""
    name = office.request("a.example")[0].disclosed[0]
    for lasting in ("once", "until restart"):
        override(office, [name], "ask")
        [review] = [office.review("a.example")]
        assert name in review.names
        office.say(review, "deny", lasting, names=[name])
        assert name not in office.request("a.example")[0].disclosed
        assert (name in office.request("a.example")[0].disclosed) == (lasting == "once")


@pytest.mark.parametrize("lasting", ["once", "until restart", "always"])
@pytest.mark.parametrize("disclose", VALUES)
def test_what_is_guarded_must_be_taken_out_of_the_policy(
    office: Office, lasting: str, disclose: str
) -> None:
    """No word of any kind lets it leave; nor one on a recipient that gets nothing."""
    office.path.write_text(f"{LOOSE}[attributes]\ngender = {{ guard = 1.0 }}\n")
    with pytest.raises(UsageError, match=r"gender is guarded by 'attributes.gender'") as raised:
        override(office, ["age", "gender"], disclose, lasting=lasting)
    assert "remove the guard" in raised.value.hint
    office.consent.refuse("a.example", office.now)
    refused = office.path.read_text()
    if disclose == "never":
        return
    with pytest.raises(UsageError, match=r"a\.example gets nothing, by 'refused'"):
        override(office, ["age"], disclose, lasting=lasting)
    assert office.path.read_text() == refused
    override(office, ["age"], disclose, lasting=lasting, about="everyone")
    assert office.consent.undo(office.now)
    assert office.consent.allow("https://a.example/").changed
    assert not office.consent.allow("a.example").changed


def test_a_word_that_no_rule_can_say_is_refused(office: Office) -> None:
    """With what decides; and nothing is remembered in its stead."""
    rule = (
        '[[rule]]\nname = "mine"\nrecipient = "a.example"\nattribute = "age"\ndisclose = "never"\n'
    )
    office.path.write_text(f"{LOOSE}{rule}")
    with pytest.raises(UsageError, match=r"'mine' \(line 8\) decides about age"):
        override(office, ["age"], "always", lasting="always")
    both = override(office, ["age", "gender"], "always", lasting="always")
    assert (both.without_effect, both.decided_by) == (["age"], ["mine"])
    assert "age" not in office.request("a.example")[0].disclosed
    assert override(office, ["age"], "always", lasting="until restart").without_effect == []
    assert "age" in office.request("a.example")[0].disclosed


@pytest.mark.parametrize(
    ("more", "said"),
    [({"lasting": "days"}, "days"), ({"days": 2}, "days"), ({"recipient": "x y"}, "x y")],
)
def test_a_word_that_makes_no_sense_is_refused(
    office: Office, more: dict[str, Any], said: str
) -> None:
    """As a verdict is; and one where no policy is in use."""
    with pytest.raises(UsageError, match=said):
        override(office, ["age"], "never", **more)
    office.path.unlink()
    with pytest.raises(UsageError, match="no policy is in use"):
        override(office, ["age"], "never")
