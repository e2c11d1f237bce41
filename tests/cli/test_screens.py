"""`reticent`: what the screens need, the daemon they start, a defect, and the user's editor."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agent.cli import screens
from agent.cli.daemon_client import start
from agent.cli.main import DEBUG
from agent.cli.screens import edit, save
from agent.errors import DaemonError, UsageError
from agent.tui.app import ReviewApp
from tests.cli.conftest import Run
from tests.house.tree import ROOT
from tests.tui.test_terminal import terminal
from tests.waiting import PATIENCE
from tests.worlds.daemons import living

SECRET = "the-value-of-nobody"  # noqa: S105  (in a variable of what breaks)
BREAK = """
import agent.tui.status_bar as broken
def breaks(*given, **named):
    secret = {secret!r}
    raise RuntimeError(secret)
setattr(broken, "TopBar", breaks)
"""
WAITS = """
from agent.cli.interrupt import listening
from agent.cli.screens import edit
with listening():
    edit("/p", None)
print("lived")
"""


def test_a_daemon_that_cannot_be_started_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what starts it by hand."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(DaemonError, match="cannot start the daemon: no such file") as raised:
        start()
    assert "`reticent daemon`" in raised.value.hint


def test_a_defect_in_the_screens_ends_in_a_sentence(tmp_path: Path) -> None:
    """It names the place, and nothing that a variable holds is left in the terminal."""
    (tmp_path / "sitecustomize.py").write_text(BREAK.format(secret=SECRET))
    told = {"PYTHONPATH": str(tmp_path), DEBUG: ""}
    with living() as live, terminal(live.paths, "screens", told=told) as shown:
        shown.shows("reticent: error: unexpected RuntimeError in sitecustomize.py, line")
        shown.shows("reticent: hint: a defect of reticent")
        assert SECRET not in shown.everything()
        assert "Traceback" not in shown.everything()


def test_a_list_is_saved_for_the_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among their downloads, or with the log where there are none; never over another file."""
    monkeypatch.delenv("RETICENT_HOME", raising=False)
    monkeypatch.setattr("platformdirs.user_downloads_path", lambda: tmp_path)
    saved = Path(save("list.csv", "a\n"))
    assert saved == tmp_path / "list.csv"
    assert (saved.read_text(), saved.stat().st_mode & 0o777) == ("a\n", 0o600)
    with pytest.raises(UsageError):
        save("list.csv", "b\n")
    monkeypatch.setenv("RETICENT_HOME", str(tmp_path))
    (tmp_path / "state").mkdir()
    assert Path(save("list.csv", "c\n")).parent == tmp_path / "state"


class Editor:
    """A program that notes what it was called with."""

    def __init__(self, folder: Path, does: str = "", name: str = "my editor") -> None:
        """Write it into a folder; ``does``: more that it does, as a line of sh."""
        self.path, self._noted = folder / name, folder / "noted"
        self.path.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$@" > {shlex.quote(str(self._noted))}\n{does}\n'
        )
        self.path.chmod(0o700)

    def said(self) -> list[str]:
        return self._noted.read_text().splitlines()


@pytest.fixture(autouse=True)
def _no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name none, whatever there is outside of the tests."""
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)


def test_the_editor_gets_the_line_and_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own options; no line to one that might take it for a file; else a usual one."""
    (own := tmp_path / "my own").mkdir()
    for name, line in (("vim.basic", ["+7"]), ("nano", ["+7"]), ("my editor", [])):
        editor = Editor(own, name=name)
        for variable in ("EDITOR", "VISUAL"):
            with monkeypatch.context() as patch:
                patch.setenv(variable, f"{shlex.quote(str(editor.path))} --wait")
                edit("/a b/policy.toml", 7)
            assert editor.said() == ["--wait", *line, "/a b/policy.toml"]
    (folder := tmp_path / "usual").mkdir()
    editor = Editor(folder, "exit 3", name="vi")
    monkeypatch.setenv("PATH", str(folder))
    edit("/p", 7)  # one that fails was an editor
    assert editor.said() == ["+7", "/p"]


def test_it_needs_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of lines alone is none: no screen is drawn on it."""
    assert run("screens").refusal()[0] == "the screens need a terminal"
    monkeypatch.setattr(screens, "sees_terminal", lambda: True)
    monkeypatch.setattr(ReviewApp, "run", lambda *_: pytest.fail("it draws"))
    for term in screens.PLAIN:
        monkeypatch.setenv("TERM", term)
        error, hint = run("screens").refusal()
        assert error == "the screens need a terminal"
        assert "`reticent requests list`" in hint


def test_no_editor_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what names one."""
    monkeypatch.setenv("PATH", "")
    for named, what in (
        ("   ", "no editor is set"),
        ("vi 'unended", "EDITOR cannot be parsed"),
        ("/nowhere/at-all -x", "/nowhere/at-all cannot be run: no such file or directory"),
        ("/", "/ cannot be run: permission denied"),
    ):
        monkeypatch.setenv("EDITOR", named)
        with pytest.raises(UsageError) as raised:
            edit("/p", 1)
        assert str(raised.value) == what
        assert "export EDITOR=nano" in raised.value.hint


def test_ctrl_c_in_the_editor_is_the_editors(tmp_path: Path) -> None:
    """It goes to both, and ends the editor alone: it does not ignore it because of us."""
    editor = Editor(tmp_path, "kill -INT $PPID\nkill -INT $$\necho no > ended")
    told = {**os.environ, "EDITOR": shlex.quote(str(editor.path)), "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", WAITS],
        env=told,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("lived\n", "", 0)
    assert not (tmp_path / "ended").exists()
