"""Secrets and agreement: asked for at a terminal, and what happens where there is none."""

import io
from collections.abc import Callable

import pytest

from agent.cli import prompts
from agent.cli.prompts import agree, ask_new_secret, ask_secret, check_passphrase, new_passphrase
from agent.errors import ReticentError, UsageError
from agent.wire.base import LONGEST_SECRET
from tests.cli.vaults import PASSPHRASE
from tests.wire.fake import says


def terminal(patch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Put somebody at a terminal who gives these answers; return what they are asked, in order."""
    asked: list[str] = []
    left = iter(answers)

    def hidden(prompt: str) -> str:
        asked.append(prompt)
        return next(left)

    patch.setattr(prompts, "at_terminal", lambda: True)
    patch.setattr(prompts, "_hidden", hidden)
    return asked


@pytest.mark.parametrize("asking", [ask_secret, new_passphrase])
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\nmore\n"])
def test_one_line_is_the_secret_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, asking: Callable[[str], str], end: str
) -> None:
    """Whole, with the spaces that are part of it, and the rest is left for others."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f" {PASSPHRASE} {end}"))
    assert asking("Passphrase") == f" {PASSPHRASE} "


@pytest.mark.parametrize("text", ["", "\n", "x" * (LONGEST_SECRET + 1)])
def test_no_secret_and_one_too_long_are_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Without repeating it."""
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    with pytest.raises(UsageError, match="passphrase") as refused:
        ask_secret("Passphrase")
    assert "xx" not in str(refused.value)


def test_a_closed_input_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with <&-."""
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UsageError, match="no passphrase was given"):
        ask_secret("Passphrase")
    with pytest.raises(UsageError, match="there is no terminal"):
        agree("Really?", yes=False)


def test_a_new_secret_is_asked_for_until_it_is_the_same_twice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what was typed is not shown."""
    prompts = terminal(monkeypatch, "one", "two", "three", "three")
    assert ask_new_secret("Passphrase", says(None)) == "three"
    assert prompts == ["Passphrase", "The same again"] * 2
    assert capsys.readouterr() == ("", "These differ; try again.\n")


def test_a_new_secret_that_is_no_good_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not to be typed again in vain; an empty one neither."""
    prompts = terminal(monkeypatch, "short", "")
    with pytest.raises(UsageError, match="the passphrase is too short"):
        ask_new_secret("Passphrase", check_passphrase)
    with pytest.raises(UsageError, match="no passphrase was given") as refused:
        ask_new_secret("Passphrase", check_passphrase)
    assert refused.value.hint == "type one, or leave with Ctrl-C"
    assert prompts == ["Passphrase"] * 2


@pytest.mark.parametrize(("prompt", "hidden"), [("Passphrase", True), ("Recovery code", False)])
def test_a_secret_is_asked_for_once_and_hidden(
    monkeypatch: pytest.MonkeyPatch, prompt: str, hidden: bool
) -> None:
    """On the error stream, so that the output holds the answer only; a code on paper is shown."""
    given: list[dict[str, object]] = []

    def asked(text: str, **options: object) -> str:
        given.append({"text": text, **options})
        return "word"

    monkeypatch.setattr(prompts, "at_terminal", lambda: True)
    monkeypatch.setattr("click.prompt", asked)
    assert ask_secret(prompt) == "word"
    assert (given[0]["hide_input"], given[0]["err"]) == (hidden, True)


def test_agreement_is_given_beforehand_or_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is taken for a yes, and a no is said to have done nothing."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    agree("Really?", yes=True)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with pytest.raises(UsageError, match="there is no terminal"):
        agree("Really?", yes=False)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("click.confirm", lambda question, err: question == "Yes?" and err)
    agree("Yes?", yes=False)
    with pytest.raises(ReticentError, match="nothing was done"):
        agree("No?", yes=False)
    monkeypatch.setattr(
        "click.prompt", lambda question, **_: " purge " if "all" in question else "y"
    )
    agree("Remove all?", yes=False, word="purge")
    with pytest.raises(ReticentError) as refused:
        agree("Remove it?", yes=False, word="purge")
    assert "purge" in refused.value.hint
