"""What doctor finds: each thing that a user can get wrong, and how to mend it."""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent.daemon import checks
from agent.daemon.checks import Machine, State
from agent.daemon.doctor import CHECKS, examine
from agent.files import create_private
from agent.model.file import shipped_model
from agent.model.file import write as write_model
from agent.paths import paths
from tests.cli.examples import cli_model
from tests.daemon.cases import NOW, alone, healthy, named, only, states
from tests.model.examples import STRANGER


@pytest.fixture
def here() -> Iterator[Machine]:
    """A machine on which everything of ours is as it should be."""
    with healthy() as found:
        yield found


def test_nothing_there_yet_is_nothing_wrong(tmp_path: Path) -> None:
    """Before `reticent init` has run; and looking makes no file."""
    home = {"RETICENT_HOME": str(tmp_path), "HOME": str(tmp_path)}
    here = Machine(paths(home), home, NOW, "systemd", sys.executable)
    assert "bad" not in states(replace(here, paths=paths({"RETICENT_HOME": "/none"}))).values()
    for name, fix in (("vault", "reticent init"), ("policy", 'preset = "balanced"')):
        assert fix in only(here, name, "warn").fix
    assert [*tmp_path.iterdir()] == []


def test_what_needs_a_fix_has_one(here: Machine) -> None:
    """And nothing else has; each is a sentence without a full stop."""
    here.paths.data.chmod(0o777)
    for each in examine(here):
        assert bool(each.fix) == (each.state != "ok")
        assert not each.what.endswith(".")
        assert not each.fix.endswith(".")


def left(here: Machine, path: Path) -> None:
    """Leave a socket behind that nobody listens at."""
    assert here.paths.runtime == path.parent
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(str(path))


def added(here: Machine, data: bytes) -> None:
    """Put a file to the models."""
    here.paths.models.mkdir(0o700)
    create_private(data, here.paths.models / "village.safetensors")


WRONG: list[tuple[Callable[[Machine], object], str, State, str]] = [
    (lambda c: c.paths.data.chmod(0o770), "folder data", "bad", "other users can write to"),
    (lambda c: c.paths.state.chmod(0o755), "folder state", "warn", "other users can look into"),
    (lambda c: c.paths.vault.chmod(0o644), "files", "bad", "other users can read"),
    (lambda c: c.paths.policy.chmod(0o666), "policy", "bad", "other users can write"),
    (lambda c: left(c, c.paths.query), "socket query", "warn", "left from an ended daemon"),
    (lambda c: c.paths.control.touch(), "socket control", "bad", "is not a socket"),
    (lambda c: c.paths.policy.unlink(), "policy", "warn", "no policy"),
    (lambda c: c.paths.policy.write_text("lambda = x"), "policy", "bad", "policy.toml:1"),
    (lambda c: c.paths.policy.write_bytes(b"\xff"), "policy", "bad", "not UTF-8"),
    (lambda c: c.paths.policy.write_bytes(b""), "policy", "bad", "sets nothing"),
    (
        lambda c: c.paths.policy.write_text('[attributes]\nregoin = "never"\n'),
        "policy",
        "warn",
        "the model has no attribute 'regoin'",
    ),
    (
        lambda c: c.paths.policy.write_text(
            '[[rule]]\nrecipient = "a.example"\nexpires = 2020-01-01\nk = 5\n'
        ),
        "policy",
        "warn",
        "expired on 2020-01-01",
    ),
    (
        lambda c: c.paths.policy.write_text('search = "https://a.example/{query}"\n'),
        "policy",
        "warn",
        "browsers cannot use this search",
    ),
    (lambda c: c.paths.policy.write_text('model = "town"\n'), "models", "bad", "'town'"),
    (lambda c: added(c, b"rubbish"), "models", "bad", "village"),
    (lambda c: c.paths.witness.touch(), "daemon", "warn", "not running"),
]


@pytest.mark.parametrize(("spoil", "name", "state", "what"), WRONG, ids=named)
def test_what_is_wrong_is_found(
    here: Machine, spoil: Callable[[Machine], object], name: str, state: State, what: str
) -> None:
    """Under its name, and nothing else becomes bad by it."""
    spoil(here)
    assert what in alone(here, name, state).what


def test_a_model_by_nobody_trusted_is_found(here: Machine) -> None:
    """As the policy has it; without keys in it, the same file is as it should be."""
    here.paths.models.mkdir(0o700)
    write_model(cli_model(), here.paths.models / "village.safetensors")
    assert states(here)["models"] == "ok"
    here.paths.policy.write_text(f'trusted_keys = ["{STRANGER}"]\n')
    assert "not signed" in only(here, "models", "bad").what


def test_a_shipped_model_that_is_damaged_comes_with_another_installation(
    here: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot be removed, as one that was added can."""
    damaged = tmp_path / shipped_model().name
    damaged.write_bytes(b"rubbish")
    monkeypatch.setattr("agent.daemon.model_registry.shipped_model", lambda: damaged)
    assert only(here, "models", "bad").fix == "install reticent again"
    monkeypatch.undo()
    added(here, b"rubbish")
    assert only(here, "models", "bad").fix == "reticent model remove village"


def test_a_folder_that_is_none_is_found(here: Machine) -> None:
    """The sockets cannot be there either."""
    here.paths.runtime.rmdir()
    here.paths.runtime.touch()
    assert "is not a folder" in only(here, "folder runtime", "bad").what
    assert "not a directory" in only(here, "socket query", "bad").what
    assert states(here)["daemon"] == "warn"


def test_a_socket_path_that_is_too_long_is_found(here: Machine) -> None:
    """With the way out."""
    far = paths({"RETICENT_HOME": "/" + "long/" * 30})
    found = only(
        replace(here, paths=replace(here.paths, runtime=far.runtime)), "socket query", "bad"
    )
    assert "RETICENT_HOME" in found.fix


def test_what_may_not_be_seen_is_found_to_be_bad(
    here: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the other checks go on."""

    def refuse(_path: Path) -> bool:
        raise PermissionError(13, "Permission denied", "x")

    monkeypatch.setattr(checks, "_files", refuse)
    assert only(here, "files", "bad").what == "x: permission denied"
    assert len(states(here)) > len(CHECKS) - 1


def test_a_foreign_folder_is_found(here: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in it is not to be trusted."""
    owner = here.paths.data.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert f"number {owner}" in next(checks.check_folders(here)).what


def test_the_time_that_a_rule_needs_is_that_of_the_user(here: Machine) -> None:
    """A rule that expires today is valid still."""
    day = NOW.date()
    rule = f'[[rule]]\nrecipient = "a.example"\nexpires = {day}\nk = 5\n'
    here.paths.policy.write_text(rule)
    assert states(here)["policy"] == "ok"
    assert states(replace(here, now=NOW + timedelta(days=1)))["policy"] == "warn"
