"""What the status notes, for the user alone."""

import pytest

from agent.errors import VaultError
from agent.vault.ledger import Ledger
from tests.daemon.home import Home
from tests.daemon.people import SHOP


def test_a_model_that_the_policy_asks_for_and_is_not_there_is_noted(opened: Home) -> None:
    """By the name that it has there."""
    opened.paths.policy.write_text('model = "town"\n')
    opened.calls.reload()
    assert opened.calls.decide(SHOP).code == "no model"
    [note] = opened.calls.status().notes
    assert "names the model 'town', which is missing" in note


def test_why_an_answer_cannot_be_recorded_is_noted(
    opened: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until one can be: whoever asks is told no more than that it failed."""

    def full(*_: object) -> None:
        raise VaultError("the disk is full", "make room")

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "append", full)
        with pytest.raises(VaultError):
            opened.calls.decide(SHOP)
    [note] = opened.calls.status().notes
    assert note == "the last request could not be answered: the disk is full (make room)"
    assert opened.calls.decide(SHOP).id
    assert opened.calls.status().notes == []
