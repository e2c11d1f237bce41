"""Core files are forbidden before a secret is read, whichever command reads it."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import VaultError
from agent.paths import paths
from tests.cli.conftest import Run
from tests.cli.daemon import LOCKED
from tests.cli.vaults import PASSPHRASE, Memory, made
from tests.wire.fake import FakeDaemon

# The command in a process of its own, as a shell starts it.
START = [sys.executable, "-c", "from agent.cli.main import run; run()"]
SAID = "core files are forbidden"
ASKING = [
    ("vault", "key", "add", "passphrase"),
    ("vault", "key", "add", "recovery", "--keyring"),
    ("vault", "key", "remove", "2", "--yes"),
    ("vault", "key", "rotate", "--yes"),
    ("vault", "restore", "FILE"),
    ("vault", "restore", "FILE", "--keyring"),
    ("vault", "backup", "copy"),
]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A passphrase on the standard input; that core files are forbidden ends a command."""

    def forbidden() -> None:
        raise VaultError(SAID, "go on")

    given = io.StringIO(f"{PASSPHRASE}\n")
    monkeypatch.setattr("sys.stdin", given)
    monkeypatch.setattr("agent.cli.prompts.forbid_dumps", forbidden)
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
    monkeypatch.setattr("agent.cli.prompts.at_terminal", lambda: True)
    assert run("vault", "key", "rotate", "--yes").refusal(1)[0] == SAID
    assert typed.tell() == 0


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("strict", [True, False])
def test_what_is_no_text_is_no_secret(home: Path, strict: bool) -> None:
    """Whether the system lets such bytes into a program or not; the secret is not repeated."""
    strictly = {"PYTHONIOENCODING": "utf-8:strict" if strict else "utf-8:surrogateescape"}
    done = subprocess.run(
        [*START, "init", "--passphrase-stdin", "--no-values"],
        input=b"four random w\xf6rds here\n",
        capture_output=True,
        check=False,
        env={**os.environ, **strictly},
    )
    error = "reticent: error: the passphrase is not text in UTF-8"
    hint = "reticent: hint: type it in a terminal that uses UTF-8"
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines() == [error, hint]
    assert not any(home.iterdir())


def test_what_is_no_text_is_none_at_a_terminal_either(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system does not read it, it is the same sentence."""

    def unreadable(*_: object, **__: object) -> str:
        return b"w\xf6rds".decode()

    made(home)
    monkeypatch.setattr("agent.cli.prompts.at_terminal", lambda: True)
    monkeypatch.setattr("click.prompt", unreadable)
    assert "is not text in UTF-8" in run("vault", "key", "rotate", "--yes").refusal()[0]
