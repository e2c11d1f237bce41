"""The two tools against a daemon: what they tell is what left, and nothing else does."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.types import Implementation
from msgspec.structs import replace

from agent.assistants.server import (
    DEFECT,
    AssistantTools,
    PersonalContext,
    Server,
    SharedFact,
    personal_context,
    server_for,
    undecided,
)
from agent.daemon.policy_file import SETTLING
from agent.decision.values import UNDECIDED, Code, CountedAmong, Reading
from agent.errors import DaemonError, LockedError, UsageError
from agent.model.file import SHIPPED, read, shipped_model, shipped_models
from agent.model.world import world_of
from agent.wire.base import LONGEST_QUERY, RecipientName
from agent.wire.decide import Answer, Summary
from agent.wire.state import Pause, ProfileChange
from agent.words.titles import LONGEST, WHY_NOTHING, plain, value_title
from tests.words.test_titles import TEXT
from tests.worlds.daemons import BALANCED, Live, living, started

Mode = Literal["2026-07-28", "legacy"]
MODES: tuple[Mode, ...] = ("2026-07-28", "legacy")
CLAUDE = "claude.ai"
CONTEXT, TOLD, REMEMBER = "personal_context", "already_told", "remember"
WEEKEND = "what could I do this weekend with two kids"
SUM = "what is 17 × 23"
ASKED = ["job site", "editor", WEEKEND, "version control"]
NOTHING = "Nothing about the user is shared: answer as you would for anyone."


@dataclass(frozen=True, slots=True)
class Said:
    """What a tool answered: its line, its parts, and whether it was an error."""

    line: str
    parts: Mapping[str, Any]
    wrong: bool

    @property
    def facts(self) -> dict[str, str]:
        return {each["title"]: each["value"] for each in self.parts["facts"]}


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


@cache
def titles_of_world() -> dict[str, str]:
    return {each.name: each.title for each in world_of([*map(read, shipped_models())]).attributes}


@pytest.mark.parametrize("mode", MODES)
def test_what_is_told_is_what_left(live: Live, mode: Mode) -> None:
    """Fact by fact, for each question; and who asks a sum gets none and leaves no entry."""
    whom = f"{mode}.told.example"
    found = ask(live.paths.query, *ASKED, SUM, recipient=whom, mode=mode)
    entries = {each.query: each for each in live.call("ledger", recipient=whom)}
    assert not any(each.wrong for each in found)
    titles = titles_of_world()
    for question, each in zip([*ASKED, SUM], found, strict=True):
        left = entries[question].values if question in entries else {}
        assert each.facts == {titles[e]: value_title(left[e], titles[e]) for e in left}
        assert all(f"{title}: {value}" in each.line for title, value in each.facts.items())
    assert sum(bool(each.facts) for each in found) >= 2
    assert SUM not in entries
    assert "Question read as 'job sites'" in found[0].line
    assert "Question read as" not in found[-1].line


def test_the_recipient_is_the_one_that_was_configured(live: Live) -> None:
    """Whatever a client says of itself, or puts beside its question."""
    server = server_for(AssistantTools(live.paths.query, "right.example"))

    async def run() -> list[Said]:
        evil = Implementation(name="evil.example", version="1", website_url="https://evil.example")
        found = []
        for mode in MODES:
            async with Client(server, mode=mode, client_info=evil) as client:
                named = {"question": ASKED[0], "recipient": "evil.example", "by": "user"}
                found.append(await said(client, CONTEXT, named))
        return found

    assert all(each.facts for each in asyncio.run(run()))
    assert len(live.call("ledger", recipient="right.example")) == 2
    assert live.call("ledger", recipient="evil.example") == []


def test_who_is_blocked_is_told_nothing_more(live: Live) -> None:
    """Until that is taken back."""
    for call, told in (("refuse", False), ("allow", True)):
        live.call(call, RecipientName(recipient="blocked.example"))
        [found] = ask(live.paths.query, ASKED[0], recipient="blocked.example")
        assert bool(found.facts) == told
        assert ("one of your rules blocks it" in found.line) == (not told)


def test_what_was_told_is_told_again_only_where_it_may_be_now() -> None:
    """As it was told; not to another recipient, nor once it is ruled out, unset, changed or locked.

    Each is done behind the assistant's back, which asks the same again every time.
    """
    with living() as running:
        server = server_for(AssistantTools(running.paths.query, "again.example"))

        def again(of: Server = server) -> dict[str, Any]:
            [found] = calls(of, [(TOLD, {})])
            assert all(each["title"] in found.line for each in found.parts["facts"])
            assert found.parts["facts"] or found.line.startswith("Nothing about the user ")
            return {each["title"]: each for each in found.parts["facts"]}

        def ruled(rule: str) -> dict[str, Any]:
            running.paths.policy.write_text(f"{BALANCED}{rule}")
            running.call("reload")
            return again()

        told = calls(server, [(CONTEXT, {"question": each}) for each in (*ASKED, SUM)])
        latest = {fact["title"]: {**fact, "why": ""} for e in told for fact in e.parts["facts"]}
        assert again() == ruled("") == latest != {}
        assert again(server_for(AssistantTools(running.paths.query, "other.example"))) == {}
        entries = running.call("ledger", recipient="again.example")
        [first, *_] = names = [name for each in entries for name in each.disclosed]
        assert again().keys() - ruled(f'[attributes]\n{first} = "never"\n').keys()
        assert ruled('[[rule]]\nrecipient = "again.example"\nnothing = true\n') == {}
        assert ruled("") == latest
        running.call("change_profile", ProfileChange(unset=names))
        assert again() == {}
        running.call("undo")
        assert again() == latest
        running.call("pause", Pause(minutes=1))
        assert again() == {}
        running.call("pause", Pause(minutes=0))
        running.call("lock")
        assert again() == {}
        running.unlock()
        assert again() == {}, "a new vault, a new start"


@pytest.mark.parametrize("mode", MODES)
def test_what_does_not_fit_is_refused_in_a_sentence(
    live: Live, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ours: no validator's text, nothing of what was sent, and nothing of a defect."""
    server = server_for(AssistantTools(live.paths.query, "odd.example"))
    odd: list[dict[str, Any]] = [
        *({}, {"question": None}, {"question": 17}, {"question": ["a"]}, {"question": ""}),
        *({"question": "x" * (LONGEST_QUERY + 1)}, {"questions": "a"}, {"question": {"a": "b"}}),
    ]
    *misfits, none = calls(server, [*((CONTEXT, e) for e in odd), ("<b>everything</b>", {})], mode)
    for each in misfits:
        assert each.wrong
        assert each.line == "a question is text of 1 to 4,096 characters, a fact of 300"
    assert (none.wrong, "everything" in none.line) == (True, False)
    broken = Mock(side_effect=RuntimeError("/home/somebody"))
    monkeypatch.setattr("agent.assistants.server.personal_context", broken)
    [found] = calls(server, [(CONTEXT, {"question": SUM})], mode)
    assert (found.wrong, found.line) == (True, DEFECT)
    assert live.call("ledger", recipient="odd.example") == []


def test_the_tools_say_when_to_call_them_and_when_not(live: Live) -> None:
    """A model has nothing else to go by."""
    server = server_for(AssistantTools(live.paths.query, "model.example"))
    tools = {each.name: each for each in asyncio.run(server.list_tools())}
    assert [*tools] == [CONTEXT, TOLD, REMEMBER]
    asking, again, keeping = (tools[each].description or "" for each in tools)
    for words in ("depends on who asks", "Do not call it", "arithmetic", "never follow"):
        assert words in asking
    assert "never follow instructions" in again
    assert "Nothing is kept by this" in keeping
    assert tools[CONTEXT].input_schema["required"] == ["question"]
    assert len(asking) < 1200
    for each in tools.values():
        assert each.output_schema is not None
        assert each.annotations is not None
        assert each.annotations.open_world_hint is False
        assert each.annotations.read_only_hint is (each.name == TOLD)


def test_locked_or_killed_it_tells_nothing_until_all_is_well_again() -> None:
    """On one connection, which lasts however often the daemon goes and comes."""
    with living() as running:
        server = server_for(AssistantTools(running.paths.query, "claude.ai"))

        async def run() -> None:
            async with Client(server) as client:
                question = {"question": "job site"}

                async def line(*, told: bool) -> str:
                    found = await said(client, CONTEXT, question)
                    assert (bool(found.facts), found.wrong) == (told, False)
                    assert found.line.startswith(NOTHING) != told
                    return found.line

                await line(told=True)
                running.call("lock")
                assert "vault locked; unlock it with `reticent unlock`" in await line(told=False)
                running.kill()
                assert "the daemon is not running" in await line(told=False)
                with started(running.paths) as again:
                    assert "vault locked" in await line(told=False)
                    again.unlock()
                    await line(told=True)
                    running.paths.policy.unlink()
                    assert "no policy in use" in await line(told=False)
                    running.paths.policy.write_text('population = "missing"\n')
                    await asyncio.sleep(2 * SETTLING.total_seconds())  # until it counts as saved
                    assert "no usable model" in await line(told=False)

        asyncio.run(run())


NAMES = st.sampled_from(["age", "region", "sex"])


def summary(**fields: Any) -> Summary:  # noqa: ANN401  (of any field)
    fields = {"waiting": 0, **fields}
    return Summary(pool="p", model="m", utility_bits=0.1, people_left=303.0, **fields)


@pytest.mark.parametrize("name", SHIPPED)
def test_titles_and_values_of_shipped_models_stay(name: str) -> None:
    """What is cut or left out would read as another fact."""
    model = read(shipped_model(name))
    found = [model.stands_for, *(each.title for each in model.queries)]
    for each in model.attributes:
        found += [each.title, *(value_title(value, each.title) for value in each.values)]
    assert [plain(each) for each in found] == found


NAMED = st.dictionaries(NAMES, TEXT, max_size=3)
READINGS = st.builds(Reading, query=TEXT, title=TEXT, probability=st.floats(0, 1), model=TEXT)
FIGURES = st.builds(
    summary,
    titles=NAMED,
    pending=st.lists(NAMES, max_size=3, unique=True),
    read_as=READINGS,
    among=TEXT.map(lambda people: CountedAmong(people=people, count=60, estimated=True)),
)


@given(values=NAMED, figures=FIGURES)
def test_nothing_that_a_hostile_model_says_gets_through(
    values: dict[str, str], figures: Summary
) -> None:
    """In whatever place: every text is printable, short and without markup of its own."""
    found = personal_context(Answer(code="answered", attributes=values, summary=figures))
    assert len(found.facts) == len(values)
    facts = (text for each in found.facts for text in (each.title, each.value))
    for text in (found.line, *facts):
        assert text.isprintable()
        assert not set(text.replace("`reticent requests list --waiting`", "")) & set("<>[]{}`|\\")
    assert len(found.line) <= 4 * LONGEST * (2 + len(values) + len(figures.pending))


def test_facts_are_told_as_people_read_them() -> None:
    """By titles and in words, with how many people are left; what is not specified is not told."""
    among = CountedAmong(people="people of the survey", count=18_991, estimated=False)
    titles = {"years": "years since learning to program", "gender": "gender"}
    figures = summary(titles=titles, waiting=1, pending=["salary"], among=among)
    answer = Answer(code="answered", attributes={"years": "lt_3"}, unspecified=["gender"])
    found = personal_context(replace(answer, summary=figures))
    assert found.line == (
        "About the user: years since learning to program: less than 3 years. "
        "People who fit all that you were told: 303 of the 18,991 people of the survey. "
        "Waiting for the user's approval: salary (`reticent requests list --waiting` lists it)."
    )
    assert "gender" not in found.model_dump_json()
    assert "unspecified" not in found.model_dump_json()


def test_what_shows_a_fact_to_a_developer_masks_its_value() -> None:
    """In a report of a defect it would be the user's own, as is the question."""
    fact = SharedFact(title="age", value="25 to 34")
    found = [repr(fact), repr(PersonalContext(line="25 to 34", facts=(fact,)))]
    assert "25" not in "".join(found)


def test_where_nothing_is_sent_it_says_why_and_carries_nothing() -> None:
    """In the words that the user is told, but that they stand out; an error names no file."""
    for code in get_args(Code):
        figures = None if code in UNDECIDED else summary()
        found = personal_context(Answer(code=code, summary=figures))
        assert (WHY_NOTHING[code] in found.line) == (code != "you would stand out")
        assert found == PersonalContext(line=found.line)
        assert "People who fit" not in found.line
    found = personal_context(Answer(code="answered", summary=summary(pending=["salary"])))
    assert WHY_NOTHING["answered"] not in found.line
    assert "what would help waits for their approval" in found.line
    for error, words in (
        (LockedError(), "the vault is locked; unlock it with `reticent unlock`"),
        (DaemonError("the daemon is not running", "start it"), "not running; start it"),
        (UsageError("'x' is not a host", "see /home/somebody", "/home/somebody"), "refused"),
    ):
        found = undecided(error)
        assert words in found.line
        assert found == PersonalContext(line=found.line)
        assert "/home" not in found.line
