"""The user's word on attributes and recipients, and what takes it back, over a real vault."""

from typing import Any

import pytest
from msgspec.structs import replace

from agent.errors import LockedError, UsageError
from agent.wire.decide import Allow, Allowed, Ask, Refuse
from agent.wire.policy import Override, PolicyEdit, Undone, Verdict
from tests.daemon.home import POLICY, Home
from tests.daemon.people import SHOP


def word(disclose: str, lasting: str = "until restart", **more: Any) -> Override:  # noqa: ANN401  (of any field)
    """Return a word on an attribute that the policy lets leave."""
    fields: Any = {"recipient": "shop.example", "names": ["age"], "lasting": lasting, **more}
    return Override(disclose=disclose, **fields)  # type: ignore[arg-type]  # any of them


def carried(home: Home) -> bool:
    """Return whether the attribute leaves to the recipient, or would be sent again."""
    return "age" in home.calls.explain(SHOP).disclosed


def test_a_word_holds_and_is_taken_back(opened: Home) -> None:
    """In memory or in the file; who listens is told which it was."""
    assert carried(opened)
    for lasting, told in (("until restart", "review"), ("always", "policy")):
        opened.bus.kinds.clear()
        ruled = opened.calls.override(word("never", lasting))
        assert opened.bus.kinds == [told]
        assert (ruled.written is None) == (told == "review")
        assert not carried(opened)
        assert opened.calls.undo() == Undone(
            what="Set age to never for shop.example: undone. Data already sent cannot be recalled."
        )
        assert opened.bus.kinds == [told, told]
        assert carried(opened)
        assert opened.paths.policy.read_text() == POLICY


def test_what_is_explained_names_the_word(opened: Home) -> None:
    """No rule of the policy says so."""
    opened.calls.override(word("never"))
    [reason] = [each for each in opened.calls.explain(SHOP).candidates if each.name == "age"]
    assert (reason.disclosed, reason.reason, reason.rule) == (False, "never", "your own word")


@pytest.mark.parametrize(
    ("lasting", "about"), [("once", "everyone"), ("until restart", "recipient")]
)
def test_a_stricter_rule_that_is_written_later_holds(
    opened: Home, lasting: str, about: str
) -> None:
    """So does one for other recipients or queries; once it is gone, the word holds again."""
    opened.calls.override(word("always", lasting, about=about))
    assert carried(opened)
    narrower: list[dict[str, Any]] = [{}, {"recipient": "shop.example"}, {"query": "python"}]
    for where in narrower:
        edit = {"attribute": "age", **where}
        opened.calls.edit_policy(PolicyEdit(set={"disclose": "never"}, **edit))
        assert not carried(opened)
        opened.calls.edit_policy(PolicyEdit(unset=["disclose"], **edit))
        assert carried(opened)
    rule = '[[rule]]\nname = "mine"\nrecipient = "shop.example"\ndisclose = "never"\n'
    opened.paths.policy.write_text(POLICY + rule)
    opened.calls.reload()
    assert not carried(opened)
    opened.calls.override(word("always", lasting, about=about))
    assert carried(opened)


def test_a_verdict_is_taken_back_and_what_left_stays_told(opened: Home) -> None:
    """The ledger has it; the recipient is asked about again."""
    opened.paths.policy.write_text(text := POLICY.replace('region = "ask"', 'age = "ask"'))
    opened.calls.reload()
    opened.calls.decide(SHOP)
    [review] = opened.calls.reviews()
    opened.calls.verdict(Verdict(decided="approve", lasting="always"), id=review.id)
    assert "age" in opened.calls.decide(SHOP).attributes
    entries = opened.calls.ledger()
    said = opened.calls.undo().what
    assert said.startswith("Approved age for shop.example: undone. Data already sent")
    assert opened.calls.ledger() == entries
    assert opened.paths.policy.read_text() == text
    by_then = replace(review, more_bits=None, people_left=None)  # the recipient knows more now
    assert opened.calls.reviews() == [by_then]
    other = Ask(query="python today", recipient="books.example")
    assert "age" not in opened.calls.decide(other).attributes
    with pytest.raises(UsageError, match="nothing to undo"):
        opened.calls.undo()


def test_a_word_on_what_no_model_has_is_refused(opened: Home) -> None:
    """With the name that was probably meant."""
    with pytest.raises(UsageError, match="unknown attribute 'regoin'") as raised:
        opened.calls.override(word("never", names=["age", "regoin"]))
    assert raised.value.hint == "did you mean 'region'?"
    assert carried(opened)


def test_nothing_is_said_or_taken_back_while_locked(opened: Home) -> None:
    """And what could have been is forgotten; the word itself holds on."""
    opened.calls.override(word("never"))
    opened.calls.lock()
    for call in (lambda: opened.calls.override(word("never")), opened.calls.undo):
        with pytest.raises(LockedError):
            call()
    opened.unlock()
    with pytest.raises(UsageError, match="nothing to undo"):
        opened.calls.undo()
    assert not carried(opened)


def test_a_refusal_is_taken_out_of_the_policy(opened: Home) -> None:
    """Once; a rule that is not ours stays, and is named."""
    assert opened.calls.allow(Allow(recipient="shop.example")) == Allowed(done=False)
    for named in ("shop.example", "https://www.shop.example/page"):
        opened.calls.refuse(Refuse(recipient=named))
        assert opened.calls.decide(SHOP).code == "blocked"
        assert opened.calls.allow(Allow(recipient=named)) == Allowed(done=True)
        assert opened.calls.decide(SHOP).code == "answered"
    assert opened.paths.policy.read_text().strip() == POLICY.strip()
    theirs = f'{POLICY}[[rule]]\nname = "mine"\nrecipient = "shop.example"\nnothing = true\n'
    opened.paths.policy.write_text(theirs)
    opened.calls.reload()
    line = theirs.count("\n")
    kept = Allowed(done=False, rule="mine", line=line)
    assert opened.calls.allow(Allow(recipient="shop.example")) == kept
    assert (opened.paths.policy.read_text(), opened.calls.decide(SHOP).code) == (theirs, "blocked")
