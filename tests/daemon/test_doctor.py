"""What doctor finds: each thing that a user can get wrong, and how to mend it."""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from agent import __version__
from agent.daemon.checks import kept, machine, places
from agent.daemon.checks.finding import Case, Finding, State
from agent.daemon.doctor import CHECKS, examine
from agent.daemon.installed import write
from agent.daemon.service import files
from agent.errors import DaemonError
from agent.model.file import create_private
from agent.model.file import write as write_model
from agent.paths import paths
from agent.vault.derivation import Derivation
from agent.vault.location import Location
from agent.vault.vault import create
from agent.wire.state import PolicyStatus, Status
from tests.cli.examples import cli_model
from tests.wire.fake import FakeDaemon, short_folder

NOW = datetime(2100, 1, 1, 12, tzinfo=UTC)  # after any installation
FAST = Derivation(memory_kib=64, iterations=1, lanes=1)
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
def case() -> Iterator[Case]:
    """A machine on which everything of ours is as it should be."""
    with short_folder() as folder:
        environment = {"RETICENT_HOME": str(folder / "r"), "HOME": str(folder)}
        found = Case(paths(environment), environment, NOW, "systemd", sys.executable)
        for each in (found.paths.config, found.paths.data, found.paths.state, found.paths.runtime):
            each.mkdir(0o700, parents=True)
        found.paths.policy.write_text('preset = "balanced"\n')
        vault, _ = create(Location.of(found.paths), "a passphrase", FAST)
        vault.close()
        yield found


@pytest.fixture
def running(case: Case) -> Iterator[FakeDaemon]:
    """A daemon that answers at both sockets."""
    with (
        FakeDaemon(case.paths.control, {"status": lambda: STATUS}) as fake,
        FakeDaemon(case.paths.query, {}, "query"),
    ):
        case.paths.control.chmod(0o600)
        case.paths.query.chmod(0o600)
        yield fake


def states(case: Case) -> dict[str, State]:
    """Return the worst state of each name."""
    order: tuple[State, ...] = ("ok", "warn", "bad")
    worst: dict[str, State] = {}
    for each in examine(case):
        worst[each.name] = max(each.state, worst.get(each.name, "ok"), key=order.index)
    return worst


def only(case: Case, name: str, state: State) -> Finding:
    """Return the one finding of a name and a state."""
    [found] = [each for each in examine(case) if (each.name, each.state) == (name, state)]
    assert found.fix
    return found


def test_a_machine_on_which_all_is_well(case: Case, running: FakeDaemon) -> None:
    """Every check says so; the keyring is another's affair."""
    assert {name for name, state in states(case).items() if state != "ok"} <= {"keyring"}
    assert ("status", {}) in running.calls


def test_nothing_there_yet_is_nothing_wrong(tmp_path: Path) -> None:
    """Before `reticent init` has run; and looking makes no file."""
    home = {"RETICENT_HOME": str(tmp_path), "HOME": str(tmp_path)}
    case = Case(paths(home), home, NOW, "systemd", sys.executable)
    assert "bad" not in states(replace(case, paths=paths({"RETICENT_HOME": "/none"}))).values()
    for name, fix in (("vault", "reticent init"), ("policy", 'preset = "balanced"')):
        assert fix in only(case, name, "warn").fix
    assert [*tmp_path.iterdir()] == []


def test_what_needs_a_fix_has_one(case: Case) -> None:
    """And nothing else has; each is a sentence without a full stop."""
    case.paths.data.chmod(0o777)
    for each in examine(case):
        assert bool(each.fix) == (each.state != "ok")
        assert not each.what.endswith(".")
        assert not each.fix.endswith(".")


def left(case: Case, path: Path) -> None:
    """Leave a socket behind that nobody listens at."""
    assert case.paths.runtime == path.parent
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(str(path))


def older_format(case: Case) -> None:
    """Let the vault say that it is in another format."""
    data = bytearray(case.paths.vault.read_bytes())
    data[kept.VERSION] = (9).to_bytes(4, "big")
    case.paths.vault.write_bytes(data)


def added(case: Case, data: bytes) -> None:
    """Put a file to the models."""
    case.paths.models.mkdir(0o700)
    create_private(data, case.paths.models / "village.safetensors")


WRONG: list[tuple[Callable[[Case], object], str, State, str]] = [
    (lambda c: c.paths.data.chmod(0o770), "folder data", "bad", "others can put things into"),
    (lambda c: c.paths.state.chmod(0o755), "folder state", "warn", "others can look into"),
    (lambda c: c.paths.vault.chmod(0o644), "files", "bad", "others can read"),
    (lambda c: c.paths.policy.chmod(0o666), "files", "bad", "others can change"),
    (lambda c: left(c, c.paths.query), "socket query", "warn", "a daemon that is gone"),
    (lambda c: c.paths.control.touch(), "socket control", "bad", "is no socket"),
    (lambda c: c.paths.vault.unlink(), "vault", "warn", "there is none yet"),
    (lambda c: c.paths.vault.write_bytes(b"not a vault"), "vault", "bad", "not a vault"),
    (lambda c: c.paths.vault.write_bytes(b""), "vault", "bad", "not a vault"),
    (older_format, "vault", "bad", "format 9, newer"),
    (lambda c: c.paths.witness.unlink(), "vault", "warn", "an old copy of it"),
    (lambda c: c.paths.policy.unlink(), "policy", "warn", "there is none"),
    (lambda c: c.paths.policy.write_text("lambda = x"), "policy", "bad", "policy.toml:1"),
    (lambda c: c.paths.policy.write_bytes(b"\xff"), "policy", "bad", "not UTF-8"),
    (
        lambda c: c.paths.policy.write_text('[attributes]\nregoin = "never"\n'),
        "policy",
        "warn",
        "no attribute of the model is 'regoin'",
    ),
    (
        lambda c: c.paths.policy.write_text(
            '[[rule]]\nrecipient = "a.example"\nexpires = 2020-01-01\nk = 5\n'
        ),
        "policy",
        "warn",
        "expired on 2020-01-01",
    ),
    (lambda c: c.paths.policy.write_text('model = "town"\n'), "models", "bad", "'town'"),
    (lambda c: added(c, b"rubbish"), "models", "bad", "village"),
    (lambda c: c.paths.witness.touch(), "daemon", "warn", "it does not run"),
]


@pytest.mark.parametrize(("spoil", "name", "state", "what"), WRONG, ids=lambda each: str(each)[:30])
def test_what_is_wrong_is_found(
    case: Case, spoil: Callable[[Case], object], name: str, state: State, what: str
) -> None:
    """Under its name, and nothing else becomes bad by it."""
    spoil(case)
    assert what in only(case, name, state).what
    assert {each for each, found in states(case).items() if found == "bad"} <= {name}


def test_a_model_by_nobody_trusted_is_found(case: Case) -> None:
    """As the policy has it; without keys in it, the same file is as it should be."""
    case.paths.models.mkdir(0o700)
    write_model(cli_model(), case.paths.models / "village.safetensors")
    assert states(case)["models"] == "ok"
    case.paths.policy.write_text(f'trusted_keys = ["ed25519:{"0" * 64}"]\n')
    assert "not signed" in only(case, "models", "bad").what


def test_a_folder_that_is_none_is_found(case: Case) -> None:
    """The sockets cannot be there either."""
    case.paths.runtime.rmdir()
    case.paths.runtime.touch()
    assert "is not a folder" in only(case, "folder runtime", "bad").what
    assert "not a directory" in only(case, "socket query", "bad").what
    assert states(case)["daemon"] == "warn"


def test_a_socket_path_that_is_too_long_is_found(case: Case) -> None:
    """With the way out."""
    far = paths({"RETICENT_HOME": "/" + "long/" * 30})
    found = only(
        replace(case, paths=replace(case.paths, runtime=far.runtime)), "socket query", "bad"
    )
    assert "RETICENT_HOME" in found.fix


@pytest.mark.parametrize(
    ("change", "state", "what"),
    [
        ({"version": "0.0.0"}, "bad", "version 0.0.0 runs"),
        ({"locked": True}, "warn", "the vault is locked"),
        ({"notes": ["an old copy"]}, "warn", "an old copy"),
    ],
)
def test_a_daemon_that_is_not_as_it_should_be(
    case: Case, running: FakeDaemon, change: dict[str, object], state: State, what: str
) -> None:
    """Of another version, locked, or with something to say."""
    running.handlers["status"] = lambda: msgspec.structs.replace(STATUS, **change)
    assert what in only(case, "daemon", state).what


def test_a_daemon_that_fails_or_lacks_a_door(case: Case, running: FakeDaemon) -> None:
    """Its own words, and the name of the socket."""

    def fail() -> Status:
        raise DaemonError("it broke", "mend it")

    running.handlers["status"] = fail
    assert only(case, "daemon", "bad") == Finding("daemon", "bad", "it broke", "mend it")
    running.handlers["status"] = lambda: STATUS
    case.paths.query.rename(case.paths.query.with_name("moved"))
    assert "socket for queries" in only(case, "daemon", "bad").what
    case.paths.query.with_name("moved").rename(case.paths.query)


def test_sockets_that_others_can_use_are_found(case: Case, running: FakeDaemon) -> None:
    """The daemon makes them 0600."""
    assert running.door == "control"
    case.paths.control.chmod(0o666)
    assert "chmod 600" in only(case, "socket control", "bad").fix


def test_a_service_whose_python_is_gone_is_found(case: Case, tmp_path: Path) -> None:
    """As after an update of Python, or when the environment was moved."""
    python = tmp_path / 'py "100%" thon'.replace('"', "")
    python.write_text("#!/bin/sh\n")
    python.chmod(0o700)
    write(files("systemd", str(python), case.environment))
    assert "not as this reticent would write it" in only(case, "service", "warn").what
    python.unlink()
    assert str(python) in only(case, "service", "bad").what


def test_the_machine_itself(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock, the disk, Python, sudo, and variables that are missing or relative."""
    assert (
        "before reticent was installed"
        in only(replace(case, now=datetime(1999, 1, 1, tzinfo=UTC)), "clock", "bad").what
    )
    sudo = replace(case, environment={**case.environment, "SUDO_USER": "somebody"})
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "as somebody" in next(machine.user(sudo)).fix
    monkeypatch.undo()
    relative = replace(case, environment={"RETICENT_HOME": "here"})
    assert "absolute" in only(relative, "environment", "bad").fix
    bare = replace(case, environment={})
    assert "XDG_RUNTIME_DIR is not set" in only(bare, "environment", "warn").what
    monkeypatch.setattr(machine, "OLDEST", (9, 9))
    assert "too old" in only(case, "python", "bad").what
    for least, state in ((0, "warn"), (1 << 62, "bad")):
        monkeypatch.setattr(machine, "LITTLE", 1 << 62)
        monkeypatch.setattr(machine, "LEAST", least)
        assert next(machine.disk(case)).state == state


def test_the_keyring_is_never_needed(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra that is said, and nothing is wrong."""
    monkeypatch.setattr(machine, "find_spec", lambda _name: None)
    assert [each.state for each in machine.keyring(case)] == ["ok"]


def test_what_may_not_be_seen_is_found_to_be_bad(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the other checks go on."""

    def refuse(_path: Path) -> bool:
        raise PermissionError(13, "Permission denied", "x")

    monkeypatch.setattr(places, "_files", refuse)
    assert only(case, "files", "bad").what == "x: permission denied"
    assert len(states(case)) > len(CHECKS) - 1


def test_a_foreign_folder_is_found(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in it is not to be trusted."""
    owner = case.paths.data.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert f"number {owner}" in next(places.folders(case)).what


def test_the_time_that_a_rule_needs_is_that_of_the_user(case: Case) -> None:
    """A rule that expires today is valid still."""
    day = NOW.date()
    rule = f'[[rule]]\nrecipient = "a.example"\nexpires = {day}\nk = 5\n'
    case.paths.policy.write_text(rule)
    assert states(case)["policy"] == "ok"
    assert states(replace(case, now=NOW + timedelta(days=1)))["policy"] == "warn"
