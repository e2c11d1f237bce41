"""The clients of examples/clients, each called as its language does it, and told of as one."""

import asyncio
import json
import os
import runpy
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from agent.paths import HOME, Paths
from agent.wire.routes import QUERY
from tests.house.tree import ROOT
from tests.programs import needs
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon, Handler
from tests.worlds.doors import short_home

FOLDER = ROOT / "examples" / "clients"
PYTHON, NODE, SHELL = (FOLDER / f"reticent_client.{kind}" for kind in ("py", "mjs", "sh"))
MODULE: dict[str, Any] = runpy.run_path(str(PYTHON))
GIT = "version control"
ABSENT = "no daemon runs; start it with `reticent daemon`"
IN_NODE = """
import * as client from "%s";
const [call, ...given] = JSON.parse(process.argv[1]);
console.log(JSON.stringify(await client[call](...given)));
"""
DECIDING = 'answer=$(decide "$@"); printf "%s\\n" "$answer"; header_of <<<"$answer"'


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


class InShell(Client):
    """Functions of bash, in a script that ends with whatever fails."""

    def path(self) -> str:
        """Return where."""
        return self._sourced("socket_path").stdout.removesuffix("\n")

    def decide(self, question: Question) -> Told:
        """Ask, and return what it says."""
        asked = () if question.asked is None else question.asked
        self.environment["reticent_limit"] = str(question.limit)
        done = self._sourced(DECIDING, question.query, question.recipient, *asked)
        assert done.returncode == 0
        answer, header, *_ = *done.stdout.split("\n"), ""
        said = done.stderr.removeprefix("reticent: ").removesuffix("\n")
        return Told(header, json.loads(answer).get("attributes", {}), said or "answered")

    def offer(self, recipient: str, names: Sequence[str]) -> bool:
        """Offer."""
        return self._sourced('offer "$@"', recipient, *names).returncode == 0

    def _sourced(self, script: str, *words: str) -> subprocess.CompletedProcess[str]:
        needs("curl")
        return self.run("bash", "-euo", "pipefail", "-c", f'. "{SHELL}"; {script}', "bash", *words)


@contextmanager
def faking(kind: type[Client], **handlers: Handler) -> Iterator[tuple[FakeDaemon, Client]]:
    """Yield a daemon that is none, and a client to it."""
    with short_home() as places, FakeDaemon(places.query, handlers, QUERY) as fake:
        yield fake, kind(at(places))


def at(places: Paths) -> dict[str, str]:
    """Return the environment in which these are the paths."""
    return {HOME: str(places.config.parent)}


CLIENTS: tuple[type[Client], ...] = (InPython, InLoop, InNode, InShell)
clients = pytest.mark.parametrize("kind", CLIENTS)
