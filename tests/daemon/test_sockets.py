"""The daemon's sockets: its own, at a port, and those that systemd hands over."""

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.daemon import sockets
from agent.daemon.sockets import (
    ADDRESS,
    TOKEN,
    OwnSocket,
    adopted,
    alone,
    at_port,
    doors,
    notify,
    token_of,
)
from agent.errors import DaemonError, UsageError
from agent.paths import HOME, Paths, paths
from agent.wire.client import NOBODY
from agent.wire.routes import CONTROL, QUERY
from tests.worlds.doors import serving, short_home

FOREIGN = 65534
PROCESS = 4711
VISIT = """
import os, socket, sys
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
opened = socket.socket(socket.AF_UNIX)
opened.settimeout(30)
opened.connect(sys.argv[1])
try:
    opened.sendall(b"GET /v1/status HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
    got = opened.recv(100)
except (BrokenPipeError, ConnectionResetError):
    got = b""
print(os.geteuid(), got[:15].decode())
"""


@pytest.fixture
def home() -> Iterator[Paths]:
    """Return the paths of a machine on which nothing is yet."""
    with short_home() as made:
        for folder in (made.state, made.runtime):
            folder.mkdir(0o700)
        yield made


def mode(path: Path) -> int:
    """Return the permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def reaches(path: Path) -> bool:
    """Return whether somebody listens at a socket."""
    with socket.socket(socket.AF_UNIX) as opened:
        return opened.connect_ex(str(path)) == 0


def leave_stale(path: Path) -> None:
    """Leave a socket behind as a daemon does that was killed."""
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_a_socket_is_private_from_the_moment_it_exists(
    home: Paths, monkeypatch: pytest.MonkeyPatch, umask: int
) -> None:
    """Whatever the umask, which is as it was then; and it is gone in the end."""
    seen: list[int] = []
    bind = OwnSocket.bind

    def watched(self: OwnSocket, address: str) -> None:
        bind(self, address)
        seen.append(mode(Path(address)))

    monkeypatch.setattr(OwnSocket, "bind", watched)
    before = os.umask(umask)
    try:
        with doors(home, {}) as opened:
            assert {*opened} == {CONTROL, QUERY}
            assert reaches(home.control)
            assert reaches(home.query)
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert seen == [0o600, 0o600]
    assert [*home.runtime.iterdir()] == []


def test_a_stale_socket_is_replaced(home: Paths) -> None:
    """It was left by a daemon that was killed; who calls this is alone."""
    leave_stale(home.control)
    assert not reaches(home.control)
    with doors(home, {}):
        assert reaches(home.control)


def test_what_is_no_socket_is_left_alone(home: Paths) -> None:
    """A file, a folder, a link: somebody put it there."""

    def link() -> None:
        home.query.symlink_to("elsewhere")

    for make in (home.query.touch, home.query.mkdir, link):
        make()
        before = home.query.lstat()
        with pytest.raises(DaemonError, match="not a socket is in the way"), doors(home, {}):
            pass
        assert home.query.lstat() == before
        assert [*home.runtime.iterdir()] == [home.query]
        if stat.S_ISDIR(before.st_mode):
            home.query.rmdir()
        else:
            home.query.unlink()


def test_a_socket_that_is_not_ours_any_more_stays(home: Paths) -> None:
    """Somebody has put another in its place."""
    with doors(home, {}):
        home.control.unlink()
        leave_stale(home.control)
        home.query.unlink()
    assert [*home.runtime.iterdir()] == [home.control]


def test_an_adopted_socket_stays(home: Paths) -> None:
    """Systemd listens at it still."""
    with OwnSocket(socket.AF_UNIX, socket.SOCK_STREAM) as given:
        given.bind(str(home.query))
        given.listen()
        with doors(home, {QUERY: given}) as opened:
            assert opened[QUERY] is given
        assert given.fileno() == -1
    assert [*home.runtime.iterdir()] == [home.query]


def test_where_no_socket_can_be_is_said(home: Paths) -> None:
    """Before anything is removed or made: too long a path, a folder that is not there."""
    long = paths({HOME: str(home.state / ("x" * 100))})
    with pytest.raises(UsageError, match="the limit is 100"), doors(long, {}):
        pass
    home.runtime.rmdir()
    with pytest.raises(DaemonError, match="cannot listen here: no such file"), doors(home, {}):
        pass


def test_a_second_daemon_is_told_of_the_first(home: Paths) -> None:
    """By its number, for as long as it runs: later that may be another's; the next may begin."""
    for _ in range(2):
        with alone(home.daemon_lock):
            assert mode(home.daemon_lock) == 0o600
            with pytest.raises(DaemonError) as refused, alone(home.daemon_lock):
                pass
            assert refused.value.what == f"a daemon is already running (process {os.getpid()})"
            assert refused.value.hint == "use it, or run: reticent daemon stop"
            assert home.daemon_lock.read_text() == f"{os.getpid()}\n"
        assert home.daemon_lock.read_text() == ""


@pytest.mark.parametrize("written", ["", "x", "-1", "1e3", "9" * 40, "٣"])
def test_what_the_first_wrote_may_be_anything(home: Paths, written: str) -> None:
    """Only a number is believed."""
    with alone(home.daemon_lock):
        home.daemon_lock.write_text(written)
        with pytest.raises(DaemonError, match="a daemon is already running") as refused:
            alone(home.daemon_lock).__enter__()
        assert ("process" in refused.value.what) == (written == "9" * 40)


def test_a_lock_that_cannot_be_taken_is_said(home: Paths) -> None:
    """A link in its place may lead to anything."""
    home.daemon_lock.symlink_to("elsewhere")
    with pytest.raises(DaemonError) as refused, alone(home.daemon_lock):
        pass
    assert refused.value.where == str(home.daemon_lock)
    assert not (home.state / "elsewhere").exists()


def test_blocking_of_what_runs_is_not_taken_for_another_daemon(home: Paths) -> None:
    """The same error of the system may come from anywhere inside."""
    with pytest.raises(BlockingIOError), alone(home.daemon_lock):
        raise BlockingIOError


def test_another_user_is_refused_unread(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the next one, who is ours, is answered."""
    users = iter([os.geteuid() + 1, NOBODY, os.geteuid()])
    monkeypatch.setattr(sockets, "peer_uid", lambda _: next(users))
    with doors(home, {}) as opened, serving(QUERY, opened[QUERY]) as running:
        assert running.raw(b"") == b""
        assert running.raw(b"") == b""
        assert running.ask("GET", "/v1/status").status == 200
        assert [made[0] for made in running.api.made] == ["locked"]


def test_a_process_of_another_user_is_refused(home: Paths) -> None:
    """By who it is: the permissions would let it in here. It can be tried as root alone."""
    with doors(home, {}) as opened, serving(QUERY, opened[QUERY]):
        for folder in (home.runtime.parent, home.runtime):
            folder.chmod(0o755)
        home.query.chmod(0o666)
        command = [sys.executable, "-SE", "-c", VISIT, str(home.query), str(FOREIGN)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        user, answer = done.stdout.rstrip("\n").split(" ", 1)
        assert int(user) == (FOREIGN if os.geteuid() == 0 else os.geteuid())
        assert answer == ("" if os.geteuid() == 0 else "HTTP/1.1 200 OK")


def test_it_listens_to_this_machine_alone() -> None:
    """At no other address."""
    with at_port(0) as listening:
        assert listening.getsockname()[0] == ADDRESS == "127.0.0.1"


def test_a_port_that_is_taken_is_said() -> None:
    """Or that cannot be."""
    with at_port(0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(DaemonError, match=f"cannot listen at 127.0.0.1:{port}: "):
            at_port(port)
    with pytest.raises(DaemonError, match="there is no port 65536"):
        at_port(65536)


def test_a_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """Each machine has another."""
    first = token_of(tmp_path / TOKEN)
    assert token_of(tmp_path / TOKEN) == first
    assert stat.S_IMODE((tmp_path / TOKEN).stat().st_mode) == 0o600
    assert token_of(tmp_path / "other") != first
    assert len(first) >= 43


def test_a_token_that_others_know_is_refused(tmp_path: Path) -> None:
    """Or that could be guessed, or is none."""
    path = tmp_path / TOKEN
    token_of(path)
    path.chmod(0o640)
    with pytest.raises(DaemonError, match="other users can read this token"):
        token_of(path)
    path.chmod(0o600)
    for content in (b"", b"x" * 31, b"\xff" * 40):
        path.write_bytes(content)
        with pytest.raises(DaemonError, match="not a token"):
            token_of(path)
    path.write_bytes(b"x" * 201)
    with pytest.raises(UsageError):
        token_of(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="is a directory"):
        token_of(path)


def handed(folder: Path, *names: str) -> int:
    """Open a listening socket for each name at descriptors in a row; return the first."""
    first = 200
    for index, name in enumerate(names):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
            made.bind(str(folder / name))
            made.listen()
            os.dup2(made.fileno(), first + index, inheritable=True)
    return first


def told(names: str, count: int, process: int = PROCESS) -> dict[str, str]:
    """Return the variables that systemd sets, and one that is not its."""
    return {
        "LISTEN_PID": str(process),
        "LISTEN_FDS": str(count),
        "LISTEN_FDNAMES": names,
        "OTHER": "x",
    }


@pytest.mark.parametrize("names", [["control", "query"], ["query", "control"], ["query"]])
def test_sockets_are_adopted_by_name(home: Paths, names: list[str]) -> None:
    """Whatever their order; no child inherits them, or is told of them."""
    first = handed(home.runtime, *names)
    environment = told(":".join(names), len(names))
    taken = adopted(environment, PROCESS, first)
    assert environment == {"OTHER": "x"}
    assert {name: each.getsockname() for name, each in taken.items()} == {
        name: str(home.runtime / name) for name in names
    }
    for each in taken.values():
        assert isinstance(each, OwnSocket)
        assert not each.get_inheritable()
        each.close()


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTHER": "x"},
        told("control:query", 2, PROCESS + 1),
        {"LISTEN_PID": str(PROCESS)},
        {"LISTEN_PID": str(PROCESS), "LISTEN_FDS": "-1"},
    ],
)
def test_what_is_for_another_process_is_not_ours(environment: dict[str, str]) -> None:
    """It inherited the variables, not the sockets."""
    assert adopted(environment, PROCESS) == {}
    assert not [name for name in environment if name.startswith("LISTEN")]


@pytest.mark.parametrize(
    ("names", "count"),
    [("reticent.socket", 1), ("", 1), ("control", 2), ("query:query", 2), ("control:query:x", 3)],
)
def test_other_names_are_refused(names: str, count: int) -> None:
    """What is meant for control must never be answered as query is, nor the other way round."""
    with pytest.raises(DaemonError, match="sockets with unexpected names"):
        adopted(told(names, count), PROCESS)


def test_what_is_no_listening_unix_socket_is_refused(home: Paths) -> None:
    """A closed descriptor, a file, a port, one that does not listen, one that is connected."""
    port = socket.create_server(("127.0.0.1", 0))
    idle = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    here, there = socket.socketpair(socket.AF_UNIX)
    with port, idle, here, there, (home.runtime / "file").open("w") as file:
        for each in (port.fileno(), idle.fileno(), here.fileno(), file.fileno(), 999):
            with pytest.raises(DaemonError, match="passed as query is not"):
                adopted(told("query", 1), PROCESS, os.dup(each) if each < 999 else each)


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_is_told(home: Paths, abstract: bool) -> None:
    """At a path, or an abstract address."""
    name = str(home.runtime / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.settimeout(10)
        heard.bind("\0" + name if abstract else name)
        notify("READY=1", {"NOTIFY_SOCKET": "@" + name if abstract else name})
        assert heard.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", [None, "", "relative", "/nowhere/to/be/found"])
def test_nobody_is_told_where_nobody_asks(address: str | None) -> None:
    """That is no error: the daemon runs without systemd as well."""
    notify("READY=1", {} if address is None else {"NOTIFY_SOCKET": address})
