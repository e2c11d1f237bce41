"""Assistants that ask a daemon, through the protocol's own client."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from agent.assistants.server import AssistantTools, server_for
from agent.paths import HOME, Paths

Mode = Literal["2026-07-28", "legacy"]
MODES: tuple[Mode, ...] = ("2026-07-28", "legacy")
CLAUDE = "claude.ai"
CONTEXT, TOLD = "personal_context", "already_told"
COMMAND = ["-P", "-m", "agent.cli", "mcp", "--recipient"]
WEEKEND = "what could I do this weekend with two kids"


@dataclass(frozen=True, slots=True)
class Said:
    """What a tool answered: its line, its parts, and whether it was an error."""

    line: str
    parts: Mapping[str, Any]
    wrong: bool

    @property
    def facts(self) -> dict[str, str]:
        """The facts by their titles."""
        return {each["title"]: each["value"] for each in self.parts["facts"]}


def started(places: Paths, recipient: str = CLAUDE) -> StdioServerParameters:
    """Return how a host starts `reticent mcp`: with next to nothing of its environment."""
    return StdioServerParameters(
        command=sys.executable, args=[*COMMAND, recipient], env={HOME: str(places.config.parent)}
    )


async def said(client: Client, tool: str, arguments: Mapping[str, Any]) -> Said:
    """Call a tool; its line is all that is told as text."""
    found = await client.call_tool(tool, dict(arguments))
    [content] = found.content
    assert content.type == "text"
    parts = found.structured_content or {}
    assert found.is_error or parts["line"] == content.text
    return Said(content.text, parts, bool(found.is_error))


def calls(
    server: Any,  # noqa: ANN401  (whatever the client takes)
    wanted: Sequence[tuple[str, Mapping[str, Any]]],
    mode: Mode = "2026-07-28",
) -> list[Said]:
    """Return what calls come to, one after the other on one connection."""

    async def run() -> list[Said]:
        async with Client(server, mode=mode) as client:
            return [await said(client, *each) for each in wanted]

    return asyncio.run(run())


def ask(
    socket: Path, *questions: str, recipient: str = CLAUDE, mode: Mode = MODES[0]
) -> list[Said]:
    """Return what a server of this process answers to questions, without a process of its own."""
    server = server_for(AssistantTools(socket, recipient))
    return calls(server, [(CONTEXT, {"question": each}) for each in questions], mode)
