"""`reticent policy block` and `unblock`: whether a recipient gets anything at all."""

import pytest

from agent.wire.decide import Allow, Allowed, Refuse
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
    ran = run("policy", command, "a.example")
    assert (ran.code, ran.err) == (0, "")
    assert f"a.example {said}" in ran.out
    assert fake.calls == [call]
    assert run("policy", command, "a.example", "--json").record["done"] is True
    assert "\x1b" not in run("policy", command, HOSTILE).out


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize(("line", "place"), [(12, " on line 12 of the policy"), (None, "")])
def test_a_rule_that_is_not_ours_is_named(
    run: Run, fake: FakeDaemon, line: int | None, place: str, *, done: bool
) -> None:
    """Whether or not there was one of ours beside it: it still holds."""
    fake.handlers["allow"] = says(Allowed(done=done, rule="mine", line=line))
    said = " ".join(run("policy", "unblock", "a.example").out.split())
    assert said.startswith(
        f"a.example still gets nothing, by 'mine'{place}, which reticent did not write"
    )
    record = run("policy", "unblock", "a.example", "--json").record
    assert record == {"done": done, "rule": "mine", "line": line}
    fake.handlers["allow"] = says(Allowed(done=done, rule=HOSTILE))
    assert "\x1b" not in run("policy", "unblock", "a.example").out


def test_who_was_not_blocked_is_left(run: Run, fake: FakeDaemon) -> None:
    """That is said."""
    fake.handlers["allow"] = says(Allowed(done=False))
    assert (
        run("policy", "unblock", "a.example").out
        == "a.example was not blocked, so nothing was changed.\n"
    )
