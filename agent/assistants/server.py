"""The server of the Model Context Protocol: three tools, over the standard input and output.

Whom the user's facts go to is set when it is started, by who configured it: nothing that a client
says of itself is looked at. What waits for the user waits in our own list: the protocol could ask,
but what the user says there passes through the host. Source: the protocol's revision 2026-07-28.
"""

import asyncio
import json
import logging
import signal
import sys
import tomllib
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, cast

from mcp.server import MCPServer
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from agent import __version__
from agent.decision.values import UNDECIDED
from agent.errors import UNLOCK, DaemonError, ReticentError
from agent.wire.base import LONGEST_QUERY, Message
from agent.wire.client import Client
from agent.wire.decide import Answer, Ask, Conversation
from agent.wire.state import FactProposal
from agent.words.figures import listed, of_whom, proviso
from agent.words.titles import LONGEST, LONGEST_OWN, SHARED, WHY_NOTHING, plain, read_as, stated

DOCTOR = "`reticent doctor` says how to fix it"
APPROVE = "`reticent requests list --waiting` lists it"


class SharedFact(BaseModel, frozen=True):
    """One fact about the user."""

    title: Annotated[str, Field(description="What the fact is about.")]
    value: Annotated[str, Field(description="What is true of the user, or what they say of it.")]
    why: Annotated[str, Field(description="Why you are told.")] = ""

    def __repr__(self) -> str:
        return f"SharedFact({self.title!r}, ***)"


class PersonalContext(BaseModel, frozen=True):
    """The facts that are worth telling for one question, or that were told before."""

    line: Annotated[str, Field(description="All of this in words.", repr=False)]
    facts: Annotated[
        tuple[SharedFact, ...], Field(description="Facts about the user; often none.")
    ] = ()


def undecided(error: ReticentError) -> PersonalContext:
    """Say why nothing is told where the daemon gave no answer; nothing names the user's files."""
    why = f"the request was refused; {DOCTOR}"
    if isinstance(error, DaemonError):
        why = f"{error.what}; {error.hint}"
    return PersonalContext(line=_nothing(why))


def personal_context(answer: Answer) -> PersonalContext:
    """Phrase what an assistant is told of an answer, the facts first.

    What is set to "unspecified" is no fact: the user prefers not to say it. Without facts it does
    not say how many people are left: that would tell what the recipient held before.
    """
    why, summary = WHY_NOTHING[answer.code], answer.summary
    if answer.code == "you would stand out":
        why = ""  # the assistant is who would learn it
    if summary is None:
        hint = UNLOCK if answer.code == "locked" else DOCTOR
        return PersonalContext(line=_nothing(f"{why}; {hint}" if answer.code in UNDECIDED else why))
    titles, reading = summary.titles, summary.read_as
    reasons = {each.name: each.reason for each in summary.because}
    facts = tuple(
        SharedFact(
            title=plain(titles.get(name, name)),
            value=stated(value, titles.get(name, name), own=name in answer.facts),
            why=SHARED.get(reasons.get(name, ""), ""),
        )
        for name, value in answer.attributes.items()
    )
    waiting = [plain(titles.get(each, each)) for each in summary.pending]
    parts = [_nothing("what would help waits for their approval" if waiting else why)]
    if facts:
        parts = [f"About the user: {_listed(facts)}."]
    if reading is not None:
        parts.append(f"Question read as {plain(read_as(reading), 2 * LONGEST)}.")
    if facts:
        about = "about " if summary.among is not None and summary.among.estimated else ""
        people = f"{about}{of_whom(summary.people_left, summary.among)}{proviso(summary.among)}"
        parts.append(f"People who fit all that you were told: {plain(people, 2 * LONGEST)}.")
    if waiting:
        parts.append(f"Waiting for the user's approval: {listed(waiting)} ({APPROVE}).")
    return PersonalContext(line=" ".join(parts), facts=facts)


def _listed(facts: Iterable[SharedFact]) -> str:
    return "; ".join(f"{e.title}: {e.value}{e.why and f' ({e.why})'}" for e in facts)


def _nothing(why: str) -> str:
    plainly = "Nothing about the user is shared: answer as you would for anyone."
    return f"{plainly} The reason, as it is told to the user: {why}." if why else plainly


SECONDS = 10.0  # of silence; then nothing is told
NOTHING_YET = "Nothing about the user has been told so far."
_TEXTS: Any = tomllib.loads((files("agent.assistants") / "tools.toml").read_text("utf-8"))
MISFIT = f"a question is text of 1 to {LONGEST_QUERY:,} characters, a fact of {LONGEST_OWN}"
DEFECT = "something went wrong in Reticent, and nothing about the user was told"
NO_TOOL = "there is no such tool; there are personal_context, already_told and remember"
# What is told is recorded, and counts from then on; so does what is proposed.
RECORDED = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
Text = Annotated[str, Field(strict=True, min_length=1)]
Question = Annotated[Text, Field(description=_TEXTS["question"], max_length=LONGEST_QUERY)]
NewFact = Annotated[Text, Field(description=_TEXTS["fact"], max_length=LONGEST_OWN)]


async def _frames() -> AsyncIterator[str]:
    """Yield the frames of the standard input, each such that the protocol's reader answers it.

    It passes over half a pair of surrogates in silence, which is no text: then no argument is left.
    """
    while line := await asyncio.to_thread(sys.stdin.buffer.readline):
        with suppress(ValueError, RecursionError, TypeError, AttributeError):  # no frame at all
            frame = json.loads(line) if b"\\ud" in line.lower() else None
            text = json.dumps(frame, ensure_ascii=False)
            if (sound := text.encode("utf-8", "replace")) != text.encode("utf-8", "surrogatepass"):
                frame = json.loads(sound)
                frame["params"] = {**frame.get("params", {}), "arguments": {}}
                line = json.dumps(frame).encode()
        yield line.decode("utf-8", "replace")


class Server(MCPServer[Any]):
    """A server whose errors are ours: no validator's text, and nothing of what was sent."""

    async def run_stdio_async(self) -> None:
        """Answer over the standard input and output."""
        server, frames = self._lowlevel_server, cast("Any", _frames())
        async with stdio_server(frames) as (to_read, to_write):
            await server.run(to_read, to_write, server.create_initialization_options())

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; ToolError, in one sentence, for what does not fit."""
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:  # a defect of ours
            raise ToolError(DEFECT) from None
        except ToolError as error:
            what = MISFIT if isinstance(error.__cause__, ValidationError) else NO_TOOL
            raise ToolError(what) from None


class AssistantTools:
    """What one assistant may ask; ``socket``: of the daemon; ``recipient``: who gets the facts."""

    def __init__(self, socket: Path, recipient: str, by: str = "assistant") -> None:
        """Keep whom to ask and for whom; nothing is opened before a question."""
        self._socket = socket
        self._recipient, self._by = recipient, by

    def _call(self, name: str, message: Message) -> Any:  # noqa: ANN401  (of the route)
        with Client(self._socket, SECONDS, attended=False, by=self._by) as client:
            return client.call(name, message)

    def personal_context(self, question: Question) -> Annotated[CallToolResult, PersonalContext]:
        """Get the facts for a question; none, and why, where there is no answer."""
        try:
            answer = self._call("decide", Ask(query=question, recipient=self._recipient))
        except ReticentError as error:
            return _result(undecided(error))
        return _result(personal_context(answer))

    def remember(self, fact: NewFact) -> Annotated[CallToolResult, PersonalContext]:
        """Propose a fact to the user; nothing is stored."""
        line = f"Proposed. It is kept once the user approves it: {APPROVE}."
        try:
            self._call("remember", FactProposal(text=fact, recipient=self._recipient))
        except ReticentError as error:
            line = f"Not proposed: {error.what if isinstance(error, DaemonError) else MISFIT}."
        return _result(PersonalContext(line=line))

    def already_told(self) -> Annotated[CallToolResult, PersonalContext]:
        """List what was told before, and may be told again now."""
        try:
            answer = self._call("disclosed", Conversation(recipient=self._recipient))
        except ReticentError as error:
            return _result(undecided(error))
        facts = personal_context(answer).facts
        line = f"Told so far: {_listed(facts)}." if facts else NOTHING_YET
        if answer.code != "answered":
            line = personal_context(answer).line
        return _result(PersonalContext(line=line, facts=facts))


def _result(content: PersonalContext) -> CallToolResult:
    line = TextContent(type="text", text=content.line)
    return CallToolResult(content=[line], structured_content=content.model_dump(mode="json"))


def server_for(assistant: AssistantTools) -> Server:
    """Make the server of an assistant: three tools, no prompts and no resources."""
    server = Server(
        "reticent",
        title="Reticent",
        version=__version__,
        instructions=_TEXTS["about"],
        log_level="CRITICAL",
        subscriptions=False,
    )
    reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    server.add_tool(assistant.personal_context, annotations=RECORDED, **_TEXTS["personal_context"])
    server.add_tool(assistant.already_told, annotations=reading, **_TEXTS["already_told"])
    server.add_tool(assistant.remember, annotations=RECORDED, **_TEXTS["remember"])
    return server


def serve(socket: Path, recipient: str, by: str) -> None:
    """Answer an assistant over the standard input and output, until the input ends.

    Nothing is logged: hosts keep what their servers write. Ctrl-C ends the process at once: nothing
    is left to do, and the thread that waits for input could not be told.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    logging.disable(logging.CRITICAL)
    server_for(AssistantTools(socket, recipient, by)).run("stdio")
