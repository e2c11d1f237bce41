"""`reticent daemon`: a whole life of one, its end, and `doctor`."""

import json
import signal
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from agent.cli.daemon import ended
from agent.daemon.sockets import alone
from agent.files import private_folder
from agent.paths import Paths, paths
from agent.wire.base import Done
from agent.wire.client import Client
from tests.cli.conftest import Run, process
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon

START = [sys.executable, "-m", "agent.cli", "daemon", "--json"]


@pytest.fixture
def started(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[Paths]:
    """What daemons are started with; none of them lives longer than it takes to say so."""
    assert home.is_dir()
    homes: list[Paths] = []

    def run(places: Paths, announce: Callable[[], None]) -> None:
        homes.append(places)
        announce()

    monkeypatch.setattr("agent.cli.daemon.run_daemon", run)
    return homes


def test_what_it_is_told_reaches_the_daemon(run: Run, started: list[Paths]) -> None:
    """And it says where it listens."""
    ran = run("daemon")
    assert (ran.code, ran.err) == (0, "")
    assert str(paths().query) in ran.out.replace("\n", "")
    record = run("daemon", "--json").record
    assert record["control"] == str(paths().control)
    assert len(started) == 2


@pytest.mark.usefixtures("home")
def test_it_answers_until_a_signal_ends_it(run: Run) -> None:
    """It says first where; a second one is refused; its end is no error, and leaves no socket."""
    with process(*START) as started:
        assert started.stdout is not None
        said = "".join(islice(started.stdout, 6))
        assert json.loads(said)["control"] == str(paths().control)
        with Client(paths().control) as client:
            status = client.call("status")
        assert (status.vault, status.locked, status.process) == (False, True, started.pid)
        second = run("daemon")
        started.send_signal(signal.SIGTERM)
        _, err = started.communicate(timeout=PATIENCE)
    assert (started.returncode, "error" in err) == (0, False)
    assert "run" in second.refusal(code=1)[0]
    assert not paths().control.exists()


@pytest.mark.usefixtures("home")
def test_the_daemon_has_ended(run: Run) -> None:
    """And another can start; it said first that there is no vault."""
    with process(*START[:-1]) as started:
        assert started.stdout is not None
        assert "`reticent init`" in "".join(islice(started.stdout, 3))
        ran = run("daemon", "stop")
        assert (ran.code, ran.err) == (0, "")
        assert "nothing is attached" in ran.out
        assert started.wait(PATIENCE) == 0
    assert not paths().control.exists()
    with ended(paths()):
        pass
    assert run("daemon", "stop").refusal(code=1)[0] == "the daemon is not running"


def test_a_daemon_that_does_not_end_is_said(
    run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not waited for for ever."""
    fake.handlers["shutdown"] = Done
    monkeypatch.setattr("agent.cli.daemon.SECONDS", 0.0)
    with alone(private_folder(paths().state) / "daemon.lock"):
        assert "a daemon is already running" in run("daemon", "stop").refusal(code=1)[0]


@pytest.fixture
def user(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a service."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("SUDO_USER", raising=False)
    return home


@pytest.mark.usefixtures("user")
def test_what_is_found_is_a_page(run: Run) -> None:
    """Before anything is made, with the way on."""
    ran = run("doctor")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    place = lines.index("note  vault: no vault yet")
    assert lines[place + 1].strip() == "reticent init"
    assert lines[-1].startswith("Nothing is wrong, ")


def test_what_is_bad_has_an_exit_code(run: Run, user: Path) -> None:
    """On the page, and in the object."""
    (user / "config").mkdir(0o700)
    (user / "config" / "policy.toml").write_text("k = 0\n\x1b = 1\n")
    page, record = run("doctor"), run("doctor", "--json")
    assert (page.code, record.code) == (1, 1)
    assert "BAD   policy: " in page.out
    assert "\x1b" not in page.out
    assert page.out.splitlines()[-1].startswith("1 problem")
    found = json.loads(record.out)["findings"]
    assert {"name", "state", "what", "fix"} == {*found[0]}
    assert [each["name"] for each in found if each["state"] == "bad"] == ["policy"]
