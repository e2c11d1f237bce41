"""The wheel alone is the whole product: it runs with the base dependencies, far from here."""

import os
import sys
import sysconfig
import venv
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from zipfile import ZipFile

import pytest

from agent.daemon.extension import SOURCE
from examples import write_man_page
from tests.house.test_dependencies import closure
from tests.house.tree import ROOT, ran


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the checkout, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    ran(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel and its base dependencies, nothing else, into an empty environment."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, symlinks=True)
    into = ("--python", home / "bin/python")
    ran(sys.executable, "-m", "pip", *into, "install", "--no-deps", "--no-index", wheel)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(home)}))
    (ours,) = distributions(name="reticent", path=[str(site)])
    for needed in closure(ours.requires or []):
        link(distribution(needed), site)
    return home


def link(needed: Distribution, site: Path) -> None:
    """Make a distribution of the current environment importable from `site` too."""
    for name in {file.parts[0] for file in needed.files or ()} - {"..", "__pycache__"}:
        if not (site / name).exists():
            (site / name).symlink_to(str(needed.locate_file(name)))


def run(home: Path, program: str, *arguments: str) -> str:
    """Run a program of the environment at `home` from there, and return what it printed."""
    alone = {"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8"}
    done = ran(home / "bin" / program, *arguments, check=False, cwd=home, env=alone)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("folder", "kinds"),
    [
        ("agent/model/shipped", {".safetensors", ".md"}),
        ("agent/lab/questions/adults_2020", {".gz", ".csv", ".md"}),
    ],
)
def test_the_wheel_holds_data_of_others_with_its_notice(
    wheel: Path, folder: str, kinds: set[str]
) -> None:
    """The data's licence asks for the notice wherever the data goes."""
    shipped = [Path(name) for name in ZipFile(wheel).namelist() if name.startswith(f"{folder}/")]
    assert kinds <= {path.suffix for path in shipped}


def test_the_wheel_holds_the_browser_extension_once(wheel: Path) -> None:
    """All of its files, as they are here, for `reticent browser install` to unpack."""
    inside = ZipFile(wheel)
    here = {str(each.relative_to(ROOT)): each for each in SOURCE.rglob("*") if each.is_file()}
    there = {name for name in inside.namelist() if name.startswith("agent/browser_extension/")}
    assert there == here.keys()
    assert [name for name in here if inside.read(name) != here[name].read_bytes()] == []
    assert [Path(name).name for name in inside.namelist()].count("background.js") == 1


def test_the_wheel_holds_nothing_of_the_checkouts_own(wheel: Path) -> None:
    """Tests and examples stay here, but for the man page, which goes where `man` finds it."""
    names = ZipFile(wheel).namelist()
    (page,) = [each for each in names if Path(each).parts[0].endswith(".data")]
    assert page.endswith(".data/data/share/man/man1/reticent.1")
    rooms = {Path(name).parts[0] for name in names if name != page}
    assert {room for room in rooms if not room.endswith(".dist-info")} <= {"agent", "policy"}


def test_the_man_page_is_what_help_says() -> None:
    """Of every command; `python -m examples.write_man_page` writes it anew."""
    assert write_man_page.PAGE.read_text() == write_man_page.page(), str(write_man_page.__doc__)
    text = write_man_page.PAGE.read_text().replace("\\-", "-")
    for command in ("ask", "browser install", "daemon run", "policy try", "vault key add"):
        assert f'.SS "reticent {command} ' in text
    assert [line for line in text.splitlines() if line.startswith(("'", ". "))] == []
    assert str(ROOT) not in text
    assert str(Path.home()) not in text


def test_the_command_that_runs_is_the_installed_one(installed: Path) -> None:
    """The checkout is out of reach, and so is every extra."""
    where = run(installed, "python", "-c", "import agent; print(agent.__file__)")
    assert Path(where.strip()).is_relative_to(installed)
    probe = "import importlib.util as u; print(u.find_spec('ibis'), u.find_spec('pytest'))"
    assert run(installed, "python", "-c", probe).split() == ["None", "None"]


def test_the_demo_runs_from_the_wheel(installed: Path) -> None:
    """The first thing that a newcomer does."""
    assert run(installed, "reticent", "demo").strip()


def test_the_answers_that_prices_come_from_are_read_in_the_wheel(installed: Path) -> None:
    """They are data in the package, and need no extra."""
    room = "agent.lab.questions.survey"
    probe = f"import {room} as room; print(room.default_sensitivities(['daily', 'asked_before']))"
    assert run(installed, "python", "-c", probe).startswith("{'asked_before': 0.")
