"""A daemon in a process of its own, over a home with a vault, the shipped model and a policy."""

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import msgspec

from agent.errors import DaemonError
from agent.model.file import read, shipped_models
from agent.model.world import world_of
from agent.paths import HOME, Paths
from agent.vault.vault_files import Location
from agent.wire.client import Client
from agent.wire.decide import Answer, Ask
from agent.wire.routes import CONTROL, QUERY, ROUTES, Door
from agent.wire.state import Status, Unlock
from tests.developer import PROFILE
from tests.house.tree import ROOT
from tests.vault.values import change
from tests.vault.worlds import FAST, PASSPHRASE, create
from tests.waiting import until
from tests.worlds.doors import connected, short_home

BALANCED = 'preset = "balanced"\n[daemon]\nlock_after_minutes = 0\n'
# The sentence encoder takes a second: it is loaded with the first text that is no name of a query.
LATER = "from agent.model import reading; reading.load_network = lambda: None"
RUN = f"{LATER}; from agent.cli.main import run; run()"
START = [sys.executable, "-c", RUN, "daemon", "--json"]
PATIENCE = 60.0  # seconds, for what takes a fraction of one
OPEN = Unlock(method="passphrase", secret=PASSPHRASE)


@dataclass(frozen=True, slots=True)
class Live:
    """A daemon that runs, or has ended; ``paths``: where its things lie."""

    process: subprocess.Popen[bytes]
    paths: Paths

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()

    def at(self, door: Door) -> Path:
        return {CONTROL: self.paths.control, QUERY: self.paths.query}[door]

    def client(self, door: Door = CONTROL) -> Client:
        return Client(self.at(door), PATIENCE)

    def call(self, name: str, body: msgspec.Struct | None = None, /, **given: Any) -> Any:  # noqa: ANN401  (of the route)
        """Make one call, at the query socket where that has it, as a program does."""
        [doors] = [route.doors for route in ROUTES if route.name == name]
        with self.client(QUERY if QUERY in doors else CONTROL) as client:
            return client.call(name, body, **given)

    def connect(self, door: Door) -> socket.socket:
        """Return a connection of the caller's own."""
        return connected(self.at(door))

    def status(self) -> Status:
        """Return how it is, which it must say itself, in the process that was started."""
        said: Status = self.call("status")
        assert said.process == self.process.pid
        return said

    def unlock(self) -> None:
        assert not self.call("unlock", OPEN).locked

    def kill(self) -> None:
        """End it at once, whatever it is doing."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)

    def stop(self) -> int:
        """End it by a signal, as the system does; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def resident(self, what: str = "VmRSS") -> float:
        """Return the memory that it occupies, or by "VmHWM" has at most, in MiB (proc(5))."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        [line] = [line for line in lines if line.startswith(f"{what}:")]
        return int(line.split()[1]) / 1024


def environment(places: Paths) -> dict[str, str]:
    return os.environ | {HOME: str(places.config.parent), "OPENBLAS_NUM_THREADS": "1"}


def begun(places: Paths, told: Mapping[str, str] = MappingProxyType({})) -> Live:
    """Start a daemon, and do not wait for it; ``told``: more of its environment."""
    process = subprocess.Popen(
        START,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**environment(places), **told},
        cwd=ROOT,
    )
    return Live(process, places)


def started(places: Paths) -> Live:
    """Start a daemon, and return it once it answers; the caller ends it, or its `with` does."""
    with ExitStack() as on_failure:
        live = on_failure.enter_context(begun(places))
        until(lambda: _answers(live) or live.process.poll() is not None, "a daemon that answers")
        assert live.process.poll() is None, "the daemon ended"
        on_failure.pop_all()
    return live


def _answers(live: Live) -> bool:
    """Return whether a daemon answers already; an earlier one may have left its socket."""
    with suppress(DaemonError):
        live.status()
        return True
    return False


def end(places: Paths) -> None:
    """End the daemon there, whoever started it, and wait until it has put away its things."""
    with Client(places.control, PATIENCE) as client:
        status: Status = client.call("status")
        process = os.pidfd_open(status.process)
        try:
            client.call("shutdown")
            ended, _, _ = select.select([process], [], [], PATIENCE)
        finally:
            os.close(process)
    assert ended, "the daemon did not end"


def furnish(places: Paths, policy: str = BALANCED) -> None:
    """Make a vault with a profile, and a policy."""
    with create(Location.of(places), PASSPHRASE, FAST)[0] as vault:
        change(vault.profile, PROFILE, [], [world_of([*map(read, shipped_models())])])
    places.config.mkdir(mode=0o700)
    places.policy.write_text(policy)


@contextmanager
def home(policy: str = BALANCED) -> Iterator[Paths]:
    """Yield the paths below a furnished folder of short name, where no daemon runs yet."""
    with short_home() as places:
        furnish(places, policy)
        yield places


@contextmanager
def living(policy: str = BALANCED, *, locked: bool = False) -> Iterator[Live]:
    """Yield a daemon that runs for as long as this lasts; its vault is open, if not ``locked``."""
    with home(policy) as places, started(places) as live:
        if not locked:
            live.unlock()
        yield live


SIMPLE = ("int_java", "int_python", "dev_web")  # decided in a millisecond, whatever is known
QUERIES = ("editor", "version control", "framework used", "job site", "tabs spaces")
HEAD = "POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
DECIDED = ("answered", "past a limit already")
GONE = (ConnectionError, FileNotFoundError, asyncio.IncompleteReadError)


@dataclass(slots=True)
class Crowd:
    """Clients that ask one query after the other, each on a connection of its own.

    ``asked``: what their recipients can use, None for anything; ``told``: the attributes of each
    answer that is in the ledger, by the number there; ``answers``: how many there were, of any
    kind; ``other``: those that were no decision; ``cut``: clients whose daemon ended before all
    that they would ask was answered.
    """

    path: Path
    asked: Sequence[str] | None = None
    told: dict[int, dict[str, str]] = field(default_factory=dict)
    answers: int = 0
    other: list[bytes] = field(default_factory=list)
    cut: int = 0

    async def ask(self, clients: int, each: int, recipient: Callable[[int, int], str]) -> None:
        """Ask so many times in each of so many clients.

        ``recipient``: of a client's request, by the numbers of both; called as it asks.
        """
        async with asyncio.TaskGroup() as group:
            for client in range(clients):
                hosts = map(partial(recipient, client), range(each))
                group.create_task(self._client(client, hosts))

    async def _client(self, client: int, hosts: Iterable[str]) -> None:
        names = None if self.asked is None else [*self.asked]
        try:
            async with asyncio.timeout(PATIENCE):
                reader, writer = await asyncio.open_unix_connection(self.path)
                with closing(writer):
                    for number, host in enumerate(hosts):
                        query = QUERIES[(client + number) % len(QUERIES)]
                        writer.write(request(Ask(query=query, recipient=host, asked=names)))
                        self._note(await response(reader))
        except GONE:
            self.cut += 1

    def _note(self, said: tuple[int, bytes]) -> None:
        """Note an answer; two of one number would be one entry for two disclosures."""
        status, body = said
        answer = msgspec.json.decode(body, type=Answer) if status == 200 else None
        self.answers += 1
        if answer is None or answer.code not in DECIDED:
            self.other.append(body)
        elif answer.id is not None:
            assert answer.id not in self.told
            self.told[answer.id] = answer.attributes
        else:
            assert not answer.attributes


def request(ask: Ask) -> bytes:
    body = msgspec.json.encode(ask)
    return f"{HEAD}{len(body)}\r\n\r\n".encode() + body


async def response(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Return the status and the body of an answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    [length] = [line for line in lines if line.lower().startswith("content-length:")]
    return int(lines[0].split()[1]), await reader.readexactly(int(length.split(":")[1]))
