"""The outer half of the daemon with nothing behind it, and a caller who sends what he likes.

Run as `python -m tests.worlds.doors KIND`: what the doors lead to has something to try it by.
"""

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from aiohttp import web

from agent.daemon import relay
from agent.daemon.events import Bus
from agent.daemon.model_registry import ModelRegistry
from agent.daemon.policy_file import PolicyFile
from agent.daemon.run import run
from agent.daemon.server import Daemon, application, runner
from agent.errors import ReticentError
from agent.paths import HOME, Paths, paths
from agent.wire.base import Done
from agent.wire.decide import Answer
from agent.wire.routes import ROUTES, Door
from agent.wire.state import Locked
from tests.house.tree import ROOT
from tests.vault.doubles import state
from tests.waiting import PATIENCE, living
from tests.waiting import until as wait_until
from tests.wire.fake import short_folder

T = TypeVar("T")
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
PROMPT = 0.05  # seconds of patience, where a test lets it run out
ASK = {"query": "python sort dict", "recipient": "stackoverflow.com"}
LOCKED = Locked(version="0", locked=True)


class FakeApi:
    """Notes each call, and answers it with what a test puts in its place, else with Done.

    Nothing of its files ever changes.
    """

    def __init__(self) -> None:
        deeds = dict.fromkeys(("lock", "guard", "look", "look_at_all"), lambda: None)
        rest = {"rules": PolicyFile(Path("/none")), "registry": ModelRegistry(Path("/none"))}
        rest |= {"unlock_lock": asyncio.Lock(), **deeds}
        self.agent: Any = SimpleNamespace(vault=None, bus=Bus(lambda: NOON), **rest)
        self.made: list[tuple[str, tuple[object, ...], dict[str, object]]] = []
        self.instead: dict[str, Callable[..., object]] = {
            "decide": lambda *_, **__: Answer(code="answered"),
            "locked": lambda: LOCKED,
        }

    def call(self, name: str, body: object = None, /, **named: object) -> object:
        bodies = () if body is None else (body,)
        self.made.append((name, bodies, named))
        return self.instead.get(name, lambda *_, **__: Done())(*bodies, **named)


class Said(NamedTuple):
    """An answer: its status, its headers, its body as JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any


class Running(NamedTuple):
    """A server that answers at a socket."""

    address: str
    api: FakeApi
    bus: Any  # that of the server, for callers in another thread
    before: list[tuple[Door, str]]
    ended: Flag
    used: list[str]

    def connect(self) -> socket.socket:
        """Return a connection of the caller's own."""
        return connected(self.address)

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Said:
        """Send a request and return its answer; a body that is no bytes is sent as JSON."""
        return asked(self.connect(), method, path, body, headers)

    def raw(self, data: bytes) -> bytes:
        """Send bytes, and nothing more; return all that comes until the server ends it."""
        with self.connect() as opened:
            with suppress(BrokenPipeError):  # it need not read all of it
                opened.sendall(data)
            return b"".join(iter(lambda: opened.recv(65536), b""))


def connected(address: Path | str) -> socket.socket:
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    opened.settimeout(PATIENCE)
    opened.connect(str(address))
    return opened


def asked(
    opened: socket.socket,
    method: str,
    path: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
) -> Said:
    """Send a request over a connection, and close it after the answer."""
    connection = http.client.HTTPConnection("localhost", timeout=10)
    connection.sock = opened
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    kind = {} if data is None else {"Content-Type": "application/json"}
    connection.request(method, path, data, {**kind, **(headers or {})})
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return Said(response.status, dict(response.headers), json.loads(text) if text else None)


def received(opened: socket.socket, mark: bytes) -> bytes:
    """Return what comes up to a mark, and with it."""
    got = b""
    while mark not in got:
        more = opened.recv(65536)
        assert more, got
        got += more
    return got


@contextmanager
def short_home() -> Iterator[Paths]:
    """Return the paths below a folder of short name."""
    with short_folder() as folder:
        yield paths({HOME: str(folder)})


@contextmanager
def serving(door: Door, listening: socket.socket, patience: float = 10.0) -> Iterator[Running]:
    """Answer at a socket in a thread of its own, for as long as this lasts."""
    api: Any = FakeApi()
    loop = asyncio.new_event_loop()

    def there(call: Callable[..., T], *given: object) -> T:
        async def made() -> T:
            return call(*given)

        return asyncio.run_coroutine_threadsafe(made(), loop).result(10)

    own = api.agent.bus
    bus = SimpleNamespace(publish=partial(there, own.publish), close=partial(there, own.close))
    running = Running(listening.getsockname(), api, bus, [], Flag(), [])
    autolock: Any = SimpleNamespace(
        check=lambda at, name: running.before.append((at, name)),
        used=lambda: running.used.append("used"),
    )
    daemon = Daemon(api, autolock, running.ended.set, patience)
    ready, over = Flag(), asyncio.Event()

    async def live() -> None:
        site = runner(application(door, daemon), patience * 2)
        await site.setup()
        await web.SockSite(site, listening).start()
        ready.set()
        await over.wait()
        api.agent.bus.close()
        await site.cleanup()

    thread = Thread(target=loop.run_until_complete, args=(live(),))
    thread.start()
    try:
        assert ready.wait(60)
        yield running
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(60)
        assert not thread.is_alive()
        loop.close()


@contextmanager
def behind(door: Door, patience: float = 10.0) -> Iterator[Running]:
    with short_folder() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(folder / "s"))
        with serving(door, listening, patience) as running:
            yield running


COMMAND = [sys.executable, "-I", "-S", relay.__file__]


class Host(NamedTuple):
    """A relay that runs."""

    process: subprocess.Popen[bytes]

    def send(self, frame: bytes) -> None:
        self.raw(relay.framed(frame))

    def raw(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def said(self) -> Any:  # noqa: ANN401  (any JSON)
        """Return what the next frame from it holds."""
        assert self.process.stdout
        [length] = relay.LENGTH.unpack(self.process.stdout.read(relay.LENGTH.size))
        return json.loads(self.process.stdout.read(length))

    def ask(self, number: int, call: str, body: object = None) -> Any:  # noqa: ANN401  (any JSON)
        self.send(json.dumps({"id": number, "call": call, "body": body}).encode())
        return self.said()

    def end(self) -> int:
        """Close its standard input, and return its exit code; it says nothing more."""
        rest, _ = self.process.communicate(timeout=PATIENCE)
        assert rest == b""
        return self.process.returncode


@contextmanager
def hosting(socket: Path, *command: str) -> Iterator[Host]:
    """Yield a relay for a socket, or what a command starts, and end it."""
    started = command or (*COMMAND, str(socket))
    with (
        subprocess.Popen(
            started,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},
        ) as process,
        living(process, 4 * PATIENCE),
    ):
        yield Host(process)


def awaited(path: Path, text: str = "") -> None:
    wait_until(lambda: path.exists() and text in path.read_text(), f"{text!r} in {path}")


@contextmanager
def begun(
    home: Paths, kind: str = "plain", before: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[str]]:
    """Begin a daemon in a process of its own, and kill it at the end; it need not be ready."""
    program = (sys.executable, "-m", "tests.worlds.doors", kind)
    environment = {**os.environ, "RETICENT_HOME": str(home.config.parent)}
    with (
        subprocess.Popen(
            [*before, *program], stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        ) as process,
        living(process),
    ):
        yield process


def until(process: subprocess.Popen[str], mark: str) -> str:
    """Return what a daemon says up to the first line with a mark in it."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if mark in line:
            return said
    raise AssertionError(said)


@contextmanager
def running(home: Paths, kind: str = "plain") -> Iterator[subprocess.Popen[str]]:
    """Run a daemon, and make sure that it ends when it is told to, if it has not ended yet."""
    with begun(home, kind) as process:
        until(process, "ready")
        yield process
        process.terminate()
        ended(process)


def ended(process: subprocess.Popen[str]) -> str:
    """Wait until a daemon has ended of itself; return what it said last."""
    assert process.stderr is not None
    said = process.stderr.read()
    assert process.wait(PATIENCE) == 0, said
    return said


def ask(at: Path, method: str = "GET", path: str = "/v1/status", body: object = None) -> Said:
    return asked(connected(at), method, path, body)


SIGNALS = {"ending": signal.SIGTERM, "killing": signal.SIGKILL}  # which come meanwhile


def inside(kind: str, home: Paths) -> Any:  # noqa: ANN401  (it stands for `Api`)
    """Build what the doors lead to; all but the plain ones note what they are told to do."""
    api: Any = FakeApi()

    def note(what: str) -> None:
        with (home.data / "noted").open("a") as noted:
            noted.write(f"{what}\n")

    def writing(*_: object, **_named: object) -> Answer:
        note("begun")
        signal.raise_signal(signal.SIGTERM)
        note("written")
        return Answer(code="answered")

    async def slow(*_: object) -> Done:
        note("begun")
        await asyncio.to_thread(awaited, home.data / "go")
        return Done()

    def fails(*arguments: object, **named: object) -> object:
        raise RuntimeError(f"married, {arguments}, {named}")

    calls: dict[str, Any] = {
        "writing": {"decide": writing},  # is told to end in the middle of a decision
        "slow": {"unlock": slow},  # has a call that takes until a file is there
        "loud": dict.fromkeys((route.name for route in ROUTES), fails),  # quotes what was asked
    }
    api.instead |= calls.get(kind, {})
    if kind in {"undumped", "writing", "slow", "failing"}:
        api.agent.lock, api.instead["reload"] = partial(note, "locked"), partial(note, "reloaded")
    if kind == "undumped":  # says whether there may be a core file
        note(state())
    if kind == "failing":  # meets a defect where nobody calls
        api.agent.look_at_all = lambda: 1 // 0
    if kind in SIGNALS:
        signal.raise_signal(SIGNALS[kind])
    return api


if __name__ == "__main__":
    try:
        run(paths(), build=partial(inside, sys.argv[1]))
    except ReticentError as error:
        sys.exit(f"{error} / {error.hint}")
