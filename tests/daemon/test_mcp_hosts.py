"""The files of programs that start `reticent mcp`: what is written there, and all that stays."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.browsers import System
from agent.daemon.mcp_hosts import (
    HOST_PROGRAMS,
    LARGEST,
    NAME,
    HostProgram,
    entry,
    look_at_hosts,
    members_of,
    with_entry,
)
from agent.errors import UsageError
from agent.paths import HOME, paths
from tests.wire.fake import short_folder

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MADE = {"command": "/usr/bin/python3", "args": ["mcp"]}
BY_NAME = {each.name: each for each in HOST_PROGRAMS}
SERVERS = st.dictionaries(st.text(), st.dictionaries(st.text(), JSON, max_size=3), max_size=3)
HOSTS_NAMED = st.sampled_from(HOST_PROGRAMS)


@pytest.fixture
def system() -> Iterator[System]:
    """Return a user's own folder, in which there is nothing."""
    with short_folder() as folder:
        yield System("systemd", {"HOME": str(folder)})


def put(host: HostProgram, system: System, text: str) -> Path:
    """Write a host's file."""
    path = host.path(system)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@given(whole=st.dictionaries(st.text(), JSON, max_size=4), servers=SERVERS, host=HOSTS_NAMED)
def test_all_that_is_there_stays(
    whole: dict[str, Any], servers: dict[str, Any], host: HostProgram
) -> None:
    """Every other member with its value, in its place; and of our own what others have added."""
    before = {**whole, host.servers: servers}
    after = json.loads(with_entry(before, host, MADE))
    assert after[host.servers][NAME] == {**servers.get(NAME, {}), **MADE}
    assert [*after] == [*before]
    assert {**after, host.servers: 0} == {**before, host.servers: 0}
    kept = {name: each for name, each in after[host.servers].items() if name != NAME}
    assert kept == {name: each for name, each in servers.items() if name != NAME}
    assert json.loads(with_entry(after, host, MADE)) == after


@given(
    theirs=st.dictionaries(st.sampled_from(["LANG", "HOME", "PATH"]), st.text(), max_size=3),
    then=st.none() | st.just("/old"),
    now=st.none() | st.just("/new"),
    added=st.dictionaries(
        st.sampled_from(["url", "disabled", "alwaysAllow"]), st.sampled_from([False, True, "x"])
    ),
    host=HOSTS_NAMED,
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
    with short_folder() as folder:
        system = System("systemd", {"HOME": str(folder)} | ({HOME: now} if now else {}))
        old = {"env": {**theirs, **({HOME: then} if then else {})}, **added}
        made = entry(host, "own.example", sys.executable, system.environment)

        def state(text: str) -> str:
            put(host, system, text)
            return next(e for e in look_at_hosts(system, sys.executable) if e.host is host).state

        path = put(host, system, json.dumps({host.servers: {NAME: {**old, **made}}}))
        text = with_entry({host.servers: {NAME: old}}, host, made)
        found = json.loads(text)[host.servers][NAME]
        assert found["env"] == {**theirs, **({HOME: now} if now else {})}
        kept = {name: each for name, each in added.items() if name == "alwaysAllow" or not each}
        assert {**found, "env": 0} == {**made, **kept, "env": 0}
        assert state(text) == "installed"
        stale = {**made, **added, "env": old["env"]}
        same = kept == added and then == now
        assert state(json.dumps({host.servers: {NAME: stale}})) == (
            "installed" if same else "differing"
        )
        assert path == host.path(system)


@pytest.mark.parametrize("text", ["1.10", "-0.5e-3", "1e5", "0.1", "5e-324", str(2**80), "1.5E+22"])
def test_numbers_that_stay_the_same_are_read(system: System, text: str) -> None:
    """However they are written."""
    path = put(BY_NAME["cursor"], system, f'{{"a": {text}}}')
    assert members_of(path) == {"a": json.loads(text)}


@pytest.mark.parametrize("servers", [None, [], 17, "text", {NAME: []}, {NAME: "text"}])
def test_what_is_no_place_for_a_server_is_not_written_over(servers: object) -> None:
    """Somebody means something by it."""
    host = BY_NAME["cursor"]
    with pytest.raises(UsageError, match="not made of servers"):
        with_entry({host.servers: servers}, host, MADE)


@pytest.mark.parametrize(
    "text",
    [
        *('{"a": 1, "a": 2}', "// a comment\n{}", '{"a": NaN}', '{"a": "\\ud800"}', '{"a": 1,}'),
        *("[]", "17", "{", "[" * 100_000, '{"a": 1e999}', '{"a": 1e-999}'),
        *('{"a": 12345678901234567890.12345}', '{"a": [0.1234567890123456789]}'),
        '{"a": 1e99999999999999999999999}',
    ],
)
def test_what_would_lose_something_is_not_read(system: System, text: str) -> None:
    """It says where, and the user adds the server by hand."""
    path = put(BY_NAME["vscode"], system, text)
    with pytest.raises(UsageError) as refused:
        members_of(path)
    assert refused.value.where == str(path)
    assert "by hand" in refused.value.hint


@given(data=st.binary(max_size=200))
def test_any_bytes_are_members_or_refused(data: bytes) -> None:
    """Damage is no defect."""
    with short_folder() as folder:
        path = folder / "mcp.json"
        path.write_bytes(data)
        try:
            found = members_of(path)
        except UsageError:
            return
        assert not data.strip() or found == json.loads(data)


def test_an_empty_file_or_none_has_nothing(system: System) -> None:
    """A folder or a pipe in its place is refused, and so is a file beyond all measure."""
    path = put(BY_NAME["cursor"], system, " \n")
    assert members_of(path) == {}
    assert members_of(path.with_name("absent.json")) == {}
    with pytest.raises(UsageError):
        members_of(path.parent)
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(UsageError, match="the limit"):
        members_of(path)


@pytest.mark.parametrize("host", HOST_PROGRAMS, ids=[each.name for each in HOST_PROGRAMS])
@pytest.mark.parametrize("manager", ["systemd", "launchd"])
def test_each_host_has_its_file(host: HostProgram, manager: Any) -> None:  # noqa: ANN401  (a literal)
    """Below the user's own folder, or where they keep their configuration."""
    plain = host.path(System(manager, {"HOME": "/home/u"}))
    assert plain.is_relative_to("/home/u")
    assert plain.name.endswith(".json")
    moved = System(manager, {"HOME": "/home/u", "XDG_CONFIG_HOME": "/config"})
    own = host.name in {"claude-code", "cursor"} or manager == "launchd"
    assert host.path(moved).is_relative_to("/home/u" if own else "/config")
    odd = System(manager, {"HOME": "/home/u", "XDG_CONFIG_HOME": "here"})
    assert host.path(odd) == plain
    elsewhere = System(manager, {"HOME": "/home/u", "CLAUDE_CONFIG_DIR": "/claude"})
    assert (host.path(elsewhere) != plain) == (host.name == "claude-code")


def test_an_entry_says_where_our_things_lie() -> None:
    """A host passes on none of it; and Python takes nothing from the folder it is started in."""
    host = BY_NAME["claude-desktop"]
    made = entry(host, "claude.ai", "/usr/bin/python3", {"HOME": "/home/u", "PATH": "/bin"})
    command = ["-P", "-m", "agent.cli", "mcp", "--recipient", "claude.ai"]
    assert made == {"command": "/usr/bin/python3", "args": command}
    places = {"XDG_RUNTIME_DIR": "/run/user/1", "XDG_DATA_HOME": "/d", "OTHER": "x"}
    found = entry(host, "claude.ai", sys.executable, places)["env"]
    assert found == {"XDG_RUNTIME_DIR": "/run/user/1", "XDG_DATA_HOME": "/d"}
    found = entry(host, "claude.ai", sys.executable, {HOME: "trial", **places})["env"]
    assert found == {HOME: str(paths({HOME: "trial"}).config.parent)}
    assert Path(found[HOME]).is_absolute()
    assert entry(BY_NAME["vscode"], "github.com", sys.executable, {})["type"] == "stdio"


def test_what_is_configured_is_seen(system: System) -> None:
    """As it would be written now, in another way, not at all, or nobody can tell."""
    made = {
        each.name: entry(each, "own.example", sys.executable, system.environment)
        for each in HOST_PROGRAMS
    }
    put(BY_NAME["claude-desktop"], system, "{}")
    put(BY_NAME["vscode"], system, "// mine\n{}")
    desktop, code, cursor = (BY_NAME[each] for each in ("claude-desktop", "claude-code", "cursor"))
    added = {**made["claude-code"], "disabled": False}
    put(code, system, json.dumps({code.servers: {NAME: added}}))
    old = {**made["cursor"], "command": "/gone/python"}
    put(cursor, system, json.dumps({cursor.servers: {NAME: old}}))
    found = {each.host.name: each for each in look_at_hosts(system, sys.executable)}
    assert {name: each.state for name, each in found.items()} == {
        desktop.name: "absent",
        code.name: "installed",
        "vscode": "unreadable",
        cursor.name: "differing",
    }
    assert (found[code.name].recipient, found[cursor.name].program) == (
        "own.example",
        "/gone/python",
    )
    odds: list[object] = [[], "text", {"args": "x"}, {"args": []}, {"command": 17}]
    for odd in odds:
        put(desktop, system, json.dumps({desktop.servers: {NAME: odd}}))
        [seen] = [e for e in look_at_hosts(system, sys.executable) if e.host is desktop]
        assert seen.state == ("differing" if isinstance(odd, dict) else "absent")
