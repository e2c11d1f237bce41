"""What `reticent init` takes for an answer, and what it leaves on the terminal."""

import click
import pytest

from agent.cli.init import ask_written_down, chosen
from agent.errors import UsageError
from tests.wire.fake import says


def test_the_case_of_a_name_counts_where_it_must() -> None:
    """Where two names differ in nothing else, only one of them is meant."""
    assert chosen("no", ["No", "no", "Yes"]) == "no"
    assert chosen("YES", ["No", "no", "Yes"]) == "Yes"
    assert chosen("1", ["x", "1"]) == "1"
    with pytest.raises(UsageError, match="'NO' is not one of these"):
        chosen("NO", ["No", "no", "Yes"])


@pytest.mark.parametrize(("narrow", "taken"), [(0, "\x1b[3A\x1b[J"), (10_000, "\x1b[2J\x1b[1;1H")])
def test_the_recovery_code_leaves_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], narrow: int, taken: str
) -> None:
    """Once it is on paper, also by Ctrl-C; of a narrow one all goes, and elsewhere nothing does."""
    questions = "agent.cli.init"
    monkeypatch.setattr(f"{questions}._line", says(""))
    ask_written_down(3)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(f"{questions}.NARROW", narrow)
    for name in ("sys.stdout.isatty", "sys.stderr.isatty", f"{questions}.sees_terminal"):
        monkeypatch.setattr(name, says(True))
    ask_written_down(0)
    assert capsys.readouterr().out == ""
    for end in (says(""), _ended):
        monkeypatch.setattr(f"{questions}._line", end)
        ask_written_down(3)
        out = capsys.readouterr().out
        assert out.startswith(taken)
        assert "not shown any more" in out


def _ended(_prompt: str) -> str:
    raise click.Abort
