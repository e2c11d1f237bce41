"""The wheel alone is the whole product: installed as the README says, its story is true.

In an empty home, far from the checkout, with the base dependencies alone, and without a network:
they come from wheels made of what is installed here.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent import __version__
from examples.write_share import COMPLETIONS, PAGE
from tests.house.test_dependencies import built, fill
from tests.newcomer import DAEMON, README, SOCKETS, commands, daemon, home_of, typed

BASE = f"{sys.base_prefix}/bin/python3.{sys.version_info.minor}"
INSTALL = commands("Install")[0]
OTHERS = ("uv tool install", "python3 -m pip install --user")
SHARE = ".local/share"
OFFLINE = {
    "PIP_BREAK_SYSTEM_PACKAGES": "1",  # the user's own are meant, in a home of the test's
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_NO_COMPILE": "1",
    "PIP_NO_INDEX": "1",
    "UV_NO_CONFIG": "1",
    "UV_NO_INDEX": "1",
    "UV_OFFLINE": "1",
    "UV_PYTHON_DOWNLOADS": "never",
}
# How, what pipx installs with, and the Python that it then runs in.
PIPX = ".local/share/pipx/venvs/reticent/bin/python"
UV_TOOL = ".local/share/uv/tools/reticent/bin/python"
WAYS = [  # the first is that of the story below
    (INSTALL, "uv", PIPX),
    (INSTALL, "pip", PIPX),
    (INSTALL.replace("pipx install", OTHERS[0]), "", UV_TOOL),
    (INSTALL.replace("pipx install", OTHERS[1]), "", BASE),
]
PROBE = """
import importlib.util as u, agent, agent.lab.paper.subject as s
print(agent.__file__, u.find_spec("tests"), *s.STATED, sep="\\n")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the wheel lies that somebody has got; what it needs is in `needed` there."""
    folder = tmp_path_factory.mktemp("wheel")
    built(folder)
    (folder / "needed").mkdir()
    fill(folder / "needed")
    return folder


@pytest.fixture
def home(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have the empty home of somebody who has pipx and uv, and what the system has."""
    with home_of(monkeypatch) as home:
        for name in ("pipx", "uv"):
            (tmp_path / name).symlink_to(Path(sys.executable).with_name(name))
        search = (f"{home}/.local/bin", str(tmp_path), os.defpath)
        monkeypatch.setenv("PATH", os.pathsep.join(search))
        needed = str(folder / "needed")
        for name, value in {"PIP_FIND_LINKS": needed, "UV_FIND_LINKS": needed, **OFFLINE}.items():
            monkeypatch.setenv(name, value)
        yield home


def install(way: str, backend: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Type a command that installs it; this Python's pip is that of whoever has none."""
    if backend:
        monkeypatch.setenv("PIPX_DEFAULT_BACKEND", backend)
    ours = f"{sys.executable} -m pip --python {BASE}"
    typed(way.replace("python3 -m pip", ours), folder)


@pytest.mark.soak
@pytest.mark.parametrize(("way", "backend", "python"), WAYS, ids=["pipx", "pipx-pip", "uv", "pip"])
def test_each_way_to_install_it_gives_the_whole_of_it(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, way: str, backend: str, python: str
) -> None:
    """The command that runs is the installed one; its data and what goes with it are there."""
    install(way, backend, folder, monkeypatch)
    assert typed("reticent --version", home).strip() == f"reticent, version {__version__}"
    where, tests, *stated = typed(f"\"{python}\" -c '{PROBE}'", home).splitlines()
    assert Path(where).is_relative_to(home)
    assert (tests, stated[:1]) == ("None", ["optimised"])
    assert typed("reticent demo", home).strip()
    there = {(home / SHARE / each).exists() for each in (PAGE, *COMPLETIONS.values())}
    assert there == {"uv tool" not in way}


def test_the_readmes_story_is_true_without_the_checkout(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From installing it with pipx to taking it away; the user's own stays until it is purged."""
    install(INSTALL, "", folder, monkeypatch)
    said = {}
    with ExitStack() as ends:
        for command in (*commands("Set it up"), *commands("From your own programs")):
            if command == DAEMON:
                ends.enter_context(daemon(home / SOCKETS))
            else:
                said[command] = typed(command, home)
        typed(commands("In your browser")[0], home)
        first, second = (said[each] for each in said if "version control" in each)
        header = "Shared-Attributes: int_dotnet=?0, dev_mobile=?0, int_java=?0, int_python"
        assert header in " ".join(first.split())
        answer = json.loads(second)
        assert (answer["code"], answer["id"], answer["unspecified"]) == ("answered", 2, [])
        assert "int_dotnet" in answer["attributes"]
        (knows,) = (said[each] for each in said if each.startswith("reticent requests recipients"))
        assert "interested in .NET" in knows
    trial = home / SOCKETS.split("/")[0]
    assert (trial / "data/browser-extension/manifest.json").exists()
    (upgrade,) = commands("Upgrade")
    typed(upgrade, folder)
    assert (trial / "data/vault.db").exists()
    purge, uninstall = commands("Remove it")
    typed(f"{purge} --yes", home)  # which asks
    assert [*trial.iterdir()] == []
    typed(uninstall, home)
    assert not (home / ".local/bin/reticent").exists()
    assert not (home / SHARE / PAGE).exists()


def test_the_other_ways_are_in_the_readme() -> None:
    """In the words that are typed above."""
    assert all(f"`{each}`" in " ".join(README.split()) for each in OTHERS)
