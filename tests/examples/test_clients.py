"""The clients of examples/clients: what is decided reaches the request, and nothing else does."""

import asyncio
import os
import re
import sys
import threading
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.paths import HOME, paths
from agent.wire.base import Done
from agent.wire.decide import Answer, Ask, Offer
from agent.wire.routes import QUERY
from tests.daemon.whole_daemon import Live, living
from tests.examples.clients import (
    ABSENT,
    GIT,
    MODULE,
    NODE,
    PYTHON,
    SHELL,
    Client,
    InLoop,
    InNode,
    InPython,
    InShell,
    Question,
    Told,
    at,
    clients,
    faking,
    node,
)
from tests.waiting import PATIENCE
from tests.wire.fake import says

IN_PYTHON = [sys.executable, "-I", "-S", str(PYTHON)]  # isolated, and without site-packages
few = settings(max_examples=8)
ascii_texts = st.text(st.characters(min_codepoint=32, max_codepoint=126))
# What a shell can be given; every control character is a space for it.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
folders = st.sampled_from(("", "some/where", "/some", "/some/where else", "~/some"))


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A daemon with an open vault."""
    with living() as running:
        yield running


@clients
def test_it_attaches_what_was_decided(live: Live, kind: type[Client]) -> None:
    """As the house's own client is told, for a recipient that holds as little."""
    with live.client(QUERY) as ours:
        wanted = ours.call("decide", Ask(query=GIT, recipient=f"for-{kind.__name__}.example"))
    told = kind(at(live.paths)).decide(Question(GIT, f"{kind.__name__}.example"))
    assert wanted.header
    assert told == Told(wanted.header, wanted.attributes, "answered")


def test_fifty_ask_at_once(live: Live) -> None:
    """In one loop; each is a recipient that holds nothing, so all are told the same."""

    async def all_of_them() -> list[Told]:
        asking = (MODULE["decide_async"](GIT, f"s{n}.example", None, PATIENCE) for n in range(50))
        return [Told(*each) for each in await asyncio.gather(*asking)]

    with patch.dict(os.environ, at(live.paths)):
        told = asyncio.run(all_of_them())
    assert {(each.said, bool(each.header)) for each in told} == {("answered", True)}
    assert len({each.header for each in told}) == 1


def test_others_run_while_one_waits() -> None:
    """The answer comes once another task of the loop has let it."""
    let = threading.Event()

    async def both(client: Client) -> str:
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()

        def decide(body: Ask) -> Answer:  # noqa: ARG001  (of the route)
            loop.call_soon_threadsafe(arrived.set)
            assert let.wait(PATIENCE)
            return Answer(code="answered")

        fake.handlers["decide"] = decide
        with patch.dict(os.environ, client.environment):
            asking = asyncio.create_task(MODULE["decide_async"](GIT, "a.example", None, PATIENCE))
            async with asyncio.timeout(PATIENCE):
                await arrived.wait()
                let.set()
                return str((await asking).said)

    with faking(InLoop) as (fake, client):
        assert asyncio.run(both(client)) == "answered"


@clients
@few
@given(
    header=ascii_texts, values=st.dictionaries(st.from_regex(r"[a-z]\w*", fullmatch=True), texts)
)
def test_a_header_comes_as_it_is(kind: type[Client], header: str, values: dict[str, str]) -> None:
    """Whatever else is in the answer, and however it is written there."""
    printable = {name: re.sub(r"\W", "ü", value) for name, value in values.items()}
    answer = Answer(code="answered", header=header, attributes=printable, unspecified=["header"])
    with faking(kind, decide=says(answer)) as (_, client):
        told = client.decide(Question(GIT, "forge.example"))
    assert told == Told(header, printable, "answered")


@clients
@few
@given(query=texts, recipient=texts, names=st.lists(texts, min_size=1, max_size=3))
def test_what_is_asked_arrives(
    kind: type[Client], query: str, recipient: str, names: list[str]
) -> None:
    """Once, whatever is in it."""
    with faking(kind, decide=says(Answer(code="answered")), offer=says(Done())) as (fake, client):
        client.decide(Question(query, recipient, names))
        assert client.offer(recipient, names)

    def sent(text: str) -> str:
        return re.sub(r"[\x00-\x1f\x7f]", " ", text) if kind is InShell else text

    asked = [sent(name) for name in names]
    asking = Ask(query=sent(query), recipient=sent(recipient), asked=asked)
    offering = Offer(recipient=sent(recipient), names=asked)
    assert fake.calls == [("decide", {"body": asking}), ("offer", {"body": offering})]


@clients
@few
@given(home=folders, runtime=folders, state=folders)
def test_it_looks_where_the_daemon_listens(
    kind: type[Client], home: str, runtime: str, state: str
) -> None:
    """As agent.paths has it, whatever the environment."""
    variables = {HOME: home, "XDG_RUNTIME_DIR": runtime, "XDG_STATE_HOME": state}
    with patch.dict(os.environ, {**variables, "HOME": "/home/somebody"}):
        assert kind({}).path() == str(paths().query)


def command_of(kind: type[Client]) -> list[str]:
    """Return what runs a client as a command."""
    return {InPython: IN_PYTHON, InNode: [node(), str(NODE)], InShell: [str(SHELL)]}[kind]


scripts = pytest.mark.parametrize("kind", [InPython, InNode, InShell])


@scripts
def test_a_query_is_read_from_the_standard_input(kind: type[Client]) -> None:
    """Where no other user of the machine sees it."""
    answer = Answer(code="answered", header='a="b"', attributes={"a": "b"})
    with faking(kind, decide=says(answer)) as (fake, client):
        done = client.run(*command_of(kind), "-", "forge.example", given=f"{GIT}\n")
        assert fake.calls == [("decide", {"body": Ask(query=GIT, recipient="forge.example")})]
    assert (done.returncode, done.stdout, done.stderr) == (0, 'Shared-Attributes: a="b"\n', "")


@scripts
@pytest.mark.parametrize("arguments", [[], [GIT], ["-"]])
def test_a_command_without_arguments_says_how(kind: type[Client], arguments: list[str]) -> None:
    """In one line, and asks nobody anything."""
    with faking(kind) as (fake, client):
        done = client.run(*command_of(kind), *arguments)
        assert fake.calls == []
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "reticent: give a query, or - to read it, and a recipient: QUERY HOST [ATTRIBUTE...]\n"
    )


@scripts
def test_as_a_command(kind: type[Client]) -> None:
    """It prints the header, or why there is none, and needs nothing that is installed."""
    command, host = [*command_of(kind), GIT], "forge.example"
    answer = Answer(code="answered", header='a="b"', attributes={"a": "b"})
    with faking(kind, decide=says(answer)) as (fake, client):
        done = client.run(*command, host, "a", "c")
        asked = Ask(query=GIT, recipient=host, asked=["a", "c"])
        assert fake.calls == [("decide", {"body": asked})]
    assert (done.returncode, done.stdout, done.stderr) == (0, 'Shared-Attributes: a="b"\n', "")
    done = client.run(*command, host)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"reticent: {ABSENT}\n")
