"""The clients of examples/clients: what is decided reaches the request, and nothing else does.

Where something fails nothing is attached, and soon enough.
"""

import asyncio
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.paths import HOME, paths
from agent.wire.base import Done, Fault
from agent.wire.decide import Answer, Ask, Offer
from agent.wire.routes import QUERY
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
)
from tests.programs import needs
from tests.waiting import PATIENCE
from tests.wire.fake import Raw, saying, says
from tests.worlds.daemons import Live, living
from tests.worlds.doors import short_home

IN_PYTHON = [sys.executable, "-I", "-S", str(PYTHON)]  # isolated, and without site-packages
few = settings(max_examples=8)
ascii_texts = st.text(st.characters(min_codepoint=32, max_codepoint=126))
# What a shell can be given; every control character is a space for it.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
BROKEN = "the daemon did not answer in time, or not as it should"
SHORT = 0.05  # seconds
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GOOD = b'{"code":"answered","attributes":{"a":"b"},"unspecified":[],"header":"a=\\"b\\"","id":1}'
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
    if kind is InNode:
        return [needs("node"), str(NODE)]
    if kind is InShell:
        needs("curl")
        return [str(SHELL)]
    return IN_PYTHON


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
        "reticent: expected QUERY HOST [ATTRIBUTE...]; - reads the query from standard input\n"
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


@clients
def test_no_daemon(kind: type[Client]) -> None:
    """Nobody started it, or it was killed; one sentence says what to do."""
    with short_home() as places:
        client = kind(at(places))
        assert client.decide(Question(GIT, "forge.example")) == Told("", {}, ABSENT)
        places.runtime.mkdir()
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(places.query))
        assert client.decide(Question(GIT, "forge.example")) == Told("", {}, ABSENT)
        assert not client.offer("forge.example", ["region"])


@clients
def test_a_path_that_is_too_long(kind: type[Client], tmp_path: Path) -> None:
    """Nothing can listen there."""
    told = kind({HOME: str(tmp_path / ("x" * 120))}).decide(Question(GIT, "forge.example"))
    assert (told.header, told.attributes) == ("", {})
    assert told.said in {ABSENT, BROKEN}


@clients
def test_a_slow_daemon(kind: type[Client]) -> None:
    """The request goes on without it."""
    let = threading.Event()

    def decide(body: Ask) -> Answer:  # noqa: ARG001  (of the route)
        let.wait(PATIENCE)
        return Answer(code="answered", header="a", attributes={"a": "yes"})

    with faking(kind, decide=decide) as (_, client):
        try:
            told = client.decide(Question(GIT, "forge.example", limit=SHORT))
        finally:
            let.set()
    assert told == Told("", {}, BROKEN)


@clients
def test_a_daemon_that_never_ends(kind: type[Client]) -> None:
    """Every byte in time, and no end of them: the limit is one of the whole."""
    with short_home() as places:
        places.runtime.mkdir()
        with dripping(places.query):
            client = kind(at(places))
            told = client.decide(Question(GIT, "forge.example", limit=4 * SHORT))
    assert told == Told("", {}, BROKEN)


@contextmanager
def dripping(path: Path) -> Iterator[None]:
    """Answer one caller byte by byte, until it leaves, or should have left long ago."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(PATIENCE)

        def serve() -> None:
            with suppress(OSError), listener.accept()[0] as one:
                one.settimeout(PATIENCE)
                one.sendall(HEAD + b"\r\n")
                end = time.monotonic() + PATIENCE / 2
                while time.monotonic() < end:
                    time.sleep(SHORT / 5)
                    one.sendall(b" ")

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            thread.join(PATIENCE)
            assert not thread.is_alive()


@clients
@pytest.mark.parametrize(
    "answer",
    [
        *(Raw(200, each) for each in (b"", b"not JSON", b'"\xff"', b"[" * 100_000)),
        *(Raw(200, each) for each in (b"null", b"[]", b"{}", GOOD[:-1])),
        Raw(200, GOOD.replace(b"a=", b"a=\\n")),
        Raw(200, GOOD.replace(b"a=", b"a=\n")),
        Raw(200, GOOD.replace(b"a=", "ä=".encode())),
        Raw(200, GOOD.replace(b'"a=\\"b\\""', b"1")),
        Raw(200, GOOD.replace(b'{"a":"b"}', b'["a"]')),
        Raw(200, GOOD.replace(b'"b"', b"2")),
        Raw(200, GOOD.replace(b'"answered"', b"null")),
        Raw(200, GOOD + b" " * (1 << 21)),
        *(Raw(500, GOOD), Raw(500, b""), Raw(302, GOOD)),
    ],
)
def test_an_answer_that_is_none(kind: type[Client], answer: Raw) -> None:
    """Nothing of it is attached."""
    with faking(kind, decide=says(answer)) as (_, client):
        told = client.decide(Question(GIT, "forge.example"))
    assert (told.header, told.attributes) == ("", {})
    assert told.said != "answered"


@clients
def test_an_answer_that_is_cut(kind: type[Client]) -> None:
    """What came of it would pass for a whole one."""
    for length, whole in ((len(GOOD), True), (len(GOOD) + 1, False)):
        with short_home() as places:
            places.runtime.mkdir()
            head = HEAD + f"Content-Length: {length}\r\n\r\n".encode()
            with saying(places.query, head + GOOD):
                told = kind(at(places)).decide(Question(GIT, "forge.example"))
        assert told == (Told('a="b"', {"a": "b"}, "answered") if whole else Told("", {}, BROKEN))


@clients
def test_a_refusal(kind: type[Client]) -> None:
    """Of what is no host, say; or because the daemon is locked."""
    fault = Fault(code="usage", what="this is no host", hint="give another")
    with faking(kind, decide=says(fault), offer=says(fault)) as (_, client):
        told = client.decide(Question(GIT, "no host"))
        assert not client.offer("no host", ["region"])
    assert (told.header, told.attributes) == ("", {})
    assert told.said in {"the daemon refused", "the daemon refused: this is no host"}
    with faking(kind, decide=says(Answer(code="locked"))) as (_, client):
        assert client.decide(Question(GIT, "forge.example")) == Told("", {}, "locked")
