"""`reticent mcp install`: what it shows, what it writes, and what it leaves alone."""

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.daemon.browsers import System
from agent.daemon.mcp_hosts import HOST_PROGRAMS, NAME, HostProgram, look_at_hosts, with_entry
from agent.paths import HOME
from tests.cli.conftest import Run

CODE = next(each for each in HOST_PROGRAMS if each.name == "claude-code")
hosts = pytest.mark.parametrize("host", HOST_PROGRAMS, ids=[each.name for each in HOST_PROGRAMS])


@pytest.fixture(autouse=True)
def system(home: Path, monkeypatch: pytest.MonkeyPatch) -> System:
    """Return a user of Linux whose programs are configured nowhere yet."""
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("agent.cli.browser.usual", lambda: "systemd")
    return System("systemd", {"HOME": str(home), HOME: str(home)})


@hosts
def test_it_shows_what_to_add_and_writes_nothing(
    run: Run, system: System, host: HostProgram
) -> None:
    """What is shown is what it says to programs; beside it stands where that belongs."""
    record = run("mcp", "install", host.name, "--json").record
    assert (record["path"], record["written"]) == (str(host.path(system)), False)
    assert record["recipient"] == host.recipient
    ran = run("mcp", "install", host.name)
    assert str(host.path(system)) in ran.out
    begin, end = ran.out.index("{"), ran.out.rindex("}") + 1
    assert json.loads(ran.out[begin:end]) == record["configuration"]
    assert f"counts as known to {host.recipient}" in ran.page
    assert not host.path(system).exists()


@hosts
def test_what_is_written_is_found_and_all_else_stays(
    run: Run, system: System, host: HostProgram
) -> None:
    """Also a second time, for another recipient."""
    path = host.path(system)
    path.parent.mkdir(parents=True, exist_ok=True)
    there = {"theme": "dark", host.servers: {"files": {"command": "x"}}, "zoom": 1.5}
    path.write_text(json.dumps(there))
    path.chmod(0o640)
    for given in ((), ("--recipient", "https://www.own.example/chat")):
        ran = run("mcp", "install", host.name, "--write", *given)
        assert f"{host.title} starts it the next time that you open it" in ran.page
        [seen] = [e for e in look_at_hosts(system, sys.executable) if e.host is host]
        assert (seen.state, seen.path) == ("installed", path)
        assert seen.recipient == ("www.own.example" if given else host.recipient)
        written = json.loads(path.read_text())
        assert written[host.servers].pop(NAME) == seen.entry
        assert written == there
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_is_its_owners(run: Run, system: System) -> None:
    """It may come to hold what others must not read."""
    for host in HOST_PROGRAMS:
        run("mcp", "install", host.name, "--write")
        assert stat.S_IMODE(host.path(system).stat().st_mode) == 0o600


def test_a_link_stays_one(run: Run, system: System, home: Path) -> None:
    """Some keep such files in a folder of their own."""
    target = home / "dotfiles.json"
    target.write_text('{"a": 1}')
    CODE.path(system).symlink_to(target)
    run("mcp", "install", CODE.name, "--write")
    assert CODE.path(system).is_symlink()
    assert json.loads(target.read_text()).keys() == {"a", CODE.servers}


@pytest.mark.parametrize("text", ["// mine\n{}", "[]", '{"mcpServers": []}'])
def test_what_would_lose_something_is_left_as_it_is(run: Run, system: System, text: str) -> None:
    """The hint is to add it by hand."""
    path = CODE.path(system)
    path.write_text(text)
    _, hint = run("mcp", "install", CODE.name, "--write").refusal()
    assert hint == "add the server by hand, as it is shown without --write"
    assert path.read_text() == text


def test_what_the_program_writes_meanwhile_is_kept(
    run: Run, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may write its file at any time while it runs: then nothing is written over that."""
    path = CODE.path(system)
    for before in (None, "{}"):
        if before is not None:
            path.write_text(before)

        def late(*given: Any) -> str:  # noqa: ANN401  (of any function)
            path.write_text('{"talks": 1}')
            return with_entry(*given)

        monkeypatch.setattr("agent.cli.mcp_install.with_entry", late)
        what, hint = run("mcp", "install", CODE.name, "--write").refusal()
        assert f"{CODE.title} changed this file meanwhile" in what
        assert hint == f"close {CODE.title} and try again"
        assert path.read_text() == '{"talks": 1}'
        assert [*path.parent.glob(".*.part")] == []


def test_names_that_are_none_are_refused(run: Run) -> None:
    """A program, and a recipient."""
    error, hint = run("mcp", "install", "zed").refusal()
    assert error.startswith("unknown value of")
    assert "claude-desktop" in hint
    error, _ = run("mcp", "install", CODE.name, "--recipient", "a b").refusal()
    assert "not a host name" in error
    assert run("mcp").refusal()[0] == "missing option '--recipient'"
    assert "not a host name" in run("mcp", "--recipient", "a b").refusal()[0]


@pytest.mark.parametrize("arguments", [("--recipient", "claude.ai"), ("install", "cursor")])
def test_without_the_extra_it_says_so(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """Before anything is written that could not work."""
    monkeypatch.setattr("agent.cli.mcp.find_spec", lambda _: None)
    error, hint = run("mcp", *arguments).refusal()
    assert error == "the extra `mcp` is not installed"
    assert "WHEEL[mcp]" in hint
