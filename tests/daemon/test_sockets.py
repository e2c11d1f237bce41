"""One daemon at a time, for one user."""

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.daemon import sockets
from agent.daemon.sockets import OwnSocket, alone, doors
from agent.errors import DaemonError, UsageError
from agent.paths import HOME, Paths, paths
from agent.wire.client import NOBODY
from agent.wire.routes import CONTROL, QUERY
from tests.daemon.fakes import serving, short_home

FOREIGN = 65534
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
def test_the_sockets_are_private_whatever_the_umask(home: Paths, umask: int) -> None:
    """And gone in the end; the umask is as it was."""
    before = os.umask(umask)
    try:
        with doors(home, {}) as opened:
            assert {*opened} == {CONTROL, QUERY}
            assert [mode(home.control), mode(home.query)] == [0o600, 0o600]
            assert reaches(home.control)
            assert reaches(home.query)
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert [*home.runtime.iterdir()] == []


def test_a_socket_is_private_from_the_moment_it_exists(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is done to it afterwards that could come too late."""
    seen: list[int] = []
    bind = OwnSocket.bind

    def watched(self: OwnSocket, address: str) -> None:
        bind(self, address)
        seen.append(mode(Path(address)))

    monkeypatch.setattr(OwnSocket, "bind", watched)
    before = os.umask(0)
    try:
        with doors(home, {}):
            pass
    finally:
        os.umask(before)
    assert seen == [0o600, 0o600]


def test_a_stale_socket_is_replaced(home: Paths) -> None:
    """It was left by a daemon that was killed; who calls this is alone."""
    leave_stale(home.control)
    assert not reaches(home.control)
    with doors(home, {}):
        assert reaches(home.control)


def test_what_is_no_socket_is_left_alone(home: Paths) -> None:
    """A file, a folder, a link: somebody put it there."""
    home.query.write_text("mine")
    with pytest.raises(DaemonError, match="not a socket is in the way"), doors(home, {}):
        pass
    assert home.query.read_text() == "mine"
    home.query.unlink()
    home.query.symlink_to("elsewhere")
    with pytest.raises(DaemonError, match="not a socket is in the way"), doors(home, {}):
        pass
    assert home.query.is_symlink()
    assert [*home.runtime.iterdir()] == [home.query]


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


def test_a_path_that_is_too_long_is_said(home: Paths) -> None:
    """Before anything is removed or made."""
    long = paths({HOME: str(home.state / ("x" * 100))})
    with pytest.raises(UsageError, match="the limit is 100"), doors(long, {}):
        pass


def test_a_folder_that_cannot_be_written_to_is_said(home: Paths) -> None:
    """Here: one that is not there."""
    home.runtime.rmdir()
    with pytest.raises(DaemonError, match="cannot listen here: no such file"), doors(home, {}):
        pass


def test_a_second_daemon_is_told_of_the_first(home: Paths) -> None:
    """By its number; when that one has ended, the next may begin."""
    with alone(home.daemon_lock):
        assert mode(home.daemon_lock) == 0o600
        with pytest.raises(DaemonError) as refused, alone(home.daemon_lock):
            pass
        assert refused.value.what == f"a daemon is already running (process {os.getpid()})"
        assert refused.value.hint == "use it, or run: reticent daemon stop"
    with alone(home.daemon_lock):
        pass


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
        assert [made[0] for made in running.calls.made] == ["locked"]


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


def test_the_lock_names_its_process_for_as_long_as_it_is_held(home: Paths) -> None:
    """Later the number may be another's."""
    with alone(home.daemon_lock):
        assert home.daemon_lock.read_text() == f"{os.getpid()}\n"
        with pytest.raises(DaemonError), alone(home.daemon_lock):
            pass
        assert home.daemon_lock.read_text() == f"{os.getpid()}\n"
    assert home.daemon_lock.read_text() == ""
