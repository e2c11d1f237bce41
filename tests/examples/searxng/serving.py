"""Debian's searx with the plugin, as `python -m examples.searxng` runs it."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.house.tree import ROOT
from tests.programs import needs
from tests.waiting import PATIENCE, bounded, until

COMMAND = "-m", "examples.searxng"


class Answer(NamedTuple):
    """What came: ``headers`` by lower-case name."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def results(self) -> list[str]:
        """The hosts of what was found, in order, without what all of them end with."""
        hosts = [urlsplit(each["url"]).hostname for each in self._said["results"]]
        return [str(each).removesuffix(".example") for each in hosts]

    @property
    def changes(self) -> list[str]:
        prefix = "Adapted to what you shared: "
        return [each.removeprefix(prefix) for each in self._said["answers"]]

    @property
    def _said(self) -> Any:  # noqa: ANN401  (any JSON)
        return json.loads(self.body)


def free() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


@contextmanager
def started(port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run it at a port, and yield the program once that answers."""
    needs("searx")
    command, nowhere = [sys.executable, *COMMAND, "--port", str(port)], subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, stdout=nowhere, stderr=nowhere)

    def ready() -> bool:
        assert process.poll() is None, "it has ended"
        return answers(port)

    try:
        until(ready, "searx")
        yield process
    finally:
        process.terminate()
        with bounded(process.kill):
            process.wait()


def answers(port: int) -> bool:
    with socket.socket() as opened:
        opened.settimeout(PATIENCE)
        return opened.connect_ex(("127.0.0.1", port)) == 0


def get(port: int, target: str, headers: Sequence[tuple[str, str | bytes]] = ()) -> Answer:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.putrequest("GET", target)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        came = connection.getresponse()
        named = {name.lower(): value for name, value in came.getheaders()}
        return Answer(came.status, named, came.read())
    finally:
        connection.close()
