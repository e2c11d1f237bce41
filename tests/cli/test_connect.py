"""`reticent connect` and `disconnect`: the system, browsers and assistants."""

import json
import sys
from pathlib import Path

import pytest

from agent.daemon.programs import BROWSERS, HOST, HOST_PROGRAMS, NAME
from agent.daemon.service import FOLDERS
from agent.paths import RUNTIME, paths
from tests.cli.conftest import Run
from tests.wire.fake import FakeDaemon, short_folder

CHROMIUM = f".config/chromium/NativeMessagingHosts/{HOST}.json"
FIREFOX = f".mozilla/native-messaging-hosts/{HOST}.json"
UNITS = ["reticent.service"]
MANAGER = """#!/bin/sh
printf '%s\\n' "$*" >>"$0.log"
"""


@pytest.fixture(autouse=True)
def user(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user of Linux with no browser, and no manager of services that answers."""
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(home / "bin"))
    monkeypatch.setattr("agent.daemon.programs.SYSTEM_WIDE", home / "system")
    return home


@pytest.fixture
def used(user: Path) -> Path:
    """The same, who has used Chromium and Firefox."""
    for folder in (".config/chromium/Default", ".mozilla/firefox"):
        (user / folder).mkdir(parents=True)
    return user


@pytest.fixture
def manager(user: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A manager that does what it is told, and the file in which it notes that."""
    for name in (*FOLDERS, RUNTIME):  # at the last of them a daemon of the person may listen
        monkeypatch.delenv(name, raising=False)
    program = user / "bin/systemctl"
    program.parent.mkdir()
    program.write_text(MANAGER)
    program.chmod(0o700)
    return user / "bin/systemctl.log"


def _states(run: Run) -> dict[str, str]:
    return {e["name"]: e["state"] for e in run("connect", "--json").record["programs"]}


def _units(user: Path) -> list[str]:
    return sorted(each.name for each in (user / ".config/systemd/user").glob("*"))


# without a name


def test_without_a_name_it_lists_the_state_of_each(run: Run) -> None:
    """Of the system, browsers and assistants, by the names that it takes; `disconnect` too."""
    assert [*_states(run)] == ["system", *(e.name for e in (*BROWSERS, *HOST_PROGRAMS))]
    assert {*_states(run).values()} == {"absent"}
    assert run("connect", "vivaldi", "cursor").code == 0
    run("connect", "system")
    assert {n for n, s in _states(run).items() if s == "installed"} == {
        "vivaldi",
        "cursor",
        "system",
    }
    assert "connected for cursor.com" in run("disconnect").out
    assert run("disconnect").out == run("connect").out
    run("disconnect", "vivaldi", "cursor", "system")
    assert {*_states(run).values()} == {"absent"}


# browsers


def test_browsers_are_those_that_are_here(run: Run, used: Path) -> None:
    """And nobody else; what was written is named, and how each loads the extension."""
    ran = run("connect", "browsers")
    assert (ran.code, ran.err) == (0, "")
    wrote = (paths().relay, paths().extension, used / CHROMIUM, used / FIREFOX)
    assert ran.out.splitlines()[:5] == ["Wrote:", *(f"  {each}" for each in wrote)]
    assert (paths().extension / "manifest.json").is_file()
    assert "In Chromium: open chrome://extensions" in ran.out
    assert "In Firefox: open about:debugging" in ran.out
    named = run("connect", "chromium", "brave").out
    assert "In Chromium, Brave: " in named
    assert "In Firefox" not in named


def test_the_relay_goes_with_the_last_browser(run: Run, used: Path) -> None:
    """With the extension."""
    run("connect", "browsers")
    assert run("disconnect", "firefox", "--json").record["removed"] == [str(used / FIREFOX)]
    said, *gone = run("disconnect", "browsers").out.splitlines()
    assert said == "Removed:"
    files = (used / CHROMIUM, paths().relay, paths().extension)
    assert gone == [
        *(f"  {e}" for e in files),
        "A running browser stays connected until you close it.",
    ]
    again = run("disconnect", "browsers")
    assert (again.code, again.out) == (0, "Nothing to remove.\n")


def test_no_browser_is_an_error(run: Run, user: Path) -> None:
    """With the names that there are; one in a sandbox is named, with what to do."""
    error, hint = run("connect", "browsers").refusal()
    assert error == "no browser was found"
    assert all(each.name in hint for each in BROWSERS)
    assert [*user.iterdir()] == []
    (user / "snap/firefox").mkdir(parents=True)
    error, hint = run("connect", "browsers").refusal()
    assert error.startswith("Firefox is a snap")
    assert "install Firefox from" in hint
    [note] = run("connect", "--json").record["notes"]
    assert note.startswith("Firefox is a snap")


# assistants


def test_an_assistant_is_connected_for_a_recipient(run: Run, user: Path) -> None:
    """By any address of it, which is kept until another is named."""
    ran = run("connect", "cursor", "--recipient", "https://www.own.example/chat")
    assert "Cursor starts it the next time that you open it" in ran.page
    assert "counts as known to www.own.example" in ran.page
    run("connect", "cursor")
    written = json.loads((user / ".cursor/mcp.json").read_text())
    assert written["mcpServers"][NAME]["args"][-3:-1] == ["www.own.example", "--program"]


def test_a_missing_extra_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With how to install it."""
    monkeypatch.setattr("agent.cli.assistants.find_spec", lambda _: None)
    for arguments in (("connect", "cursor"), ("mcp", "--recipient", "claude.ai")):
        error, hint = run(*arguments).refusal()
        assert error == "the extra `mcp` is not installed"
        assert hint.startswith(f"run {sys.executable} -m pip install 'mcp>=")


# the system


def test_without_a_manager_commands_are_shown(run: Run, user: Path) -> None:
    """The files are there all the same."""
    assert run("disconnect", "system").out == "Nothing to remove.\n"
    ran = run("connect", "system")
    assert (ran.code, ran.err, _units(user)) == (1, "", sorted(UNITS))  # nothing runs yet
    *_, reload, enable, until_then = ran.out.splitlines()
    assert reload == "  systemctl --user daemon-reload"
    assert enable == "  systemctl --user enable --now reticent.service"
    assert "`reticent daemon`" in until_then
    gone = run("disconnect", "system")
    assert gone.out.splitlines()[-1] == "  systemctl --user daemon-reload"
    assert _units(user) == []


def test_with_a_manager_they_are_run(run: Run, user: Path, manager: Path) -> None:
    """In this order; what runs is stopped first, so that it is started anew, or for good."""

    def done(*arguments: str) -> list[str]:
        manager.unlink(missing_ok=True)
        assert run(*arguments).code == 0
        lines = manager.read_text().splitlines()
        return [each.removeprefix("--user ") for each in lines if "show-environment" not in each]

    start = ["daemon-reload", "enable --now reticent.service"]
    stop = "disable --now reticent.service"
    assert done("connect", "system") == start
    assert done("connect", "system") == [stop, *start]
    assert done("disconnect", "system") == [stop, "daemon-reload"]
    assert _units(user) == []


def test_a_daemon_that_runs_by_itself_is_in_the_way(
    run: Run, user: Path, manager: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systemd could start no other; nothing is written then."""
    assert not manager.exists()
    with short_folder() as folder:
        monkeypatch.setenv("RETICENT_HOME", str(folder))
        with FakeDaemon(paths().control, {}):
            error, _ = run("connect", "system").refusal(1)
    assert "a daemon is already running" in error
    assert _units(user) == []
