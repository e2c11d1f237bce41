"""The README does what it says: its commands run, and its picture is what they print."""

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent.cli.demo_story import PROFILE
from agent.cli.main import outcome
from tests.cli.conftest import builds
from tests.house.tree import ROOT
from tests.wire.fake import short_folder

README = (ROOT / "README.md").read_text()
COMMAND = re.compile(r"^    (\w.*?)(?: +#.*)?$", re.MULTILINE)
COMMANDS = COMMAND.findall(README)
(LIVED,) = re.findall(r"^## Let it answer for you$.*?(?=^## )", README, re.MULTILINE | re.DOTALL)
STORY = COMMAND.findall(LIVED)
WAIT = 60.0  # seconds, for what takes about one


@builds
def test_its_commands_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the folder of the checkout, as a newcomer would."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    ours = [each for each in COMMANDS if each.startswith("reticent ") and each not in STORY]
    assert len(ours) > 5
    for command in ours:
        code = outcome(shlex.split(command)[1:])
        assert (code, capsys.readouterr().err) == (0, ""), command


@pytest.fixture
def newcomer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The empty home of somebody who has installed it; where their sockets lie."""
    with short_folder() as home:
        for name in ("RETICENT_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        yield home / "reticent"


def test_its_story_of_a_daemon_is_true(newcomer: Path) -> None:
    """Every command of it, as typed, in its order; the daemon goes on meanwhile."""
    said = {}
    with ExitStack() as ends:
        for command in STORY:
            if command == "reticent daemon":
                ends.callback(_ended, _begun(newcomer))
            else:
                said[command] = _typed(command)
    first, second = (said[each] for each in STORY if "version control" in each)
    assert "Shared-Attributes: int_dotnet=?0, dev_web, int_java=?0, int_python\n" in first
    answer = json.loads(second)
    assert (answer["code"], answer["id"], answer["unspecified"]) == ("answered", 2, [])
    assert "int_python" in answer["attributes"]
    assert "int_python" in next(said[each] for each in STORY if each.startswith("reticent knows"))


def test_its_profile_is_that_of_the_demo() -> None:
    """One fictional developer, not two."""
    assert tomllib.loads((ROOT / "examples/profile.toml").read_text()) == PROFILE


def _typed(command: str) -> str:
    """Run a command in a shell, with a passphrase for whoever asks; return what it printed."""
    done = subprocess.run(
        ["bash", "-c", command],  # noqa: S607  (wherever it is)
        input="four random words here\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT,
        cwd=ROOT,
    )
    assert (done.returncode, "error" in done.stderr) == (0, False), (command, done.stderr)
    return done.stdout


def _begun(runtime: Path) -> subprocess.Popen[bytes]:
    """Start the daemon, and wait until both of its sockets are there."""
    command = [str(Path(sys.executable).with_name("reticent")), "daemon"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + WAIT
    while not all((runtime / name).exists() for name in ("control.sock", "query.sock")):
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    return process


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    assert process.wait(WAIT) == 0


def test_its_other_commands_are_those_of_continuous_integration() -> None:
    """What is run there is what a newcomer is told."""
    others = {each for each in COMMANDS if not each.startswith("reticent ")} - {*STORY}
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


def test_its_screen_is_what_a_daemon_shows() -> None:
    """But for the time: drawn anew by `python examples/draw_requests.py`."""
    script = runpy.run_path(str(ROOT / "examples/draw_requests.py"))
    kept = (ROOT / "examples/requests.svg").read_text()
    assert _timeless(script["picture"]()) == _timeless(kept)


def _timeless(svg: str) -> str:
    """Return a picture without the times in it, and the number made of all that it shows."""
    return re.sub(r"terminal-\d+", "terminal", re.sub(r"\d\d:\d\d", "00:00", svg))


def test_its_tables_are_those_that_the_script_invents(tmp_path: Path) -> None:
    """Byte for byte: `python examples/own_tables/make_tables.py`."""
    folder = ROOT / "examples/own_tables"
    runpy.run_path(str(folder / "make_tables.py"))["main"](tmp_path)
    for name in ("users.csv", "events.csv"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
