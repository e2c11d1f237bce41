"""The wheel has what a user needs, each once, and nothing else."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from agent.daemon.browsers import EXTENSION as SOURCE
from examples import write_share
from tests.house.tree import ROOT
from tests.house.wheelhouse import built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the checkout."""
    return built(tmp_path_factory.mktemp("wheel"))


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
    """All of its files, as they are here, for `reticent connect browsers` to unpack."""
    inside = ZipFile(wheel)
    here = {str(each.relative_to(ROOT)): each for each in SOURCE.rglob("*") if each.is_file()}
    there = {name for name in inside.namelist() if name.startswith("agent/browser_extension/")}
    assert there == here.keys()
    assert [name for name in here if inside.read(name) != here[name].read_bytes()] == []
    assert [Path(name).name for name in inside.namelist()].count("background.js") == 1


def test_the_wheel_holds_nothing_of_the_checkouts_own(wheel: Path) -> None:
    """Tests and examples stay here, but for what goes where `man` and the shells look for it."""
    names = ZipFile(wheel).namelist()
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
