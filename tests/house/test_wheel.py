"""The wheel has what a user needs, each once, and nothing else."""

import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest

from agent.daemon.programs import EXTENSION as SOURCE
from examples import write_share
from tests.house.test_dependencies import closure
from tests.house.tree import PROJECT, ROOT, ran

NOTICES = {  # the data's licence asks for the notice wherever the data goes
    "agent/model/shipped": {".safetensors", ".md"},
    "agent/lab/questions/adults_2020": {".gz", ".csv", ".md"},
}


def built(folder: Path) -> Path:
    """Build the wheel from the checkout, without a network."""
    ran(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def fill(folder: Path) -> None:
    """Write wheels of the base dependencies, and of pip, as they are installed here."""
    for name in closure([*PROJECT["project"]["dependencies"], "pip"]):
        packed(distribution(name), folder)


def packed(package: Distribution, folder: Path) -> Path:
    """Write the wheel of a distribution anew, of the files that it brought.

    Commands are left out, since whoever installs it makes them.
    """
    stated = (package.read_text("WHEEL") or "").splitlines()
    tags = [line.removeprefix("Tag: ").split("-") for line in stated if line.startswith("Tag: ")]
    tag = "-".join(".".join(dict.fromkeys(each)) for each in zip(*tags, strict=True))
    path = folder / f"{package.name.replace('-', '_')}-{package.version}-{tag}.whl"
    with ZipFile(path, "w") as wheel:
        for file in package.files or ():
            if ".." not in file.parts and file.suffix != ".pyc":
                wheel.write(str(file.locate()), str(file))
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """Build the wheel from the checkout."""
    return ZipFile(built(tmp_path_factory.mktemp("wheel")))


def test_the_wheel_holds_what_it_should(wheel: ZipFile) -> None:
    """The extension whole, data of others with its notice, and nothing of the checkout's own.

    Tests and examples stay here, but for what goes where `man` and the shells look for it.
    """
    names = wheel.namelist()
    here = {str(each.relative_to(ROOT)): each for each in SOURCE.rglob("*") if each.is_file()}
    assert {name for name in names if name.startswith("agent/browser_extension/")} == here.keys()
    assert [name for name in here if wheel.read(name) != here[name].read_bytes()] == []
    assert [Path(name).name for name in names].count("background.js") == 1
    for folder, kinds in NOTICES.items():
        assert kinds <= {Path(each).suffix for each in names if each.startswith(f"{folder}/")}
    shared = [each for each in names if Path(each).parts[0].endswith(".data")]
    places = {each.partition(".data/data/share/")[2] for each in shared}
    assert places == write_share.shared().keys()
    rooms = {Path(name).parts[0] for name in names if name not in shared}
    assert {room for room in rooms if not room.endswith(".dist-info")} <= {"agent", "policy"}


def test_the_man_page_is_what_help_says() -> None:
    """Of every command; `python -m examples.write_share` writes it anew, and the completions."""
    for place, text in write_share.shared().items():
        assert (write_share.SHARE / place).read_text() == text, str(write_share.__doc__)
    text = write_share.page().replace("\\-", "-")
    for command in ("ask", "connect", "daemon run", "policy try", "vault key add"):
        assert f'.SS "reticent {command} ' in text
    assert [line for line in text.splitlines() if line.startswith(("'", ". "))] == []
    assert str(ROOT) not in text
    assert str(Path.home()) not in text
