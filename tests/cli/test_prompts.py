"""Secrets and agreement: how they are asked for, how strong one is, and no core file before one."""

import io
import os
import subprocess
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli import prompts
from agent.cli.prompts import ENOUGH, agree, ask_secret, chosen, new_passphrase, strength
from agent.errors import ReticentError, UsageError, VaultError
from agent.paths import paths
from agent.wire.base import LONGEST_SECRET
from tests.cli.conftest import Run
from tests.cli.daemon import LOCKED
from tests.cli.examples import PASSPHRASE, made
from tests.cli.test_main import START
from tests.cli.test_vault import Terminal
from tests.vault.doubles import Memory
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon

TEXT = st.text(st.characters(codec="utf-8"), max_size=60)
SAID = "core files are forbidden"
FORBIDDEN = Mock(side_effect=VaultError(SAID, "go on"))
ASKING = [
    ("init", "--passphrase-stdin"),
    ("vault", "key", "add", "passphrase"),
    ("vault", "key", "add", "recovery", "--keyring"),
    ("vault", "key", "remove", "2", "--yes"),
    ("vault", "key", "rotate", "--yes"),
    ("vault", "restore", "FILE"),
    ("vault", "restore", "FILE", "--keyring"),
    ("vault", "backup", "copy"),
]


def test_one_line_is_the_secret_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole, with the spaces that are part of it; none, or one too long, is not repeated."""
    for end in ("", "\n", "\r\n", "\nmore\n"):
        for asking in (ask_secret, new_passphrase):
            monkeypatch.setattr("sys.stdin", io.StringIO(f" {PASSPHRASE} {end}"))
            assert asking("Passphrase") == f" {PASSPHRASE} "
    for text in ("", "\n", "x" * (LONGEST_SECRET + 1), None):
        monkeypatch.setattr("sys.stdin", None if text is None else io.StringIO(text))
        with pytest.raises(UsageError, match="passphrase") as refused:
            ask_secret("Passphrase")
        assert "xx" not in str(refused.value)


def test_a_secret_is_hidden_and_forbids_core_files(
    run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the error stream, so that the output holds the answer only; a code on paper is shown."""
    given: list[tuple[str, object, object]] = []

    def asked(text: str, *, hide_input: bool, err: bool, **_options: object) -> str:
        given.append((text, hide_input, err))
        return b"w\xf6rds".decode() if text == "Odd" else "word"

    monkeypatch.setattr(prompts, "at_terminal", lambda: True)
    monkeypatch.setattr("click.prompt", asked)
    assert ask_secret("Passphrase") == ask_secret("Recovery code") == "word"
    assert given == [("Passphrase", True, True), ("Recovery code", False, True)]
    with pytest.raises(UsageError, match="is not text in UTF-8"):
        ask_secret("Odd")
    monkeypatch.setattr("agent.cli.prompts.forbid_dumps", FORBIDDEN)
    fake.handlers["status"] = lambda: LOCKED
    for options in ((), ("--recovery",), ("--keyring",)):
        assert run("unlock", *options).refusal(1)[0] == SAID
    assert "unlock" not in [name for name, _ in fake.calls]


def test_agreement_is_given_beforehand_or_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is taken for a yes, and a no is said to have done nothing."""
    agree("Really?", yes=True)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with pytest.raises(UsageError, match="there is no terminal"):
        agree("Really?", yes=False)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr(prompts, "confirmed", lambda question: question == "Yes?")
    agree("Yes?", yes=False)
    with pytest.raises(ReticentError, match="nothing was done"):
        agree("No?", yes=False)
    typed = {True: " purge ", False: "y"}
    monkeypatch.setattr("click.prompt", lambda question, **_: typed["all" in question])
    agree("Remove all?", yes=False, word="purge")
    with pytest.raises(ReticentError) as refused:
        agree("Remove it?", yes=False, word="purge")
    assert "purge" in refused.value.hint


@pytest.mark.parametrize(
    ("lines", "yes"), [("maybe\nyes\n", True), ("Y\n", True), ("yup\n n \n", False), ("\n", None)]
)
def test_a_question_is_asked_until_it_is_answered(
    lines: str,
    *,
    yes: bool | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With yes or no; Enter is the default, and what is neither is refused in our words."""
    for default in (True, False):
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        assert prompts.confirmed("Well?", default=default) == (default if yes is None else yes)
        error = capsys.readouterr().err
        refused = error.count("That is not one of the answers: type y or n, or Enter.\n")
        assert refused == lines.count("\n") - 1
        assert ("Well? [Y/n]: " in error) == default


@given(TEXT, TEXT)
def test_more_is_never_weaker(text: str, more: str) -> None:
    """Whatever is added at the end, and by no more than a sign could."""
    longer = strength(text + more)
    assert strength(text) <= longer + 1e-9
    assert longer <= 5 * len(text + more)


def test_what_follows_by_itself_is_weaker() -> None:
    """Repetition and sequences; four words or twelve signs are enough, what many choose is not."""
    for weaker, stronger in (
        ("aaaaaaaaaaaa", "password"),
        ("12345678", "73915042"),
        ("abcdefgh", "kwpxqmzt"),
        ("password", "Password1!"),
        ("hunter hunter hunter", "correct horse battery staple"),
    ):
        assert strength(weaker) < strength(stronger)
    assert strength("word word word") <= strength("word") + 3
    for text in ("", "password", "12345678", "Password1!", "iloveyou2"):
        assert strength(text) < ENOUGH
    for text in ("correct horse battery staple", "xK9#fL2qWv$7", "x7f3kd82hd9s"):
        assert strength(text) >= ENOUGH


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A passphrase on the standard input; that core files are forbidden ends a command."""
    given = io.StringIO(f"{PASSPHRASE}\n")
    monkeypatch.setattr("sys.stdin", given)
    monkeypatch.setattr("agent.cli.prompts.forbid_dumps", FORBIDDEN)
    return given


def test_where_the_vault_is_opened_here(
    run: Run, typed: io.StringIO, memory: Memory, home: Path
) -> None:
    """Also where the keyring has the secret; `init`, the first, makes the vault."""
    for command in ASKING:
        arguments = [str(paths().vault) if each == "FILE" else each for each in command]
        assert run(*arguments).refusal(1)[0] == SAID
        assert (typed.tell(), memory.kept) == (0, {})
        if command[0] == "init":
            assert not paths().vault.exists()
            made(home)


@pytest.mark.usefixtures("memory")
def test_what_is_no_text_is_no_secret(home: Path) -> None:
    """Where the system does not let such bytes into a program; the secret is not repeated."""
    done = subprocess.run(
        [*START, "init", "--passphrase-stdin"],
        input=b"four random w\xf6rds here\n",
        capture_output=True,
        check=False,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
    )
    error = "reticent: error: the passphrase is not text in UTF-8"
    hint = "reticent: hint: type it in a terminal that uses UTF-8"
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines() == [error, hint]
    assert not any(home.iterdir())


def test_the_case_of_a_name_counts_where_it_must() -> None:
    """Where two names differ in nothing else, only one of them is meant."""
    assert chosen("no", ["No", "no", "Yes"]) == "no"
    assert chosen("YES", ["No", "no", "Yes"]) == "Yes"
    assert chosen("1", ["x", "1"]) == "1"
    with pytest.raises(UsageError, match="'NO' is not one of these"):
        chosen("NO", ["No", "no", "Yes"])
