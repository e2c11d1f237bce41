"""`reticent daemon service`: install, remove and status, with a manager that answers or not."""

import sys
from pathlib import Path

import pytest

from agent.daemon.service import KEPT
from agent.paths import HOME, RUNTIME, paths
from tests.cli.conftest import Run
from tests.wire.fake import FakeDaemon, short_folder

FILES = ["reticent.service", "reticent-control.socket", "reticent-query.socket"]
FAKE = """#!/bin/sh
printf '%s\\n' "$*" >>"$0.log"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without a manager of services."""
    for name in (*KEPT, RUNTIME):  # at the last of them a daemon of the person may listen
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def manager(home: Path) -> Path:
    """A manager that does what it is told, and the file in which it notes that."""
    fake = home / "systemctl"
    fake.write_text(FAKE)
    fake.chmod(0o700)
    return home / "systemctl.log"


def units(home: Path) -> list[str]:
    """Return the names of what is installed."""
    return sorted(each.name for each in (home / ".config/systemd/user").glob("*"))


def test_without_a_manager_two_commands_are_shown(run: Run, home: Path) -> None:
    """The files are there all the same."""
    ran = run("daemon", "service", "install", "--manager", "systemd")
    assert (ran.code, ran.err) == (0, "")
    assert units(home) == sorted(FILES)
    assert ran.out.splitlines()[-2:] == [
        "  systemctl --user daemon-reload",
        "  systemctl --user enable --now reticent-control.socket reticent-query.socket",
    ]


def test_with_a_manager_they_are_run(run: Run, manager: Path) -> None:
    """In this order; a second time what runs is stopped first, so that it is started anew."""
    assert run("daemon", "service", "install", "--manager", "systemd").code == 0
    first = manager.read_text().splitlines()
    sockets = " ".join(FILES[1:])
    assert first == [
        "--user show-environment",
        "--user daemon-reload",
        f"--user enable --now {sockets}",
    ]
    assert "left" not in run("daemon", "service", "install", "--manager", "systemd").out
    again = manager.read_text().splitlines()[3:]
    assert again == [first[0], f"--user disable --now {sockets} {FILES[0]}", *first[1:]]


def test_removing_takes_away_what_was_installed(run: Run, home: Path, manager: Path) -> None:
    """It is stopped first, and forgotten last."""
    run("daemon", "service", "install", "--manager", "systemd")
    manager.unlink()
    removed = run("daemon", "service", "remove", "--manager", "systemd", "--json").record
    assert [Path(each).name for each in removed["removed"]] == FILES
    assert removed["left"] == []
    assert units(home) == []
    assert [line.split()[1] for line in manager.read_text().splitlines()] == [
        "show-environment",
        "disable",
        "daemon-reload",
    ]


def test_removing_nothing_says_so(run: Run, home: Path) -> None:
    """And is no error, so that it can simply be run again."""
    ran = run("daemon", "service", "remove", "--manager", "systemd")
    assert (ran.code, units(home)) == (0, [])
    assert ran.out == "The service is not installed, so there was nothing to remove.\n"


def test_the_status_before_and_after(run: Run, home: Path) -> None:
    """And when a file is not as it would be written."""
    ask = ("daemon", "service", "status", "--manager", "systemd")
    assert run(*ask).out.startswith("The service is not installed.\n")
    assert not run(*ask, "--json").record["installed"]
    run("daemon", "service", "install", "--manager", "systemd")
    assert run(*ask, "--json").record["installed"]
    assert run(*ask).out.startswith("The service is installed:\n")
    changed = home / ".config/systemd/user" / FILES[0]
    changed.write_text(changed.read_text().replace(sys.executable, "/gone/python3"))
    assert run(*ask, "--json").record["differing"] == [str(changed)]
    assert "Run `reticent daemon service install` to update it." in run(*ask).out


@pytest.mark.parametrize(("kind", "count"), [("systemd", 3), ("launchd", 1)])
def test_printing_writes_nothing(run: Run, home: Path, kind: str, count: int) -> None:
    """The text is that of the files; a property list is shown on any system."""
    found = run("daemon", "service", "install", "--print", "--json", "--manager", kind).record[
        "files"
    ]
    assert len(found) == count
    shown = run("daemon", "service", "install", "--print", "--manager", kind).out
    for each in found:
        assert each["text"] in shown
        assert sys.executable in found[0]["text"]
    assert [*home.iterdir()] == []


def test_a_manager_that_refuses_is_quoted(run: Run, manager: Path) -> None:
    """With the command that it refused, as one sentence."""
    fake = manager.with_suffix("")
    fake.write_text('#!/bin/sh\n[ "$2" = enable ] || exit 0\necho "no such unit" >&2\nexit 5\n')
    error, _ = run("daemon", "service", "install", "--manager", "systemd").refusal(code=1)
    assert error.startswith("`systemctl --user enable --now ")
    assert error.endswith("` failed: no such unit")


def test_a_folder_that_cannot_be_written_is_an_error(run: Run, home: Path) -> None:
    """Here a file stands in its place."""
    (home / ".config").write_text("a file")
    error, hint = run("daemon", "service", "install", "--manager", "systemd").refusal()
    assert str(home / ".config/systemd/user/reticent.service") in error
    assert "--print" in hint


def test_a_daemon_that_runs_by_itself_is_in_the_way(
    run: Run, home: Path, manager: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systemd would take its sockets away; nothing is written then."""
    assert not manager.exists()
    with short_folder() as folder:
        monkeypatch.setenv("RETICENT_HOME", str(folder))
        with FakeDaemon(paths().control, {}):
            error, _ = run("daemon", "service", "install", "--manager", "systemd").refusal(1)
    assert "a daemon is already running" in error
    assert units(home) == []


LONG = "x" * 120


def test_where_nobody_can_listen_no_daemon_is_in_the_way(
    run: Run, manager: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the path of a socket of one's own would be too long; systemd has another for it."""
    assert not manager.exists()
    monkeypatch.setenv("XDG_STATE_HOME", str(manager.parent / LONG))
    assert run("daemon", "service", "install", "--manager", "systemd").code == 0


def test_a_folder_in_which_no_socket_can_lie_is_refused(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is written: its units could never start."""
    monkeypatch.setenv(HOME, str(home / LONG))
    error, hint = run("daemon", "service", "install", "--manager", "systemd").refusal()
    assert "the path of the socket has" in error
    assert HOME in hint
    assert units(home) == []
