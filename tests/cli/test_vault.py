"""`reticent vault backup`, `restore` and `purge`: nothing is lost that nobody agreed to lose."""

import errno
import io
import stat
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from agent.cli import prompts
from agent.daemon.sockets import alone
from agent.files import private_folder
from agent.paths import paths
from agent.vault.database import Database
from agent.vault.secrets import Secret
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from agent.wire.base import BackupContents, Done
from agent.wire.state import Place
from tests.cli.conftest import Ran, Run
from tests.cli.daemon import ANSWERS, LOCKED
from tests.cli.examples import PASSPHRASE, here, made, opened
from tests.vault.doubles import Memory
from tests.vault.histories import disclosed
from tests.wire.fake import FakeDaemon


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
    assert f"Wrote{folder}/copy.db:thevault" in "".join(ran.out.split())
    assert "1 added model (village) and what was connected (cursor)" in ran.page
    assert run("vault", "backup", "copy.db", "--json").record == {
        "file": str(folder / "copy.db"),
        **msgspec.structs.asdict(ANSWERS["backup"]),
    }


def test_without_one_it_is_copied_with_the_passphrase(
    piped: Run, memory: Memory, home: Path, tmp_path: Path
) -> None:
    """Whole, and for its owner alone; beside a locked daemon too, which has not the vault open."""
    error, hint = piped("vault", "backup", tmp_path / "copy.db").refusal(code=1)
    assert (error, memory.kept) == ("there is no vault yet", {})
    assert "`reticent init`" in hint
    made(home)
    ran = piped("vault", "backup", tmp_path / "copy.db")
    assert (ran.code, ran.err) == (0, "")
    with FakeDaemon(paths().control, {"status": lambda: LOCKED}) as fake:
        assert piped("vault", "backup", tmp_path / "other.db").code == 0
        assert [name for name, _ in fake.calls] == ["status"]
    assert all(opens(tmp_path / f"{name}.db") for name in ("copy", "other"))


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


class Terminal(io.StringIO):
    """Somebody who types this."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def answering(run: Run, monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Run `reticent vault purge` with somebody at the terminal who types this."""

    def typed(word: str) -> Ran:
        monkeypatch.setattr("sys.stdin", Terminal(f"{word}\n"))
        return run("vault", "purge")

    return typed


def test_a_restore_offers_to_connect_what_was(
    run: Run, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the recipient that it had; what is not here, or not wanted, is listed."""
    monkeypatch.setattr(prompts, "_typed", lambda *_, **__: PASSPHRASE)
    (user / ".cursor").mkdir()
    copy = user / "copy.db"
    run("connect", "cursor", "--recipient", "openai.com")
    run("connect", "chromium")
    for answer, listed in (
        ("n", ["chromium", "cursor --recipient openai.com"]),
        ("y", ["chromium"]),
    ):
        monkeypatch.setattr("sys.stdin", Terminal(f"{answer}\n"))
        run("vault", "backup", copy)  # refused the second time: it was made
        run("disconnect", "cursor", "chromium")
        ran = run("vault", "restore", copy)
        assert "counts as known to openai.com. [y/N]" in ran.err
        assert [e.strip() for e in ran.out.splitlines() if e.startswith("  reticent")] == [
            f"reticent connect {each}" for each in listed
        ]
    assert "openai.com" in (user / ".cursor" / "mcp.json").read_text()


def _files(home: Path) -> set[str]:
    return {each.name for each in home.rglob("*") if not each.is_dir()}


def test_everything_goes(run: Run, user: Path, memory: Memory) -> None:
    """The key in the keyring as well, the service, and what browsers were told."""
    theirs = user / ".claude.json"
    theirs.write_text('{\n  "a": 1.5\n}\n')
    run("connect", "system", "chromium", "firefox", "claude-code")
    record = run("vault", "purge", "--yes", "--json").record
    assert memory.kept == {}
    stays = [each for each in user.rglob("*") if "reticent" in each.name or each.is_file()]
    assert stays == [theirs]
    assert theirs.read_text() == '{\n  "a": 1.5\n}\n'
    assert str(paths().vault) in record["removed"]
    assert sum("systemd" in each for each in record["removed"]) == 1
    assert sum(each.endswith("/reticent.relay.json") for each in record["removed"]) == 2
    assert str(paths().relay) in record["removed"]
    assert record["left"] == ["systemctl --user daemon-reload"]
    again = run("vault", "purge", "--yes")
    assert (again.code, again.out) == (0, "Nothing to remove.\n")


def test_it_lists_and_asks(
    run: Run, answering: Answering, user: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any other word than this one leaves all of it; a copy that is known is named, and stays."""
    (paths().data / "notes.txt").touch()
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSPHRASE}\n"))
    assert run("vault", "backup", user / "copy.db").code == 0
    before = _files(user)
    for word in ("", "y", "yes", "PURGE"):
        refused = answering(word)
        assert refused.code == 1
        assert "so nothing was done" in refused.err
    assert str(paths().vault) in refused.err
    assert "This is not of this installation, and stays:" in refused.err
    assert (_files(user), len(memory.kept)) == (before, 1)
    done = answering("purge")
    assert (done.code, _files(user)) == (0, {"notes.txt", "copy.db"})
    assert f"stay:\n  {user}/copy.db\n" in done.out
    assert "Other backups that you made stay where they are." in done.out


def test_what_has_the_vault_keeps_everything(
    run: Run, user: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another command, or a daemon that does not end; one that does is ended first."""
    monkeypatch.setattr("agent.cli.daemon.SECONDS", 0.0)
    before = {"vault.db", "policy.toml"}
    with opened():
        assert "open in another process" in run("vault", "purge", "--yes").refusal(1)[0]
    with alone(private_folder(paths().state) / "daemon.lock"):
        assert "a daemon is already running" in run("vault", "purge", "--yes").refusal(1)[0]
    assert _files(user) > before
    assert len(memory.kept) == 1
    with FakeDaemon(paths().control, {"shutdown": Done}) as fake:
        assert run("vault", "purge", "--yes").code == 0
        assert fake.calls == [("shutdown", {})]
        paths().runtime.mkdir()
        paths().control.touch()  # the fake's own removal
    assert _files(user) == set()


@pytest.fixture
def key(piped: Run) -> Answering:
    """Run `reticent vault key` with these lines as its standard input."""

    def command(*arguments: str, given: tuple[str, ...] = (PASSPHRASE,)) -> Ran:
        return piped("vault", "key", *arguments, given="".join(f"{each}\n" for each in given))

    return command


class Full(io.StringIO):
    """A stream to a full disk."""

    def write(self, _text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_code_that_cannot_be_written_is_not_made(
    key: Answering, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one before goes on to open the vault."""
    monkeypatch.setattr("sys.stdout", Full())
    ran = key("rotate", "--yes")
    assert (ran.code, "no space left" in ran.err) == (1, True)
    unlock(here(), Secret("recovery", code)).close()


@pytest.mark.usefixtures("code")
def test_while_the_daemon_has_it_open_no_secret_is_asked_for(piped: Run) -> None:
    """The way out is `reticent lock`; what is no vault is said before."""
    with closing(Database.open(paths().vault)):
        assert "reticent lock" in piped("vault", "restore", paths().vault, given="").refusal(1)[1]
        assert "not a vault" in piped("vault", "restore", __file__, given="").refusal(1)[0]
        for command in ("vault key list", "vault key add recovery", "unlock --reset-clock"):
            error, hint = piped(*command.split(), given="").refusal(1)
            assert "open in another process, so its key slots cannot be read here" in error
            assert "reticent lock" in hint


@pytest.mark.usefixtures("code")
def test_what_opens_it_is_listed_while_the_daemon_has_it_open(run: Run) -> None:
    """From a copy that the daemon writes, of which nothing is left."""
    closed = run("vault", "key", "list").out
    with closing(Database.open(paths().vault)) as database:

        def backup(body: Place) -> BackupContents:
            database.copy(Path(body.path))
            return BackupContents(policy=True, models=[], connected={})

        with FakeDaemon(paths().control, {"backup": backup}):
            assert run("vault", "key").out == closed
            assert [*paths().control.parent.iterdir()] == [paths().control]


@pytest.mark.usefixtures("code")
def test_a_wrong_clock_is_reset_after_the_passphrase(piped: Run) -> None:
    """Asked about unless it is agreed to; with the clock as it should be nothing is changed."""
    ahead = datetime.now(UTC) + timedelta(days=3650)
    given = f"{PASSPHRASE}\n"
    assert piped("unlock", "--reset-clock", "--yes", "--json", given=given).record["done"] is False
    with opened() as vault:
        vault.ledger.append(disclosed(ahead, "shop.example", age="1"))
    assert piped("unlock", "--reset-clock", given=given).refusal(code=2)
    assert piped("unlock", "--reset-clock", "--yes", given="wrong\n").refusal(code=1)
    with opened() as vault:
        assert vault.ledger.disclosures.latest == ahead
    assert (
        f"{ahead.astimezone():%Y-%m-%d}"
        in piped("unlock", "--reset-clock", "--yes", given=given).out
    )
    with opened() as vault:
        assert vault.ledger.disclosures.latest is not None
        assert vault.ledger.disclosures.latest <= datetime.now(UTC)
        assert [record.at for _, record in vault.ledger.read()] == [ahead]
    assert "nothing to reset" in piped("unlock", "--reset-clock", "--yes", given=given).out
