"""The entries of programs that start `reticent mcp`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.artifacts import Machine, Manager
from agent.daemon.mcp_hosts import HOST_PROGRAMS, NAME, HostProgram, entry, recipient_of
from agent.paths import HOME, paths
from tests.worlds.people import machine_at, new_machine, started_by

BY_NAME = {each.name: each for each in HOST_PROGRAMS}
ADDED = st.dictionaries(
    st.sampled_from(["url", "disabled", "alwaysAllow"]), st.sampled_from([False, True, "x"])
)


@pytest.fixture
def machine() -> Iterator[Machine]:
    """A machine on which nothing is installed."""
    with new_machine() as found:
        yield found


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


@pytest.mark.parametrize("host", HOST_PROGRAMS, ids=[each.name for each in HOST_PROGRAMS])
@pytest.mark.parametrize("manager", ["systemd", "launchd"])
def test_each_host_has_its_file(host: HostProgram, manager: Manager) -> None:
    """Below the user's own folder, or where they keep their configuration."""
    home = Path("/home/u")
    plain = host.path(machine_at(home, manager))
    assert plain.is_relative_to(home)
    assert plain.name.endswith(".json")
    own = host.name in {"claude-code", "cursor"} or manager == "launchd"
    moved = machine_at(home, manager, XDG_CONFIG_HOME="/config")
    assert host.path(moved).is_relative_to("/home/u" if own else "/config")
    assert host.path(machine_at(home, manager, XDG_CONFIG_HOME="here")) == plain
    elsewhere = machine_at(home, manager, CLAUDE_CONFIG_DIR="/claude")
    assert (host.path(elsewhere) != plain) == (host.name == "claude-code")


def test_an_entry_says_where_our_things_lie() -> None:
    """A host passes on none of it; and Python takes nothing from the folder it is started in."""

    def server(name: str, **variables: str) -> dict[str, Any]:
        machine = machine_at(Path("/none"), **{"RETICENT_HOME": "", **variables})
        found: dict[str, Any] = json.loads(entry(BY_NAME[name], machine).text)
        return found

    command = ["-P", "-m", "agent.cli", "mcp", "--recipient", "claude.ai"]
    assert server("claude-desktop") == {"command": "/usr/bin/python3", "args": command}
    places = {"XDG_RUNTIME_DIR": "/run/user/1", "XDG_DATA_HOME": "/d"}
    assert server("claude-desktop", **places, OTHER="x")["env"] == places
    env = server("claude-desktop", **places, RETICENT_HOME="trial")["env"]
    assert env == {HOME: str(paths({HOME: "trial"}).config.parent)}
    assert server("vscode")["type"] == "stdio"


def test_a_recipient_stays_until_another_is_named(machine: Machine) -> None:
    """And an odd entry of our name is one to be written over."""
    host = BY_NAME["cursor"]
    entry(host, machine, "own.example").write()
    for found in (entry(host, machine), entry(host, started_by(machine, "/bin/python3"))):
        assert recipient_of(json.loads(found.text)) == "own.example"
    assert recipient_of(json.loads(entry(host, machine, "b.example").text)) == "b.example"
    env = {"env": {HOME: machine.environment[HOME]}}
    odds: list[dict[str, object]] = [
        {"args": "x"},
        {"args": []},
        {"command": 17},
        {"args": ["mcp"]},
    ]
    for odd in odds:
        put(host, machine, {**odd, **env})
        assert entry(host, machine).state() == "outdated"
        assert recipient_of(json.loads(entry(host, machine).text)) == host.recipient
