"""Answers written into the policy as prices."""

from typing import get_args

import pytest

from agent.daemon.policy_api import DIGITS
from agent.errors import UsageError
from agent.wire.decide import Answers, Calibrate, Improvement
from policy.read import load
from tests.worlds.homes import POLICY, Home
from tests.worlds.people import MODEL, SHOP

WANTED = dict(zip("12345", get_args(Improvement), strict=True))
SAID = Answers(improvement=WANTED, sensitivity={"age": 2, "gender": 5}, one_of={"1": 5, "1000": 1})


def test_it_goes_into_the_policy_in_use(home: Home) -> None:
    """The next request is decided by it; comments and all else stay; once more changes nothing."""
    home.paths.policy.write_text(f"# mine\n{POLICY}")
    home.calls.reload()
    home.unlock()
    home.fill()
    home.bus.kinds.clear()
    found = home.calls.calibrate(Calibrate(answers=[SAID], write=True))
    assert found.written
    assert home.bus.kinds == ["policy"]
    after = load(home.paths.policy)
    assert after.text.startswith("# mine\n")
    terms = home.agent.rules.active.terms(MODEL, SHOP.recipient, SHOP.query, home.now.date())
    assert terms is not None
    assert terms.trade_off == pytest.approx(found.trade_off, rel=10 ** (1 - DIGITS))
    assert dict(terms.sensitivity)["age"] == pytest.approx(found.sensitivity["age"], abs=1e-4)
    assert found.sensitivity["gender"] is None
    assert "gender" in terms.excluded
    assert "region" in terms.ask
    home.calls.calibrate(Calibrate(answers=[SAID], write=True))
    assert load(home.paths.policy).text == after.text
    assert home.bus.kinds == ["policy"]


@pytest.mark.parametrize("policy", [None, "lamda = 1\n", 'cost = "entropy"\n', ""])
def test_what_cannot_be_written_is_told_all_the_same(home: Home, policy: str | None) -> None:
    """No file, mistakes, λ in another unit, nothing said: it stays as it was."""
    home.paths.policy.unlink()
    if policy is not None:
        home.paths.policy.write_text(policy)
    home.calls.reload()
    said = Answers(improvement=WANTED, one_of={"10": 2})
    with pytest.raises(UsageError):
        home.calls.calibrate(Calibrate(answers=[said], write=True))
    there = home.paths.policy.read_text() if home.paths.policy.exists() else None
    assert there == policy
    assert not home.calls.calibrate(Calibrate(answers=[said])).written


def test_answers_that_are_none_are_not_written(home: Home) -> None:
    """Of two, one is enough."""
    wrong = Answers(improvement=WANTED, sensitivity={"shoe_size": 1})
    with pytest.raises(UsageError, match="unknown attribute 'shoe_size'"):
        home.calls.calibrate(Calibrate(answers=[SAID, wrong], write=True))
    assert home.paths.policy.read_text() == POLICY
