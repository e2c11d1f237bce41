"""`reticent daemon completion`: the scripts, and what bash makes of its own."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

# What bash calls when somebody presses Tab, and what it would offer.
PRESS = """
eval "$(reticent daemon completion bash)"
COMP_WORDS=({words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_reticent_completion reticent
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that finds `reticent`, and no startup files."""
    command = tmp_path / "reticent"
    code = shlex.quote("from agent.cli.main import run; run()")
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {code} "$@"\n')
    command.chmod(0o700)
    return {"HOME": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["reticent", "daemon", "compl"], ["completion"]),
        (["reticent", "model", "ver"], ["verify"]),
        (["reticent", "daemon", "service", "install", "--pr"], ["--print"]),
        (["reticent", "daemon", "completion", "z"], ["zsh"]),
        (["reticent", "xyzzy"], []),
    ],
    ids=" ".join,
)
def test_bash_completes(shell: dict[str, str], words: list[str], offered: list[str]) -> None:
    """Commands, options and values, as at the prompt."""
    script = PRESS.format(words=shlex.join(words))
    done = subprocess.run(
        ["/usr/bin/env", "bash", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=shell,
    )
    assert done.stderr == ""
    assert done.stdout.split() == offered


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(run: Run, name: str) -> None:
    """It asks reticent itself what there is."""
    script = run("daemon", "completion", name).out
    assert f"_RETICENT_COMPLETE={name}_complete" in script
    record = run("daemon", "completion", name, "--json").record
    assert (record["shell"], record["script"].strip()) == (name, script.strip())


def test_another_shell_is_refused(run: Run) -> None:
    """With the nearest name."""
    error, hint = run("daemon", "completion", "bsh").refusal()
    assert "unknown value of shell 'bsh'" in error
    assert "bash" in hint
