"""`reticent vault key`: what opens the vault, and what does so no more."""

import errno
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from shutil import copyfile

import pytest

from agent.errors import WrongSecretError
from agent.paths import paths
from agent.vault.database import Database
from agent.vault.secrets import Secret
from agent.vault.vault import unlock
from tests.cli.conftest import Ran, Run
from tests.cli.examples import PASSPHRASE, here, made, opened
from tests.vault.doubles import Memory
from tests.vault.histories import disclosed

OTHER = "another four random words"
Keyed = Callable[..., Ran]


@pytest.fixture
def code(memory: Memory, home: Path) -> str:
    """The recovery code of an empty vault."""
    assert memory.kept == {}
    return made(home)


@pytest.fixture
def key(piped: Run) -> Keyed:
    """Run `reticent vault key` with these lines as its standard input."""

    def command(*arguments: str, given: tuple[str, ...] = (PASSPHRASE,)) -> Ran:
        return piped("vault", "key", *arguments, given="".join(f"{each}\n" for each in given))

    return command


def kinds(key: Keyed) -> dict[int, str]:
    """Return what `reticent vault key list` says."""
    return {each["id"]: each["kind"] for each in key("list", "--json", given=()).record["keys"]}


def test_secrets_come_and_go(key: Keyed, code: str, memory: Memory) -> None:
    """Beside those before; what is removed from the vault is removed from the keyring."""
    assert kinds(key) == {1: "passphrase", 2: "recovery"}
    assert "MiB, 1 times" in key("list").out
    record = key("add", "passphrase", "--json", given=(PASSPHRASE, OTHER)).record
    assert record == {"id": 3, "kind": "passphrase", "recovery_code": None}
    opened(OTHER).close()
    shown = key("add", "recovery").out.splitlines()[-1].strip()
    for each in (shown, code):
        unlock(here(), Secret("recovery", each)).close()
    assert key("add", "keyring").code == 0
    assert len(memory.kept) == 1
    assert key("add", "recovery", "--keyring", given=()).code == 0
    assert key("remove", "5", "--yes").code == 0
    assert memory.kept == {}
    assert key("remove", "1", "--recovery", "--yes", given=(code,)).code == 0
    opened(OTHER).close()
    with pytest.raises(WrongSecretError):
        opened()


def test_after_a_rotation_old_secrets_open_nothing(key: Keyed, code: str) -> None:
    """But the passphrase that was given, and a new code; what it does not reach is said."""
    key("add", "passphrase", given=(PASSPHRASE, OTHER))
    kept = copyfile(paths().vault, paths().vault.with_name("vault.db.replaced-1"))
    ran = key("rotate", "--yes", "--json")
    assert f"note: {kept} keeps its old key" in ran.err
    opened().close()
    unlock(here(), Secret("recovery", ran.record["recovery_code"])).close()
    for secret in (Secret("recovery", code), Secret("passphrase", OTHER)):
        with pytest.raises(WrongSecretError):
            unlock(here(), secret)


class Full(StringIO):
    """A stream to a full disk."""

    def write(self, _text: str) -> int:
        """Fail."""
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_code_that_cannot_be_written_is_not_made(
    key: Keyed, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one before goes on to open the vault."""
    monkeypatch.setattr("sys.stdout", Full())
    ran = key("rotate", "--yes")
    assert (ran.code, "no space left" in ran.err) == (1, True)
    unlock(here(), Secret("recovery", code)).close()


@pytest.mark.usefixtures("code")
def test_what_cannot_be_changes_nothing(key: Keyed) -> None:
    """One sentence, and the same slots as before."""
    before = kinds(key)
    cases: list[tuple[str, tuple[str, ...], int, str]] = [
        ("add passphrase", ("wrong",), 1, "the passphrase is wrong"),
        ("add passphrase", (PASSPHRASE, "short"), 2, "the passphrase is too short"),
        ("add passphrase", (PASSPHRASE,), 2, "no new passphrase was given"),
        ("add paswphrase", (), 2, "paswphrase"),
        ("add recovery --keyring --recovery", (), 2, "does not go with"),
        ("add recovery --keyring", (), 1, "the keyring has no key"),
        ("remove 7 --yes", (PASSPHRASE,), 1, "there is no key slot 7"),
        ("remove 1", (PASSPHRASE,), 2, "there is no terminal"),
        ("rotate", (PASSPHRASE,), 2, "there is no terminal"),
        ("rotate --yes", ("wrong",), 1, "the passphrase is wrong"),
    ]
    for arguments, given, exit_code, said in cases:
        assert said in key(*arguments.split(), given=given).refusal(exit_code)[0]
        assert kinds(key) == before


def test_the_last_passphrase_goes_with_a_word(key: Keyed, code: str) -> None:
    """Since only the recovery code opens it then, also where somebody types a passphrase."""
    key("add", "passphrase", given=(PASSPHRASE, OTHER))
    assert "note:" not in key("remove", "3", "--yes").err
    assert "no passphrase opens the vault now" in key("remove", "1", "--yes").err
    error, hint = key("add", "recovery").refusal(1)
    assert error == "the passphrase is wrong"
    assert "--recovery" in hint
    key("add", "passphrase", "--recovery", given=(code, OTHER))
    ran = key("remove", "2", "--yes", given=(OTHER,))
    assert "no recovery code opens the vault now" in ran.err
    error, _ = key("add", "recovery", "--recovery", given=(code,)).refusal(1)
    assert error == "no key slot opens with this recovery code"


@pytest.mark.usefixtures("code")
def test_while_the_daemon_has_it_open_nothing_is_asked(piped: Run) -> None:
    """The way out is `reticent lock`."""
    with closing(Database.open(paths().vault)):
        for command in ("vault key list", "vault key add recovery", "unlock --reset-clock"):
            error, hint = piped(*command.split(), given="").refusal(1)
            assert "open in another process, so its key slots cannot be read here" in error
            assert "reticent lock" in hint


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
        assert vault.ledger.latest == ahead
    assert (
        f"{ahead.astimezone():%Y-%m-%d}"
        in piped("unlock", "--reset-clock", "--yes", given=given).out
    )
    with opened() as vault:
        assert vault.ledger.latest is not None
        assert vault.ledger.latest <= datetime.now(UTC)
        assert [record.at for _, record in vault.ledger.read()] == [ahead]
    assert "nothing to reset" in piped("unlock", "--reset-clock", "--yes", given=given).out
