"""Programs that are connected: browsers, those with an assistant, and the system's service."""

import json
import re
import shlex
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import __version__
from agent.daemon.artifacts import Artifact, Machine
from agent.daemon.programs import (
    BROWSERS,
    CHROMIUM_ID,
    FIREFOX_ID,
    HOST,
    HOST_PROGRAMS,
    NAME,
    WRITTEN,
    HostProgram,
    confined,
    entry,
    is_here,
    launcher,
    manifest,
    manifest_path,
    recipient_of,
)
from agent.daemon.service import unit
from agent.errors import UsageError
from agent.paths import HOME, paths
from policy.settings import HOSTED
from tests.house.tree import ran
from tests.programs import needs
from tests.worlds.doors import hosting
from tests.worlds.people import machine_at, new_machine, started_by

CHROMIUM, FIREFOX, MAC = BROWSERS[0], BROWSERS[-1], True
ORIGIN = f"chrome-extension://{CHROMIUM_ID}/"


def test_a_manifest_is_for_our_extension_alone(machine: Machine) -> None:
    """With a path that is absolute."""
    relay = {"path": str(machine.paths.relay), "type": "stdio"}
    ours = {
        "chromium": {"allowed_origins": [ORIGIN]},
        "firefox": {"allowed_extensions": [FIREFOX_ID]},
    }
    for browser in BROWSERS:
        made = manifest(browser, machine)
        assert made.path.name == f"{HOST}.json"
        about = {"name": HOST, "description": WRITTEN}
        assert json.loads(made.text) == {**about, **relay, **ours[browser.kind]}
    assert machine.paths.relay.is_absolute()


@pytest.mark.parametrize("name", ["py thon", "$HOME", "it's", 'a"b', "ünï", "`x`"])
def test_the_launcher_runs(tmp_path: Path, name: str) -> None:
    """From anywhere, with nothing in its environment, and answers."""
    interpreter = tmp_path / f"{name}.py"
    interpreter.symlink_to(sys.executable)
    machine = started_by(machine_at(tmp_path, RETICENT_HOME=str(tmp_path / name)), str(interpreter))
    launcher(machine).write()
    with hosting(Path("/none"), str(machine.paths.relay), ORIGIN) as host:
        assert host.ask(1, "status")["code"] == "no daemon"
        assert host.end() == 0
    interpreter.unlink()  # as when the system has a new Python
    with hosting(Path("/none"), str(machine.paths.relay), ORIGIN) as host:
        assert "`pipx reinstall reticent`" in host.ask(1, "status")["hint"]
    with pytest.raises(UsageError, match="the path of the socket"):
        launcher(machine_at(tmp_path, RETICENT_HOME=str(tmp_path / ("x" * 120))))


def test_folders_are_those_of_the_system(tmp_path: Path) -> None:
    """Of the user's configuration, where that is elsewhere; Firefox has its own."""
    linux = machine_at(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "c"))
    mac = machine_at(tmp_path, MAC)
    assert manifest_path(CHROMIUM, linux).parent == tmp_path / "c/chromium/NativeMessagingHosts"
    assert manifest_path(FIREFOX, linux).parent == tmp_path / ".mozilla/native-messaging-hosts"
    support = tmp_path / "Library/Application Support"
    assert manifest_path(FIREFOX, mac).parent == support / "Mozilla/NativeMessagingHosts"
    assert manifest_path(BROWSERS[1], mac).parent == support / "Google/Chrome/NativeMessagingHosts"
    assert len({manifest_path(each, linux) for each in BROWSERS}) == len(BROWSERS)


def test_a_browser_is_here_if_it_was_used_or_can_be(machine: Machine) -> None:
    """That it was told of the relay is no sign of that."""
    for each in BROWSERS:
        manifest(each, machine).write()
        assert not is_here(each, machine)
    (manifest_path(FIREFOX, machine).parents[1] / "firefox").mkdir()
    assert [each.name for each in BROWSERS if is_here(each, machine)] == ["firefox"]
    for folder, here in (("snap/bin", False), ("flatpak/exports/bin", False), ("bin", True)):
        program = machine.home / folder / "chromium"
        program.parent.mkdir(parents=True)
        program.touch(0o700)
        environment = {**machine.environment, "PATH": str(program.parent)}
        assert is_here(CHROMIUM, replace(machine, environment=environment)) == here


def test_a_browser_in_a_sandbox_is_named(machine: Machine) -> None:
    """It is not here otherwise; names are such as browsers take."""
    (machine.home / "snap/firefox").mkdir(parents=True)
    (machine.home / ".var/app/com.brave.Browser").mkdir(parents=True)
    found = {each.name: sandbox for each, sandbox in confined(machine)}
    assert found == {"firefox": "snap", "brave": "flatpak"}
    assert not is_here(FIREFOX, machine)
    assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)*", HOST)
    assert re.fullmatch(r"[a-zA-Z0-9._-]*@[a-zA-Z0-9._-]+", FIREFOX_ID)


BY_NAME = {each.name: each for each in HOST_PROGRAMS}
ADDED = st.dictionaries(
    st.sampled_from(["url", "disabled", "alwaysAllow"]), st.sampled_from([False, True, "x"])
)


def put(host: HostProgram, machine: Machine, server: object) -> Path:
    """Write a host's file with our server in it."""
    path = host.path(machine)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({host.servers: {NAME: server}}))
    return path


@given(
    theirs=st.dictionaries(st.sampled_from(["LANG", "HOME", "PATH"]), st.text(), max_size=3),
    then=st.none() | st.just("/old"),
    now=st.none() | st.just("/new"),
    added=ADDED,
    host=st.sampled_from(HOST_PROGRAMS),
)
def test_our_own_places_are_those_of_now_and_others_stay(
    *,
    theirs: dict[str, str],
    then: str | None,
    now: str | None,
    added: dict[str, Any],
    host: HostProgram,
) -> None:
    """Of the environment in an entry; what would keep it from being started goes, and is seen."""
    with new_machine() as found:
        machine = machine_at(found.home, RETICENT_HOME=now or "")
        made = json.loads(entry(host, machine, "own.example").text)
        env = {**theirs, **({HOME: then} if then else {})}
        path = put(host, machine, {"env": env, **added})
        entry(host, machine, "own.example").write()
        server = json.loads(path.read_text())[host.servers][NAME]
        assert server["env"] == {**theirs, **({HOME: now} if now else {})}
        kept = {name: each for name, each in added.items() if name == "alwaysAllow" or not each}
        assert {**server, "env": 0} == {**made, **kept, "env": 0}
        assert entry(host, machine).state() == "installed"
        put(host, machine, {**made, **added, "env": env})
        state = "elsewhere" if then != now else "installed" if kept == added else "outdated"
        assert entry(host, machine).state() == state


def test_each_host_has_its_file() -> None:
    """Below the user's own folder, or where they keep their configuration."""
    home = Path("/home/u")
    for host, mac in product(HOST_PROGRAMS, (False, True)):
        plain = host.path(machine_at(home, mac))
        assert plain.is_relative_to(home)
        assert plain.name.endswith(".json")
        own = host.name in {"claude-code", "cursor"} or mac
        moved = machine_at(home, mac, XDG_CONFIG_HOME="/config")
        assert host.path(moved).is_relative_to("/home/u" if own else "/config")
        assert host.path(machine_at(home, mac, XDG_CONFIG_HOME="here")) == plain


def test_an_entry_says_where_our_things_lie() -> None:
    """A host passes on none of it; and Python takes nothing from the folder it is started in."""

    def server(name: str, **variables: str) -> dict[str, Any]:
        machine = machine_at(Path("/none"), **{"RETICENT_HOME": "", **variables})
        found: dict[str, Any] = json.loads(entry(BY_NAME[name], machine).text)
        return found

    command = ["-P", "-m", "agent.cli", "mcp", "--recipient", "claude.ai"]
    command += ["--program", "claude-desktop"]
    assert server("claude-desktop") == {"command": "/usr/bin/python3", "args": command}
    places = {"XDG_RUNTIME_DIR": "/run/user/1", "XDG_DATA_HOME": "/d"}
    assert server("claude-desktop", **places, OTHER="x")["env"] == places
    env = server("claude-desktop", **places, RETICENT_HOME="trial")["env"]
    assert env == {HOME: str(paths({HOME: "trial"}).config.parent)}
    assert server("vscode")["type"] == "stdio"


def test_each_program_is_a_door_that_rules_can_name() -> None:
    """By the name under which it is connected."""
    assert {each.name for each in HOST_PROGRAMS} == {*HOSTED}


def test_a_recipient_stays_until_another_is_named(machine: Machine) -> None:
    """And an odd entry of our name is one to be written over."""
    host = BY_NAME["cursor"]
    entry(host, machine, "own.example").write()
    for found in (entry(host, machine), entry(host, started_by(machine, "/bin/python3"))):
        assert recipient_of(json.loads(found.text)) == "own.example"
    assert recipient_of(json.loads(entry(host, machine, "b.example").text)) == "b.example"
    env = {"env": {HOME: machine.environment[HOME]}}
    odds: list[dict[str, Any]] = [{"args": "x"}, {"args": []}, {"command": 17}, {"args": ["mcp"]}]
    for odd in odds:
        put(host, machine, {**odd, **env})
        assert entry(host, machine).state() == "outdated"
        assert recipient_of(json.loads(entry(host, machine).text)) == host.recipient


ODD = ["python3", "py thon", "100%n", "$HOME", "ünï", "semi;colon", "#x"]
QUOTED = ['a"b', "a\\b", "it's"]


def verified(written: Artifact) -> str:
    """Write a unit, and return what systemd says of it, nothing if all is well."""
    command = [needs("systemd-analyze"), "--user", "--recursive-errors=no", "verify"]
    written.write()
    environment = {"HOME": "/nowhere", "XDG_RUNTIME_DIR": "/run", "PATH": "/usr/bin:/bin"}
    done = ran(*command, written.path, check=False, env=environment)
    ours = [line for line in done.stderr.splitlines() if "reticent" in line]
    return "\n".join(ours) or ("" if done.returncode == 0 else f"exit {done.returncode}")


@pytest.fixture
def here(tmp_path: Path) -> Machine:
    """A machine in which units go to a folder of the test, with the Python that runs here."""
    return started_by(machine_at(tmp_path, RETICENT_HOME=""), sys.executable)


def test_systemd_finds_nothing_wrong_with_the_units(here: Machine) -> None:
    """Whatever the paths are of our folder and the interpreter; it notices what is wrong.

    Quotes are no trouble in the name of a folder, in that of a program systemd refuses them.
    """
    good = unit(here)
    assert verified(good) == ""
    assert verified(replace(good, text=good.text.replace("UMask=0077", "UMask=rw"))) != ""
    assert "gone" in verified(unit(started_by(here, str(here.home / "gone"))))
    for name in ODD:
        interpreter = here.home / name
        interpreter.write_text("#!/bin/sh\n")
        interpreter.chmod(0o700)
        odd = started_by(machine_at(here.home, RETICENT_HOME=f"/opt/{name}"), str(interpreter))
        assert verified(unit(odd)) == "", name
    for name in QUOTED:
        moved = machine_at(here.home, RETICENT_HOME=f"/opt/{name}")
        assert verified(unit(started_by(moved, sys.executable))) == "", name


def settings(text: str, key: str) -> list[str]:
    return [line.partition("=")[2] for line in text.splitlines() if line.startswith(f"{key}=")]


def test_where_things_lie_is_passed_on(tmp_path: Path) -> None:
    """The manager of services does not know the variables of a shell."""
    more = {"RETICENT_HOME": "relative", "XDG_DATA_HOME": "/data", "OTHER": "secret"}
    service = unit(machine_at(tmp_path, **more))
    there = f'"RETICENT_HOME={Path.cwd() / "relative"}"'
    assert settings(service.text, "Environment") == [there, '"XDG_DATA_HOME=/data"']


def test_the_command_is_ours_wherever_it_is_run(tmp_path: Path, here: Machine) -> None:
    """A folder of the same name does not take our place."""
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "__init__.py").write_text("raise SystemExit(1)")
    [started] = settings(unit(here).text, "ExecStart")
    done = ran(*shlex.split(started)[:-2], "--version", cwd=tmp_path)
    assert done.stderr == ""
    assert __version__ in done.stdout


def test_a_path_that_no_line_holds_is_refused(tmp_path: Path) -> None:
    """It would end the line, and the next would be read as a setting; macOS has no units."""
    for name in ("a\nExecStart=/bin/sh", *QUOTED):
        with pytest.raises(UsageError, match="a service file cannot hold this path"):
            unit(started_by(machine_at(tmp_path), f"/opt/{name}"))
    with pytest.raises(UsageError, match="only where systemd runs"):
        unit(machine_at(tmp_path, MAC))


def test_a_service_for_other_folders_is_of_another_installation(tmp_path: Path) -> None:
    """One of this home is not, whatever interpreter it starts; and rubbish is nobody's."""
    here = unit(started_by(machine_at(tmp_path, RETICENT_HOME="/one"), "/bin/python3"))
    here.write()
    same = unit(machine_at(tmp_path, RETICENT_HOME="/one"))
    other = unit(machine_at(tmp_path, RETICENT_HOME="/two"))
    assert (same.state(), other.state()) == ("outdated", "elsewhere")
    here.path.write_text("rubbish")
    assert same.state() == "foreign"
