"""The README does what it says: its commands run, and its picture is what they print."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from agent.cli.main import outcome
from tests.cli.conftest import builds
from tests.house.tree import ROOT

README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^    (\w.*?)(?: +#.*)?$", README, re.MULTILINE)


@builds
def test_its_commands_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the folder of the checkout, as a newcomer would."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    ours = [command for command in COMMANDS if command.startswith("reticent ")]
    assert len(ours) > 5
    for command in ours:
        code = outcome(shlex.split(command)[1:])
        assert (code, capsys.readouterr().err) == (0, ""), command


def test_its_other_commands_are_those_of_continuous_integration() -> None:
    """What is run there is what a newcomer is told."""
    others = {command for command in COMMANDS if not command.startswith("reticent ")}
    assert others == {"make demo", "make test"}
    assert others <= {*(ROOT / ".ci/run").read_text().splitlines()}


def test_its_links_lead_somewhere() -> None:
    """Within the checkout."""
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_its_picture_is_what_the_command_prints() -> None:
    """Drawn anew by the committed script: `python examples/draw_terminal.py`."""
    script = runpy.run_path(str(ROOT / "examples/draw_terminal.py"))
    assert script["picture"]() == (ROOT / "examples/terminal.svg").read_text()


def test_its_tables_are_those_that_the_script_invents(tmp_path: Path) -> None:
    """Byte for byte: `python examples/own_tables/make_tables.py`."""
    folder = ROOT / "examples/own_tables"
    runpy.run_path(str(folder / "make_tables.py"))["main"](tmp_path)
    for name in ("users.csv", "events.csv"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
