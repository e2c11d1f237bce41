"""`reticent unlock` and `lock`: the secret goes to the daemon and nowhere else."""

import io

import msgspec
import pytest

from agent.errors import WrongSecretError
from agent.wire.state import Status, Unlock
from tests.cli.conftest import Run
from tests.cli.daemon import LOCKED, STATUS, changed
from tests.wire.fake import FakeDaemon, says

WORD = "correct horse"


@pytest.fixture
def locked(fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> FakeDaemon:
    """A locked daemon, and a passphrase on the standard input."""
    fake.handlers["status"] = lambda: LOCKED
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{WORD}\nmore\n"))
    return fake


@pytest.mark.parametrize(
    ("options", "method", "secret"),
    [
        ([], "passphrase", WORD),
        (["--recovery"], "recovery", WORD),
        (["--keyring"], "keyring", None),
    ],
)
def test_each_way_to_unlock(
    run: Run, locked: FakeDaemon, options: list[str], method: str, secret: str | None
) -> None:
    """The keyring has its key, and nothing is asked for."""
    ran = run("unlock", *options)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Unlocked: requests are answered.\n"
    ((_, asked),) = [call for call in locked.calls if call[0] == "unlock"]
    assert (asked["body"].method, asked["body"].secret) == (method, secret)


def test_what_the_vault_noticed_is_said(run: Run, locked: FakeDaemon) -> None:
    """Such as a witness that is gone."""
    noted = changed(STATUS, notes=["the witness is missing"])
    locked.handlers["unlock"] = says(noted)
    assert run("unlock").err == "reticent: note: the witness is missing\n"


@pytest.mark.usefixtures("fake")
def test_an_open_vault_asks_for_nothing(run: Run) -> None:
    """It says how it is, and that this says nothing of the secret."""
    ran = run("unlock")
    assert ran.out == "Unlocked: requests are answered.\n"
    assert ran.err == "reticent: note: the vault was already open; the secret was not checked\n"
    assert msgspec.convert(run("unlock", "--json").record, Status) == STATUS


def test_a_wrong_secret_is_refused_without_repeating_it(run: Run, locked: FakeDaemon) -> None:
    """In the daemon's words."""

    def refuse(body: Unlock) -> None:
        del body
        raise WrongSecretError("no key opens with this passphrase", "try it again")

    locked.handlers["unlock"] = refuse
    assert run("unlock").refusal(code=1) == ("no key opens with this passphrase", "try it again")


def test_without_a_vault_nothing_is_asked(run: Run, locked: FakeDaemon) -> None:
    """There is nothing that it could open."""
    locked.handlers["status"] = lambda: changed(LOCKED, vault=False)
    assert "reticent init" in run("unlock").refusal(code=1)[1]
    assert [name for name, _ in locked.calls] == ["status"]


@pytest.mark.usefixtures("locked")
def test_one_way_at_a_time(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no secret is an argument."""
    assert "--recovery" in run("unlock", "--keyring", "--recovery").refusal()[0]
    assert "unexpected extra argument" in run("unlock", WORD).refusal()[0]
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run("unlock").refusal()[0] == "no passphrase was given"


def test_locking_says_what_it_means(run: Run, fake: FakeDaemon) -> None:
    """With an object for programs."""
    ran = run("lock")
    assert ran.out.startswith("Locked: nothing is attached")
    assert msgspec.convert(run("lock", "--json").record, Status) == LOCKED
    assert [name for name, _ in fake.calls] == ["lock", "lock"]
