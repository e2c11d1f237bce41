"""`reticent vault purge`: asks, ends the daemon, and leaves nothing of ours."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.daemon.sockets import alone
from agent.files import private_folder
from agent.paths import paths
from agent.wire.base import Done
from tests.cli.conftest import Ran, Run
from tests.cli.vaults import Memory, made, opened
from tests.wire.fake import FakeDaemon

Answering = Callable[..., Ran]


@pytest.fixture(autouse=True)
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
    run("daemon", "service", "install")
    run("browser", "install", "chromium", "firefox")
    record = run("vault", "purge", "--yes", "--json").record
    assert memory.kept == {}
    assert [each for each in user.rglob("*") if "reticent" in each.name or each.is_file()] == []
    assert str(paths().vault) in record["removed"]
    assert sum("systemd" in each for each in record["removed"]) == 3
    assert sum(each.endswith("/reticent.relay.json") for each in record["removed"]) == 2
    assert str(paths().relay) in record["removed"]
    assert record["left"] == ["systemctl --user daemon-reload"]


def test_the_keys_of_replaced_vaults_go_as_well(run: Run, user: Path, memory: Memory) -> None:
    """And one that cannot be read is named: its key may be there still."""
    aside = paths().vault.rename(user / "aside.db")
    paths().witness.unlink()
    made(paths().vault.parent)
    aside.rename(paths().vault.with_name("vault.db.replaced-1"))
    with opened() as vault:
        vault.add_slot("keyring")
    assert len(memory.kept) == 2
    paths().vault.with_name("vault.db.replaced-2").write_bytes(b"rubbish")
    ran = run("vault", "purge", "--yes")
    assert ran.code == 0
    assert memory.kept == {}
    assert "vault.db.replaced-2 could not be read" in ran.err.replace("\n", " ")


def test_a_second_time_there_is_nothing(run: Run) -> None:
    """And that is no error."""
    assert run("vault", "purge", "--yes").code == 0
    ran = run("vault", "purge", "--yes")
    assert (ran.code, ran.out) == (0, "Nothing to remove.\n")


def test_it_lists_and_asks(answering: Answering, user: Path, memory: Memory) -> None:
    """Any other word than this one leaves all of it."""
    (paths().data / "notes.txt").touch()
    before = files(user)
    for word in ("", "y", "yes", "PURGE"):
        refused = answering(word)
        assert refused.code == 1
        assert "so nothing was done" in refused.err
    assert str(paths().vault) in refused.err
    assert "This is not reticent's, and stays:" in refused.err
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


def test_the_service_of_another_home_stays(
    run: Run, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts somebody else's daemon."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("RETICENT_HOME", str(user / "other"))
        run("daemon", "service", "install")
    assert run("vault", "purge", "--yes").code == 0
    assert len([*(user / ".config/systemd/user").iterdir()]) == 3


def test_what_browsers_were_told_by_another_home_stays(
    run: Run, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts somebody else's relay."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("RETICENT_HOME", str(user / "other"))
        run("browser", "install", "firefox")
    assert run("vault", "purge", "--yes").code == 0
    assert [each.name for each in user.rglob("*.json")] == ["reticent.relay.json"]
    assert (user / "other/data/browser-relay").exists()


def test_a_link_goes_and_what_it_leads_to_stays(run: Run, tmp_path: Path) -> None:
    """And that is said."""
    kept = tmp_path / "policy.toml"
    paths().policy.rename(kept)
    paths().policy.symlink_to(kept)
    out = run("vault", "purge", "--yes").out
    assert f"{paths().policy} to {kept}" in out
    assert kept.exists()
    assert not paths().config.exists()
