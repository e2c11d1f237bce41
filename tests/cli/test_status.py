"""`reticent status`, `lock` and `unlock`: what they say, and what they import; completion."""

import io

import pytest
from click.shell_completion import BashComplete

from agent.cli.main import program
from tests.cli.conftest import Run
from tests.cli.daemon import LOCKED
from tests.house.test_imports import imported
from tests.wire.fake import FakeDaemon

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


def test_each_way_to_unlock(run: Run, locked: FakeDaemon) -> None:
    """The keyring has its key, and nothing is asked for; the rest is in transcripts/unlock.txt."""
    for options, method, secret in (
        ((), "passphrase", WORD),
        (("--recovery",), "recovery", "more"),
        (("--keyring",), "keyring", None),
    ):
        locked.calls.clear()
        assert run("unlock", *options).page == "Unlocked: requests are answered."
        ((_, asked),) = [call for call in locked.calls if call[0] == "unlock"]
        assert (asked["body"].method, asked["body"].secret) == (method, secret)


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
