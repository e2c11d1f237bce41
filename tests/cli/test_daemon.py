"""`reticent daemon`: what it is told to do, and a whole life of one in its own process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.daemon.lifetime import Options
from agent.paths import Paths, paths
from agent.wire.client import Client
from tests.cli.conftest import Run

START = [sys.executable, "-m", "agent.cli", "daemon", "--json"]


@pytest.fixture
def started(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[Options]:
    """What daemons are started with; none of them lives longer than it takes to say so."""
    assert home.is_dir()
    options: list[Options] = []

    def run(_places: Paths, given: Options, announce: Callable[[], None]) -> None:
        options.append(given)
        announce()

    monkeypatch.setattr("agent.cli.daemon.run_daemon", run)
    return options


def test_what_it_is_told_reaches_the_daemon(run: Run, started: list[Options]) -> None:
    """And it says where it listens, and where the token is."""
    ran = run("daemon")
    assert (ran.code, ran.err) == (0, "")
    assert str(paths().query) in ran.out.replace("\n", "")
    assert "token" not in ran.out
    page = "https://books.example"
    assert "token" in run("daemon", "--listen", "0", "--origin", page, "--origin", page + ":8").out
    record = run("daemon", "--listen", "8080", "--json").record
    assert (record["control"], record["token"][-6:]) == (str(paths().control), ".token")
    assert started == [Options(), Options(0, (page, page + ":8")), Options(8080)]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--listen", "65536"], "65536"),
        (["--listen", "x"], "--listen"),
        (["--origin", "https://a.example"], "--origin needs --listen"),
        (["--listen", "0", "--origin", "a.example"], "'a.example' is not the origin"),
        (["--listen", "0", "--origin", "https://a.example/"], "is not the origin"),
        (["--listen", "0", "--origin", "https://A.example"], "is not the origin"),
        (["--listen", "0", "--origin", "https://u@a.example"], "is not the origin"),
        (["--listen", "0", "--origin", "https://[a"], "is not the origin"),
        (["--listen", "0", "--origin", "null"], "is not the origin"),
        (["--listen", "0", "--origin", "*"], "is not the origin"),
    ],
)
def test_what_no_daemon_can_do_is_refused(
    run: Run, started: list[Options], options: list[str], error: str
) -> None:
    """Before anything is opened."""
    assert error in run("daemon", *options).refusal()[0]
    assert started == []


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_until_a_signal_ends_it(number: signal.Signals) -> None:
    """It says first where; its end is no error, and leaves no socket."""
    with subprocess.Popen(
        START, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    ) as process:
        assert process.stdout is not None
        said = "".join(iter(process.stdout.readline, "}\n")) + "}"
        assert json.loads(said)["control"] == str(paths().control)
        with Client(paths().control) as client:
            status = client.call("status")
        assert (status.vault, status.locked, status.process) == (False, True, process.pid)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, "error" in err) == (0, False)
    assert not paths().control.exists()


@pytest.mark.usefixtures("home")
def test_two_of_them_are_one_too_many(run: Run) -> None:
    """The second says so, in one sentence."""
    with subprocess.Popen(
        START, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ.copy()
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        error, _ = run("daemon").refusal(code=1)
        process.terminate()
        process.communicate(timeout=60)
    assert "run" in error
