"""`reticent vault backup`, `restore` and `purge`: nothing is lost that nobody agreed to lose."""

import io
import os
import stat
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from agent.daemon.sockets import alone
from agent.files import private_folder
from agent.paths import paths
from agent.vault.database import Database
from agent.vault.secrets import Secret
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from agent.wire.base import Done
from agent.wire.state import Place
from tests.cli.conftest import Ran, Run
from tests.cli.daemon import LOCKED
from tests.cli.vaults import PASSPHRASE, made, opened
from tests.vault.doubles import Memory
from tests.vault.histories import record_at
from tests.wire.fake import FakeDaemon


@pytest.fixture
def code(memory: Memory, home: Path) -> str:
    """The recovery code of a vault that nobody has open."""
    assert memory.kept == {}
    return made(home)


def opens(file: Path) -> bool:
    """Return whether a backup is a whole vault that the passphrase opens."""
    at = Location(file, file.with_suffix(".witness"))
    unlock(at, Secret("passphrase", PASSPHRASE)).close()
    return stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_open_vault_is_copied_by_the_daemon(run: Run, fake: FakeDaemon, folder: Path) -> None:
    """By its absolute path; nothing is asked."""
    ran = run("vault", "backup", "copy.db")
    assert (ran.code, ran.err) == (0, "")
    assert fake.calls[-1] == ("backup", {"body": Place(path=str(folder / "copy.db"))})
    assert f"Wrote{folder}/copy.db." in "".join(ran.out.split())
    assert run("vault", "backup", "copy.db", "--json").record == {"file": str(folder / "copy.db")}


@pytest.mark.usefixtures("code")
def test_without_a_daemon_it_is_copied_with_the_passphrase(piped: Run, tmp_path: Path) -> None:
    """Whole, and for its owner alone."""
    ran = piped("vault", "backup", tmp_path / "copy.db")
    assert (ran.code, ran.err) == (0, "")
    assert opens(tmp_path / "copy.db")


@pytest.mark.usefixtures("code")
def test_beside_a_locked_daemon_it_is_too(piped: Run, fake: FakeDaemon, tmp_path: Path) -> None:
    """Which has not the vault open."""
    fake.handlers["status"] = lambda: LOCKED
    assert piped("vault", "backup", tmp_path / "copy.db").code == 0
    assert [name for name, _ in fake.calls] == ["status"]
    assert opens(tmp_path / "copy.db")


def test_what_cannot_be_copied_is_said(piped: Run, code: str, tmp_path: Path) -> None:
    """And nothing is written over; the recovery code will do as well."""
    file, nowhere = tmp_path / "copy.db", tmp_path / "nope"
    refused = piped("vault", "backup", file, given="wrong\n").refusal(code=1)
    assert "passphrase" in " ".join(refused)
    assert not file.exists()
    assert piped("vault", "backup", file, "--recovery", given=f"{code}\n").code == 0
    assert piped("vault", "backup", file).refusal()[0] == f"{file}: the file already exists"
    lost = piped("vault", "backup", nowhere / "b.db").refusal()
    assert lost == (f"{nowhere}: no such folder", "make it first")
    assert "--recovery" in piped("vault", "backup", "x", "--keyring", "--recovery").refusal()[0]
    assert piped("vault", "backup").refusal()[0] == "missing argument 'FILE'"


@pytest.mark.usefixtures("home")
def test_without_a_vault_no_secret_is_asked_for(run: Run, tmp_path: Path) -> None:
    """There is nothing to copy."""
    error, hint = run("vault", "backup", tmp_path / "copy.db").refusal(code=1)
    assert error == "there is no vault yet"
    assert "`reticent init`" in hint


Restored = Callable[..., Ran]


@pytest.fixture
def saved(memory: Memory, home: Path, tmp_path: Path) -> Path:
    """A backup of a vault that has changed since."""
    assert memory.kept == {}
    made(home)
    file = tmp_path / "saved.db"
    with opened() as vault:
        vault.items.put("other/n", b"1")
        vault.backup(file)
        vault.items.put("other/n", b"2")
    return file


@pytest.fixture
def restore(piped: Run) -> Restored:
    """Run `reticent vault restore` with a line as its standard input."""
    return partial(piped, "vault", "restore")


def number() -> bytes | None:
    """Return what the vault holds now."""
    with opened() as vault:
        return vault.items.get("other/n")


def test_a_backup_takes_the_place_of_the_vault(restore: Restored, saved: Path) -> None:
    """The witness goes with it, and what was there is kept beside."""
    record = restore(saved, "--json").record
    assert number() == b"1"
    kept = Path(record["kept"])
    assert kept.parent == paths().vault.parent
    assert restore(kept).code == 0
    assert number() == b"2"


def test_where_nothing_is_nothing_is_kept(restore: Restored, saved: Path) -> None:
    """As on a new machine."""
    for path in (paths().vault, paths().witness):
        path.unlink()
    assert restore(saved, "--json").record["kept"] is None
    assert number() == b"1"


def test_a_damaged_vault_is_replaced(restore: Restored, saved: Path) -> None:
    """That is what backups are for."""
    paths().vault.write_bytes(b"rubbish")
    assert restore(saved).code == 0
    assert number() == b"1"


@pytest.mark.parametrize(
    ("spoil", "given", "refusal"),
    [
        (lambda file: file.unlink(), "", (2, "no such file")),
        (lambda file: (file.unlink(), file.mkdir()), "", (2, "saved.db: not a file")),
        (lambda file: file.write_bytes(b"rubbish"), "", (1, "saved.db: not a vault, or one")),
        (lambda file: os.truncate(file, file.stat().st_size - 4096), "", (1, "damaged")),
        (lambda file: file.touch(), "wrong\n", (1, "the passphrase is wrong")),
        (lambda file: file.touch(), "", (2, "no passphrase was given")),
    ],
)
def test_what_is_no_backup_replaces_nothing(
    restore: Restored,
    saved: Path,
    spoil: Callable[[Path], None],
    given: str,
    refusal: tuple[int, str],
) -> None:
    """One sentence; the vault is as it was, and nothing lies beside it."""
    spoil(saved)
    before = paths().vault.read_bytes()
    code, said = refusal
    assert said in restore(saved, given=given).refusal(code)[0]
    assert paths().vault.read_bytes() == before
    assert [each.name for each in paths().data.iterdir()] == ["vault.db"]


def test_while_the_daemon_has_it_open_nothing_is_asked(restore: Restored, saved: Path) -> None:
    """The way out is `reticent lock`; what is no vault is said before."""
    with closing(Database.open(paths().vault)):
        assert "reticent lock" in restore(saved, given="").refusal(1)[1]
        assert "not a vault" in restore(Path(__file__), given="").refusal(1)[0]


def test_what_is_lost_by_it_is_said(restore: Restored, saved: Path) -> None:
    """The recipients know what the ledger knows no more."""
    out = restore(saved).out
    assert "the recipients do" in " ".join(out.split())
    assert "vault.db.replaced-1" in out


@pytest.mark.parametrize("later", [False, True])
def test_what_was_set_aside_is_not_taken_for_everything(
    restore: Restored, saved: Path, *, later: bool
) -> None:
    """The warning is left out only where it has as many entries as the vault it replaces."""
    with opened() as vault:
        if later:
            vault.ledger.append(record_at(1))
    ran = restore(saved.rename(paths().vault.with_name("vault.db.set-aside-1")))
    assert (ran.code, "Its ledger lacks" in " ".join(ran.out.split())) == (0, later)


Answering = Callable[..., Ran]


@pytest.fixture
def user(memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with a vault, a policy and a key in the keyring, without a manager of services."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(home))
    made(home)
    with opened() as vault:
        vault.add_slot("keyring")
    private_folder(paths().config)
    paths().policy.write_text('preset = "balanced"\n')
    assert len(memory.kept) == 1
    return home


@pytest.fixture
def answering(run: Run, monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Run `reticent vault purge` with somebody at the terminal who types this."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def typed(word: str) -> Ran:
        monkeypatch.setattr("sys.stdin", Terminal(f"{word}\n"))
        return run("vault", "purge")

    return typed


def files(home: Path) -> set[str]:
    """Return the names of all that there is."""
    return {each.name for each in home.rglob("*") if not each.is_dir()}


def test_everything_goes(run: Run, user: Path, memory: Memory) -> None:
    """The key in the keyring as well, the service, and what browsers were told."""
    theirs = user / ".claude.json"
    theirs.write_text('{\n  "a": 1.5\n}\n')
    run("connect", "system", "chromium", "firefox", "claude-code")
    record = run("vault", "purge", "--yes", "--json").record
    assert memory.kept == {}
    assert [each for each in user.rglob("*") if "reticent" in each.name or each.is_file()] == [
        theirs
    ]
    assert theirs.read_text() == '{\n  "a": 1.5\n}\n'
    assert str(paths().vault) in record["removed"]
    assert sum("systemd" in each for each in record["removed"]) == 3
    assert sum(each.endswith("/reticent.relay.json") for each in record["removed"]) == 2
    assert str(paths().relay) in record["removed"]
    assert record["left"] == ["systemctl --user daemon-reload"]
    again = run("vault", "purge", "--yes")
    assert (again.code, again.out) == (0, "Nothing to remove.\n")


@pytest.mark.usefixtures("user")
def test_a_replaced_vault_that_cannot_be_read_is_named(run: Run, memory: Memory) -> None:
    """Its key may be in the keyring still."""
    paths().vault.with_name("vault.db.replaced-2").write_bytes(b"rubbish")
    ran = run("vault", "purge", "--yes")
    assert ran.code == 0
    assert memory.kept == {}
    assert "vault.db.replaced-2 could not be read" in ran.err.replace("\n", " ")


def test_it_lists_and_asks(answering: Answering, user: Path, memory: Memory) -> None:
    """Any other word than this one leaves all of it."""
    (paths().data / "notes.txt").touch()
    before = files(user)
    for word in ("", "y", "yes", "PURGE"):
        refused = answering(word)
        assert refused.code == 1
        assert "so nothing was done" in refused.err
    assert str(paths().vault) in refused.err
    assert "This is not of this installation, and stays:" in refused.err
    assert (files(user), len(memory.kept)) == (before, 1)
    done = answering("purge")
    assert (done.code, files(user)) == (0, {"notes.txt"})
    assert "Backups that you made elsewhere stay where they are." in done.out


def test_nobody_is_there_to_answer(run: Run, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing goes without --yes."""
    before = files(user)
    monkeypatch.setattr("sys.stdin", io.StringIO("purge\n"))
    assert "--yes" in run("vault", "purge").refusal()[1]
    assert files(user) == before


def test_the_daemon_is_ended_first(run: Run, user: Path) -> None:
    """Through its socket."""
    with FakeDaemon(paths().control, {"shutdown": Done}) as fake:
        assert run("vault", "purge", "--yes").code == 0
        assert fake.calls == [("shutdown", {})]
        paths().runtime.mkdir()
        paths().control.touch()  # the fake's own removal
    assert files(user) == set()


def test_a_daemon_that_does_not_end_keeps_everything(
    run: Run, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could write still."""
    monkeypatch.setattr("agent.cli.daemon.SECONDS", 0.0)
    with alone(private_folder(paths().state) / "daemon.lock"):
        before = files(user)
        assert "a daemon is already running" in run("vault", "purge", "--yes").refusal(1)[0]
        assert files(user) == before


def test_a_vault_that_is_open_keeps_everything(run: Run, user: Path, memory: Memory) -> None:
    """By another command, say."""
    with opened():
        assert "open in another process" in run("vault", "purge", "--yes").refusal(1)[0]
    assert "vault.db" in files(user)
    assert len(memory.kept) == 1


def test_the_service_and_the_manifests_of_another_home_stay(
    run: Run, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They start somebody else's daemon, and relay."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("RETICENT_HOME", str(user / "other"))
        run("connect", "firefox", "system", "cursor")
    purged = run("vault", "purge", "--yes", "--json").record
    assert {Path(each).name for each in purged["stays"]} >= {"reticent.service", "mcp.json"}
    assert len([*(user / ".config/systemd/user").iterdir()]) == 3
    assert [each.name for each in user.rglob("reticent.*.json")] == ["reticent.relay.json"]
    assert (user / "other/data/browser-relay").exists()


@pytest.mark.usefixtures("user")
def test_a_link_goes_and_what_it_leads_to_stays(run: Run, tmp_path: Path) -> None:
    """And that is said."""
    kept = tmp_path / "policy.toml"
    paths().policy.rename(kept)
    paths().policy.symlink_to(kept)
    out = run("vault", "purge", "--yes").out
    assert f"{paths().policy} to {kept}" in out
    assert kept.exists()
    assert not paths().config.exists()
