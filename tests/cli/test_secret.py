"""Core files are forbidden before a secret is read, whichever command reads it."""

import io
from pathlib import Path

import pytest

from agent.errors import VaultError
from agent.paths import paths
from tests.cli.conftest import Run
from tests.cli.daemon import LOCKED
from tests.cli.vaults import PASSPHRASE, Memory, made
from tests.wire.fake import FakeDaemon

SAID = "core files are forbidden"
ASKING = [
    ("key", "add", "passphrase"),
    ("key", "add", "recovery", "--keyring"),
    ("key", "remove", "2", "--yes"),
    ("key", "rotate", "--yes"),
    ("restore", "FILE"),
    ("restore", "FILE", "--keyring"),
    ("backup", "copy"),
]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A passphrase on the standard input; that core files are forbidden ends a command."""

    def forbidden() -> None:
        raise VaultError(SAID, "go on")

    given = io.StringIO(f"{PASSPHRASE}\n")
    monkeypatch.setattr("sys.stdin", given)
    monkeypatch.setattr("agent.cli.secret.forbid_dumps", forbidden)
    return given


@pytest.mark.parametrize("command", ASKING, ids=" ".join)
def test_where_the_vault_is_opened_here(
    run: Run, typed: io.StringIO, memory: Memory, home: Path, command: tuple[str, ...]
) -> None:
    """Also where the keyring has the secret."""
    made(home)
    arguments = [str(paths().vault) if each == "FILE" else each for each in command]
    assert run(*arguments).refusal(1)[0] == SAID
    assert (typed.tell(), memory.kept) == (0, {})


@pytest.mark.usefixtures("memory", "home")
def test_where_it_is_made(run: Run, typed: io.StringIO) -> None:
    """Nothing is there yet."""
    assert run("init", "--passphrase-stdin", "--no-values").refusal(1)[0] == SAID
    assert typed.tell() == 0
    assert not paths().vault.exists()


@pytest.mark.parametrize("options", [(), ("--recovery",), ("--keyring",)])
def test_where_it_goes_to_the_daemon(
    run: Run, typed: io.StringIO, fake: FakeDaemon, options: tuple[str, ...]
) -> None:
    """Which is told nothing then."""
    fake.handlers["status"] = lambda: LOCKED
    assert run("unlock", *options).refusal(1)[0] == SAID
    assert typed.tell() == 0
    assert "unlock" not in [name for name, _ in fake.calls]


def test_where_somebody_types(
    run: Run, typed: io.StringIO, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a terminal; before the question."""
    made(home)
    monkeypatch.setattr("agent.cli.secret.at_terminal", lambda: True)
    assert run("key", "rotate", "--yes").refusal(1)[0] == SAID
    assert typed.tell() == 0
