"""`reticent daemon stop`: the daemon has ended once it says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.cli.daemon import ended
from agent.daemon.sockets import alone
from agent.files import private_folder
from agent.paths import paths
from agent.wire.base import Done
from tests.cli.conftest import Run
from tests.wire.fake import FakeDaemon

START = [sys.executable, "-m", "agent.cli", "daemon"]


@pytest.mark.usefixtures("home")
def test_the_daemon_has_ended(run: Run) -> None:
    """And another can start; it said first that there is no vault."""
    with subprocess.Popen(
        START, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ.copy()
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline() + process.stdout.readline() + process.stdout.readline()
        assert b"`reticent init`" in said
        ran = run("daemon", "stop")
        assert (ran.code, ran.err) == (0, "")
        assert "nothing is attached" in ran.out
        assert process.wait(60) == 0
    assert not paths().control.exists()
    with ended(paths()):
        pass
    assert run("daemon", "stop").refusal(code=1)[0] == "the daemon is not running"


@pytest.mark.parametrize("listens", [True, False])
def test_a_service_that_starts_it_again_is_named(
    run: Run, fake: FakeDaemon, home: Path, monkeypatch: pytest.MonkeyPatch, listens: bool
) -> None:
    """And how that ends; not one that was written where no manager of services has it."""
    fake.handlers["shutdown"] = Done
    assert run("daemon", "stop", "--json").record == {"ended": True, "service": False}
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("PATH", str(home))  # no manager of services answers
    assert run("daemon", "service", "install").code == 0
    assert "service" not in run("daemon", "stop").out
    manager = home / "systemctl"
    manager.write_text(f"#!/bin/sh\nexit {0 if listens else 3}\n")
    manager.chmod(0o700)
    assert ("`reticent daemon service remove`" in run("daemon", "stop").out) == listens
    assert run("daemon", "stop", "--json").record == {"ended": True, "service": listens}


def test_a_daemon_that_does_not_end_is_said(
    run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not waited for for ever."""
    fake.handlers["shutdown"] = Done
    monkeypatch.setattr("agent.cli.daemon.SECONDS", 0.0)
    with alone(private_folder(paths().state) / "daemon.lock"):
        assert "a daemon is already running" in run("daemon", "stop").refusal(code=1)[0]
