"""`reticent requests undo`: what was taken back is said, in the daemon's words."""

import msgspec

from agent.errors import UsageError
from tests.cli.conftest import Run
from tests.cli.daemon import HOSTILE, UNDONE, changed
from tests.wire.fake import FakeDaemon, says


def test_what_was_taken_back_is_said(run: Run, fake: FakeDaemon) -> None:
    """And that what left stays told."""
    ran = run("requests", "undo")
    assert (ran.code, " ".join(ran.out.split())) == (0, UNDONE.what)
    assert fake.calls == [("undo", {})]
    assert run("requests", "undo", "--json").record == msgspec.to_builtins(UNDONE)
    fake.handlers["undo"] = says(changed(UNDONE, what=HOSTILE))
    assert "\x1b" not in run("requests", "undo").out


def test_what_cannot_be_is_said_too(run: Run, fake: FakeDaemon) -> None:
    """In one sentence."""

    def nothing() -> None:
        raise UsageError("nothing to undo", "edit the policy")

    fake.handlers["undo"] = nothing
    assert run("requests", "undo").refusal() == (
        "nothing to undo",
        "edit the policy",
    )
