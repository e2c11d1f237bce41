"""The files that make the system start the daemon."""

import plistlib
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent import __version__
from agent.daemon.artifacts import Artifact, Machine, Manager
from agent.daemon.service import check_program, place, program_of, units
from agent.errors import UsageError
from tests.programs import needs
from tests.worlds.people import machine_at, started_by

VERIFY = ["--user", "--recursive-errors=no", "verify"]
ODD = ["python3", "py thon", "100%n", "$HOME", "ünï", "semi;colon", "#x"]
ODDER = ['a"b', "a\\b", "it's"]


def verified(written: tuple[Artifact, ...]) -> str:
    """Write units, and return what systemd says of them, nothing if all is well."""
    command = [needs("systemd-analyze"), *VERIFY]
    for each in written:
        each.write()
    environment = {"HOME": "/nowhere", "XDG_RUNTIME_DIR": "/run", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [*command, *(str(each.path) for each in written)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=60,
    )
    ours = [line for line in done.stderr.splitlines() if "reticent" in line]
    return "\n".join(ours) or ("" if done.returncode == 0 else f"exit {done.returncode}")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine in which units go to a folder of the test, with the Python that runs here."""
    return started_by(machine_at(tmp_path, RETICENT_HOME=""), sys.executable)


def test_systemd_finds_nothing_wrong_with_the_units(machine: Machine) -> None:
    """With the interpreter that runs here."""
    assert verified(units(machine)) == ""


@pytest.mark.parametrize("name", ODD)
def test_an_odd_path_stays_itself(tmp_path: Path, name: str) -> None:
    """Of the interpreter, which systemd looks for, and of the folder of all that is ours."""
    interpreter = tmp_path / name
    interpreter.write_text("#!/bin/sh\n")
    interpreter.chmod(0o700)
    odd = started_by(machine_at(tmp_path, RETICENT_HOME=f"/opt/{name}"), str(interpreter))
    assert verified(units(odd)) == ""
    assert program_of(units(odd)[0].text) == str(interpreter)


@pytest.mark.parametrize("key", ["Snooze=yes", "SocketMode=rw"])
def test_the_check_itself_notices_what_is_wrong(machine: Machine, key: str) -> None:
    """A missing interpreter, or a line in any of the units: else the rest would say nothing."""
    gone = units(started_by(machine, str(machine.home / "gone")))
    assert "gone" in verified(gone)
    service, control, query = units(machine)
    wrong = replace(control, text=control.text.replace("SocketMode=0600", key))
    assert verified((service, wrong, query)) != ""


def settings(text: str, key: str) -> list[str]:
    """Return the values of a key in a unit."""
    return [line.partition("=")[2] for line in text.splitlines() if line.startswith(f"{key}=")]


def test_the_sockets_are_where_the_command_line_looks(tmp_path: Path) -> None:
    """By name, each only the user's, below the user's runtime folder or $RETICENT_HOME."""
    moved = machine_at(tmp_path, RETICENT_HOME="/opt/elsewhere")
    usual = machine_at(tmp_path, RETICENT_HOME="", XDG_RUNTIME_DIR="/run/user/1000")
    for machine in (usual, moved):
        service, *sockets = units(machine)
        assert settings(service.text, "Sockets") == [" ".join(e.path.name for e in sockets)]
        for unit, door in zip(sockets, ("control", "query"), strict=True):
            [listened] = settings(unit.text, "ListenStream")
            expected = getattr(machine.paths, door)
            assert listened.replace("%t", "/run/user/1000") == str(expected)
            assert settings(unit.text, "FileDescriptorName") == [door]
            assert settings(unit.text, "SocketMode") == ["0600"]
            assert settings(unit.text, "DirectoryMode") == ["0700"]
            assert settings(unit.text, "Service") == ["reticent.service"]


def test_where_things_lie_is_passed_on(tmp_path: Path) -> None:
    """The manager of services does not know the variables of a shell."""
    more = {"RETICENT_HOME": "relative", "XDG_DATA_HOME": "/data", "OTHER": "secret"}
    service = units(machine_at(tmp_path, **more))[0]
    there = f'"RETICENT_HOME={Path.cwd() / "relative"}"'
    assert settings(service.text, "Environment") == [there, '"XDG_DATA_HOME=/data"']


def test_the_command_is_ours_wherever_it_is_run(tmp_path: Path, machine: Machine) -> None:
    """A folder of the same name does not take our place."""
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "__init__.py").write_text("raise SystemExit(1)")
    [started] = settings(units(machine)[0].text, "ExecStart")
    command = [*shlex.split(started)[:-2], "--version"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert __version__ in done.stdout


@pytest.mark.parametrize("name", ODDER)
def test_a_program_with_quotes_is_refused(tmp_path: Path, name: str) -> None:
    """As systemd does itself. In a folder's name they are no trouble, nor to what removes it."""
    with pytest.raises(UsageError, match="a service file cannot hold this path"):
        check_program(started_by(machine_at(tmp_path), f"/opt/{name}"))
    moved = started_by(machine_at(tmp_path, RETICENT_HOME=f"/opt/{name}"), sys.executable)
    assert verified(units(moved)) == ""


@pytest.mark.parametrize("name", ODD + ODDER)
def test_the_property_list_comes_back_whole(tmp_path: Path, name: str) -> None:
    """And it says that nobody has tried it."""
    mac = machine_at(tmp_path, "launchd", RETICENT_HOME=f"/opt/{name}")
    [written] = units(started_by(mac, f"/opt/{name}"))
    document = plistlib.loads(written.text.encode())
    assert program_of(written.text) == document["ProgramArguments"][0] == f"/opt/{name}"
    assert document["ProgramArguments"][-2:] == ["daemon", "run"]
    assert document["EnvironmentVariables"] == {"RETICENT_HOME": f"/opt/{name}"}
    assert document["Label"] == written.path.stem
    assert "Untried" in written.text


@pytest.mark.parametrize("manager", ["systemd", "launchd"])
def test_a_path_that_no_line_holds_is_refused(manager: Manager, tmp_path: Path) -> None:
    """It would end the line, and the next would be read as a setting."""
    with pytest.raises(UsageError, match="a service file cannot hold this path"):
        units(started_by(machine_at(tmp_path, manager), "/opt/a\nExecStart=/bin/sh"))


@pytest.mark.parametrize("manager", ["systemd", "launchd"])
def test_a_service_for_other_folders_is_of_another_installation(
    manager: Manager, tmp_path: Path
) -> None:
    """One of this home is not, whatever interpreter it starts; and rubbish is nobody's."""
    here = units(started_by(machine_at(tmp_path, manager, RETICENT_HOME="/one"), "/bin/python3"))
    for each in here:
        each.write()
    same = units(machine_at(tmp_path, manager, RETICENT_HOME="/one"))
    other = units(machine_at(tmp_path, manager, RETICENT_HOME="/two"))
    assert (same[0].state(), other[0].state()) == ("outdated", "elsewhere")
    here[0].path.write_text("<?xml rubbish")
    assert same[0].state() == "foreign"
    assert here[0].path.parent == place(machine_at(tmp_path, manager))
