"""`reticent block` and `unblock`: whether a recipient gets anything at all."""

import pytest

from agent.wire.asking import Allow, Refuse
from agent.wire.base import Done
from tests.cli.conftest import Run
from tests.cli.daemon import HOSTILE
from tests.wire.fake import FakeDaemon, says


@pytest.mark.parametrize(
    ("command", "call", "said"),
    [
        ("block", ("refuse", {"body": Refuse(recipient="a.example")}), "gets nothing from now on"),
        ("unblock", ("allow", {"body": Allow(recipient="a.example")}), "is treated like others"),
    ],
)
def test_the_word_reaches_the_daemon(
    run: Run, fake: FakeDaemon, command: str, call: tuple[str, object], said: str
) -> None:
    """And what holds from now on is said."""
    ran = run(command, "a.example")
    assert (ran.code, ran.err) == (0, "")
    assert f"a.example {said}" in ran.out
    assert fake.calls == [call]
    assert run(command, "a.example", "--json").record == {"done": True}
    assert "\x1b" not in run(command, HOSTILE).out


def test_a_rule_that_is_not_ours_is_left(run: Run, fake: FakeDaemon) -> None:
    """That is said, and how to find it."""
    fake.handlers["allow"] = says(Done(done=False))
    said = " ".join(run("unblock", "a.example").out.split())
    assert "no rule of ours gives a.example nothing" in said
    assert "`reticent policy explain` names it" in said
    assert run("unblock", "a.example", "--json").record == {"done": False}
