"""What doctor finds of the daemon, its service, and the machine itself."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from agent import __version__
from agent.daemon import checks
from agent.daemon.agent import assemble
from agent.daemon.api import Calls
from agent.daemon.checks import Finding, Machine, State
from agent.daemon.doctor import examine
from agent.daemon.events import Bus
from agent.daemon.service import files, write
from agent.errors import DaemonError
from agent.files import create_private
from agent.vault.slots import ALTERED
from agent.vault.vault_files import MISSING, UNWRITTEN
from agent.wire.state import PolicyStatus, Status
from tests.daemon.cases import NOW, healthy, only, states
from tests.wire.fake import FakeDaemon

STATUS = Status(
    version=__version__,
    process=1,
    started_at=NOW,
    vault=True,
    locked=False,
    lock_after_minutes=15,
    policy=PolicyStatus(path="", in_use=True, rules=0, loaded_at=NOW, problems=[]),
    models=[],
    waiting=0,
    entries=0,
    notes=[],
)


@pytest.fixture
def here() -> Iterator[Machine]:
    """A machine on which everything of ours is as it should be."""
    with healthy() as found:
        yield found


@pytest.fixture
def running(here: Machine) -> Iterator[FakeDaemon]:
    """A daemon that answers at both sockets."""
    with (
        FakeDaemon(here.paths.control, {"status": lambda: STATUS}) as fake,
        FakeDaemon(here.paths.query, {}, "query"),
    ):
        here.paths.control.chmod(0o600)
        here.paths.query.chmod(0o600)
        yield fake


def test_a_machine_on_which_all_is_well(here: Machine, running: FakeDaemon) -> None:
    """Every check says so; the keyring is another's affair."""
    assert {name for name, state in states(here).items() if state != "ok"} <= {"keyring"}
    assert ("status", {}) in running.calls


@pytest.mark.parametrize(
    ("change", "state", "what"),
    [
        ({"version": "0.0.0"}, "bad", "version 0.0.0 is running"),
        ({"locked": True}, "warn", "the vault is locked"),
        ({"notes": ["an old copy"]}, "warn", "an old copy"),
    ],
)
def test_a_daemon_that_is_not_as_it_should_be(
    here: Machine, running: FakeDaemon, change: dict[str, object], state: State, what: str
) -> None:
    """Of another version, locked, or with something to say."""
    running.handlers["status"] = lambda: msgspec.structs.replace(STATUS, **change)
    assert what in only(here, "daemon", state).what


@pytest.mark.parametrize("note", [MISSING, UNWRITTEN, ALTERED, "the model m has not the value"])
def test_what_only_the_daemon_knows_has_its_own_fix(
    here: Machine, running: FakeDaemon, note: str
) -> None:
    """One that says what to do, not where to read the same again."""
    running.handlers["status"] = lambda: msgspec.structs.replace(STATUS, notes=[note])
    found = only(here, "daemon", "warn")
    assert found.what == note
    assert "reticent status" not in found.fix
    assert found.fix != "fix that and try again"


def noted(here: Machine) -> list[str]:
    """Return what a daemon notes of a broken model and a policy with a mistake, once made."""
    here.paths.models.mkdir(0o700)
    create_private(b"rubbish", here.paths.models / "village.safetensors")
    here.paths.policy.write_text("lamda = 1\n")
    return Calls(assemble(here.paths, Bus(lambda: NOW), NOW), lambda: NOW).status().notes


def test_what_another_check_finds_is_said_once(here: Machine, running: FakeDaemon) -> None:
    """The policy and the models: the daemon's notes on them would only repeat it."""
    notes = noted(here)
    begun = {note.partition(":")[0].partition(",")[0] for note in notes}
    assert begun == {"no policy is in use", "policy", "model village"}
    running.handlers["status"] = lambda: msgspec.structs.replace(STATUS, notes=notes)
    found = {each.name for each in examine(here) if each.state != "ok"}
    assert found - {"keyring"} == {"policy", "models"}


def test_a_daemon_that_fails_or_lacks_a_door(here: Machine, running: FakeDaemon) -> None:
    """Its own words, and the name of the socket."""

    def fail() -> Status:
        raise DaemonError("it broke", "mend it")

    running.handlers["status"] = fail
    assert only(here, "daemon", "bad") == Finding("daemon", "bad", "it broke", "mend it")
    running.handlers["status"] = lambda: STATUS
    here.paths.query.rename(here.paths.query.with_name("moved"))
    assert "query socket" in only(here, "daemon", "bad").what
    here.paths.query.with_name("moved").rename(here.paths.query)


def test_sockets_that_others_can_use_are_found(here: Machine, running: FakeDaemon) -> None:
    """The daemon makes them 0600."""
    assert running.door == "control"
    here.paths.control.chmod(0o666)
    assert "chmod 600" in only(here, "socket control", "bad").fix


def test_a_service_whose_python_is_gone_is_found(here: Machine, tmp_path: Path) -> None:
    """As after an update of Python, or when the environment was moved."""
    python = tmp_path / 'py "100%" thon'.replace('"', "")
    python.write_text("#!/bin/sh\n")
    python.chmod(0o700)
    write(files("systemd", str(python), here.environment))
    assert "differs from what this version would write" in only(here, "service", "warn").what
    python.unlink()
    assert str(python) in only(here, "service", "bad").what


def test_the_machine_itself(here: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock, the disk, Python, sudo, and variables that are missing or relative."""
    assert (
        "but Reticent was installed on"
        in only(replace(here, now=datetime(1999, 1, 1, tzinfo=UTC)), "clock", "bad").what
    )
    sudo = replace(here, environment={**here.environment, "SUDO_USER": "somebody"})
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "as somebody" in next(checks.check_user(sudo)).fix
    monkeypatch.undo()
    relative = replace(here, environment={"RETICENT_HOME": "here"})
    assert "absolute" in only(relative, "environment", "bad").fix
    bare = replace(here, environment={})
    assert "XDG_RUNTIME_DIR is not set" in only(bare, "environment", "warn").what
    monkeypatch.setattr(checks, "OLDEST", (9, 9))
    assert "too old" in only(here, "python", "bad").what
    for least, state in ((0, "warn"), (1 << 62, "bad")):
        monkeypatch.setattr(checks, "LITTLE", 1 << 62)
        monkeypatch.setattr(checks, "LEAST", least)
        assert next(checks.check_disk(here)).state == state


def test_the_keyring_is_never_needed(here: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra that is said, and nothing is wrong."""
    monkeypatch.setattr("agent.vault.secrets.find_spec", lambda _name: None)
    assert [each.state for each in checks.check_keyring(here)] == ["ok"]
