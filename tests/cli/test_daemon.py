"""`reticent daemon`: a whole life of one, its end, its service, and `doctor`."""

import json
import signal
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from agent.cli.daemon import ended
from agent.daemon.service import KEPT
from agent.daemon.sockets import alone
from agent.files import private_folder
from agent.paths import HOME, RUNTIME, Paths, paths
from agent.wire.base import Done
from agent.wire.client import Client
from tests.cli.conftest import Run, process
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon, short_folder

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
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_until_a_signal_ends_it(run: Run, number: signal.Signals) -> None:
    """It says first where; a second one is refused; its end is no error, and leaves no socket."""
    with process(*START) as started:
        assert started.stdout is not None
        said = "".join(islice(started.stdout, 6))
        assert json.loads(said)["control"] == str(paths().control)
        with Client(paths().control) as client:
            status = client.call("status")
        assert (status.vault, status.locked, status.process) == (False, True, started.pid)
        second = run("daemon")
        started.send_signal(number)
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


FILES = ["reticent.service", "reticent-control.socket", "reticent-query.socket"]
FAKE = """#!/bin/sh
printf '%s\\n' "$*" >>"$0.log"
"""


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without a manager of services."""
    for name in (*KEPT, RUNTIME):  # at the last of them a daemon of the person may listen
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def manager(account: Path) -> Path:
    """A manager that does what it is told, and the file in which it notes that."""
    fake = account / "systemctl"
    fake.write_text(FAKE)
    fake.chmod(0o700)
    return account / "systemctl.log"


@pytest.fixture
def service(run: Run) -> Run:
    """Run `reticent daemon service`, by default for systemd."""
    return lambda name, *options: run("daemon", "service", name, "--manager", "systemd", *options)


def units(account: Path) -> list[str]:
    """Return the names of what is installed."""
    return sorted(each.name for each in (account / ".config/systemd/user").glob("*"))


def test_without_a_manager_two_commands_are_shown(service: Run, account: Path) -> None:
    """The files are there all the same; `status` sees one that is not as it would be written."""
    assert service("status").out.startswith("The service is not installed.\n")
    assert not service("status", "--json").record["installed"]
    nothing = service("remove")
    assert (nothing.code, units(account)) == (0, [])
    assert nothing.out == "The service is not installed, so there was nothing to remove.\n"
    ran = service("install")
    assert (ran.code, ran.err) == (0, "")
    assert units(account) == sorted(FILES)
    assert ran.out.splitlines()[-2:] == [
        "  systemctl --user daemon-reload",
        "  systemctl --user enable --now reticent-control.socket reticent-query.socket",
    ]
    assert service("status", "--json").record["installed"]
    assert service("status").out.startswith("The service is installed:\n")
    changed = account / ".config/systemd/user" / FILES[0]
    changed.write_text(changed.read_text().replace(sys.executable, "/gone/python3"))
    assert service("status", "--json").record["differing"] == [str(changed)]
    assert "Run `reticent daemon service install` to update it." in service("status").out


def test_with_a_manager_they_are_run(service: Run, manager: Path) -> None:
    """In this order; a second time what runs is stopped first, so that it is started anew."""
    assert service("install").code == 0
    first = manager.read_text().splitlines()
    sockets = " ".join(FILES[1:])
    assert first == [
        "--user show-environment",
        "--user daemon-reload",
        f"--user enable --now {sockets}",
    ]
    assert "left" not in service("install").out
    again = manager.read_text().splitlines()[3:]
    assert again == [first[0], f"--user disable --now {sockets} {FILES[0]}", *first[1:]]


def test_removing_takes_away_what_was_installed(service: Run, account: Path, manager: Path) -> None:
    """It is stopped first, and forgotten last."""
    service("install")
    manager.unlink()
    removed = service("remove", "--json").record
    assert [Path(each).name for each in removed["removed"]] == FILES
    assert removed["left"] == []
    assert units(account) == []
    assert [line.split()[1] for line in manager.read_text().splitlines()] == [
        "show-environment",
        "disable",
        "daemon-reload",
    ]


@pytest.mark.parametrize(("kind", "count"), [("systemd", 3), ("launchd", 1)])
def test_printing_writes_nothing(service: Run, account: Path, kind: str, count: int) -> None:
    """The text is that of the files; a property list is shown on any system."""
    found = service("install", "--print", "--json", "--manager", kind).record["files"]
    assert len(found) == count
    shown = service("install", "--print", "--manager", kind).out
    for each in found:
        assert each["text"] in shown
        assert sys.executable in found[0]["text"]
    assert [*account.iterdir()] == []


def test_a_manager_that_refuses_is_quoted(service: Run, manager: Path) -> None:
    """With the command that it refused, as one sentence."""
    fake = manager.with_suffix("")
    fake.write_text('#!/bin/sh\n[ "$2" = enable ] || exit 0\necho "no such unit" >&2\nexit 5\n')
    error, _ = service("install").refusal(code=1)
    assert error.startswith("`systemctl --user enable --now ")
    assert error.endswith("` failed: no such unit")


def test_a_folder_that_cannot_be_written_is_an_error(service: Run, account: Path) -> None:
    """Here a file stands in its place."""
    (account / ".config").write_text("a file")
    error, hint = service("install").refusal()
    assert str(account / ".config/systemd/user/reticent.service") in error
    assert "--print" in hint


def test_a_daemon_that_runs_by_itself_is_in_the_way(
    service: Run, account: Path, manager: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systemd would take its sockets away; nothing is written then."""
    assert not manager.exists()
    with short_folder() as folder:
        monkeypatch.setenv("RETICENT_HOME", str(folder))
        with FakeDaemon(paths().control, {}):
            error, _ = service("install").refusal(1)
    assert "a daemon is already running" in error
    assert units(account) == []


LONG = "x" * 120


def test_where_nobody_can_listen_no_daemon_is_in_the_way(
    service: Run, manager: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the path of a socket of one's own would be too long; systemd has another for it."""
    assert not manager.exists()
    monkeypatch.setenv("XDG_STATE_HOME", str(manager.parent / LONG))
    assert service("install").code == 0


def test_a_folder_in_which_no_socket_can_lie_is_refused(
    service: Run, account: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is written: its units could never start."""
    monkeypatch.setenv(HOME, str(account / LONG))
    error, hint = service("install").refusal()
    assert "the path of the socket has" in error
    assert HOME in hint
    assert units(account) == []


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
    ran = run("daemon", "doctor")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    place = lines.index("note  vault: no vault yet")
    assert lines[place + 1].strip() == "reticent init"
    assert lines[-1].startswith("Nothing is wrong, ")


def test_what_is_bad_has_an_exit_code(run: Run, user: Path) -> None:
    """On the page, and in the object."""
    (user / "config").mkdir(0o700)
    (user / "config" / "policy.toml").write_text("k = 0\n\x1b = 1\n")
    page, record = run("daemon", "doctor"), run("daemon", "doctor", "--json")
    assert (page.code, record.code) == (1, 1)
    assert "BAD   policy: " in page.out
    assert "\x1b" not in page.out
    assert page.out.splitlines()[-1].startswith("1 problem")
    found = json.loads(record.out)["findings"]
    assert {"name", "state", "what", "fix"} == {*found[0]}
    assert [each["name"] for each in found if each["state"] == "bad"] == ["policy"]
