"""`reticent`: what it needs, the daemon that it starts, and a defect."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.cli import review
from agent.cli.main import DEBUG
from agent.errors import DaemonError
from agent.tui.app import Review
from agent.wire.client import Client
from agent.wire.state import Status
from tests.cli.conftest import Run
from tests.daemon.whole_daemon import end, environment, home, living
from tests.house.tree import ROOT
from tests.tui.terminal import terminal

PATIENCE = 60.0  # seconds
SECRET = "the-value-of-nobody"  # noqa: S105  (in a variable of what breaks)
BREAKS = {
    "looking": "import agent.tui.screens.health as broken\nname = 'said'\n",
    "drawing": "import agent.tui.status_bar as broken\nname = 'TopBar'\n",
}
BREAK = """
def breaks(*given, **named):
    secret = {secret!r}
    raise RuntimeError(secret)
setattr(broken, name, breaks)
"""


def test_it_needs_a_terminal_and_says_what_does_not(run: Run) -> None:
    """In a sentence, by its exit code too."""
    error, hint = run("requests", "review").refusal()
    assert error == "the screens need a terminal"
    assert "`reticent requests watch`" in hint
    assert "`reticent requests pending`" in hint


@pytest.mark.parametrize("term", review.PLAIN)
def test_a_terminal_of_lines_alone_is_none(
    run: Run, monkeypatch: pytest.MonkeyPatch, term: str
) -> None:
    """No screen is drawn on it."""
    monkeypatch.setattr(review, "sees_terminal", lambda: True)
    monkeypatch.setattr(Review, "run", lambda *_: pytest.fail("it draws"))
    monkeypatch.setenv("TERM", term)
    assert run("requests", "review").refusal()[0] == "the screens need a terminal"


def test_the_daemon_that_it_starts_outlives_it() -> None:
    """In a session of its own, so that no end of a terminal is its end."""
    with home() as places:
        subprocess.run(
            [sys.executable, "-c", "from agent.cli.review import start; start()"],
            env=environment(places),
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        with Client(places.control) as client:
            status = _answer(client)
            assert os.getsid(status.process) == status.process
        end(places)


def _answer(client: Client) -> Status:
    """Return how a daemon is that begins."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            found: Status = client.call("status")
        except DaemonError:
            assert time.monotonic() < until
            time.sleep(0.02)
        else:
            return found


def test_a_daemon_that_cannot_be_started_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what starts it by hand."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(DaemonError, match="cannot start the daemon: no such file") as raised:
        review.start()
    assert "`reticent daemon`" in raised.value.hint


@pytest.mark.parametrize("what", BREAKS)
def test_a_defect_in_the_screens_ends_in_a_sentence(what: str, tmp_path: Path) -> None:
    """It names the place, and nothing that a variable holds is left in the terminal."""
    broken = BREAKS[what] + BREAK.format(secret=SECRET)
    (tmp_path / "sitecustomize.py").write_text(broken)
    told = {"PYTHONPATH": str(tmp_path), DEBUG: ""}
    with living() as live, terminal(live.paths, "requests", "review", told=told) as shown:
        if what == "looking":
            shown.shows("√ open")
            shown.press("7")
        shown.shows("reticent: error: unexpected RuntimeError in sitecustomize.py, line")
        shown.shows("reticent: hint: a defect of reticent")
        assert SECRET not in shown.everything()
        assert "Traceback" not in shown.everything()
