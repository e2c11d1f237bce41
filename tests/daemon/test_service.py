"""The files that make the system start the daemon."""

import plistlib
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agent import __version__
from agent.daemon.service import (
    Manager,
    check_program,
    files,
    foreign,
    look_at_units,
    place,
    remove,
    write,
)
from agent.errors import UsageError
from agent.paths import paths
from tests.programs import needs

VERIFY = ["--user", "--recursive-errors=no", "verify"]
ODD = ["python3", "py thon", "100%n", "$HOME", "ünï", "semi;colon", "#x"]
ODDER = ['a"b', "a\\b", "it's"]


def verified(folder: Path) -> str:
    """Return what systemd says of the units in a folder, nothing if all is well."""
    command = [needs("systemd-analyze"), *VERIFY]
    units = sorted(map(str, folder.iterdir()))
    environment = {"HOME": "/nowhere", "XDG_RUNTIME_DIR": "/run", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [*command, *units], capture_output=True, text=True, check=False, env=environment, timeout=60
    )
    ours = [line for line in done.stderr.splitlines() if "reticent" in line]
    return "\n".join(ours) or ("" if done.returncode == 0 else f"exit {done.returncode}")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A user's environment, in which units go to a folder of the test."""
    return {"HOME": str(tmp_path)}


def test_systemd_finds_nothing_wrong_with_the_units(home: dict[str, str]) -> None:
    """With the interpreter that runs here."""
    units = files("systemd", sys.executable, home)
    write(units)
    assert verified(place("systemd", home)) == ""


@pytest.mark.parametrize("name", ODD)
def test_an_odd_path_stays_itself(tmp_path: Path, home: dict[str, str], name: str) -> None:
    """Of the interpreter, which systemd looks for, and of the folder of all that is ours."""
    interpreter = tmp_path / name
    interpreter.write_text("#!/bin/sh\n")
    interpreter.chmod(0o700)
    write(files("systemd", str(interpreter), {**home, "RETICENT_HOME": f"/opt/{name}"}))
    assert verified(place("systemd", home)) == ""


@pytest.mark.parametrize("key", ["Snooze=yes", "SocketMode=rw"])
def test_the_check_itself_notices_what_is_wrong(
    tmp_path: Path, home: dict[str, str], key: str
) -> None:
    """A missing interpreter, or a line in any of the units: else the rest would say nothing."""
    write(files("systemd", str(tmp_path / "gone"), home))
    assert "gone" in verified(place("systemd", home))
    units = files("systemd", sys.executable, home)
    write(units)
    units[1].path.write_text(units[1].text.replace("SocketMode=0600", key))
    assert verified(place("systemd", home)) != ""


def settings(text: str, key: str) -> list[str]:
    """Return the values of a key in a unit."""
    return [line.partition("=")[2] for line in text.splitlines() if line.startswith(f"{key}=")]


def test_the_sockets_are_where_the_command_line_looks(home: dict[str, str]) -> None:
    """By name, each only the user's, below the user's runtime folder or $RETICENT_HOME."""
    moved = {**home, "RETICENT_HOME": "/opt/elsewhere"}
    usual = {**home, "XDG_RUNTIME_DIR": "/run/user/1000"}
    for environment in (usual, moved):
        expected = paths(environment)
        _, control, query = files("systemd", sys.executable, environment)
        for unit, door in ((control, "control"), (query, "query")):
            [listened] = settings(unit.text, "ListenStream")
            assert listened.replace("%t", "/run/user/1000") == str(getattr(expected, door))
            assert settings(unit.text, "FileDescriptorName") == [door]
            assert settings(unit.text, "SocketMode") == ["0600"]
            assert settings(unit.text, "DirectoryMode") == ["0700"]
            assert settings(unit.text, "Service") == ["reticent.service"]


def test_the_service_takes_both_sockets(home: dict[str, str]) -> None:
    """Whichever of them starts it."""
    service, *sockets = files("systemd", sys.executable, home)
    assert settings(service.text, "Sockets") == [" ".join(each.path.name for each in sockets)]


def test_where_things_lie_is_passed_on(home: dict[str, str]) -> None:
    """The manager of services does not know the variables of a shell."""
    moved = {**home, "RETICENT_HOME": "relative", "XDG_DATA_HOME": "/data", "OTHER": "secret"}
    service = files("systemd", sys.executable, moved)[0]
    there = f'"RETICENT_HOME={Path.cwd() / "relative"}"'
    assert settings(service.text, "Environment") == [there, '"XDG_DATA_HOME=/data"']


def test_the_command_is_ours_wherever_it_is_run(tmp_path: Path, home: dict[str, str]) -> None:
    """A folder of the same name does not take our place."""
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "__init__.py").write_text("raise SystemExit(1)")
    [started] = settings(files("systemd", sys.executable, home)[0].text, "ExecStart")
    command = [*shlex.split(started)[:-1], "--version"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert __version__ in done.stdout


@pytest.mark.parametrize("name", ODDER)
def test_a_program_with_quotes_is_refused(home: dict[str, str], name: str) -> None:
    """As systemd does itself. In a folder's name they are no trouble, nor to what removes it."""
    with pytest.raises(UsageError, match="a service file cannot hold this path"):
        check_program("systemd", f"/opt/{name}")
    assert look_at_units(files("systemd", f"/opt/{name}", home)).present == ()
    write(files("systemd", sys.executable, {**home, "RETICENT_HOME": f"/opt/{name}"}))
    assert verified(place("systemd", home)) == ""


@pytest.mark.parametrize("name", ODD + ODDER)
def test_the_property_list_comes_back_whole(home: dict[str, str], name: str) -> None:
    """And it says that nobody has tried it."""
    [written] = files("launchd", f"/opt/{name}", {**home, "RETICENT_HOME": f"/opt/{name}"})
    document = plistlib.loads(written.text.encode())
    assert document["ProgramArguments"][0] == f"/opt/{name}"
    assert document["ProgramArguments"][-1] == "daemon"
    assert document["EnvironmentVariables"] == {"RETICENT_HOME": f"/opt/{name}"}
    assert document["Label"] == written.path.stem
    assert "Untried" in written.text


@pytest.mark.parametrize("manager", ["systemd", "launchd"])
def test_a_path_that_no_line_holds_is_refused(manager: Manager, home: dict[str, str]) -> None:
    """It would end the line, and the next would be read as a setting."""
    with pytest.raises(UsageError, match="a service file cannot hold this path"):
        files(manager, "/opt/a\nExecStart=/bin/sh", home)


def test_what_is_written_is_seen_and_removed(home: dict[str, str]) -> None:
    """None, whole, other than now, none again; another's file beside them stays."""
    units = files("systemd", sys.executable, home)
    assert look_at_units(units).present == ()
    write(units)
    assert look_at_units(units).whole
    other = units[0].path.with_name("other.service")
    other.write_text("[Unit]\n")
    units[1].path.write_text("older")
    found = look_at_units(units)
    assert (found.whole, found.differing) == (False, (units[1].path,))
    assert remove(units) == [each.path for each in units]
    assert [*place("systemd", home).iterdir()] == [other]


@pytest.mark.parametrize("manager", ["systemd", "launchd"])
def test_a_service_for_other_folders_is_foreign(manager: Manager, home: dict[str, str]) -> None:
    """One of this home is not, whatever interpreter it starts; nor is none at all."""
    here = files(manager, "/usr/bin/python3", {**home, "RETICENT_HOME": "/one"})
    there = files(manager, sys.executable, {**home, "RETICENT_HOME": "/two"})
    assert not foreign(there)
    write(here)
    assert foreign(there)
    assert not foreign(files(manager, sys.executable, {**home, "RETICENT_HOME": "/one"}))
    here[0].path.write_text("<?xml rubbish")
    assert foreign(there)
