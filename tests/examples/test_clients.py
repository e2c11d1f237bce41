"""The clients of examples/clients: what is decided reaches the request, and nothing else does.

Where something fails nothing is attached, and soon enough.
"""

import asyncio
import json
import os
import re
import runpy
import socket
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.paths import HOME, Paths, paths
from agent.wire.base import Done, Fault
from agent.wire.decide import Answer, Ask, Offer
from agent.wire.routes import QUERY
from tests.house.tree import ROOT
from tests.programs import needs
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon, Handler, Raw, saying, says
from tests.worlds.daemons import Live, living
from tests.worlds.doors import short_home

FOLDER = ROOT / "examples" / "clients"
PYTHON, NODE = (FOLDER / f"reticent_client.{kind}" for kind in ("py", "mjs"))
MODULE: dict[str, Any] = runpy.run_path(str(PYTHON))
GIT = "version control"
ABSENT = "no daemon runs; start it with `reticent daemon`"
IN_NODE = """
import * as client from "%s";
const [call, ...given] = JSON.parse(process.argv[1]);
console.log(JSON.stringify(await client[call](...given)));
"""


class Told(NamedTuple):
    """What a client returns."""

    header: str
    attributes: Mapping[str, str]
    said: str


class Question(NamedTuple):
    """What it is asked; ``limit``: seconds."""

    query: str
    recipient: str
    asked: Sequence[str] | None = None
    limit: float = PATIENCE


class Client(ABC):
    """One of them; ``variables``: of its environment, beside those of this process."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.environment = {**os.environ, **variables}

    @abstractmethod
    def path(self) -> str:
        """Return where it looks for the socket."""

    @abstractmethod
    def decide(self, question: Question) -> Told:
        """Ask."""

    @abstractmethod
    def offer(self, recipient: str, names: Sequence[str]) -> bool:
        """Offer, and return whether that worked."""

    def run(self, *command: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Return what a command did in its environment; ``given``: on its standard input."""
        return subprocess.run(
            command,
            input=given,
            check=False,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            env=self.environment,
        )


class InPython(Client):
    """A call that waits."""

    def path(self) -> str:
        """Return where."""
        return str(self.here("socket_path"))

    def decide(self, question: Question) -> Told:
        """Ask, and return what it says."""
        return Told(*self.here("decide", *question))

    def offer(self, recipient: str, names: Sequence[str]) -> bool:
        """Offer."""
        return bool(self.here("offer", recipient, names, PATIENCE))

    def here(self, call: str, *given: object) -> Any:  # noqa: ANN401  (of any of its functions)
        """Return what a function returns."""
        with patch.dict(os.environ, self.environment, clear=True):
            return MODULE[call](*given)


class InLoop(InPython):
    """A call in a loop of asyncio."""

    def here(self, call: str, *given: object) -> Any:  # noqa: ANN401  (of any of its functions)
        """Return what the function of this kind returns."""
        if call == "socket_path":
            return super().here(call)
        with patch.dict(os.environ, self.environment, clear=True):
            return asyncio.run(MODULE[f"{call}_async"](*given))


class InNode(Client):
    """A call in Node, which must be there."""

    def path(self) -> str:
        """Return where."""
        return str(self._called("socketPath"))

    def decide(self, question: Question) -> Told:
        """Ask, and return what it says."""
        milliseconds = round(question.limit * 1000)
        return Told(**self._called("decide", *question[:-1], milliseconds))

    def offer(self, recipient: str, names: Sequence[str]) -> bool:
        """Offer."""
        return bool(self._called("offer", recipient, names))

    def _called(self, *given: object) -> Any:  # noqa: ANN401  (of any of its functions)
        done = self.run(
            needs("node"), "--input-type=module", "-e", IN_NODE % NODE.as_uri(), json.dumps(given)
        )
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)


@contextmanager
def faking(kind: type[Client], **handlers: Handler) -> Iterator[tuple[FakeDaemon, Client]]:
    """Yield a daemon that is none, and a client to it."""
    with short_home() as places, FakeDaemon(places.query, handlers, QUERY) as fake:
        yield fake, kind(at(places))


def at(places: Paths) -> dict[str, str]:
    """Return the environment in which these are the paths."""
    return {HOME: str(places.config.parent)}


CLIENTS: tuple[type[Client], ...] = (InPython, InLoop, InNode)
clients = pytest.mark.parametrize("kind", CLIENTS)


IN_PYTHON = [sys.executable, "-I", "-S", str(PYTHON)]  # isolated, and without site-packages
few = settings(max_examples=8)
ascii_texts = st.text(st.characters(min_codepoint=32, max_codepoint=126))
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

    asking = Ask(query=query, recipient=recipient, asked=names)
    offering = Offer(recipient=recipient, names=names)
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


USAGE = "reticent: expected QUERY HOST [ATTRIBUTE...]; - reads the query from standard input\n"


@pytest.mark.parametrize("kind", [InPython, InNode])
def test_as_a_command(kind: type[Client]) -> None:
    """It prints the header, or why there is none, and needs nothing that is installed.

    A query may come from standard input, where no other user of the machine sees it.
    """
    command = [needs("node"), str(NODE)] if kind is InNode else IN_PYTHON
    host = "forge.example"
    answer = Answer(code="answered", header='a="b"', attributes={"a": "b"})
    right = (0, 'Shared-Attributes: a="b"\n', "")
    with faking(kind, decide=says(answer)) as (fake, client):
        for arguments, typed, wanted in (
            ([GIT, host, "a", "c"], "", right),
            (["-", host], f"{GIT}\n", right),
            *(([*words], "", (2, "", USAGE)) for words in ((), (GIT,), ("-",))),
        ):
            done = client.run(*command, *arguments, given=typed)
            assert (done.returncode, done.stdout, done.stderr) == wanted
        asked = [Ask(query=GIT, recipient=host, asked=each) for each in (["a", "c"], None)]
        assert fake.calls == [("decide", {"body": each}) for each in asked]
    done = client.run(*command, GIT, host)
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


NO_ANSWERS = (
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
)


@clients
def test_an_answer_that_is_none(kind: type[Client]) -> None:
    """Nothing of it is attached."""
    for answer in NO_ANSWERS:
        with faking(kind, decide=says(answer)) as (_, client):
            told = client.decide(Question(GIT, "forge.example"))
        assert (told.header, told.attributes) == ("", {}), answer
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
