"""Sentences about what happened and what waits."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from agent.decision.values import CountedAmong
from agent.wire.policy import Disclose, Edited, Override, Review, Ruled, Win, Word
from agent.wire.state import (
    Changed,
    Handled,
    Held,
    Implied,
    Inferred,
    ModelStatus,
    Stale,
    ValueChange,
)
from agent.words import notices
from tests.tui.values import SHOP
from tests.wire.states import OPEN, POLICY

AT = datetime(2026, 3, 2, 9, 14, tzinfo=UTC)
SENT = Handled(
    number=3,
    kind="disclosed",
    at=AT,
    recipient="forge.example",
    pool="forge.example",
    disclosed=["region", "hobby"],
    people_left=1800,
)
NOTHING = replace(SENT, kind="nothing", number=-1, disclosed=[], people_left=None)
REVIEW = Review(
    id=4, kind="ask", at=AT, recipient="a.example", pool="@shops", names=["region"], query="git"
)
OFFER = replace(REVIEW, kind="offer", pool="a.example", query="")


def test_a_request_begins_with_its_verdict() -> None:
    """What was sent, or why nothing was."""
    said = notices.verdict_of(SENT, {"region": "region of the world"})
    assert said == (
        "Sent 2 facts to forge.example: region of the world and hobby; "
        "about 1,800 people still look like you."
    )
    assert notices.verdict_of(replace(NOTHING, code="locked")) == (
        "Sent nothing to forge.example: vault locked."
    )
    assert "1 fact waits" in notices.verdict_of(replace(NOTHING, waiting=1))
    assert "1 fact waits" in notices.verdict_of(replace(NOTHING, waiting=3, settled=2))
    assert "3 facts waited" in notices.verdict_of(replace(NOTHING, waiting=3, settled=3))
    forgotten = notices.verdict_of(replace(NOTHING, kind="forgotten"))
    assert forgotten == "You marked forge.example as having forgotten everything."


def test_what_was_sent_before_is_not_said_to_be_new() -> None:
    """All of it, or some of it."""
    assert notices.sent_to("a.example", ["x", "y"], again=["y"]) == (
        "Sent 2 facts to a.example, 1 of them again: x and y."
    )
    assert notices.sent_to("a.example", ["x"], again=["x"]) == (
        "Sent nothing new to a.example, only 1 fact that it already has: x."
    )


def test_a_cell_of_a_table_is_shorter() -> None:
    """But says the same."""
    assert notices.outcome_of(replace(SENT, waiting=1)) == "region, hobby; 1 waiting"
    assert notices.outcome_of(replace(SENT, waiting=1, settled=1)) == "region, hobby"
    assert notices.outcome_of(replace(NOTHING, code="locked")) == "nothing: vault locked"
    assert "forgotten" in notices.outcome_of(replace(NOTHING, kind="forgotten"))


def test_what_was_left_out_is_said_too() -> None:
    """By itself, or beside what was sent."""
    assert notices.sent([]) == "nothing"
    assert notices.sent(["a"], {}, ["b"]) == "a, and “prefer not to say” for b"


def test_what_waits_is_a_question() -> None:
    """With what it would bring; a recipient that offers asks itself."""
    asked = replace(REVIEW, more_bits=0.5, people_left=20.0)
    assert notices.asks(asked) == (
        "Send region to a.example (and @shops), for 'git'? +0.500 bits more useful, about "
        "20 people expected to be left"
    )
    assert notices.asks(OFFER) == "a.example asks for region"


@pytest.mark.parametrize(
    ("review", "verdict", "said"),
    [
        (REVIEW, Word(decided="approve"), "region may be sent to @shops with the next request."),
        (
            REVIEW,
            Word(decided="deny", lasting="always", about="everyone"),
            "region will not be sent to everyone from now on.",
        ),
        (
            OFFER,
            Word(decided="approve", lasting="days", days=2),
            (
                "a.example may get region and nothing else for 2 days, then nothing, as your rules "
                "allow."
            ),
        ),
        (OFFER, Word(decided="deny"), "a.example gets nothing from now on."),
    ],
)
def test_a_decision_of_the_user_is_repeated(review: Review, verdict: Word, said: str) -> None:
    """For whom, and for how long."""
    assert notices.settled(review, verdict) == said


@pytest.mark.parametrize(
    ("disclose", "said"),
    [
        ("never", "region will not be sent to {} {}."),
        ("ask", "region will wait for your approval before going to {} {}."),
        ("auto", "region may be sent to {} {}, when worth it."),
        ("always", "region will be sent to {} {}, unless a limit or a guard forbids it."),
    ],
)
def test_a_decision_on_attributes_is_repeated(disclose: Disclose, said: str) -> None:
    """Each in its own sentence, for whom and for how long."""
    word = Override(recipient="a.example", names=["region"], disclose=disclose)
    to = "a.example (and its group, if any)"
    assert notices.overridden(word) == said.format(to, "with the next request")
    long = replace(word, lasting="days", days=2)
    assert notices.overridden(long, to="b.example") == said.format("b.example", "for 2 days")
    all_of_them = replace(word, about="everyone", lasting="always")
    long_said = said.format("everyone", "from now on")
    assert notices.overridden(all_of_them) == long_said


def test_what_still_wins_is_named() -> None:
    """A rule that blocks goes before all others."""
    ruled = Ruled(written="r1", without_effect=["a"], decided_by=["shops"])
    assert notices.took_effect(ruled, "p.toml") == [
        "Written into p.toml as 'r1'.",
        "No effect on a: 'shops' still wins.",
    ]
    assert "blocks the recipient" in notices.took_effect(replace(ruled, blocked=True))[1]
    win = Win(names=[], rule="shops", line=3, key="disclose", value="never")
    edit = Edited(changed=False, wins=[win])
    assert notices.edited("Lambda is 5", edit) == (
        "Lambda is 5: the policy already said so. shops (line 3) still wins with disclose = never."
    )


def test_who_holds_an_older_value_is_named() -> None:
    """And whether they learn the new one."""
    change = ValueChange(name="a", was_set=True, is_set=True)
    stale = [Stale(name="a", pools=["x.example"]), Stale(name="b", pools=["x", "y"])]
    first, second = notices.outdated(Changed(changes=[change], stale=stale), {"a": "one"})
    assert first == (
        "x.example has your older value of one, and will get the new one at no extra cost."
    )
    assert second == "x and y have your older value of b, and will keep it."


def test_what_follows_is_named_with_its_value_unless_values_are_hidden() -> None:
    """What is unset has none."""
    found = [
        Implied(name="hours", title="working hours", value="no_job"),
        Implied(name="employer", title="work", value="at_home"),
        Implied(name="industry", title="industry", value="unspecified"),
        Implied(name="student", title="studies", value=None),
    ]
    assert notices.also(found) == [
        "Also set, since it follows: working hours to no job and work to at home.",
        f"Also counted as not said: industry. {notices.UNSAID}",
        "Also unset with it: studies.",
    ]
    assert notices.also(found, masked=True) == [
        "Also set with it: working hours, work and industry.",
        "Also unset with it: studies.",
    ]
    assert notices.also([]) == []
    assert repr(found[0]) == "Implied(name='hours')"


def test_what_a_recipient_knows_begins_with_how_many_blend_in() -> None:
    """Nobody and one are warnings."""
    found = Held(
        pool="a.example",
        values={"a": "yes", "b": "unspecified"},
        since={},
        recent=1,
        model="survey",
        people=60,
        people_left=20,
    )
    assert notices.held(found) == (
        "a.example knows 2 facts about you. To it, you blend in with 20 of the 60 people in "
        "survey; 1 new in the last seven days. It also knows what you did not say: b."
    )
    assert "may know who you are" in notices.held(replace(found, people_left=1))
    assert "you stand out" in notices.held(replace(found, people_left=0))


def test_a_guess_at_a_guarded_attribute_is_compared_with_chance() -> None:
    """Unless too few people agree."""
    found = Inferred(
        name="a", title="gender", bits=0.25, bits_in_all=1.0, best_guess=0.75, by_chance=0.5
    )
    assert notices.inferred(found) == (
        "gender (kept secret): its best guess is right for 75% of people like you, and 50% by "
        "chance; "
        "it has learned 0.25 of 1.00 bits about it."
    )
    assert "less certain" in notices.inferred(replace(found, bits=-0.25))
    assert "too few people" in notices.inferred(replace(found, best_guess=0.0))


def test_the_daemon_says_first_whether_requests_are_answered() -> None:
    """And what to do where they are not."""
    status = replace(OPEN, lock_after_minutes=0, entries=None)
    assert notices.running(status) == "Unlocked: requests are answered."
    assert "`reticent unlock`" in notices.running(replace(status, locked=True))
    assert "`reticent init`" in notices.running(replace(status, vault=False))
    assert "no policy" in notices.running(replace(status, policy=replace(POLICY, in_use=False)))
    assert notices.running(replace(status, locked=True, notice="disk full")) == "Locked: disk full."
    assert notices.running(replace(status, vault=False, notice="removed")) == "Locked: removed."


def test_a_model_is_one_line() -> None:
    """Or why it cannot be used."""
    model = ModelStatus(name="m", digest="d", shipped=False, attributes=1, queries=2)
    assert notices.model_line(model) == "m: 1 attribute, 2 queries; not signed"
    assert "signed with ada" in notices.model_line(replace(model, maker="ada"))
    assert "cannot be used: torn" in notices.model_line(replace(model, problem="torn"))


def test_who_knows_says_of_whom_its_people_are() -> None:
    """Two models may count different ones: then it names none."""
    of_us = CountedAmong(people="people of the US", count=241_282_226, estimated=True)
    found = [replace(SHOP, among=of_us)]
    assert notices.who_know(found) == (
        "1 recipient knows something about you. "
        "Numbers are out of about 240 million people of the US."
    )
    survey = CountedAmong(people="people of the survey", count=18_991, estimated=False)
    both = [*found, replace(SHOP, among=survey)]
    assert notices.who_know(both) == "2 recipients know something about you."
    assert notices.who_know([]) == ""
