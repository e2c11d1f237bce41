"""The user's editor: which it is, what it is told, and what is said where there is none."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agent.cli.review import USUAL, edit
from agent.errors import UsageError
from tests.house.tree import ROOT

WAITS = """
from agent.cli.interrupt import listening
from agent.cli.review import edit
with listening():
    edit("/p", None)
print("lived")
"""


class Editor:
    """A program that notes what it was called with."""

    def __init__(self, folder: Path, does: str = "", name: str = "my editor") -> None:
        """Write it into a folder; ``does``: more that it does, as a line of sh."""
        self.path = folder / name
        self._noted = folder / "noted"
        self.path.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$@" > {shlex.quote(str(self._noted))}\n{does}\n'
        )
        self.path.chmod(0o700)

    def said(self) -> list[str]:
        """Return what it was called with."""
        return self._noted.read_text().splitlines()


@pytest.fixture(autouse=True)
def _no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name none, whatever there is outside of the tests."""
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", ["EDITOR", "VISUAL"])
def test_the_editor_gets_the_line_and_the_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own options, and whatever stands in the path of it or of the file."""
    (folder := tmp_path / "my own").mkdir()
    editor = Editor(folder, name="vim.basic")
    monkeypatch.setenv(name, f"{shlex.quote(str(editor.path))} --wait")
    edit("/a b/policy.toml", 7)
    assert editor.said() == ["--wait", "+7", "/a b/policy.toml"]
    edit("/a b/policy.toml", None)
    assert editor.said() == ["--wait", "/a b/policy.toml"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nano", ["+7", "/p"]),
        ("hx", ["/p:7"]),
        ("code", ["-g", "/p:7"]),
        ("gedit", ["/p"]),
        ("my editor", ["/p"]),
    ],
)
def test_a_line_is_told_as_the_editor_takes_it(
    name: str, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not at all to one that might take it for the name of a file."""
    editor = Editor(tmp_path, name=name)
    monkeypatch.setenv("EDITOR", shlex.quote(str(editor.path)))
    edit("/p", 7)
    assert editor.said() == told


@pytest.mark.parametrize("name", USUAL)
def test_where_none_is_named_a_usual_one_is_taken(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `editor` leads to says whether it takes a line."""
    leads = name == "editor"
    editor = Editor(tmp_path, name="vim.tiny" if leads else name)
    if leads:
        (tmp_path / name).symlink_to(editor.path)
    monkeypatch.setenv("PATH", str(tmp_path))
    edit("/p", 7)
    assert editor.said() == (["/p"] if name == "sensible-editor" else ["+7", "/p"])


def test_the_one_for_the_screen_goes_before_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As other programs have it."""
    editor = Editor(tmp_path)
    monkeypatch.setenv("VISUAL", shlex.quote(str(editor.path)))
    monkeypatch.setenv("EDITOR", "/nowhere")
    edit("/p", None)
    assert editor.said() == ["/p"]


@pytest.mark.parametrize(
    ("named", "what"),
    [
        ("", "no editor is set, and none was found"),
        ("   ", "no editor is set, and none was found"),
        ("vi 'unended", "EDITOR cannot be parsed"),
        ("/nowhere/at-all -x", "/nowhere/at-all cannot be run: no such file or directory"),
        ("/", "/ cannot be run: permission denied"),
    ],
)
def test_no_editor_is_said_in_a_sentence(
    named: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what names one."""
    monkeypatch.setenv("EDITOR", named)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError) as raised:
        edit("/p", 1)
    assert str(raised.value) == what
    assert "export EDITOR=nano" in raised.value.hint


def test_an_editor_that_fails_was_an_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was saved is read all the same."""
    editor = Editor(tmp_path, "exit 3")
    monkeypatch.setenv("EDITOR", shlex.quote(str(editor.path)))
    edit("/p", None)
    assert editor.said() == ["/p"]


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
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("lived\n", "", 0)
    assert not (tmp_path / "ended").exists()
