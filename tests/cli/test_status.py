"""`reticent status`, `lock` and `unlock`: what they say, and what they import; completion."""

import io
from time import sleep
from unittest.mock import Mock

import pytest
from click.shell_completion import BashComplete

from agent.cli.main import program
from agent.errors import LockedError
from tests.cli.conftest import Run
from tests.cli.daemon import HELD, LOCKED, REGION
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


def completed(words: list[str], begun: str) -> list[str]:
    """What a shell offers, which is all that is printed."""
    completing = BashComplete(program, {}, "reticent", "_RETICENT_COMPLETE")
    return [each.value for each in completing.get_completions(words, begun)]


def test_what_is_begun_is_completed(fake: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands, values, and names that the daemon has at once; nothing is ever said."""
    fake.handlers["attributes"] = lambda: [REGION]
    for words, begun, offered in (
        ([], "stat", ["status"]),
        (["model"], "si", ["sign"]),
        (["vault", "key", "add"], "key", ["keyring"]),
        ([], "xyzzy", []),
        (["policy", "block"], "weather", ["weather.example"]),
        (["policy", "show", "--recipient"], "weather", ["weather.example"]),
        (["requests", "forget"], "weather", ["weather.example"]),
        (["requests", "recipients"], "re", ["region"]),
        (["profile", "set", "age"], "re", ["region"]),
        (["approve"], "3", ["3"]),
        (["deny", "1"], "r", ["region"]),
        (["policy", "set"], "new_facts_per_w", ["new_facts_per_week="]),
    ):
        assert completed(words, begun) == offered, words
    for late in (lambda: [sleep(1), HELD][1:], Mock(side_effect=LockedError)):  # type: ignore[func-returns-value]
        fake.handlers["recipients"] = late
        assert completed(["policy", "block"], "") == []
    assert capsys.readouterr() == ("", "")
