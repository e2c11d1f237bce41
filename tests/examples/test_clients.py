"""The clients of examples/clients: what is decided reaches the request, and nothing else does.

Where something fails nothing is attached, and soon enough.
"""

import json
import os
import re
import runpy
import socket
import subprocess
import sys
import threading
import time
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
GIT, HOST = "version control", "forge.example"
ABSENT = "no daemon runs; start it with `reticent daemon`"
IN_NODE = """
import * as client from "%s";
const [call, ...given] = JSON.parse(process.argv[1]);
console.log(JSON.stringify(await client[call](...given)));
"""


class Told(NamedTuple):
    header: str
    attributes: Mapping[str, str]
    said: str


NONE = Told("", {}, ABSENT)


class Client(NamedTuple):
    """A client in "python" or in "node", with its environment."""

    kind: str
    environment: Mapping[str, str]

    def decide(
        self,
        query: str = GIT,
        recipient: str = HOST,
        asked: Sequence[str] | None = None,
        limit: float = PATIENCE,
    ) -> Told:
        if self.kind == "python":
            return Told(*self.called("decide", query, recipient, asked, limit))
        return Told(**self.called("decide", query, recipient, asked, round(limit * 1000)))

    def offer(self, recipient: str, names: Sequence[str]) -> bool:
        return bool(self.called("offer", recipient, names))

    def run(self, *command: str, given: str = "") -> tuple[int, str, str]:
        """Run a command in its environment; ``given``: on its standard input."""
        done = subprocess.run(
            command,
            input=given,
            check=False,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            env=self.environment,
        )
        return done.returncode, done.stdout, done.stderr

    def called(self, name: str, *given: object) -> Any:  # noqa: ANN401  (of any of its functions)
        if self.kind == "python":
            with patch.dict(os.environ, self.environment, clear=True):
                return MODULE[name](*given)
        command = [needs("node"), "--input-type=module", "-e", IN_NODE % NODE.as_uri()]
        code, out, err = self.run(*command, json.dumps([name, *given]))
        assert (code, err) == (0, "")
        return json.loads(out)


def at(kind: str, places: Paths) -> Client:
    return Client(kind, {**os.environ, HOME: str(places.config.parent)})


@contextmanager
def faking(kind: str, **handlers: Handler) -> Iterator[tuple[FakeDaemon, Client]]:
    with short_home() as places, FakeDaemon(places.query, handlers, QUERY) as fake:
        yield fake, at(kind, places)


clients = pytest.mark.parametrize("kind", ["python", "node"])
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
def test_it_attaches_what_was_decided(live: Live, kind: str) -> None:
    """As the house's own client is told, for a recipient that holds as little."""
    with live.client(QUERY) as ours:
        wanted = ours.call("decide", Ask(query=GIT, recipient=f"for-{kind}.example"))
    told = at(kind, live.paths).decide(recipient=f"{kind}.example")
    assert wanted.header
    assert told == Told(wanted.header, wanted.attributes, "answered")


@clients
@few
@given(
    header=ascii_texts, values=st.dictionaries(st.from_regex(r"[a-z]\w*", fullmatch=True), texts)
)
def test_a_header_comes_as_it_is(kind: str, header: str, values: dict[str, str]) -> None:
    """Whatever else is in the answer, and however it is written there."""
    printable = {name: re.sub(r"\W", "ü", value) for name, value in values.items()}
    answer = Answer(code="answered", header=header, attributes=printable, unspecified=["header"])
    with faking(kind, decide=says(answer)) as (_, client):
        told = client.decide()
    assert told == Told(header, printable, "answered")


@clients
@few
@given(query=texts, recipient=texts, names=st.lists(texts, min_size=1, max_size=3))
def test_what_is_asked_arrives(kind: str, query: str, recipient: str, names: list[str]) -> None:
    """Once, whatever is in it."""
    with faking(kind, decide=says(Answer(code="answered")), offer=says(Done())) as (fake, client):
        client.decide(query, recipient, names)
        assert client.offer(recipient, names)

    asking = Ask(query=query, recipient=recipient, asked=names)
    offering = Offer(recipient=recipient, names=names)
    assert fake.calls == [("decide", {"body": asking}), ("offer", {"body": offering})]


@clients
@few
@given(home=folders, runtime=folders, state=folders)
def test_it_looks_where_the_daemon_listens(kind: str, home: str, runtime: str, state: str) -> None:
    """As agent.paths has it, whatever the environment."""
    variables = {HOME: home, "XDG_RUNTIME_DIR": runtime, "XDG_STATE_HOME": state}
    with patch.dict(os.environ, {**variables, "HOME": "/home/somebody"}):
        name = "socket_path" if kind == "python" else "socketPath"
        assert Client(kind, os.environ).called(name) == str(paths().query)


USAGE = "reticent: expected RECIPIENT QUERY [FACT...]; - reads the query from standard input\n"


@clients
def test_as_a_command(kind: str) -> None:
    """It prints the header, or why there is none, and needs nothing that is installed.

    A query may come from standard input, where no other user of the machine sees it.
    """
    command = [needs("node"), str(NODE)] if kind == "node" else IN_PYTHON
    answer = Answer(code="answered", header='a="b"', attributes={"a": "b"})
    right = (0, 'Shared-Attributes: a="b"\n', "")
    with faking(kind, decide=says(answer)) as (fake, client):
        for arguments, typed, wanted in (
            ([HOST, GIT, "a", "c"], "", right),
            ([HOST, "-"], f"{GIT}\n", right),
            *(([*words], "", (2, "", USAGE)) for words in ((), (HOST,), ("-",))),
        ):
            assert client.run(*command, *arguments, given=typed) == wanted
        asked = [Ask(query=GIT, recipient=HOST, asked=each) for each in (["a", "c"], None)]
        assert fake.calls == [("decide", {"body": each}) for each in asked]
    assert client.run(*command, HOST, GIT) == (0, "", f"reticent: {ABSENT}\n")


@clients
def test_no_daemon(kind: str) -> None:
    """Nobody started it, or it was killed; one sentence says what to do."""
    with short_home() as places:
        client = at(kind, places)
        assert client.decide() == NONE
        places.runtime.mkdir()
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(places.query))
        assert client.decide() == NONE
        assert not client.offer(HOST, ["region"])


@clients
def test_a_daemon_that_never_ends(kind: str) -> None:
    """Every byte in time, and no end of them: the limit is one of the whole."""
    with short_home() as places:
        places.runtime.mkdir()
        with dripping(places.query):
            told = at(kind, places).decide(limit=4 * SHORT)
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
def test_an_answer_that_is_none(kind: str) -> None:
    """Nothing of it is attached."""
    for answer in NO_ANSWERS:
        with faking(kind, decide=says(answer)) as (_, client):
            told = client.decide()
        assert (told.header, told.attributes) == ("", {}), answer
        assert told.said != "answered"


@clients
def test_an_answer_that_is_cut(kind: str) -> None:
    """What came of it would pass for a whole one."""
    for length, whole in ((len(GOOD), True), (len(GOOD) + 1, False)):
        with short_home() as places:
            places.runtime.mkdir()
            head = HEAD + f"Content-Length: {length}\r\n\r\n".encode()
            with saying(places.query, head + GOOD):
                told = at(kind, places).decide()
        assert told == (Told('a="b"', {"a": "b"}, "answered") if whole else Told("", {}, BROKEN))


@clients
def test_a_refusal(kind: str) -> None:
    """Of what is no host, say; or because the daemon is locked."""
    fault = Fault(code="usage", what="this is no host", hint="give another")
    with faking(kind, decide=says(fault), offer=says(fault)) as (_, client):
        told = client.decide(recipient="no host")
        assert not client.offer("no host", ["region"])
    assert (told.header, told.attributes) == ("", {})
    assert told.said in {"the daemon refused", "the daemon refused: this is no host"}
    with faking(kind, decide=says(Answer(code="locked"))) as (_, client):
        assert client.decide() == Told("", {}, "locked")
