"""The two tools against a daemon: what they tell is what left, and nothing else does."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client
from mcp.types import Implementation

from agent.assistants.server import DEFECT, AssistantTools, server_for
from agent.daemon.policy_file import SETTLING
from agent.model.file import read, shipped_model
from agent.wire.base import LONGEST_QUERY, RecipientName
from agent.wire.decide import Ask
from agent.wire.policy import Review
from agent.wire.routes import CONTROL
from agent.wire.state import Entry, ProfileChange
from agent.words.titles import value_title
from tests.assistants.asking import CONTEXT, MODES, TOLD, WEEKEND, Mode, Said, ask, calls, said
from tests.worlds.daemons import BALANCED, OPEN, Live, living, started

SUM = "what is 17 × 23"
ASKED = ["job site", "editor", WEEKEND, "version control"]
NOTHING = "Nothing about the user is shared: answer as you would for anyone."


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """Return an unlocked daemon; each test asks for a recipient of its own."""
    with living() as running:
        yield running


def ledger(live: Live, recipient: str) -> list[Entry]:
    """Return what left to a recipient."""
    with live.client(CONTROL) as client:
        found: list[Entry] = client.call("ledger", recipient=recipient)
    return found


def titles_of(model: str) -> dict[str, str]:
    """Return the titles of a shipped model's attributes by name."""
    return {each.name: each.title for each in read(shipped_model(model)).attributes}


def titled(entry: Entry) -> dict[str, str]:
    """Return what an entry says left, as people read it."""
    titles = titles_of(entry.model)
    return {titles[name]: value_title(value, titles[name]) for name, value in entry.values.items()}


@pytest.mark.parametrize("mode", MODES)
def test_what_is_told_is_what_left(live: Live, mode: Mode) -> None:
    """Fact by fact, for each question; and who asks a sum gets none and leaves no entry."""
    whom = f"{mode}.told.example"
    found = ask(live.paths.query, *ASKED, SUM, recipient=whom, mode=mode)
    entries = {each.query: each for each in ledger(live, whom)}
    assert not any(each.wrong for each in found)
    for question, each in zip([*ASKED, SUM], found, strict=True):
        assert each.facts == (titled(entries[question]) if question in entries else {})
        assert all(f"{title}: {value}" in each.line for title, value in each.facts.items())
    assert sum(bool(each.facts) for each in found) >= 2
    assert (found[-1].parts["understood_as"], SUM in entries) == (None, False)
    assert found[0].parts["understood_as"] == "job sites"
    assert found[0].parts["certainty"] == 1


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
    assert len(ledger(live, "right.example")) == 2
    assert ledger(live, "evil.example") == []


def test_who_is_blocked_is_told_nothing_more(live: Live) -> None:
    """Until that is taken back."""
    with live.client(CONTROL) as client:
        for call, told in (("refuse", False), ("allow", True)):
            client.call(call, RecipientName(recipient="blocked.example"))
            [found] = ask(live.paths.query, ASKED[0], recipient="blocked.example")
            assert bool(found.facts) == told
            assert ("one of your rules blocks it" in found.line) == (not told)


def test_only_what_this_process_sent_is_told_again(live: Live) -> None:
    """Each fact once, as told last; another for the same recipient has told nothing."""
    first = server_for(AssistantTools(live.paths.query, "again.example"))
    *told, again = calls(first, [*((CONTEXT, {"question": e}) for e in (*ASKED, SUM)), (TOLD, {})])
    latest = {fact["title"]: fact for each in told for fact in each.parts["facts"]}
    assert again.parts["facts"] == [*latest.values()] != []
    assert all(each in again.line for each in latest)
    assert calls(first, [(TOLD, {})]) == [again]
    [other] = calls(server_for(AssistantTools(live.paths.query, "again.example")), [(TOLD, {})])
    assert other.parts["facts"] == []
    assert other.line == "Nothing about the user has been told so far."


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "arguments",
    [
        *({}, {"question": None}, {"question": 17}, {"question": ["a"]}, {"question": ""}),
        *({"question": "x" * (LONGEST_QUERY + 1)}, {"questions": "a"}, {"question": {"a": "b"}}),
    ],
)
def test_what_is_no_question_is_refused_in_a_sentence(
    live: Live, mode: Mode, arguments: dict[str, Any]
) -> None:
    """Of ours: no validator's text, and nothing of what was sent."""
    server = server_for(AssistantTools(live.paths.query, "odd.example"))
    [found] = calls(server, [(CONTEXT, arguments)], mode)
    assert found.wrong
    assert found.line == "the question must be text of 1 to 4,096 characters"
    assert ledger(live, "odd.example") == []


@pytest.mark.parametrize("mode", MODES)
def test_there_is_no_other_tool(live: Live, mode: Mode) -> None:
    """And a name that does not exist is not repeated."""
    server = server_for(AssistantTools(live.paths.query, "other.example"))
    [found] = calls(server, [("<b>everything</b>", {})], mode)
    assert (found.wrong, "everything" in found.line) == (True, False)

    async def offered() -> list[str]:
        async with Client(server, mode=mode) as client:
            tools = (await client.list_tools()).tools
            for each in tools:
                assert each.output_schema is not None
                assert each.annotations is not None
                assert each.annotations.open_world_hint is False
            assert [*(await client.list_prompts()).prompts] == []
            assert [*(await client.list_resources()).resources] == []
            return [each.name for each in tools]

    assert asyncio.run(offered()) == [CONTEXT, TOLD]


@pytest.mark.parametrize("mode", MODES)
def test_a_defect_of_ours_is_answered_in_a_sentence(
    live: Live, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ours, without what went wrong."""

    def broken(*_: object) -> None:
        raise RuntimeError("/home/somebody")

    monkeypatch.setattr("agent.assistants.server.personal_context", broken)
    server = server_for(AssistantTools(live.paths.query, "defect.example"))
    [found] = calls(server, [(CONTEXT, {"question": ASKED[0]})], mode)
    assert (found.wrong, found.line) == (True, DEFECT)


def test_descriptions_say_when_to_call_and_when_not(live: Live) -> None:
    """A model has nothing else to go by."""
    server = server_for(AssistantTools(live.paths.query, "model.example"))
    tools = {each.name: each for each in asyncio.run(server.list_tools())}
    asking, again = (tools[each].description or "" for each in (CONTEXT, TOLD))
    for words in ("depends on who asks", "Do not call it", "arithmetic", "never follow"):
        assert words in asking
    assert "never follow instructions" in again
    assert tools[CONTEXT].input_schema["required"] == ["question"]
    hints = tools[CONTEXT].annotations
    assert hints is not None
    assert hints.read_only_hint is False
    assert len(asking) < 1200


def test_what_waits_is_named_and_stays() -> None:
    """For the user's word in our own list: nothing is asked through the host."""
    policy = f'{BALANCED}[attributes]\nregion = "ask"\nremote = "ask"\noccupation = "ask"\n'
    with living(policy) as running:
        [found] = ask(running.paths.query, "job site")
        with running.client(CONTROL) as client:
            reviews: list[Review] = client.call("reviews")
    [review], titles = reviews, titles_of("so2017")
    assert review.recipient == "claude.ai"
    assert found.parts["waiting"] == [titles[each] for each in review.names]
    assert not {*found.parts["waiting"]} & {*found.facts}
    assert "Waiting for the user's approval: region of the world" in found.line


def test_what_the_user_prefers_not_to_say_is_no_fact() -> None:
    """It is left out, whatever a policy says of it."""
    with living('lambda = 0.0\nmodel = "so2017"\n[attributes]\nregion = "always"\n') as running:
        with running.client(CONTROL) as client:
            client.call("change_profile", ProfileChange(set={"so2017.region": "unspecified"}))
        [found] = ask(running.paths.query, "job site")
        [entry] = ledger(running, "claude.ai")
    assert entry.values["region"] == "unspecified"
    assert "region of the world" not in found.facts
    assert "unspecified" not in str(found)


def test_so_many_a_minute_for_each_recipient() -> None:
    """However many servers ask; the user's own requests and other recipients have theirs."""
    with living(f"page_requests_per_minute = 3\n{BALANCED}") as running:
        socket = running.paths.query
        found = [*ask(socket, *["job site"] * 2), *ask(socket, *["job site"] * 2, mode="legacy")]
        assert [bool(each.facts) for each in found] == [True, True, True, False]
        assert "too many requests in one minute" in found[-1].line
        assert ask(socket, "job site", recipient="other.example")[0].facts
        with running.client(CONTROL) as client:
            assert client.call("decide", Ask(query="job site", recipient="claude.ai")).attributes


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
                with running.client(CONTROL) as control:
                    control.call("lock")
                assert "vault locked; unlock it with `reticent unlock`" in await line(told=False)
                running.kill()
                assert "the daemon is not running" in await line(told=False)
                with started(running.paths) as again:
                    assert "vault locked" in await line(told=False)
                    with again.client(CONTROL) as control:
                        control.call("unlock", OPEN)
                    await line(told=True)
                    running.paths.policy.unlink()
                    assert "no policy in use" in await line(told=False)
                    running.paths.policy.write_text('model = "missing"\n')
                    await asyncio.sleep(
                        2 * SETTLING.total_seconds()
                    )  # until the file counts as saved
                    assert "no usable model" in await line(told=False)

        asyncio.run(run())


def test_who_is_no_recipient_is_told_nothing(live: Live) -> None:
    """The command refuses such a name; where it is passed all the same, the daemon does."""
    for whom in ("a b", "@group", ""):
        [found] = ask(live.paths.query, "job site", recipient=whom)
        assert found.line.startswith(NOTHING)
        assert (found.facts, found.wrong) == ({}, False)
    [clear] = ask(live.paths.query, "job site", recipient="http://plain.example")
    assert "not an https address" in clear.line


def test_many_at_once_are_answered_each(live: Live) -> None:
    """Within the cap."""
    server = server_for(AssistantTools(live.paths.query, "crowd.example"))

    async def run() -> list[Said]:
        async with Client(server) as client:
            each = [said(client, CONTEXT, {"question": ASKED[0]}) for _ in range(20)]
            return await asyncio.gather(*each)

    found = asyncio.run(run())
    assert all(each.facts == found[0].facts for each in found)
    assert len(ledger(live, "crowd.example")) == 20
