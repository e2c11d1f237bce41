"""The guide's section on assistants is true: from an empty home to facts, and to none any more."""

import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from mcp.client.stdio import StdioServerParameters

from tests.assistants.asking import CONTEXT, WEEKEND, Mode, Said, calls
from tests.newcomer import ASSISTING, DAEMON, LIVING, SOCKETS, commands, daemon, home_of, typed

SUM = "what is 17 × 23"
INITIATED = commands(LIVING)[: commands(LIVING).index("reticent unlock") + 1]


def test_a_newcomers_assistant_gets_facts_until_it_is_blocked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Started by what the guide has written, with next to nothing of the environment."""
    with home_of(monkeypatch) as home, ExitStack() as ends:
        for command in INITIATED:
            if command == DAEMON:
                ends.enter_context(daemon(home / SOCKETS))
            else:
                typed(command)
        show, write, knows, block = commands(ASSISTING)
        assert "mcpServers" in typed(show)
        assert str(home / ".claude.json") in typed(write)

        weekend, none = ask(home, "2026-07-28")
        assert len(weekend.facts) == 2
        assert (none.facts, none.parts["understood_as"]) == ({}, None)
        page = " ".join(typed(knows).split())
        for title, value in weekend.facts.items():
            assert title in page
            assert {*value.split(" (")[0].split()} <= {*page.split()}
        requests = typed("reticent requests list")
        assert WEEKEND[:20] in requests
        assert "17 × 23" in requests

        typed(block)
        for each in ask(home, "legacy"):
            assert each.facts == {}


def ask(home: Path, mode: Mode) -> list[Said]:
    """Return what the host that is configured is told for both questions."""
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["reticent"]
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=entry["env"], cwd=os.sep
    )
    return calls(server, [(CONTEXT, {"question": each}) for each in (WEEKEND, SUM)], mode)
