"""What doctor finds: each thing that a user can get wrong, and how to mend it."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from shutil import copyfile, copytree
from typing import Literal
from unittest.mock import Mock

import msgspec
import pytest

from agent import __version__
from agent.daemon import doctor
from agent.daemon.artifacts import Machine
from agent.daemon.doctor import CHECKS, examine
from agent.daemon.programs import installations, system_service, write
from agent.files import create_private
from agent.model.file import write as write_model
from agent.paths import paths
from agent.vault.slots import ALTERED
from agent.vault.vault import unlock
from agent.vault.vault_files import MISSING, UNWRITTEN, Location
from agent.wire.state import Finding, PolicyStatus
from tests.cli.examples import cli_model
from tests.model.examples import STRANGER
from tests.vault.histories import disclosed
from tests.vault.worlds import FAST, PASSPHRASE, TYPED, altered, create
from tests.wire.fake import FakeDaemon, short_folder
from tests.worlds.messages import OPEN

pytestmark = pytest.mark.usefixtures("read_once")

State = Literal["ok", "warn", "bad"]
NOW = datetime(2100, 1, 1, 12, tzinfo=UTC)  # after any installation
POLICY = PolicyStatus(path="", in_use=True, rules=0, loaded_at=NOW, problems=[])
STATUS = msgspec.structs.replace(OPEN, version=__version__, started_at=NOW, policy=POLICY)
Spoil = Callable[[Machine], object]


def machine_in(folder: Path, reticent: str = "r") -> Machine:
    environment = {"RETICENT_HOME": str(folder / reticent), "HOME": str(folder)}
    return Machine(paths(environment), environment, NOW, sys.executable)


@pytest.fixture(scope="module")
def whole() -> Iterator[Path]:
    """A home in which everything of ours is as it should be."""
    with short_folder() as folder:
        found = machine_in(folder)
        for each in (found.paths.config, found.paths.data, found.paths.state, found.paths.runtime):
            each.mkdir(0o700, parents=True)
        found.paths.policy.write_text('preset = "balanced"\n')
        create(Location.of(found.paths), PASSPHRASE, FAST)[0].close()
        with unlock(Location.of(found.paths), TYPED) as vault:
            for number in range(3):
                vault.ledger.append(disclosed(NOW, f"{number}.example", region="uk"))
            vault.items.put("other/n", bytes(5000))
        yield folder


@contextmanager
def healthy(whole: Path) -> Iterator[Machine]:
    """A machine with a copy of such a home, and no browser."""
    with short_folder() as folder, pytest.MonkeyPatch.context() as patch:
        found = machine_in(Path(copytree(whole, folder / "home")))
        patch.setattr("agent.daemon.programs.SYSTEM_WIDE", found.paths.data)
        yield found


@pytest.fixture
def here(whole: Path) -> Iterator[Machine]:
    """A machine on which everything of ours is as it should be."""
    with healthy(whole) as found:
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


def found(here: Machine, name: str) -> list[Finding]:
    return [each for each in examine(here) if each.name == name]


def only(here: Machine, name: str, state: State) -> Finding:
    """Return the one finding of a name and a state; nothing else of the name is worse."""
    [one] = [each for each in found(here, name) if each.state == state]
    assert one.fix
    return one


def states(here: Machine) -> dict[str, State]:
    order: tuple[State, ...] = ("ok", "warn", "bad")
    worst: dict[str, State] = {}
    for each in examine(here):
        worst[each.name] = max(each.state, worst.get(each.name, "ok"), key=order.index)
    return worst


def policy(text: str) -> Spoil:
    return lambda here: here.paths.policy.write_text(text)


def added(here: Machine) -> None:
    """Put a file to the models that is none."""
    here.paths.models.mkdir(0o700)
    create_private(b"rubbish", here.paths.models / "village.safetensors")


def by_a_stranger(here: Machine) -> None:
    """Add a model that is not signed, and trust a key."""
    here.paths.models.mkdir(0o700)
    write_model(cli_model(), here.paths.models / "village.safetensors")
    here.paths.policy.write_text(f'trusted_keys = ["{STRANGER}"]\n')


def altering(statement: str) -> Spoil:
    return lambda here: altered(Location.of(here.paths), f"UPDATE {statement}")


def vanished(here: Machine) -> None:
    """Take the vault away, with all that tells of it but a replaced one."""
    here.paths.vault.rename(here.paths.vault.with_name("vault.db.replaced-1"))
    here.paths.witness.unlink()


def beside(name: str) -> Spoil:
    return lambda here: copyfile(here.paths.vault, here.paths.vault.with_name(name)).chmod(0o600)


def connected(name: str, spoil: Callable[[Machine, Path], object]) -> Spoil:
    """Return a way to connect a program, and then to spoil that; the path: of its own file."""

    def connect(here: Machine) -> None:
        [one] = [each for each in installations(here) if each.name == name]
        write([one])
        spoil(here, one.artifact.path)

    return connect


def edited(old: str, new: str) -> Callable[[Machine, Path], object]:
    return lambda _, path: path.write_text(path.read_text().replace(old, new))


NAME = "browsers"
PINENTRY = '[daemon]\nprompt = "pinentry"\n'
FOREIGN = "move it away, then reticent connect"
WRONG: list[tuple[Spoil, str, State, str]] = [
    (lambda c: c.paths.data.chmod(0o770), "folder data", "bad", "other users can write to"),
    (lambda c: c.paths.state.chmod(0o755), "folder state", "warn", "other users can look into"),
    (lambda c: c.paths.policy.chmod(0o666), "policy", "bad", "other users can write"),
    (lambda c: c.paths.policy.unlink(), "policy", "warn", "no policy"),
    (policy("anonymity_price = x"), "policy", "bad", "policy.toml:1"),
    (lambda c: c.paths.policy.write_bytes(b"\xff"), "policy", "bad", "not UTF-8"),
    (policy(""), "policy", "bad", "sets nothing"),
    (policy('[attributes]\nxyzzy = "never"\n'), "policy", "bad", "no model has a fact 'xyzzy'"),
    (policy(f'{PINENTRY}pinentry = "/none"\n'), "dialogs", "bad", "no such file"),
    (policy('population = "town"\n'), "models", "bad", "'town'"),
    (added, "models", "bad", "village"),
    (by_a_stranger, "models", "bad", "not signed"),
    (lambda c: (c.home / "snap/firefox").mkdir(parents=True), NAME, "warn", "Firefox is a snap"),
    (lambda c: write(system_service(replace(c, interpreter="/x"))), "service", "warn", "differs"),
    (connected("firefox", edited("@local", "@other")), NAME, "warn", "write: reticent connect"),
    (connected("firefox", edited("Reticent", "")), NAME, "warn", f"{FOREIGN} firefox"),
    (connected("firefox", lambda c, _: c.paths.relay.write_text("x")), NAME, "warn", FOREIGN),
    (connected("firefox", lambda c, _: c.paths.relay.unlink()), NAME, "bad", "connect browsers"),
    (connected("cursor", edited('"-P",', "")), "assistants", "warn", "write: reticent connect cur"),
    (connected("cursor", edited("{", "// {")), "assistants", "warn", "cannot be read: move"),
    (lambda c: c.paths.witness.touch(), "daemon", "warn", "not running"),
    (lambda c: c.paths.vault.unlink(), "vault", "bad", "a vault was here (3 entries)"),
    (vanished, "vault", "bad", "a vault was here"),
    (lambda c: c.paths.vault.write_bytes(b"x"), "vault", "bad", "not a vault"),
    (altering("slot SET digest = zeroblob(32) WHERE id = 2"), "vault", "bad", "slot 2 is damaged"),
    (altering("slot SET body = x'7b7d'"), "vault", "bad", "no passphrase or recovery code"),
    (beside("vault.db.replaced-3"), "vault", "warn", "vault.db.replaced-3 is an older copy"),
    (beside(".vault.db.0a1b2c3d.part"), "vault", "warn", "is an older copy"),
]


def test_what_is_wrong_is_found(whole: Path) -> None:
    """Under its name, and nothing else becomes bad by it."""
    missed = []
    for spoil, name, state, what in WRONG:
        with healthy(whole) as here:
            spoil(here)
            findings = examine(here)
        assert all(bool(each.fix) == (each.state != "ok") for each in findings)
        assert not any(text.endswith(".") for each in findings for text in (each.what, each.fix))
        own = [each for each in findings if (each.name, each.state) == (name, state)][:1]
        bad = {each.name for each in findings if each.state == "bad"} - {name}
        if bad or len(own) != 1 or what not in f"{own[0].what}: {own[0].fix}":
            missed.append((what, bad, own))
    assert missed == []


def test_nothing_there_yet_is_nothing_wrong(tmp_path: Path) -> None:
    """Before `reticent init` has run; and looking makes no file."""
    here = machine_in(tmp_path, "")
    assert "bad" not in states(replace(here, paths=paths({"RETICENT_HOME": "/none"}))).values()
    for name, fix in (("vault", "reticent init"), ("policy", 'preset = "balanced"')):
        assert fix in only(here, name, "warn").fix
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_is_none_is_found(here: Machine) -> None:
    """Nor can sockets be at a path that is too long."""
    far = paths({"RETICENT_HOME": "/" + "long/" * 30})
    long = replace(here, paths=replace(here.paths, runtime=far.runtime))
    assert "RETICENT_HOME" in only(long, "daemon", "bad").fix
    here.paths.runtime.rmdir()
    here.paths.runtime.touch()
    assert "is not a folder" in only(here, "folder runtime", "bad").what
    assert states(here)["daemon"] == "warn"


def test_what_may_not_be_seen_is_found_to_be_bad(
    here: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the other checks go on; what lies in a foreign folder is not to be trusted."""
    with monkeypatch.context() as full:
        full.setattr(doctor, "LEAST_FREE", 1 << 80)
        assert "is full" in only(here, "vault", "bad").what
    refusal = PermissionError(13, "Permission denied", "x")
    monkeypatch.setattr(doctor, "left_unfinished", Mock(side_effect=refusal))
    assert only(here, "vault", "bad").what == "x: permission denied"
    assert len(states(here)) > len(CHECKS) - 1
    owner = here.paths.data.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert f"id {owner}" in next(doctor.check_folders(here)).what


def test_a_machine_on_which_all_is_well(here: Machine, running: FakeDaemon) -> None:
    """Every check says so; a vault that is open was verified then."""
    with unlock(Location.of(here.paths), TYPED):
        assert {name for name, state in states(here).items() if state != "ok"} == set()
    assert ("status", {}) in running.calls


def test_a_daemon_that_is_not_as_it_should_be(here: Machine, running: FakeDaemon) -> None:
    """What only it knows has its own fix, which says what to do, not where to read the same."""
    changes: list[tuple[dict[str, object], State, str]] = [
        ({"version": "0.0.0"}, "bad", "version 0.0.0 is running"),
        ({"locked": True}, "warn", "the vault is locked"),
        ({"notes": ["an old copy"]}, "warn", "an old copy"),
        ({"notes": [MISSING]}, "warn", MISSING),
        ({"notes": [UNWRITTEN]}, "warn", UNWRITTEN),
        ({"notes": [ALTERED]}, "warn", ALTERED),
    ]
    for change, state, what in changes:
        status = msgspec.structs.replace(STATUS, **change)
        running.handlers["status"] = lambda status=status: status
        finding = only(here, "daemon", state)
        assert what in finding.what
        assert "reticent status" not in finding.fix
        assert (finding.fix == "fix that and try again") == (what == "an old copy")


def test_the_machine_itself(here: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run through sudo, and variables missing or relative."""
    sudo = replace(here, environment={**here.environment, "SUDO_USER": "somebody"})
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "as somebody" in [*doctor.check_environment(sudo)][1].fix
    monkeypatch.undo()
    relative = replace(here, environment={"RETICENT_HOME": "here"})
    assert "absolute" in only(relative, "environment", "bad").fix
    bare = replace(here, environment={})
    assert "XDG_RUNTIME_DIR is not set" in only(bare, "environment", "warn").what


def test_what_is_connected_is_named(here: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """None need be; a socket of which the path is too long, or a missing extra, is in the way."""
    for name in (NAME, "assistants"):
        [none] = found(here, name)
        assert "reticent connect" in none.what
    for name in ("firefox", "cursor"):
        connected(name, lambda _here, _path: None)(here)
    names = [each.what for kind in (NAME, "assistants") for each in found(here, kind)]
    assert names == ["Firefox is connected", "Cursor is connected for cursor.com"]
    monkeypatch.setattr("agent.daemon.doctor.find_spec", lambda _: None)
    assert "mcp>=" in only(here, "assistants", "bad").fix
    far = paths({"RETICENT_HOME": "/" + "long/" * 30})
    long = replace(here, paths=replace(here.paths, runtime=far.runtime))
    assert "the path of the socket" in only(long, NAME, "warn").what
