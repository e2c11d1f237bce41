"""`reticent status`, `lock` and `unlock`: what they say, and what they import; completion."""

import io

import pytest
from click.shell_completion import BashComplete

from agent.cli.main import program
from tests.cli.conftest import Run
from tests.cli.daemon import LOCKED, STATUS, changed
from tests.house.test_imports import imported
from tests.wire.fake import FakeDaemon, says

HEAVY = {"numpy", "aiohttp", "asyncio", "cryptography", "safetensors", "tomlkit", "textual"}
WORD = "correct horse"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "command", [("status",), ("requests", "list", "--waiting"), ("lock",), ("requests", "list")]
)
def test_what_is_run_often_imports_no_more_than_it_needs(command: tuple[str, ...]) -> None:
    """No mathematics, no server, no cryptography: it is there in a tenth of a second."""
    printed, modules = imported("command", *command)
    assert "exit 4" in printed
    assert "agent.wire.client" in modules
    assert modules.isdisjoint(HEAVY)


@pytest.fixture
def locked(fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> FakeDaemon:
    """A locked daemon, and a passphrase on the standard input."""
    fake.handlers["status"] = lambda: LOCKED
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{WORD}\nmore\n"))
    return fake


def test_each_way_to_unlock(run: Run, locked: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keyring has its key, and nothing is asked for; what the vault noticed is said."""
    for options, method, secret in (
        ((), "passphrase", WORD),
        (("--recovery",), "recovery", "more"),
        (("--keyring",), "keyring", None),
    ):
        locked.calls.clear()
        assert run("unlock", *options).page == "Unlocked: requests are answered."
        ((_, asked),) = [call for call in locked.calls if call[0] == "unlock"]
        assert (asked["body"].method, asked["body"].secret) == (method, secret)
    assert "--recovery" in run("unlock", "--keyring", "--recovery").refusal()[0]
    assert "unexpected extra argument" in run("unlock", WORD).refusal()[0]
    locked.handlers["unlock"] = says(changed(STATUS, notes=["the witness is missing"]))
    assert run("unlock", "--keyring").err == "reticent: note: the witness is missing\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run("unlock").refusal()[0] == "no passphrase was given"
    locked.handlers["status"] = lambda: STATUS
    noted = run("unlock").err
    assert noted == "reticent: note: the vault was already open; the secret was not checked\n"
    locked.handlers["status"] = lambda: changed(LOCKED, vault=False)
    assert "reticent init" in run("unlock").refusal(code=1)[1]


def test_what_is_begun_is_completed() -> None:
    """Commands and values; after a mistake nothing is offered, and nothing is said."""
    for words, begun, offered in (
        ([], "stat", ["status"]),
        (["model"], "si", ["sign"]),
        (["vault", "key", "add"], "key", ["keyring"]),
        ([], "xyzzy", []),
    ):
        completing = BashComplete(program, {}, "reticent", "_RETICENT_COMPLETE")
        assert [each.value for each in completing.get_completions(words, begun)] == offered
