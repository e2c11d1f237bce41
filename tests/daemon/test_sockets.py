"""The daemon's sockets, its own, at a port and handed over; and how many connections there are."""

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from agent.cli.assistants import ADDRESS, TOKEN, at_port, token_of
from agent.daemon import sockets
from agent.daemon.sockets import Listener, alone, doors
from agent.errors import DaemonError, UsageError
from agent.paths import HOME, Paths, paths
from agent.wire.client import NOBODY, tcp_owner
from agent.wire.routes import CONTROL, QUERY
from tests.test_files import mode
from tests.worlds.doors import serving, short_home

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
PATIENCE = 30.0  # seconds, for what takes five at most


@pytest.fixture
def home() -> Iterator[Paths]:
    with short_home() as made:
        for folder in (made.state, made.runtime):
            folder.mkdir(0o700)
        yield made


def reaches(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as opened:
        return opened.connect_ex(str(path)) == 0


def test_a_socket_is_private_from_the_moment_it_exists(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the umask, which is as it was then; and it is gone in the end."""
    seen: list[int] = []
    bind = Listener.bind

    def watched(self: Listener, address: str) -> None:
        bind(self, address)
        seen.append(mode(Path(address)))

    monkeypatch.setattr(Listener, "bind", watched)
    for umask in (0, 0o022, 0o077):
        before = os.umask(umask)
        try:
            with doors(home) as opened:
                families = {door: each.family for door, each in opened.items()}
                assert families == dict.fromkeys((CONTROL, QUERY), socket.AF_UNIX)
                assert reaches(home.control)
                assert reaches(home.query)
            assert os.umask(umask) == umask
        finally:
            os.umask(before)
        assert [*home.runtime.iterdir()] == []
    assert seen == [0o600] * 6


def test_a_stale_socket_is_replaced_and_what_is_none_is_left_alone(home: Paths) -> None:
    """A daemon that was killed left the one; somebody put a file, a folder or a link there."""

    def link() -> None:
        home.query.symlink_to("elsewhere")

    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(home.control))
    with doors(home):
        assert reaches(home.control)
    for make in (home.query.touch, home.query.mkdir, link):
        make()
        before = home.query.lstat()
        with pytest.raises(DaemonError, match="not a socket is in the way"), doors(home):
            pass
        assert home.query.lstat() == before
        assert [*home.runtime.iterdir()] == [home.query]
        (home.query.rmdir if stat.S_ISDIR(before.st_mode) else home.query.unlink)()


def test_where_no_socket_can_be_is_said(home: Paths) -> None:
    """Before anything is removed or made: too long a path, a folder that is not there."""
    long = paths({HOME: str(home.state / ("x" * 100))})
    home.runtime.rmdir()
    for where, error, what in (
        (long, UsageError, "the limit is 100"),
        (home, DaemonError, "cannot listen here: no such file"),
    ):
        with pytest.raises(error, match=what), doors(where):
            pass


def test_a_second_daemon_is_told_of_the_first(home: Paths) -> None:
    """By its number, for as long as it runs; of what the file says only a number is believed."""
    for _ in range(2):
        with alone(home.daemon_lock):
            assert mode(home.daemon_lock) == 0o600
            with pytest.raises(DaemonError) as refused, alone(home.daemon_lock):
                pass
            assert refused.value.what == f"a daemon is already running (process {os.getpid()})"
            assert refused.value.hint == "use it, or run: reticent daemon stop"
            assert home.daemon_lock.read_text() == f"{os.getpid()}\n"
            for written in ("", "x", "-1", "1e3", "9" * 40, "٣"):
                home.daemon_lock.write_text(written)
                with pytest.raises(DaemonError, match="a daemon is already running") as refused:
                    alone(home.daemon_lock).__enter__()
                assert ("process" in refused.value.what) == (written == "9" * 40)
        assert home.daemon_lock.read_text() == ""


def test_a_lock_that_cannot_be_taken_is_said(home: Paths) -> None:
    """A link in its place may lead to anything; what blocks inside is not another daemon."""
    with pytest.raises(BlockingIOError), alone(home.daemon_lock):
        raise BlockingIOError
    home.daemon_lock.unlink()
    home.daemon_lock.symlink_to("elsewhere")
    with pytest.raises(DaemonError) as refused, alone(home.daemon_lock):
        pass
    assert refused.value.where == str(home.daemon_lock)
    assert not (home.state / "elsewhere").exists()


def test_another_user_is_refused_unread(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the next one, who is ours, is answered."""
    users = iter([os.geteuid() + 1, NOBODY, os.geteuid()])
    monkeypatch.setattr(sockets, "peer_uid", lambda _: next(users))
    with doors(home) as opened, serving(QUERY, opened[QUERY]) as running:
        assert running.raw(b"") == b""
        assert running.raw(b"") == b""
        assert running.ask("GET", "/v1/status").status == 200
        assert [made[0] for made in running.api.made] == ["locked"]


def test_a_process_of_another_user_is_refused(home: Paths) -> None:
    """By who it is: the permissions would let it in here. It can be tried as root alone."""
    with doors(home) as opened, serving(QUERY, opened[QUERY]):
        for folder in (home.runtime.parent, home.runtime):
            folder.chmod(0o755)
        home.query.chmod(0o666)
        command = [sys.executable, "-SE", "-c", VISIT, str(home.query), str(FOREIGN)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        user, answer = done.stdout.rstrip("\n").split(" ", 1)
        assert int(user) == (FOREIGN if os.geteuid() == 0 else os.geteuid())
        assert answer == ("" if os.geteuid() == 0 else "HTTP/1.1 200 OK")


def test_a_port_is_of_this_machine_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is taken is said; taken by somebody else, clients may have given them the token."""
    token = tmp_path / TOKEN
    first = token_of(token)
    with at_port(0, token) as listening:
        address, port = listening.getsockname()
        assert address == ADDRESS == "127.0.0.1"
        with pytest.raises(DaemonError, match=f"cannot listen at 127.0.0.1:{port}: "):
            at_port(port, token)
        assert token_of(token) == first
        for owner in (FOREIGN, NOBODY, None):
            monkeypatch.setattr("agent.cli.assistants.tcp_owner", lambda *_, owner=owner: owner)
            with pytest.raises(DaemonError, match="may have read your key") as refused:
                at_port(port, token)
            assert "the base URL is a new one" in refused.value.hint
            assert token_of(token) != first


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
def test_a_process_of_another_user_is_refused_at_a_port(family: str, tmp_path: Path) -> None:
    """Though it knows the token, and where an IPv6 socket speaks IPv4; it is closed unread."""
    prefix = "::ffff:" if family == "AF_INET6" else ""
    script = VISIT.replace("AF_UNIX", family).replace("(sys.argv[1])", "(eval(sys.argv[1]))")
    with at_port(0, tmp_path / TOKEN) as listening:
        near = listening.getsockname()
        assert (tcp_owner(near), tcp_owner(near, near)) == (os.geteuid(), NOBODY)
        visitor = str((prefix + near[0], near[1]))
        command = [sys.executable, "-SE", "-c", script, visitor, str(FOREIGN)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            with pytest.raises(ConnectionAbortedError):
                listening.accept()
            assert process.communicate(timeout=PATIENCE)[0] == f"{FOREIGN} \n"


def test_a_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """One that others know, that could be guessed, or that is none is refused."""
    path = tmp_path / TOKEN
    first = token_of(path)
    assert token_of(path) == first != token_of(tmp_path / "other")
    assert mode(path) == 0o600
    assert len(first) >= 43
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


def connected(at: Path | int) -> socket.socket:
    if isinstance(at, int):
        return socket.create_connection(("127.0.0.1", at), timeout=PATIENCE)
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    opened.settimeout(PATIENCE)
    opened.connect(str(at))
    return opened


def test_one_too_many_is_closed_unread(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """And there is room again when one has gone."""
    path = home.runtime / "s"
    with Listener(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen()
        monkeypatch.setattr(sockets, "MOST", 3)
        with ExitStack() as stack:
            taken = []
            for _ in range(3):
                stack.enter_context(connected(path))
                taken.append(stack.enter_context(closing(listening.accept()[0])))
            for _ in range(2):
                refused = stack.enter_context(connected(path))
                with pytest.raises(ConnectionAbortedError):
                    listening.accept()
                assert refused.recv(1) == b""
            with at_port(0, path) as other:  # whose connections are its own
                stack.enter_context(connected(other.getsockname()[1]))
                stack.enter_context(closing(other.accept()[0]))
            taken[1].close()
            stack.enter_context(connected(path))
            stack.enter_context(closing(listening.accept()[0]))
