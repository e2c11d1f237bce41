"""`reticent requests forget`: a statement, made once it is agreed to."""

import pytest

from agent.wire.base import Done
from agent.wire.records import Forget
from tests.cli.conftest import Run
from tests.wire.fake import FakeDaemon, says


def test_it_says_what_it_means_and_asks(
    run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is made to forget, and the ledger keeps everything."""
    ran = run("requests", "forget", "a.example")
    assert (ran.code, ran.out) == (2, "")
    assert "can no longer link" in " ".join(ran.err.split())
    assert "the ledger keeps what was sent" in " ".join(ran.err.split())
    assert "agree with --yes" in ran.err
    assert fake.calls == []
    monkeypatch.setattr("agent.cli.requests.agree", says(None))
    assert run("requests", "forget", "a.example").code == 0
    assert fake.calls == [("forget", {"body": Forget(recipient="a.example")})]


def test_agreed_beforehand_it_is_done_and_said(run: Run, fake: FakeDaemon) -> None:
    """With an object for programs."""
    ran = run("requests", "forget", "a.example", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert "a.example counts as knowing nothing about you" in " ".join(ran.out.split())
    assert run("requests", "forget", "a.example", "--yes", "--json").record == {"done": True}
    assert len(fake.calls) == 2


def test_who_was_never_told_anything_has_nothing_to_forget(run: Run, fake: FakeDaemon) -> None:
    """Nothing is stated then."""
    fake.handlers["forget"] = says(Done(done=False))
    never = "{} was never sent anything, so there is nothing to forget."
    assert run("requests", "forget", "zz", "--yes").out == f"{never.format('zz')}\n"
    said = " ".join(run("requests", "forget", "wether.example", "--yes").out.split())
    assert said == f"{never.format('wether.example')} Did you mean 'weather.example'?"
