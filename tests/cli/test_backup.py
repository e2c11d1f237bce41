"""`reticent vault backup`: by the daemon that has the vault open, else by itself."""

import io
import stat
from pathlib import Path

import pytest

from agent.paths import paths
from agent.vault.seal import Derivation
from agent.vault.secrets import Secret
from agent.vault.vault import create, unlock
from agent.vault.vault_files import Location
from agent.wire.state import Place
from tests.cli.conftest import Run
from tests.cli.daemon import LOCKED
from tests.wire.fake import FakeDaemon

WORD = "correct horse"
WEAK = Derivation(memory_kib=32, iterations=1, lanes=4)


@pytest.fixture
def code(home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A vault that nobody has open, its recovery code, and its passphrase at the input."""
    assert home.is_dir()
    vault, code = create(Location.of(paths()), WORD, WEAK)
    vault.close()
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{WORD}\n"))
    return code


def opens(file: Path) -> bool:
    """Return whether a backup is a whole vault that the passphrase opens."""
    at = Location(file, file.with_suffix(".witness"))
    unlock(at, Secret("passphrase", WORD)).close()
    return stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_open_vault_is_copied_by_the_daemon(run: Run, fake: FakeDaemon, folder: Path) -> None:
    """By its absolute path; nothing is asked."""
    ran = run("vault", "backup", "copy.db")
    assert (ran.code, ran.err) == (0, "")
    assert fake.calls[-1] == ("backup", {"body": Place(path=str(folder / "copy.db"))})
    assert f"Wrote{folder}/copy.db." in "".join(ran.out.split())
    assert run("vault", "backup", "copy.db", "--json").record == {"file": str(folder / "copy.db")}


@pytest.mark.usefixtures("code")
def test_without_a_daemon_it_is_copied_with_the_passphrase(run: Run, tmp_path: Path) -> None:
    """Whole, and for its owner alone."""
    file = tmp_path / "b" / "copy.db"
    file.parent.mkdir(mode=0o700)
    ran = run("vault", "backup", file)
    assert (ran.code, ran.err) == (0, "")
    assert opens(file)


@pytest.mark.usefixtures("code")
def test_beside_a_locked_daemon_it_is_too(run: Run, fake: FakeDaemon, tmp_path: Path) -> None:
    """Which has not the vault open."""
    fake.handlers["status"] = lambda: LOCKED
    file = tmp_path / "b" / "copy.db"
    file.parent.mkdir(mode=0o700)
    assert run("vault", "backup", file).code == 0
    assert [name for name, _ in fake.calls] == ["status"]
    assert opens(file)


def test_the_recovery_code_will_do(
    run: Run, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As everywhere."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{code}\n"))
    assert run("vault", "backup", tmp_path / "copy.db", "--recovery").code == 0


@pytest.mark.usefixtures("code")
def test_what_cannot_be_copied_is_said(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing is written over."""
    file = tmp_path / "copy.db"
    monkeypatch.setattr("sys.stdin", io.StringIO("wrong\n"))
    assert "passphrase" in " ".join(run("vault", "backup", file).refusal(code=1))
    assert not file.exists()
    file.write_text("mine")
    assert run("vault", "backup", file).refusal()[0] == f"{file}: the file already exists"
    assert file.read_text() == "mine"
    nowhere = tmp_path / "nope"
    assert run("vault", "backup", nowhere / "b.db").refusal() == (
        f"{nowhere}: no such folder",
        "make it first",
    )
    assert "--recovery" in run("vault", "backup", "x", "--keyring", "--recovery").refusal()[0]
    assert run("vault", "backup").refusal()[0] == "missing argument 'FILE'"


@pytest.mark.usefixtures("home")
def test_without_a_vault_no_secret_is_asked_for(run: Run, tmp_path: Path) -> None:
    """There is nothing to copy."""
    error, hint = run("vault", "backup", tmp_path / "copy.db").refusal(code=1)
    assert error == "there is no vault yet"
    assert "`reticent init`" in hint
